use super::{assert_finds, assert_no};
use crate::pii::Kind;
use crate::pii::tests::driver::whole;

/// Texts in which something is found, for the tests of pieces, too.
pub(super) const EMAILS: &[(&str, &[&str])] = &[
    ("write to jane.doe+news@mail.example.com.", &["jane.doe+news@mail.example.com"]),
    (
        "a@example.org, b@example.org;c@example.org",
        &["a@example.org", "b@example.org", "c@example.org"],
    ),
    ("<o'hara@example.com>", &["o'hara@example.com"]),
    ("'jo@example.com'", &["jo@example.com"]),
    ("a@xn--d1acufc.xn--p1ai", &["a@xn--d1acufc.xn--p1ai"]),
    ("écrire à josé@exämple.de vite", &["josé@exämple.de"]),
    ("联系foo@example.com吧", &["foo@example.com"]),
    ("mail me at x@example.com-thanks", &["x@example.com"]),
    (r#"{"text":"hi\nx@example.com"}"#, &["x@example.com"]),
];

pub(super) const CARDS: &[(&str, &[&str])] = &[
    ("4111 1111 1111 1111", &["4111 1111 1111 1111"]),
    ("pay 4111111111111111 now", &["4111111111111111"]),
    (
        "4012888888881881 4012-8888-8888-1881 4012 8888 8888 1881",
        &["4012888888881881", "4012-8888-8888-1881", "4012 8888 8888 1881"],
    ),
    ("4111.1111.1111.1111", &["4111.1111.1111.1111"]),
    ("4111 1111 1111 1111 123 12/25", &["4111 1111 1111 1111"]),
    ("3782 822463 10005", &["3782 822463 10005"]),
    ("3056 930902 5904", &["3056 930902 5904"]),
    ("2223003122003222,5555555555554444", &["2223003122003222", "5555555555554444"]),
    ("card no 4222222222222", &["4222222222222"]),
    ("my card 503802053770", &["503802053770"]),
    (r"a\n4111111111111111", &["4111111111111111"]),
];

pub(super) const IBANS: &[(&str, &[&str])] = &[
    ("GB82 WEST 1234 5698 7654 32", &["GB82 WEST 1234 5698 7654 32"]),
    ("IBAN:GB82WEST12345698765432.", &["GB82WEST12345698765432"]),
    ("to gb82 west 1234 5698 7654 32 please", &["gb82 west 1234 5698 7654 32"]),
    ("DE89-3704-0044-0532-0130-00", &["DE89-3704-0044-0532-0130-00"]),
    ("MT84 MALT 0110 0001 2345 MTLC AST0 01S", &["MT84 MALT 0110 0001 2345 MTLC AST0 01S"]),
    (
        "NO9386011117947 FR1420041010050500013M02606",
        &["NO9386011117947", "FR1420041010050500013M02606"],
    ),
    ("VG96 VPVG 0000 0123 4567 8901 X", &["VG96 VPVG 0000 0123 4567 8901"]),
];

pub(super) const PHONES: &[(&str, &[&str])] = &[
    ("(555) 555-0123 or 555-555-0124", &["(555) 555-0123", "555-555-0124"]),
    ("+1 415 555 0132", &["+1 415 555 0132"]),
    ("tel:+1-415-555-0132", &["+1-415-555-0132"]),
    ("+44 (20) 7946 0958, +44 20 7946 0958", &["+44 (20) 7946 0958", "+44 20 7946 0958"]),
    ("+41 (0)44 555 01 02", &["+41 (0)44 555 01 02"]),
    ("+447700900123", &["+447700900123"]),
    ("0044 20 7946 0958", &["0044 20 7946 0958"]),
    ("001-415-555-0132", &["001-415-555-0132"]),
    ("1-800-555-0199", &["1-800-555-0199"]),
    ("020 7946 0958", &["020 7946 0958"]),
    ("01 23 45 67 89", &["01 23 45 67 89"]),
    ("01.23.45.67.89", &["01.23.45.67.89"]),
    ("(020) 7946 0958", &["(020) 7946 0958"]),
    ("555-555-0123x45", &["555-555-0123x45"]),
    ("555-555-0123 ext. 45", &["555-555-0123 ext. 45"]),
    ("call me on 555 0123", &["555 0123"]),
    (r#"{"phone_number":"5555550123"}"#, &["5555550123"]),
    ("Mobile: (72) 555-012", &["(72) 555-012"]),
    ("phone: 55501234: 7f45", &["55501234"]),
    ("FAX 55 01 23 45", &["55 01 23 45"]),
];

pub(super) const SSNS: &[(&str, &[&str])] = &[
    ("123-45-6788", &["123-45-6788"]),
    ("abc 123 45 6788 abc", &["123 45 6788"]),
    ("ssn 123.45.6788", &["123.45.6788"]),
    ("my SSN is 123456788", &["123456788"]),
    ("social security: 123-456788", &["123-456788"]),
];

pub(super) const IPS: &[(&str, &[&str])] = &[
    ("192.0.2.1", &["192.0.2.1"]),
    ("at 192.0.2.1:8080, 198.51.100.7/24.", &["192.0.2.1", "198.51.100.7/24"]),
    ("http://192.0.2.1/", &["192.0.2.1"]),
    ("192.0.2.1-192.0.2.9", &["192.0.2.1", "192.0.2.9"]),
    ("192.168.1.1.1", &["192.168.1.1"]),
    ("10.0.0.0/123", &["10.0.0.0"]),
    ("[2001:db8::1]:443", &["2001:db8::1"]),
    ("2001:db8::/32 fe80::1%eth0 ::1", &["2001:db8::/32", "fe80::1%eth0", "::1"]),
    ("2001:DB8:0:0:8:800:200C:417A.", &["2001:DB8:0:0:8:800:200C:417A"]),
    ("::ffff:192.0.2.1", &["::ffff:192.0.2.1"]),
    ("64:ff9b::192.0.2.0/96", &["64:ff9b::192.0.2.0/96"]),
    ("text::ffff:192.0.2.1", &["192.0.2.1"]),
    ("user@2001:db8::8a2e:370:7334", &["2001:db8::8a2e:370:7334"]),
];

pub(super) const MACS: &[(&str, &[&str])] = &[
    ("00:1A:2B:3C:4D:5E", &["00:1A:2B:3C:4D:5E"]),
    ("if aa:bb:cc:dd:ee:0f up", &["aa:bb:cc:dd:ee:0f"]),
    ("00-1a-2b-3c-4d-5e", &["00-1a-2b-3c-4d-5e"]),
    ("0d-B3-4a-6A-d9-cF", &["0d-B3-4a-6A-d9-cF"]),
    ("hardware address AA-BB-CC-DD-EE-FE", &["AA-BB-CC-DD-EE-FE"]),
    ("MAC: 0012.3456.789A", &["0012.3456.789A"]),
];

#[test]
fn addresses_of_mail_are_found() {
    assert_finds(Kind::Email, EMAILS);
    assert_no(
        Kind::Email,
        &[
            "info@example.",
            "@example.com",
            "a@b",
            "x.@example.com",
            "icon@2x.png",
            "git@github.com:owner/repo.git",
            "pkg@1.2.3",
            "wasi-cli@0.2.0.wasm",
            "f(a @ b.c)",
        ],
    );
    let long = format!("{}@example.com", "a".repeat(65));
    assert_no(Kind::Email, &[&long]);
}

#[test]
fn cards_are_found_by_issuer_and_check_digit() {
    assert_finds(Kind::Card, CARDS);
    assert_no(
        Kind::Card,
        &[
            "4111 1111 1111 1112",
            "1748503543012",
            "0.4111111111111111",
            "41111111111111110",
            "4111-1111-1111-1111-1",
            "id-4111111111111111",
            "503802053770",
            "discard 503802053770",
            "655050471180417",
            "0000000000000000",
            "v4111111111111111",
        ],
    );
}

#[test]
fn accounts_are_found_by_country_structure_and_check_digits() {
    assert_finds(Kind::Iban, IBANS);
    assert_no(
        Kind::Iban,
        &[
            "GB82 WEST 1234 5698 7654 33",
            "GB82 1EST 1234 5698 7654 32",
            "GB82 wEST 1234 5698 7654 32",
            "GB82WEST123456987654321",
            "XGB82WEST12345698765432",
            "ZZ82WEST12345698765432",
        ],
    );
}

#[test]
fn telephone_numbers_are_found_by_shape_or_by_the_words_before_them() {
    assert_finds(Kind::Phone, PHONES);
    assert_no(
        Kind::Phone,
        &[
            "555 0123",
            "5555550123",
            "call 5555550123",
            "iPhone 5555550123",
            "x+447700900123",
            "+999 555 555 0123",
            "02110-1301",
            "phone 2024-01-15",
            "order 123-456-7890",
            "id-555-555-0123",
            "01 02 03 04 05 06 07",
            "0069 0308 0301",
            "00 55 44 77 66 88 99 aa",
        ],
    );
}

#[test]
fn social_security_numbers_are_found_unless_they_cannot_be_given_out() {
    assert_finds(Kind::Ssn, SSNS);
    assert_no(
        Kind::Ssn,
        &[
            "000-45-6788",
            "666-45-6788",
            "912-45-6788",
            "123-00-6788",
            "123-45-0000",
            "123-45-6789",
            "123-45.6788",
            "123-45-67888",
            "0-123-45-6788",
            "123456788",
            "ssn 078051120",
        ],
    );
}

#[test]
fn addresses_of_the_internet_are_found_and_versions_are_not() {
    assert_finds(Kind::Ip, IPS);
    assert_no(
        Kind::Ip,
        &[
            "192.0.2",
            "192.0.2.256",
            "1.2.3.4.5.6",
            "1.2.3.4.5",
            "1.2.3.04",
            "v1.2.3.4",
            "version = \"1.2.3.4\"",
            "lib-1.2.3.4.tar.gz",
            "1.2.3.4-rc1",
            "RFC 9110 §8.8.3.2",
            "2.5.29.15",
            "12:34:56",
            "a::b",
            "std::f32",
            "<T>::e1",
            "dead::beef",
            "2001::db8::1",
            "12345:db8::1",
            "fe80::1text",
            "::ffff:256.0.0.1",
            "2001:db8::256.1.1.1",
            ":::",
        ],
    );
}

#[test]
fn addresses_of_hardware_are_found_and_fingerprints_are_not() {
    assert_finds(Kind::Mac, MACS);
    assert_no(
        Kind::Mac,
        &[
            "00:00:00:00:00:00",
            "FF:FF:FF:FF:FF:FF",
            "00:1A:2B:3C:4D",
            "00:1A:2B:3C:4D:5E:6F",
            "10:2F:33-AC-29-C3",
            "24-01-02-03-04-05",
            "0012.3456.789a",
            "550e8400-e29b-41d4-a716-446655440000",
        ],
    );
}

#[test]
fn wallets_are_found_by_their_checksums() {
    // Each letter is written apart, so that no scanner takes these for anything of value.
    let genesis = ["1A1zP1eP5Q", "Gefi2DMPTf", "TL5SLmv7Di", "vfNa"].concat();
    let script = ["3J98t1WpEZ", "73CNmQviec", "rnyiWrnqRh", "WNLy"].concat();
    let segwit = ["bc1qw508d6q", "ejxtdg4y5r", "3zarvary0c", "5xw7kv8f3t4"].concat();
    let taproot =
        ["bc1p0xlxvlh", "emja6c4dqv2", "2uapctqupf", "hlxm9h8z3k", "2e72q4k9hc", "z7vqzk5jj0"]
            .concat();
    let ether = ["0x5aAeb6053F", "3E94C9b9A0", "9f33669435", "E7Ef1BeAed"].concat();
    for wallet in [&genesis, &script, &segwit, &segwit.to_uppercase(), &taproot, &ether] {
        assert_finds(Kind::Wallet, &[(&format!("pay {wallet}, or"), &[wallet])]);
        assert_no(Kind::Wallet, &[&format!("{wallet}2"), &format!("x{wallet}")]);
    }
    let wrong = genesis.replace("eP5Q", "eP6Q");
    let burnt = format!("0x{}dEaD", "0".repeat(36));
    assert_no(Kind::Wallet, &[&wrong, &segwit.replace("508d", "508e"), &burnt, &"3".repeat(34)]);
}

#[test]
fn what_only_the_words_say_is_not_sure() {
    let sure = |text: &str| whole(text.as_bytes()).first().map(|found| found.sure);
    assert_eq!(sure("+1 415 555 0132"), Some(true));
    assert_eq!(sure("call me on 555 0123"), Some(false));
    assert_eq!(sure("123-45-6788"), Some(true));
    assert_eq!(sure("ssn 123456788"), Some(false));
}
