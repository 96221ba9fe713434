//! Writes the texts that a fuzzer begins with, and its dictionary, into a folder.

use std::{env, error::Error, fs, path::Path};

use tower_agent_fuzz::text::{AGAIN, BIT, BITS, CUT, HEAD, SAMPLE, SAMPLES, WIDE, WORD, WORDS};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: seeds FOLDER")?;
    let folder = Path::new(&folder);
    let after = |first: u8, seeds: Vec<Vec<u8>>| {
        seeds.into_iter().map(move |seed| [&[first][..], &seed].concat())
    };
    write(&folder.join("stream"), &texts())?;
    write(&folder.join("json"), &documents().collect::<Vec<_>>())?;
    write(&folder.join("rules"), &rules())?;
    write(
        &folder.join("vault"),
        &after(0, texts())
            .chain(documents().map(|seed| [&[3], &seed[1..]].concat()))
            .collect::<Vec<_>>(),
    )
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:04}")), seed)?;
    }
    Ok(())
}

/// The rules of the crate, one by one, and odd ones.
fn rules() -> Vec<Vec<u8>> {
    let builtin =
        include_str!("../../crates/tower-agent-detect/rules.toml").split("[[rule]]").skip(1);
    let odd = include_str!("../odd-rules.toml").split("[[rule]]").skip(1);
    odd.chain(builtin.step_by(3)).map(|rule| format!("[[rule]]{rule}").into_bytes()).collect()
}

/// JSON of many shapes, with samples in it. The first byte says that these are quoted.
fn documents() -> impl Iterator<Item = Vec<u8>> {
    (0..SAMPLES.len()).step_by(2).map(|at| {
        let sample = numbered(SAMPLE, at);
        let (before, after) = SHAPES[at / 2 % SHAPES.len()];
        [b"\x01", before.as_bytes(), &sample, after.as_bytes()].concat()
    })
}

/// What stands around a sample.
const SHAPES: [(&str, &str); 12] = [
    ("\"", "\""),
    ("{\"a\":\"", "\"}"),
    ("{\"password\":\"", "\"}"),
    ("{\"", "\":null}"),
    ("[1, -0.5e+3, \"x \\u00e9 ", "\"]"),
    ("{\"token\":[\"", "\",4111111111111111]}"),
    ("{\"a\":{\"api_key\":{\"b\":\"", "\"}}, \"c\" : [ ] }\n"),
    ("[[[[{\"secret\":12345678,\"x\":\"", "\"}]]]]"),
    ("{\"a\\nb\":\"\\ud83d\\ude00 ", " \\ud800\"}"),
    ("{\"card\":4111111111111111,\"ssn\":123456789,\"n\":\"", "\"}"),
    ("{\"arguments\":\"{\\\"password\\\":\\\"", "\\\"}\"}"),
    ("[true,false,\"", "\"] trailing"),
];

fn numbered(kind: u8, number: usize) -> Vec<u8> {
    let [.., high, low] = number.to_be_bytes();
    vec![kind, high, low]
}

fn texts() -> Vec<Vec<u8>> {
    let samples = (0..SAMPLES.len()).map(|at| {
        let seed = match at % 4 {
            0 => [numbered(SAMPLE, at), vec![CUT, BIT, (at % BITS.len()) as u8]],
            1 => [numbered(HEAD, at), vec![20, CUT]],
            2 => [numbered(WIDE, at), vec![b' ']],
            _ => [numbered(SAMPLE, at), vec![AGAIN, 2]],
        };
        [&b"it is "[..], &seed.concat(), &[CUT], b" and more"].concat()
    });
    let words = (0..WORDS.len())
        .step_by(16)
        .map(|at| [&numbered(WORD, at)[..], b"=\"a1B2c3D4e5F6g7\""].concat());
    let bits = (0..BITS.len())
        .map(|at| [&b"password"[..], &[BIT, at as u8], b"hunter2x", &[CUT], b"\n"].concat());
    samples.chain(words).chain(bits).collect()
}
