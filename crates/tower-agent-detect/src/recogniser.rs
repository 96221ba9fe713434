//! What this crate recognises by code, since no pattern can.

use serde::Deserialize;

use crate::rule::Confidence;

/// Names the code behind a rule.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Recogniser {
    Email,
    CreditCard,
    Iban,
    Phone,
    UsSsn,
    IpAddress,
    MacAddress,
    CryptoWallet,
    /// A private-key block, from BEGIN to END.
    PrivateKey,
    /// The value of a name that by itself says that it is secret.
    Name,
}

impl Recogniser {
    pub(crate) const fn confidence(self) -> Confidence {
        match self {
            Self::Phone | Self::Name => Confidence::Low,
            Self::UsSsn | Self::IpAddress | Self::MacAddress => Confidence::Medium,
            _ => Confidence::High,
        }
    }
}
