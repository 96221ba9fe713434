//! What this crate recognises by code, since no pattern can.

use serde::Deserialize;

use crate::{pii::Kind, rule::Confidence};

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
    /// The kind of personal data that it is about.
    pub(crate) const fn kind(self) -> Option<Kind> {
        Some(match self {
            Self::Email => Kind::Email,
            Self::CreditCard => Kind::Card,
            Self::Iban => Kind::Iban,
            Self::Phone => Kind::Phone,
            Self::UsSsn => Kind::Ssn,
            Self::IpAddress => Kind::Ip,
            Self::MacAddress => Kind::Mac,
            Self::CryptoWallet => Kind::Wallet,
            Self::PrivateKey | Self::Name => return None,
        })
    }

    pub(crate) const fn confidence(self) -> Confidence {
        match self {
            Self::Phone | Self::Name => Confidence::Low,
            Self::UsSsn | Self::IpAddress | Self::MacAddress => Confidence::Medium,
            _ => Confidence::High,
        }
    }
}
