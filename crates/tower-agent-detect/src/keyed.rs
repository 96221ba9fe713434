//! Short names for values, which nobody can compute or check without the key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// HMAC-SHA-256 with its key.
#[derive(Clone)]
pub(crate) struct Keyed(Hmac<Sha256>);

impl Keyed {
    /// None for an empty key, with which everybody could compute the same.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        if key.is_empty() {
            return None;
        }
        Hmac::new_from_slice(key).ok().map(Self)
    }

    /// The first 8 bytes of the code of a value.
    pub(crate) fn tag(&self, value: &str) -> u64 {
        let mut mac = self.0.clone();
        mac.update(value.as_bytes());
        let code = mac.finalize().into_bytes();
        code.first_chunk().copied().map(u64::from_be_bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Keyed;

    #[test]
    fn a_tag_is_the_beginning_of_the_hmac_of_rfc_4231() {
        let tag = |key: &[u8], value| Keyed::new(key).unwrap().tag(value);
        assert_eq!(tag(&[0x0b; 20], "Hi There"), 0xb034_4c61_d8db_3853);
        assert_eq!(tag(b"Jefe", "what do ya want for nothing?"), 0x5bdc_c146_bf60_754e);
        let long = "Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(tag(&[0xaa; 131], long), 0x60e4_3159_1ee0_b67f);
    }

    #[test]
    fn an_empty_key_is_none() {
        assert!(Keyed::new(b"").is_none());
    }
}
