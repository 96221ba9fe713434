use proptest::prelude::*;

use super::*;
use crate::text::End;

fn generic(text: &Text<'_>, word: usize, start: usize, end: usize) -> (Verdict, &'static str) {
    super::generic(text, word, (start, end), &mut Trails::default())
}

fn judged(text: &Text<'_>, word: usize, start: usize, end: usize) -> Verdict {
    generic(text, word, start, end).0
}

/// All finds in a text, by each occurrence of a name.
fn finds(text: &Text<'_>) -> Vec<(usize, usize)> {
    let mut finds: Vec<_> = hits(text.bytes())
        .into_iter()
        .filter_map(|(word, start, end)| match judged(text, word, start, end) {
            Verdict::Found(start, end) => Some((start, end)),
            _ => None,
        })
        .collect();
    finds.sort_unstable();
    finds.dedup();
    finds
}

fn hits(bytes: &[u8]) -> Vec<(usize, usize, usize)> {
    let mut hits = Vec::new();
    for (word, name) in NAMES.iter().enumerate() {
        for start in 0..bytes.len() {
            let end = start + name.len();
            if bytes.get(start..end).is_some_and(|part| part.eq_ignore_ascii_case(name.as_bytes()))
            {
                hits.push((word, start, end));
            }
        }
    }
    hits
}

fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut from = 0;
    for (start, end) in finds(&Text::whole(text.as_bytes())) {
        if start >= from {
            masked += text.get(from..start).unwrap();
            masked.push('•');
            from = end;
        }
    }
    masked + text.get(from..).unwrap()
}

/// A generated value, so that none stands in this file.
fn generated(length: usize, letters: &[u8]) -> String {
    let mut state = 12_345_u32;
    let next = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        char::from(letters[(state >> 16) as usize % letters.len()])
    };
    std::iter::repeat_with(next).take(length).collect()
}

const HEX: &[u8] = b"0123456789abcdef";
const MIXED: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Texts with `•` for what is masked, and the value that stands there.
const FIXED: &[(&str, &str)] = &[
    ("password=•", "hunter2"),
    ("\"password\": \"•\"", "hunter2"),
    ("{\\\"password\\\": \\\"•\\\"}", "hunter2"),
    ("password: \"•\"", "correct horse battery staple"),
    ("DB_PASSWORD=•", "swordfish"),
    ("db.password: •\nport: 1", "swordfish"),
    ("db:\n  password: •\n", "swordfish"),
    ("pwd=•;", "p@ss:w0rd"),
    ("mysql --password • x", "hunter2"),
    ("<password>•</password>", "hunter2"),
    ("<Password type=\"x\">•</Password>", "swordfish"),
    ("api-key: •", "abcdef0123456789abcd"),
    ("my password is •", "hunter2"),
    ("My password is: •!", "hunter2"),
    ("client_secret=• and more", "abc"),
    ("{\"secret\":\"•\"}\n{\"x\":\"c\"}", "a b"),
    ("{\"apiKey\":\"•\"}", "abc"),
    ("{ \"z\": 1.50, \"password\" : \"•\", \"a\": [ ] }", "x"),
    ("password = \"•\" # comment", "two words"),
    ("DB_PASS='•'; x", "two words"),
    ("password = \"•", "two words"),
    ("user: mara\npassword: •\nport: 5432", "hunter2"),
    ("{\"msg\":\"password=•\",\"ok\":true}", "hunter2"),
    ("{\"body\":\"{\\\"password\\\":\\\"•\\\",\\\"n\\\":1}\"}", "hunter2"),
    ("GET /x?user=mara&password=•&page=2", "hunter2"),
    ("Server=db;Password=•;Port=1", "hunter2"),
    ("{user=mara, password=•}", "hunter2"),
    ("Authorization: Bearer •", "abc.def"),
    ("{\"Authorization\": \"Basic •\"}", "dXNlcjpwYXNz"),
    ("password = \"•\"", "MyPassword123!"),
    ("encrypted_password: \"•\"", "hunter2"),
    ("  service-pw: •\n)", "Qv7D0LXCM3EI"),
    ("password: |\n  •\nnext: x", "hunter2"),
    ("const PASSWORD: &str = \"•\";", "hunter2"),
    ("- name: DB_PASSWORD\n  value: •\n", "hunter2"),
    ("{\"name\": \"DB_PASSWORD\", \"value\": \"•\"}", "swordfish"),
    ("<add key=\"Password\" value=\"•\" />", "CleartextPassword1"),
    ("ALTER USER u WITH PASSWORD '•';", "hunter2"),
    ("CREATE USER u IDENTIFIED BY '•'", "hunter2"),
    ("os.environ[\"PASSWORD\"] = \"•\"", "hunter2"),
    ("if password == \"•\" {", "hunter2"),
    ("pass: '•',", "hunter2"),
    ("password='•'", "don''t 1"),
    ("PGPASSWORD=• psql", "hunter2"),
    ("set(\"password\", \"•\")", "hunter2"),
    ("[\"--password\", \"•\"]", "hunter2"),
    ("os.environ.get('DB_PASSWORD') || '•'", "hunter2"),
    ("password := `•`", "hunter2"),
    ("db_password = •", "hunter2"),
    ("JWT_SECRET=•", "mysecretvalue"),
    ("password = \"•\"", "rootpasswd"),
    ("app.secret_key = \"•\"", "dev-key-123"),
    ("{\"auth\": \"•\"}", "dXNlcjpwYXNzd29yZDEyMw=="),
    ("PASSWORD=•\nx", "Password1"),
    ("password: •", "пароль1"),
    ("éapi-key: •", "Abcd0Efgh1Ijkl2Mnop3é"),
    ("{\"password\":\"•\"}", "a\\\"b\\\\"),
    ("password=•\\nnext", "hunter2"),
];

/// The same, and more with generated values.
fn masks() -> Vec<(String, String)> {
    let (hex, mixed) = (generated(40, HEX), generated(32, MIXED));
    let mut masks: Vec<_> =
        FIXED.iter().map(|(text, value)| ((*text).to_owned(), (*value).to_owned())).collect();
    for text in [
        "token = \"•\"",
        "secret_key_base: •",
        "AWS_SECRET_ACCESS_KEY=•\nHOME=/root",
        "\"client_secret\": \"•\"",
        "{\"max_tokens\":4096,\"next_page_token\":\"cGFnZS0y\",\"auth_token\":\"•\"}",
        "X-Api-Key: •",
        "starting, finnhub_token: • region=eu",
        "curl -H 'bearer •'",
        "éapi-key: •",
        "密钥api-key: •。",
        "AccountKey=•;Suffix=x",
        "api_key => '•',",
        "const API_KEY: &str =\n    \"•\";",
        "headers.insert(\"authorization\", \"Bearer •\")",
        "--token •",
        "\"privateKey\": \"•\"",
        "the api key is •.",
        "setToken(\"•\")",
        "PHPSESSID=•; path=/",
        "_authToken=•",
    ] {
        masks.push((text.to_owned(), hex.clone()));
        masks.push((text.to_owned(), mixed.clone()));
    }
    masks
}

const KEEPS: &[&str] = &[
    "        --password=PASSWORT     PASSWORT als Passwort",
    "const char* test_password = \"test_password\\n\";",
    "{\"secret\": \"data-of-jo\"}",
    "headers[\"authorization\"], \"Bearer Hold my bear\"",
    "header(AUTHORIZATION, \"Bearer 69420\")",
    "pub const NO_SECRET: WIN32_ERROR = 1786u32;",
    "pub const OID_PASSWORD: &str = \"2.5.4.35\";",
    "MATCH_PASS = 0x04,",
    "JWT bearer token authentication.",
    "Authorization: Basic authentication.",
    "\"rules.x.secret\": \"generated_file\"",
    "client_secret=\" + finding[\"secret\"] + \"&x=\"",
    "[\"trust\", \"password\", \"scram-sha-256\"]",
    "\"secret\": \"^[a-z0-9]{80}$\"",
    "--username and --password options\n",
    "private_key: Curve25519SeedBin<'_>",
    "OpenPrivateKey: SslOpenPrivateKeyFn,",
    "API_KEY=00000000-0000-0000-0000-000000000000",
    "max_tokens: 4096",
    "\"max_tokens\": 100",
    "risk-adjusted",
    "Secretary: Jane Doe",
    "the secret: never give up",
    "The secret: never give up. Password: required field. The password is wrong.",
    "password: String",
    "    password: String,",
    "let token = self.next_token();",
    "token: &str",
    "key: \"content-type\"",
    "password=os.environ[\"X\"]",
    "password: ${DB_PASSWORD}",
    "secret: ${{ secrets.TOKEN }}",
    "PASSWORD=$1",
    "<PASSWORD>",
    "password=****",
    "password: [REDACTED]",
    "[REDACTED:password]",
    "password=[REDACTED], Authorization: Bearer [REDACTED]",
    "token_type: bearer",
    "\"token\": null",
    "secret: true",
    "passwd: x",
    "root:x:0:0:root:/root:/bin/bash",
    "/etc/passwd: x",
    "auth: \"none\"",
    "if token == Token::Comma {",
    "Token::Ident => x,",
    "fn f(password: &str, token: Token1) -> Secret {",
    "password: string;",
    "function f(password: string, token?: string) {",
    "func f(password string, apiKey string) {",
    "void f(String password, String token)",
    "def f(password: str, token: str = None):",
    "csrf_token: csrfToken",
    "f(api_key=api_key, x=1)",
    "f(password=password)",
    "api_key: your_api_key_here",
    "key: insert_key_here",
    "password: xxx",
    "password: example",
    "password: ...",
    "password: TODO",
    "password: \"your_password\"",
    "{\"password\": null, \"secret\": \"\", \"n\": 1} password=None",
    "{\"password\": 12345, \"token\": 7}",
    "PWD=/home/mara\nOLDPWD=/tmp",
    "{\"properties\":{\"password\":{\"type\":\"string\"},\"api_key\":{\"type\":\"string\"}}}",
    "{\"password\":\"[REDACTED]\"}",
    "{\"password\": \"Enter your password\"}",
    "password = process.env.PASSWORD",
    "password: \"AES-256-GCM\"",
    "password: \"PBES2-HS256+A128KW\"",
    "password: \"{cipher}AQB4aLongEncryptedValue\"",
    "password: \"$ANSIBLE_VAULT;1.2;AES256;dev\"",
    "password: ENC[AES256_GCM,data:XYZ,iv:ABC]",
    "{\"max_tokens\":4096,\"usage\":{\"prompt_tokens\":812},\"tokenizer\":\"cl100k_base\",\"keyboard\":\"de\",\"next_page_token\":\"cGFnZS0y\"}",
    "per_layer_token_embd.weight: CPU",
    "password = password_from(user)",
    "self.password = password;",
    "this.password=value;",
    "secret: Secret<String>,",
    "password: hash,",
    "--password string   the password",
    "--token TOKEN",
    "token: tokenizer",
    "\"password\": \"password\"",
    "name=\"password\" type=\"password\"",
    "the password is base64-encoded",
    "password_policy: strict1",
    "secretKeyRef:\n  name: x1y2",
    "secret_name: abc123xyz789",
];

#[test]
fn what_is_a_secret_is_masked_whole_and_no_more() {
    for (text, value) in masks() {
        assert_eq!(masked(&text.replace('•', &value)), text, "with {value}");
    }
}

#[test]
fn what_is_none_stays() {
    for text in KEEPS {
        assert_eq!(masked(text), *text);
    }
}

/// Says of every place that what has come says the same as the whole, or waits and holds back all that may be masked.
fn assert_steady(text: &str, after_mask: bool, end: End) {
    for (word, start, behind) in hits(text.as_bytes()) {
        let whole = judged(&Text::new(text.as_bytes(), after_mask, end), word, start, behind);
        if let Verdict::Found(start, end) = whole {
            assert!(start < end && text.get(start..end).is_some(), "{text:?}");
        }
        for cut in behind..=text.len() {
            let part = Text::new(&text.as_bytes()[..cut], after_mask, End::More);
            match (judged(&part, word, start, behind), whole) {
                (Verdict::Undecided(place), Verdict::Found(start, _)) => {
                    assert!(place <= start, "{text:?} at {cut}");
                }
                (Verdict::Undecided(_), _) => {}
                (part, whole) => assert_eq!(part, whole, "{text:?} at {cut}"),
            }
        }
    }
}

fn samples() -> impl Iterator<Item = String> {
    let masks = masks().into_iter().map(|(text, value)| text.replace('•', &value));
    masks.chain(KEEPS.iter().map(|text| (*text).to_owned()))
}

#[test]
fn what_has_come_says_the_same_as_the_whole_or_waits() {
    for text in samples() {
        assert_steady(&text, false, End::Final);
    }
}

#[test]
fn what_stands_farther_back_makes_no_difference() {
    for text in samples() {
        for before in ["\n", " ", "<", "x", "-", "{\"a\":"] {
            let long = before.repeat(200) + &text;
            for (word, start, end) in hits(long.as_bytes()) {
                let cut = start.saturating_sub(Text::BEHIND);
                let near = Text::whole(&long.as_bytes()[cut..]);
                let near = match judged(&near, word, start - cut, end - cut) {
                    Verdict::Found(start, end) => Verdict::Found(start + cut, end + cut),
                    verdict => verdict,
                };
                let whole = Text::whole(long.as_bytes());
                assert_eq!(judged(&whole, word, start, end), near, "{long}");
            }
        }
    }
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "password", "token", "_key", "api", "--", "=", ": ", ":", "\"", "'", "\\", "\\\"", "\n", " ", "<",
    ">", "</", ",", "value", "Bearer ", "is ", "hunter2", "a1B2c3D4e5F6g7H8", "é", "•", "|", "[", "]",
    "(", ")", "{", "}", "$", "&str", "-", "x", ".", "'''",
];

proptest! {
    #[test]
    fn any_text_that_has_come_says_the_same_as_the_whole_or_waits(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 1..16),
        after_mask in any::<bool>(),
        masked in any::<bool>(),
    ) {
        let end = if masked { End::Masked } else { End::Final };
        assert_steady(&("password".to_owned() + &pieces.concat()), after_mask, end);
    }
}

#[test]
fn keys_of_structured_data_say_whether_their_values_are_secrets() {
    for key in [
        "access_token",
        "X-Api-Key",
        "clientSecret",
        "DB_PASSWORD",
        "slack_token",
        "token",
        "password",
        "apiKey",
        "secret_key_base",
        "privateKey",
        "Authorization",
        "aws_secret_access_key",
        "refreshToken",
        "pwd",
        "PGPASSWORD",
        "api_key2",
        "passwordValue",
        "cookie",
        "_authToken",
        "smtp_pass",
        "credentials",
        "secret",
    ] {
        assert!(is_sensitive_key(key), "{key}");
    }
    for key in [
        "max_tokens",
        "token_count",
        "tokenizer",
        "secretary",
        "password_policy",
        "passwordless",
        "next_page_token",
        "nextPageToken",
        "key",
        "keyboard",
        "public_key",
        "token_type",
        "expires_in",
        "secret_name",
        "secretKeyRef",
        "bypass",
        "primary_key",
        "password_hint",
        "has_password",
        "eos_token",
        "author",
        "",
        "_",
        "1",
    ] {
        assert!(!is_sensitive_key(key), "{key}");
    }
}

#[test]
fn values_of_structured_data_are_secrets_unless_they_are_plainly_none() {
    for value in ["x", "hunter2", "a b", "swordfish", "abc", "p@ss", "x1"] {
        assert!(is_secret_value(value, true), "{value}");
    }
    for value in [
        "",
        " ",
        "true",
        "null",
        "string",
        "/run/secrets/db",
        "${DB}",
        "****",
        "[REDACTED]",
        "your-key-here",
        "user_password",
    ] {
        assert!(!is_secret_value(value, true), "{value}");
    }
    assert!(is_secret_value("hunter2", false) && !is_secret_value("swordfish", false));
}

#[test]
fn lists_that_are_searched_are_sorted() {
    use words::{CHANCE, FILES, KEYS, NONE, OTHER, PROSE, TAILS, TOKENS};
    let lists = [CHANCE, FILES, KEYS, NONE, OTHER, PROSE, TAILS, TOKENS];
    for list in lists.into_iter().chain(structured::LISTS) {
        let unsorted = list.windows(2).find(|pair| pair[0] >= pair[1]);
        assert_eq!(unsorted, None);
    }
}

#[test]
fn a_text_of_names_only_costs_little_for_each() {
    // A verdict on a part that ends here has seen nothing behind it.
    let reach = 2 * MAX;
    for piece in [
        "key=",
        "token=",
        "token: ",
        "password\"",
        "\"password\":\"",
        "password ",
        "api_key=\\",
        "password is ",
    ] {
        let text = piece.repeat(2 * reach);
        for (word, start, end) in hits(&text.as_bytes()[..4_000]) {
            let part = Text::new(
                &text.as_bytes()[start.saturating_sub(Text::BEHIND)..end + reach],
                false,
                End::More,
            );
            let shift = start.saturating_sub(Text::BEHIND);
            let verdict = judged(&part, word, start - shift, end - shift);
            assert!(!matches!(verdict, Verdict::Undecided(_)), "{piece}");
        }
    }
}
