//! Samples are templates: `<alnum:36>` stands for 36 letters and digits, always the same ones.

use tower_agent_detect::{Detector, Mask};

/// Writes a sample out.
pub(crate) fn expand(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        match after.split_once('>').and_then(|(name, rest)| Some((dice.write(name)?, rest))) {
            Some((text, after)) => {
                out.push_str(&text);
                rest = after;
            }
            None => {
                out.push('<');
                rest = after;
            }
        }
    }
    out + rest
}

struct Dice(u64);

impl Dice {
    fn write(&mut self, name: &str) -> Option<String> {
        if name == "uuid" {
            return Some(
                [8, 4, 4, 4, 12].map(|count| self.letters(b"0123456789abcdef", count)).join("-"),
            );
        }
        let (class, count) = name.split_once(':')?;
        Some(self.letters(class_of(class)?, count.parse().ok()?))
    }

    fn letters(&mut self, class: &[u8], count: usize) -> String {
        (0..count).map(|_| char::from(class[self.below(class.len())])).collect()
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }
}

fn class_of(name: &str) -> Option<&'static [u8]> {
    Some(match name {
        "alnum" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "hex" => b"0123456789abcdef",
        "HEX" => b"0123456789ABCDEF",
        "any" => b"0123456789abcdefABCDEF",
        "lower" => b"abcdefghijklmnopqrstuvwxyz",
        "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "digit" => b"0123456789",
        "lownum" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "upnum" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "base32" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "base64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "url64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        _ => return None,
    })
}

/// Masks a text that comes in pieces of a size, in characters.
pub(crate) fn streamed(detector: &Detector, mask: &Mask, text: &str, size: usize) -> String {
    let mut stream = detector.stream(mask.clone());
    let mut out = String::new();
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(size) {
        stream.push(&piece.iter().collect::<String>(), &mut out);
    }
    stream.finish(&mut out);
    out
}
