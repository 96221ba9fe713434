//! The samples, read from the folder that a variable names.

use std::{
    env, fs,
    ops::Range,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::Result;

/// Names the folder with the samples.
pub const VARIABLE: &str = "TOWER_AGENT_SHARED";

/// All samples.
#[derive(Debug)]
pub struct Corpora {
    /// Texts with a secret, and texts that a rule could take for one.
    pub secrets: Vec<Secret>,
    /// Texts with the verdict of a scanner's own tests.
    pub verdicts: Vec<Sample>,
    /// Sentences with personal data, of which every span is known.
    pub sentences: Vec<Sentence>,
    /// Texts with the number of finds that a recogniser's own tests expect.
    pub tables: Vec<Due>,
}

/// A text with a verdict.
#[derive(Debug)]
pub struct Sample {
    /// Its name in the corpus.
    pub id: String,
    /// The rule, detector or kind that the verdict is about.
    pub kind: String,
    /// Whether there is something to be found.
    pub positive: bool,
    /// The text.
    pub text: String,
    /// Where, in bytes, as far as that is known.
    pub spans: Vec<Range<usize>>,
}

/// A sample of a secret, and the rules by which real scanners find something in it.
#[derive(Debug)]
pub struct Secret {
    /// The sample. Its kind is a rule's id.
    pub sample: Sample,
    /// The rules of betterleaks.
    pub betterleaks: Vec<String>,
    /// The rules of kingfisher.
    pub kingfisher: Vec<String>,
    /// The detectors of detect-secrets.
    pub detect_secrets: Vec<String>,
}

/// A sentence with all the personal data in it.
#[derive(Debug)]
pub struct Sentence {
    /// Its name in the corpus.
    pub id: String,
    /// The text.
    pub text: String,
    /// Where something is, in bytes, and of which kind it is.
    pub spans: Vec<(Range<usize>, String)>,
}

/// A text with a number of finds that are due.
#[derive(Debug)]
pub struct Due {
    /// The sample. Not every span needs to be known.
    pub sample: Sample,
    /// How many finds are due.
    pub count: usize,
}

impl Corpora {
    /// Reads all samples; nothing where nobody said where they are.
    ///
    /// # Errors
    ///
    /// If they are not where the variable says, or not what they should be.
    pub fn read() -> Result<Option<Self>> {
        let Some(folder) = env::var_os(VARIABLE) else { return Ok(None) };
        let folder = PathBuf::from(folder).join("corpora");
        Ok(Some(Self {
            secrets: each(&folder.join("secrets/secrets.jsonl"), RawSecret::read)?,
            verdicts: each(&folder.join("secrets/flag_tables.jsonl"), RawVerdict::read)?,
            sentences: each(&folder.join("pii/pii_synth.jsonl"), RawSentence::read)?,
            tables: each(&folder.join("pii/pii_tables.jsonl"), RawDue::read)?,
        }))
    }
}

fn each<R: DeserializeOwned, T>(file: &Path, read: impl Fn(R) -> Option<T>) -> Result<Vec<T>> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let rows = text.lines().enumerate().map(|(number, line)| {
        let wrong = |what: &str| format!("{}:{}: {what}", file.display(), number + 1);
        let row = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        Ok(read(row).ok_or_else(|| wrong("the text cannot be read, or a span is not in it"))?)
    });
    let rows = rows.collect::<Result<Vec<T>>>()?;
    if rows.is_empty() { Err(format!("{} is empty", file.display()).into()) } else { Ok(rows) }
}

#[derive(Deserialize)]
struct RawSecret {
    #[serde(flatten)]
    verdict: RawVerdict,
    spans: Vec<(usize, usize)>,
    betterleaks: Vec<String>,
    kingfisher: Vec<String>,
    detect_secrets: Vec<String>,
}

#[derive(Deserialize)]
struct RawVerdict {
    id: String,
    rule: String,
    label: Label,
    text_b64x: String,
}

#[derive(Deserialize)]
struct RawSentence {
    id: String,
    text: String,
    spans: Vec<(usize, usize, String)>,
}

#[derive(Deserialize)]
struct RawDue {
    #[serde(flatten)]
    sentence: RawSentence,
    kind: String,
    label: Label,
    count: usize,
}

#[derive(Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Label {
    Positive,
    Negative,
}

impl RawSecret {
    fn read(self) -> Option<Secret> {
        let mut sample = self.verdict.read()?;
        let spans = self.spans.iter().map(|&(start, end)| within(&sample.text, start, end));
        sample.spans = spans.collect::<Option<_>>()?;
        Some(Secret {
            sample,
            betterleaks: self.betterleaks,
            kingfisher: self.kingfisher,
            detect_secrets: self.detect_secrets,
        })
    }
}

impl RawVerdict {
    fn read(self) -> Option<Sample> {
        Some(Sample {
            id: self.id,
            kind: whole_rule(&self.rule).to_owned(),
            positive: self.label == Label::Positive,
            text: unveil(&self.text_b64x)?,
            spans: Vec::new(),
        })
    }
}

impl RawSentence {
    fn read(self) -> Option<Sentence> {
        let spans = self.spans.into_iter();
        let spans = spans.map(|(start, end, kind)| Some((within(&self.text, start, end)?, kind)));
        Some(Sentence { id: self.id, spans: spans.collect::<Option<_>>()?, text: self.text })
    }
}

impl RawDue {
    fn read(self) -> Option<Due> {
        let sentence = self.sentence.read()?;
        let sample = Sample {
            id: sentence.id,
            kind: self.kind,
            positive: self.label == Label::Positive,
            text: sentence.text,
            spans: sentence.spans.into_iter().map(|(span, _)| span).collect(),
        };
        Some(Due { sample, count: self.count })
    }
}

/// A rule that has several parts in the corpus (`x`, `x.1`) is one rule.
fn whole_rule(rule: &str) -> &str {
    match rule.rsplit_once('.') {
        Some((whole, part)) if part.bytes().all(|byte| byte.is_ascii_digit()) => whole,
        _ => rule,
    }
}

/// A place in bytes, if it is one of that text.
fn within(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    text.get(start..end).map(|_| start..end)
}

/// The samples of secrets lie under a veil, so that nobody takes them for a leak: Base64, and each byte XOR 0x2A.
fn unveil(veiled: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(veiled.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in veiled.trim_end_matches('=').bytes() {
        bits = bits << 6 & 0xFFFF | digit(byte)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xFF).ok()? ^ 0x2A);
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_veil_is_lifted() {
        assert_eq!(unveil("QkNL").as_deref(), Some("hia"));
        assert_eq!(unveil("QkM=").as_deref(), Some("hi"));
        assert_eq!(unveil("Q*M="), None);
    }

    #[test]
    fn a_place_is_counted_in_bytes_and_lies_in_its_text() {
        assert_eq!(within("é=é", 3, 5), Some(3..5));
        assert_eq!(within("é=é", 1, 3), None);
        assert_eq!(within("é", 0, 3), None);
    }

    #[test]
    fn parts_of_a_rule_are_the_rule() {
        assert_eq!(whole_rule("pinecone-api-key.2"), "pinecone-api-key");
        assert_eq!(whole_rule("redirect.pizza"), "redirect.pizza");
    }
}
