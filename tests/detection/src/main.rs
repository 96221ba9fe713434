//! Measures how well the engine detects, and prints what `docs/detection-quality.md` shows.
//!
//! `cargo xtask detection-quality` has the scanners ready, runs this and puts it into the page.

mod markdown;
mod masked;
mod page;
mod page_masked;
mod page_personal;
mod page_secrets;
mod page_sources;
mod page_targets;
mod scanners;
mod sources;

use std::{env, path::PathBuf, process::ExitCode};

use detection_quality::{
    Corpora, Differences, Engine, Judgements, Result, VARIABLE, personal, secrets, verdicts,
};

const USAGE: &str = "detection-quality --scanners FOLDER --work FOLDER";

fn main() -> ExitCode {
    match run() {
        Ok(page) => {
            println!("{page}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("detection-quality: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the command line says.
#[derive(Debug, Default)]
struct Places {
    /// Where the programs of the scanners are.
    scanners: PathBuf,
    /// Where files may be written.
    work: PathBuf,
}

impl Places {
    fn read(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut places = Self::default();
        while let Some(name) = arguments.next() {
            let place = match name.as_str() {
                "--scanners" => &mut places.scanners,
                "--work" => &mut places.work,
                _ => return None,
            };
            *place = PathBuf::from(arguments.next()?);
        }
        let whole =
            [&places.scanners, &places.work].iter().all(|place| !place.as_os_str().is_empty());
        whole.then_some(places)
    }
}

fn run() -> Result<String> {
    let places = Places::read(env::args().skip(1)).ok_or(USAGE)?;
    let corpora = Corpora::read()?
        .ok_or_else(|| format!("{VARIABLE} is not set: it names the folder with the samples"))?;
    let engine = Engine::new()?;
    eprintln!("samples ..");
    let secrets_found = secrets::measure(&engine, &corpora.secrets);
    let verdicts_met = verdicts::measure(&engine, &corpora.verdicts);
    let personal_found = personal::measure(&engine, &corpora.sentences);
    let due_met = verdicts::measure_due(&engine, &corpora.tables, &personal::TABLES);
    eprintln!("scanners ..");
    let masked = masked::measure(&engine, &corpora.secrets, &places.scanners, &places.work)?;
    eprintln!("sources ..");
    let sources = sources::measure(&engine, &Judgements::known()?)?;
    sources.write(&places.work.join("finds.tsv"))?;
    Ok(page::write(&page::Measured {
        secrets: secrets_found,
        verdicts: verdicts_met,
        personal: personal_found,
        due: due_met,
        sentences: corpora.sentences.len(),
        masked,
        sources,
        differences: Differences::known()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Option<Places> {
        Places::read(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn both_places_must_be_named() {
        assert!(read(&["--scanners", "bin", "--work", "out"]).is_some());
        assert!(read(&["--scanners", "bin"]).is_none());
        assert!(read(&["--scanners", "bin", "--work"]).is_none());
        assert!(read(&["--elsewhere", "bin"]).is_none());
    }
}
