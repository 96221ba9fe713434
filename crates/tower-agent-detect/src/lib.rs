//! Finds secrets and personal data in text, whole or streamed, and masks them.
//!
//! ```
//! use tower_agent_detect::Detector;
//!
//! let detector = Detector::builtin();
//! let text = r#"{"user": "mara", "password": "hunter2"}"#;
//! assert_eq!(detector.mask(text), r#"{"user": "mara", "password": "[REDACTED:generic-password]"}"#);
//! ```
//!
//! With a choice of rules, rules of one's own and another mask:
//!
//! ```
//! use tower_agent_detect::{Detector, Mask, Set};
//!
//! let detector = Detector::builder()
//!     .set(Set::Pii)
//!     .without(["ip-address"])
//!     .allow_values(["press@example.com"])
//!     .rules_toml(r#"
//!         [[rule]]
//!         id = "badge"
//!         description = "Number of a badge"
//!         keywords = ["badge-"]
//!         pattern = 'badge-[0-9]{6}'
//!     "#)
//!     .build()?;
//! let text = "badge-123456, mara@example.com or press@example.com, card 4111 1111 1111 1111";
//! let masked = "****, ****.com or press@example.com, card ****1111";
//! assert_eq!(detector.mask_with(text, &Mask::keep_last(4)), masked);
//! # Ok::<_, tower_agent_detect::RuleError>(())
//! ```
//!
//! # What is found
//!
//! The [rules](Detector::rules) are data. Those of this crate know some 680 kinds of credentials, each written from the
//! public format of its provider, and e-mail addresses, card numbers, IBANs, telephone numbers, US social security
//! numbers, IP and hardware addresses and wallets. A value is known
//! - by its own form: a prefix and a length (`ghp_` and 36 letters and digits), or check digits;
//! - by the name that it is given to, and its form: `ADAFRUIT_IO_KEY = ".."`;
//! - by a name that says enough: `password: ..`, `"client_secret": ".."`, `--token ..`, `<password>..</password>`; such a value
//!   may be of any length. Of a value that is known by its form, as much is masked as the rule says, some kilobytes at most.
//!
//! Text is read as a person or a model reads it: characters of no width do not count (unless more than eight stand in a
//! row), wide ones are plain ones, and one level of percent escapes or Base64 is read through. What is masked is always
//! the text as it is written.
//!
//! # What it costs
//!
//! A text without anything to find is read a few times, a block of bytes at once; on one core that was 500 to 1140 MB/s with the
//! credentials and 300 to 850 MB/s with everything, logs full of numbers and texts of 200 bytes being the slowest. Every look is
//! bounded, so that the time is linear in the text, whoever wrote it; but a text made of nothing but the beginnings of values can
//! cost a tenth of a µs a byte, and more than half a µs where it comes in small pieces.
//!
//! # What cannot be found
//!
//! A value that somebody took apart, turned around or encrypted; one that stands alone and has no form of its own. Who
//! is able to choose how a value is written can get it past any detector: this one keeps secrets from leaking by
//! accident, and is no wall against a party that wants to send them.

mod aside;
mod assign;
#[cfg(feature = "__bench")]
#[doc(hidden)]
pub mod bench;
mod bits;
mod buffer;
mod check;
mod decode;
mod detector;
mod engine;
mod filter;
mod follow;
mod group;
mod json;
mod judge;
mod key_block;
mod keyed;
mod machine;
mod mask;
mod matcher;
mod personal;
mod pii;
mod recogniser;
mod rule;
mod runs;
mod search;
mod seen;
mod span;
mod stream;
mod tail;
mod text;
mod trail;
mod tree;
mod vault;
mod view;

pub use self::{
    detector::{Builder, Detector, Finding},
    mask::{Mask, Masked},
    rule::{Confidence, Rule, RuleError, Set},
    stream::StreamRedactor,
    vault::{UnknownPlaceholder, Vault},
};
