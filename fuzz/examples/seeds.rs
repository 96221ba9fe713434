//! Writes the texts that a fuzzer begins with, and its dictionary, into a folder.

use std::{env, error::Error, fs, path::Path};

use tower_agent_fuzz::text::{AGAIN, BIT, BITS, CUT, HEAD, SAMPLE, SAMPLES, WIDE, WORD, WORDS};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: seeds FOLDER")?;
    let folder = Path::new(&folder);
    write(&folder.join("stream"), &texts())
}

fn write(folder: &Path, seeds: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for (number, seed) in seeds.iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:04}")), seed)?;
    }
    Ok(())
}

fn texts() -> Vec<Vec<u8>> {
    let numbered = |kind: u8, number: usize| {
        let [.., high, low] = number.to_be_bytes();
        vec![kind, high, low]
    };
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
