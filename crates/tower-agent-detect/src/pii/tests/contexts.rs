use super::{assert_finds, assert_no};
use crate::pii::Kind;

/// Texts in which what stands around decides, for the tests of pieces, too.
pub(super) const ADDRESSES: &[(&str, &[&str])] = &[
    ("listen on 1.2.3.4", &["1.2.3.4"]),
    ("client_ip = \"5.6.7.8\"", &["5.6.7.8"]),
    ("remoteAddr: 5.6.7.8", &["5.6.7.8"]),
    ("1.2.3.4:8080 or 1.2.3.0/24", &["1.2.3.4", "1.2.3.0/24"]),
    ("http://5.6.7.8/x root@5.6.7.8", &["5.6.7.8", "5.6.7.8"]),
    ("5.6.7.8 - - [10/Mar/2024:13:55:36 +0000]", &["5.6.7.8"]),
    ("8.8.8.8 and 8.8.4.4, 1.1.1.1", &["8.8.8.8", "8.8.4.4", "1.1.1.1"]),
    ("10.0.0.1, 127.0.0.1, 0.0.0.0", &["10.0.0.1", "127.0.0.1", "0.0.0.0"]),
    ("the OID 2.5.4.3 of 203.0.113.9", &["203.0.113.9"]),
    ("Forwarded/127.0.0.1", &["127.0.0.1"]),
    ("the host ::2, and [::2]:80, ::4/126", &["::2", "::2", "::4/126"]),
    ("0.255.255.255", &["0.255.255.255"]),
    ("ip:2001:db8::1", &["2001:db8::1"]),
];

pub(super) const HARDWARE: &[(&str, &[&str])] = &[
    ("mac:00:1b:63:84:45:e6", &["00:1b:63:84:45:e6"]),
    ("hw:00:1b:63:84:45:e6 :00:1b:63:84:45:e7", &["00:1b:63:84:45:e6", "00:1b:63:84:45:e7"]),
    ("地址：00:1b:63:84:45:e6", &["00:1b:63:84:45:e6"]),
    ("if:\n00:1b:63:84:45:e6", &["00:1b:63:84:45:e6"]),
    ("port 0a1b.00:1b:63:84:45:e6", &["00:1b:63:84:45:e6"]),
    ("port 0a-00:1b:63:84:45:e6", &["00:1b:63:84:45:e6"]),
];

pub(super) const LOGINS: &[(&str, &[&str])] = &[
    ("mailto:me@example.com", &["me@example.com"]),
    ("https://example.com/users/me@example.com", &["me@example.com"]),
    ("https://example.com,me@example.com", &["me@example.com"]),
    ("https://example.com/?to=me@example.com", &["me@example.com"]),
    ("//me@example.com", &["me@example.com"]),
    ("dev@openssh.com", &["dev@openssh.com"]),
    ("/users/4155550123@example.com", &["4155550123@example.com"]),
];

pub(super) const NUMBERS: &[(&str, &[&str])] = &[
    ("charge(4111111111111111, 12, 2030)", &["4111111111111111"]),
    ("[4111111111111111,\n 5555555555554444]", &["4111111111111111", "5555555555554444"]),
    ("Jo,4111111111111111,1705321296789", &["4111111111111111"]),
    ("2200770212727079", &["2200770212727079"]),
    ("cards: [2200770212727079, 1259582250014073]", &["2200770212727079"]),
];

pub(super) const CALLS: &[(&str, &[&str])] = &[
    ("Phone\n555 0123", &["555 0123"]),
    ("My mobile:\n5555550123", &["5555550123"]),
    ("+41-44-555-01-02", &["+41-44-555-01-02"]),
];

#[test]
fn what_may_count_versions_needs_a_sign_that_it_is_an_address() {
    assert_finds(Kind::Ip, ADDRESSES);
    assert_no(
        Kind::Ip,
        &[
            "1.2.3.4",
            "update from 1.2.3.4 to 1.2.3.5",
            "rv:1.9.2.3",
            "Chrome/120.0.0.0 Safari",
            "AssemblyVersion(\"4.45.0.0\")",
            "see 7.1.2.1 and 4.2.1.10",
            "§4.2.1.9, § 8.8.3.2",
            "RFC 5280 4.2.1.9",
            "section 110.4.1.2",
            "0.0.0.100",
        ],
    );
}

#[test]
fn object_identifiers_are_no_addresses() {
    assert_no(
        Kind::Ip,
        &[
            "\"2.5.4.52\"",
            "id-ce-subjectAltName 2.5.29.17",
            "OBJECT_IDENTIFIER { 1.3.101.112 }",
            "/* 1.3.6.1 (OBJ_iana) */",
            "OID 203.0.113.9",
            "szOID_STREET_ADDRESS: &'static str = \"2.5.4.9\"",
            "/* 2.23.133.8 */",
        ],
    );
}

#[test]
fn two_colons_and_a_number_are_an_address_where_something_says_so() {
    assert_no(Kind::Ip, &["+12 ::34", "http://example.org/foo/::23"]);
}

#[test]
fn a_row_of_pairs_that_begins_in_the_line_before_is_no_address() {
    assert_finds(Kind::Mac, HARDWARE);
    assert_no(
        Kind::Mac,
        &[
            "  12:34:\n  f4:8e:da:ce:91:5f",
            "\"    12:34:\\n\"\n      \"    f4:8e:da:ce:91:5f\\n\"",
            "2001:00:1b:63:84:45:e6",
        ],
    );
}

#[test]
fn those_who_log_in_ciphers_and_messages_have_no_address_of_mail() {
    assert_finds(Kind::Email, LOGINS);
    assert_no(
        Kind::Email,
        &[
            "redis://jo:hunter2@cache.example.com:6379/0",
            "rediss://:hunter2@cache.example.com",
            "ftp://jo@example.com",
            r"http:\/\/jo:hunter2@example.com",
            "irc://àlex:àlex@example.com",
            "chacha20-poly1305@openssh.com",
            "curve25519-sha256@libssh.org",
            "https://lore.example.org/r/20200429211641.9279-8-jo@example.com/",
        ],
    );
}

#[test]
fn cards_in_tables_of_numbers_are_none() {
    assert_finds(Kind::Card, NUMBERS);
    assert_no(
        Kind::Card,
        &[
            "1666970227868664, 374555092627893\n",
            "374555092627893, 1259582250014073,",
            "f(5503284107318959, 446, 11, 11270725851789228032)",
            "301289933810280",
            "[0, 3906250000000000, 0]",
        ],
    );
}

#[test]
fn a_word_that_ends_a_line_calls_for_no_number_unless_it_is_a_label() {
    assert_finds(Kind::Phone, CALLS);
    assert_no(
        Kind::Phone,
        &["26269363|Some Mobile\n26269364|Some Mobile", "+262142-12-31", "-0.02658 3.64478,"],
    );
}

#[test]
fn more_digits_behind_a_space_make_a_social_security_number_none() {
    assert_no(Kind::Ssn, &["045 55 1234 5678", "011 44 7912 345 678", "ISSN 02110-1301"]);
}
