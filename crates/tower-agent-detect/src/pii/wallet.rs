//! Addresses of wallets of crypto currencies.

use sha2::{Digest, Sha256};

use super::scan::{Unknown, begins_word, ends_word, here, peek};
use crate::text::{Text, Verdict};

const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/// How long addresses are in base 58, from the shortest to the longest, in bytes.
const BASE58_LEN: std::ops::RangeInclusive<usize> = 26..=35;
pub(super) const MAX_BASE58: usize = *BASE58_LEN.end();
pub(super) const MAX_BECH32: usize = 90;
pub(super) const ETHEREUM_LEN: usize = 42;
/// A version, twenty bytes, and four of a checksum.
const DECODED_LEN: usize = 25;

/// Looks for an address that begins at `start`: of Bitcoin, in base 58 or behind `bc1`, or of Ethereum, behind `0x`.
pub(crate) fn wallet(text: &Text<'_>, start: usize) -> Verdict {
    if !begins_word(text, start) {
        return Verdict::Nothing;
    }
    let end = match here(text, start) {
        b'1' | b'3' => base58(text, start),
        b'b' | b'B' => bech32(text, start),
        b'0' => ethereum(text, start),
        _ => Ok(None),
    };
    match end {
        Ok(Some(end)) => Verdict::Found(start, end),
        Ok(None) => Verdict::Nothing,
        Err(Unknown) => Verdict::Undecided(start),
    }
}

/// Where the words begin, in a run of letters, digits and signs, that may be addresses without a mark of their own.
pub(crate) fn base58_words(run: &[u8]) -> impl Iterator<Item = usize> {
    let shortest = *BASE58_LEN.start();
    let letters = |byte: &&u8| byte.is_ascii_alphanumeric();
    // Whatever is as long has one of these ends in it.
    (1..=run.len() / shortest).filter_map(move |count| {
        let (before, behind) = run.split_at_checked(count * shortest)?;
        let len = before.iter().rev().take(MAX_BASE58).take_while(letters).count();
        let start = before.len() - len;
        if len == 0 || !matches!(run.get(start), Some(b'1' | b'3')) {
            return None;
        }
        let len = len + behind.iter().take(MAX_BASE58).take_while(letters).count();
        BASE58_LEN.contains(&len).then_some(start)
    })
}

/// Where the letters and digits end that begin at `start`, if they are no more than `most` and a word of their own.
fn word(text: &Text<'_>, start: usize, most: usize) -> Result<Option<usize>, Unknown> {
    let mut at = start;
    while peek(text, at)?.is_ascii_alphanumeric() {
        at = at.saturating_add(1);
        if at.saturating_sub(start) > most {
            return Ok(None);
        }
    }
    Ok(ends_word(text, at)?.then_some(at))
}

fn base58(text: &Text<'_>, start: usize) -> Result<Option<usize>, Unknown> {
    let Some(end) = word(text, start, MAX_BASE58)? else { return Ok(None) };
    let bytes = text.bytes().get(start..end).unwrap_or_default();
    Ok((BASE58_LEN.contains(&bytes.len()) && is_base58_check(bytes)).then_some(end))
}

fn is_base58_check(bytes: &[u8]) -> bool {
    let Some(decoded) = decode_base58(bytes) else { return false };
    let (body, checksum) = decoded.split_at(DECODED_LEN.saturating_sub(4));
    let hash = Sha256::digest(Sha256::digest(body));
    matches!(body.first(), Some(0 | 5)) && hash.starts_with(checksum)
}

fn decode_base58(bytes: &[u8]) -> Option<[u8; DECODED_LEN]> {
    let mut decoded = [0_u8; DECODED_LEN];
    for byte in bytes {
        let digit = BASE58.iter().position(|digit| digit == byte)?;
        let mut carry = u32::try_from(digit).ok()?;
        for place in decoded.iter_mut().rev() {
            carry += u32::from(*place) * 58;
            *place = u8::try_from(carry & 0xFF).ok()?;
            carry >>= 8;
        }
        if carry > 0 {
            return None;
        }
    }
    Some(decoded)
}

fn bech32(text: &Text<'_>, start: usize) -> Result<Option<usize>, Unknown> {
    for (ahead, byte) in b"bc1".iter().enumerate() {
        if peek(text, start.saturating_add(ahead))?.to_ascii_lowercase() != *byte {
            return Ok(None);
        }
    }
    let Some(end) = word(text, start, MAX_BECH32)? else { return Ok(None) };
    let bytes = text.bytes().get(start..end).unwrap_or_default();
    let is_mixed =
        bytes.iter().any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase);
    let data = bytes.get(3..).unwrap_or_default();
    Ok((!is_mixed && data.len() >= 14 && is_bech32(data)).then_some(end))
}

/// Whether the checksum, of the older or of the newer kind, is right for what stands behind `bc1`.
fn is_bech32(data: &[u8]) -> bool {
    const BECH32_SUM: u32 = 1;
    const BECH32M_SUM: u32 = 0x2BC8_30A3;
    let head = [3, 3, 0, 2, 3];
    let mut sum = head.into_iter().fold(1, polymod);
    for byte in data {
        let digit = BECH32.iter().position(|digit| *digit == byte.to_ascii_lowercase());
        let Some(digit) = digit.and_then(|digit| u32::try_from(digit).ok()) else { return false };
        sum = polymod(sum, digit);
    }
    sum == BECH32_SUM || sum == BECH32M_SUM
}

fn polymod(sum: u32, digit: u32) -> u32 {
    const GENERATORS: [u32; 5] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3];
    let top = sum >> 25;
    let shifted = ((sum & 0x1FF_FFFF) << 5) ^ digit;
    GENERATORS
        .iter()
        .enumerate()
        .filter(|(bit, _)| (top >> bit) & 1 == 1)
        .fold(shifted, |sum, (_, generator)| sum ^ generator)
}

/// The mixed case of an address of Ethereum is a checksum, too, but asks for a hash function of its own.
fn ethereum(text: &Text<'_>, start: usize) -> Result<Option<usize>, Unknown> {
    // Most numbers are far shorter.
    let middle = text.bytes().get(start.saturating_add(ETHEREUM_LEN / 2));
    if peek(text, start.saturating_add(1))? != b'x'
        || middle.is_some_and(|byte| !byte.is_ascii_alphanumeric())
    {
        return Ok(None);
    }
    let Some(end) = word(text, start, ETHEREUM_LEN)? else { return Ok(None) };
    let digits = text.bytes().get(start.saturating_add(2)..end).unwrap_or_default();
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let is_constant = digits.iter().all(|digit| Some(digit) == digits.first());
    let is_address =
        digits.len() == 40 && digits.iter().all(u8::is_ascii_hexdigit) && zeros < 8 && !is_constant;
    Ok(is_address.then_some(end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_word_is_missed_in_a_run(run in "(?:[13]?[a-c1-3]{0,40}[-/+]){0,6}[13][a-c1-3]{20,40}") {
            let mut start = 0;
            let mut words = Vec::new();
            for word in run.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()) {
                if BASE58_LEN.contains(&word.len()) && matches!(word[0], b'1' | b'3') {
                    words.push(start);
                }
                start += word.len() + 1;
            }
            let begins = |at: &usize| *at == 0 || !run.as_bytes()[at - 1].is_ascii_alphanumeric();
            let mut told: Vec<_> = base58_words(run.as_bytes()).filter(begins).collect();
            told.dedup();
            prop_assert_eq!(told, words);
        }
    }
}
