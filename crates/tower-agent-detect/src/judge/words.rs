//! Words that tell names and values apart. All are lower-case; lists that are searched are sorted.

/// Whether a word stands in a sorted list, in any case.
pub(super) fn lists(list: &[&str], word: &[u8]) -> bool {
    let lower = |byte: &u8| byte.to_ascii_lowercase();
    list.binary_search_by(|entry| entry.bytes().cmp(word.iter().map(lower))).is_ok()
}

/// Phrases of two bytes or more, in lower case, any of which may stand anywhere.
pub(super) struct Phrases {
    list: &'static [&'static [u8]],
    /// Which bytes come first and second in any of them, without their highest bits.
    first: u128,
    second: u128,
}

impl Phrases {
    const fn new(list: &'static [&'static [u8]]) -> Self {
        let (mut first, mut second) = (0, 0);
        let mut rest = list;
        while let [phrase, others @ ..] = rest {
            if let [one, two, ..] = phrase {
                first |= bit(*one);
                second |= bit(*two);
            }
            rest = others;
        }
        Self { list, first, second }
    }

    /// Whether one of them stands in a text, in any case.
    pub(super) fn stand_in(&self, text: &[u8]) -> bool {
        let mut rest = text;
        while let [one, behind @ ..] = rest {
            let one = one.to_ascii_lowercase();
            let two = behind.first().map_or(0, u8::to_ascii_lowercase);
            // Comparing two bytes first is what makes this fast.
            let stands_here = |phrase: &&[u8]| {
                matches!(phrase, [first, second, ..] if *first == one && *second == two)
                    && begins_with(rest, phrase)
            };
            if self.first & bit(one) != 0
                && self.second & bit(two) != 0
                && self.list.iter().any(stands_here)
            {
                return true;
            }
            rest = behind;
        }
        false
    }
}

const fn bit(byte: u8) -> u128 {
    1 << (byte & 127)
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
pub(super) const STAND_INS: Phrases = Phrases::new(&[
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
pub(super) const ALGORITHMS: &[&str] = &[
    "aes", "argon2", "aria", "base64", "bcrypt", "blowfish", "camellia", "chacha20", "des",
    "ecdsa", "ed25519", "es256", "hkdf", "hmac", "hs256", "md5", "pbe", "pbkdf2", "rs256", "rsa",
    "scram", "scrypt", "sha1", "sha224", "sha256", "sha3", "sha384", "sha512", "sm4", "tls",
    "utf8", "x25519", "xchacha20", "xsalsa20",
];

/// Endings of the names of files that hold secrets or programs.
#[rustfmt::skip]
pub(super) const FILES: &[&str] = &[
    "cer", "cfg", "com", "conf", "crt", "csv", "db", "env", "go", "html", "ini", "java", "jks",
    "js", "json", "key", "md", "org", "p12", "pem", "pfx", "php", "properties", "py", "rb", "rs",
    "sh", "toml", "ts", "txt", "xml", "yaml", "yml",
];

/// Signs of texts that variables are put into, of regular expressions, of addresses and of what is masked.
#[rustfmt::skip]
pub(super) const SIGNS: Phrases = Phrases::new(&[
    b"${", b"#{", b"{{", b"$(", b"<%", b"%(", b"%{", b"%s", b"{}", b"process.env", b"environ",
    b"getenv", b"[a-z", b"[0-9", b"[^", b"(?", b"\\d", b"\\w", b"\\s", b".*", b".+", b"://",
    b"\xE2\x80\xA6", b"\xE2\x80\xA2\xE2\x80\xA2", b"[redacted",
]);

/// What names of secrets have in them.
#[rustfmt::skip]
pub(super) const TELLING: Phrases = Phrases::new(&[
    b"password", b"passwd", b"passphrase", b"secret", b"token", b"apikey", b"api_key", b"api-key",
    b"credential",
]);
