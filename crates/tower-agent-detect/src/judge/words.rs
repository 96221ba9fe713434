//! Words that tell names and values apart. All are lower-case; lists that are searched are sorted.

/// Whether a word stands in a sorted list, in any case.
pub(super) fn lists(list: &[&str], word: &[u8]) -> bool {
    let lower = |byte: &u8| byte.to_ascii_lowercase();
    list.binary_search_by(|entry| entry.bytes().cmp(word.iter().map(lower))).is_ok()
}

/// Phrases of two bytes or more, in lower case.
pub(super) struct Phrases {
    list: &'static [&'static [u8]],
    /// For each byte that comes second in one of them, in any case, which may come first, by six of their bits.
    pairs: [u64; 256],
    /// The same of those that come third, and second.
    thirds: [u64; 256],
}

/// How many pairs of bytes are looked at together.
const TOGETHER: usize = 16;

impl Phrases {
    const fn new(list: &'static [&'static [u8]]) -> Self {
        let (mut pairs, mut thirds) = ([0; 256], [0; 256]);
        let mut rest = list;
        while let [phrase, others @ ..] = rest {
            match phrase {
                [one, two, three, ..] => {
                    put(&mut pairs, *one, *two);
                    put(&mut thirds, *two, *three);
                }
                [one, two] => {
                    put(&mut pairs, *one, *two);
                    put_any(&mut thirds, *two);
                }
                _ => {}
            }
            rest = others;
        }
        Self { list, pairs, thirds }
    }

    /// Whether one of them stands in a text, in any case.
    pub(super) fn stand_in(&self, text: &[u8]) -> bool {
        let mut rest = text;
        while rest.len() > 1 {
            let part = rest.get(..=TOGETHER).unwrap_or(rest);
            // Without a branch, since most texts have none of the pairs.
            let any = part.array_windows().fold(0, |any, pair| any | self.pair(*pair));
            if any != 0 && self.begin_in(part, rest) {
                return true;
            }
            rest = rest.get(TOGETHER..).unwrap_or_default();
        }
        false
    }

    /// Whether a text begins with one of them, in any case.
    pub(super) fn begin(&self, text: &[u8]) -> bool {
        let likely = text.first_chunk().is_some_and(|pair| self.pair(*pair) != 0);
        likely && self.list.iter().any(|phrase| begins_with(text, phrase))
    }

    #[inline]
    fn pair(&self, [one, two]: [u8; 2]) -> u64 {
        self.pairs.get(usize::from(two)).map_or(0, |first| first >> (one & 63) & 1)
    }

    /// Whether one of them begins in the first part of a text.
    #[inline(never)]
    fn begin_in(&self, part: &[u8], text: &[u8]) -> bool {
        let pairs = part.array_windows().enumerate();
        let mut begin = pairs.filter(|(_, pair)| self.pair(**pair) != 0);
        begin.any(|(at, [one, two])| {
            let rest = text.get(at..).unwrap_or_default();
            let third = rest.get(2).copied().unwrap_or_default();
            if self.thirds.get(usize::from(third)).is_none_or(|it| it & bit(*two) == 0) {
                return false;
            }
            let (one, two) = (one.to_ascii_lowercase(), two.to_ascii_lowercase());
            // Comparing two bytes first is what makes this fast.
            let stands_here = |phrase: &&[u8]| {
                matches!(phrase, [first, second, ..] if *first == one && *second == two)
                    && begins_with(rest, phrase)
            };
            self.list.iter().any(stands_here)
        })
    }
}

const fn bit(byte: u8) -> u64 {
    1 << (byte & 63)
}

/// Notes that one byte may stand before another one, both in any case.
#[expect(clippy::indexing_slicing, reason = "there is an entry for every byte")]
const fn put(table: &mut [u64; 256], one: u8, next: u8) {
    let before = bit(one) | bit(one.to_ascii_uppercase());
    table[next as usize] |= before;
    table[next.to_ascii_uppercase() as usize] |= before;
}

/// Notes that a byte may stand before any, in any case.
const fn put_any(table: &mut [u64; 256], one: u8) {
    let mut next = 0;
    while next < u8::MAX {
        put(table, one, next);
        next += 1;
    }
    put(table, one, next);
}

/// Whether a text ends with a lower-case word, in any case.
pub(super) fn ends_with(text: &[u8], word: &[u8]) -> bool {
    text.len()
        .checked_sub(word.len())
        .and_then(|at| text.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// Whether a text begins with a lower-case word, in any case.
pub(super) fn begins_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}

/// What may follow the telling word of a name without changing what it names.
#[rustfmt::skip]
pub(super) const TAILS: &[&str] = &[
    "b64", "base", "base64", "current", "dev", "env", "hex", "live", "local", "main", "new",
    "old", "plain", "plaintext", "prod", "production", "raw", "sandbox", "staging", "test", "v",
    "val", "value",
];

/// Words before the telling word that make it a name of something else.
#[rustfmt::skip]
pub(super) const OTHER: &[&str] = &[
    "allow", "any", "bad", "bos", "cancel", "cancellation", "change", "check", "cls", "confirm",
    "continuation", "count", "disable", "disabled", "enable", "enabled", "end", "eos", "err",
    "error", "expected", "forgot", "has", "help", "hide", "hint", "incorrect", "input", "invalid",
    "is", "label", "mask", "max", "message", "min", "missing", "msg", "next", "no", "num",
    "output", "pad", "page", "paging", "placeholder", "prompt", "public", "require", "required",
    "reset", "sep", "show", "special", "start", "stop", "sync", "text", "title", "toggle",
    "total", "unexpected", "unk", "verify", "without", "wrong",
];

/// Words before `key` that make it a secret.
#[rustfmt::skip]
pub(super) const KEYS: &[&str] = &[
    "access", "account", "admin", "aes", "api", "app", "auth", "cipher", "client", "consumer",
    "crypto", "cryptography", "decryption", "deploy", "encryption", "hmac", "integration", "jwt",
    "license", "master", "priv", "private", "secret", "security", "service", "session", "shared",
    "sign", "signature", "signing", "ssh", "storage", "subscription", "webhook",
];

/// Words before `token` that make it a credential.
#[rustfmt::skip]
pub(super) const TOKENS: &[&str] = &[
    "access", "admin", "api", "app", "auth", "authentication", "bearer", "bot", "deploy", "git",
    "github", "gitlab", "hf", "id", "identity", "jwt", "npm", "oauth", "personal", "private",
    "pypi", "refresh", "security", "service", "session", "slack", "user", "vault",
];

/// Names that end in a telling word by chance.
#[rustfmt::skip]
pub(super) const CHANCE: &[&str] = &[
    "bypass", "compass", "nosecret", "overpass", "trespass", "underpass",
];

/// Values that are none: types, flags, stand-ins and what forms and manuals say.
#[rustfmt::skip]
pub(super) const NONE: &[&str] = &[
    "&str", "abstract", "and", "any", "arg", "args", "argument", "arguments", "array",
    "asterisks", "async", "auth", "await", "bar", "base64", "basic", "baz", "bearer", "blank",
    "bool", "boolean", "box", "buffer", "byte", "bytes", "cdata", "changeit", "changeme", "char",
    "config", "const", "cookie", "credential", "credentials", "data", "decimal", "default",
    "derived", "dict", "digest", "disable", "disabled", "double", "dummy", "empty", "enable",
    "enabled", "encrypted", "enum", "env", "environment", "error", "errors", "example",
    "external", "fail", "failed", "fake", "false", "field", "file", "final", "fixme", "flag",
    "flags", "float", "float32", "float64", "fn", "foo", "foobar", "for", "form", "from", "func",
    "function", "get", "has", "hash", "hashed", "header", "headers", "hex", "hidden", "i16",
    "i32", "i64", "identifier", "if", "import", "in", "incorrect", "input", "insert", "instance",
    "int", "int32", "int64", "integer", "internal", "invalid", "is", "it", "jwt", "key",
    "keyring", "keys", "let", "line", "list", "local", "long", "manual", "map", "masked", "max",
    "md5", "missing", "mock", "must", "mysql", "n/a", "name", "never", "new", "nil", "no", "none",
    "not", "null", "nullptr", "number", "oauth", "oauth2", "object", "of", "off", "oidc", "ok",
    "omit", "omitted", "on", "op", "opaque", "option", "optional", "options", "or", "parameter",
    "parameters", "pass", "passed", "password", "pattern", "placeholder", "plain", "plaintext",
    "post", "private", "prompt", "protected", "public", "query", "random", "read", "readonly",
    "record", "redacted", "removed", "request", "required", "response", "result", "return",
    "same", "sample", "secret", "self", "sensitive", "session", "set", "setting", "sha1",
    "sha256", "sha512", "some", "static", "stdin", "str", "string", "strings", "struct",
    "success", "super", "tbd", "test", "text", "that", "the", "this", "to", "todo", "token",
    "true", "tuple", "type", "u128", "u16", "u32", "u64", "u8", "uint32", "uint64", "undefined",
    "unknown", "unset", "use", "used", "user", "usize", "utf8", "uuid", "value", "values", "var",
    "variable", "vec", "void", "was", "when", "whether", "will", "with", "write", "wrong", "yes",
    "your",
];

/// Parts of stand-ins, such as `your-key-here`.
#[rustfmt::skip]
pub(super) static STAND_INS: Phrases = Phrases::new(&[
    b"your", b"change_me", b"changeme", b"change-me", b"change this", b"changethis", b"replace",
    b"placeholder", b"example", b"insert", b"todo", b"fixme", b"dummy", b"redacted", b"masked",
    b"filtered", b"omitted", b"_here", b"-here", b" here", b"enter_", b"enter-", b"enter ",
    b"not_set", b"notset", b"not-set", b"not set",
]);

/// Words of forms and messages, which are in no secret of several words.
#[rustfmt::skip]
pub(super) const PROSE: &[&str] = &[
    "an", "and", "are", "as", "be", "been", "by", "can", "cannot", "choose", "confirm", "could",
    "enter", "field", "for", "forgot", "from", "has", "have", "if", "in", "incorrect", "invalid",
    "is", "it", "least", "missing", "must", "new", "no", "not", "of", "on", "or", "passphrase",
    "password", "please", "required", "reset", "secret", "should", "that", "this", "to", "token",
    "tokens", "use", "used", "using", "was", "when", "will", "with", "wrong", "you", "your",
];

/// How the names of ciphers, hashes and forms of encryption begin; values under telling names may name one.
#[rustfmt::skip]
pub(super) static ALGORITHMS: Phrases = Phrases::new(&[
    b"aes", b"argon2", b"aria", b"base64", b"bcrypt", b"blowfish", b"camellia", b"chacha20",
    b"des", b"ecdsa", b"ed25519", b"es256", b"hkdf", b"hmac", b"hs256", b"md5", b"pbe", b"pbkdf2",
    b"rs256", b"rsa", b"scram", b"scrypt", b"sha1", b"sha224", b"sha256", b"sha3", b"sha384",
    b"sha512", b"sm4", b"tls", b"utf8", b"x25519", b"xchacha20", b"xsalsa20",
]);

/// Endings of the names of files that hold secrets or programs.
#[rustfmt::skip]
pub(super) const FILES: &[&str] = &[
    "cer", "cfg", "com", "conf", "crt", "csv", "db", "env", "go", "html", "ini", "java", "jks",
    "js", "json", "key", "md", "org", "p12", "pem", "pfx", "php", "properties", "py", "rb", "rs",
    "sh", "toml", "ts", "txt", "xml", "yaml", "yml",
];

/// Signs of texts that variables are put into, of regular expressions, of addresses and of what is masked.
#[rustfmt::skip]
pub(super) static SIGNS: Phrases = Phrases::new(&[
    b"${", b"#{", b"{{", b"$(", b"<%", b"%(", b"%{", b"%s", b"{}", b"process.env", b"environ",
    b"getenv", b"[a-z", b"[0-9", b"[^", b"(?", b"\\d", b"\\w", b"\\s", b".*", b".+", b"://",
    b"\xE2\x80\xA6", b"\xE2\x80\xA2\xE2\x80\xA2", b"[redacted",
]);

/// What names of secrets have in them.
#[rustfmt::skip]
pub(super) static TELLING: Phrases = Phrases::new(&[
    b"password", b"passwd", b"passphrase", b"secret", b"token", b"apikey", b"api_key", b"api-key",
    b"credential",
]);
