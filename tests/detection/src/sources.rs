//! What the engine finds in other people's sources, where there is hardly a secret.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use detection_quality::{Engine, Find, Judgements, Result};

/// What was read, and what was found in it.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Crates.
    pub(crate) packages: usize,
    /// Files that are text.
    pub(crate) files: usize,
    /// Their size in bytes.
    pub(crate) bytes: usize,
    /// Files that hold a zero byte, and so are none.
    pub(crate) binary: usize,
    /// Secrets.
    pub(crate) secrets: Vec<Place>,
    /// Personal data.
    pub(crate) personal: Vec<Place>,
}

/// Where something was found.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The crate, with its version.
    pub(crate) package: String,
    /// The file in it.
    pub(crate) file: String,
    /// The line, from one.
    pub(crate) line: usize,
    /// The rule.
    pub(crate) rule: String,
    /// Whether it is real, if somebody judged that.
    pub(crate) real: Option<bool>,
}

/// Reads every file of every crate that cargo has unpacked here.
pub(crate) fn measure(engine: &Engine, judgements: &Judgements) -> Result<Sources> {
    let mut sources = Sources::default();
    for registry in entries(&cargo_home()?.join("registry/src"))? {
        for package in entries(&registry)?.into_iter().filter(|package| package.is_dir()) {
            sources.packages += 1;
            for file in files(&package)? {
                sources.add(engine, judgements, &package, &file)?;
            }
        }
    }
    if sources.files == 0 { Err("cargo has unpacked no crate here".into()) } else { Ok(sources) }
}

fn cargo_home() -> Result<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || env::home_dir().map(|home| home.join(".cargo"));
    named.or_else(usual).ok_or_else(|| "neither CARGO_HOME nor a home folder is set".into())
}

/// What a folder holds, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut entries = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.is_file() {
            found.push(path);
        }
    }
    Ok(found)
}

impl Sources {
    fn add(
        &mut self,
        engine: &Engine,
        judgements: &Judgements,
        package: &Path,
        file: &Path,
    ) -> Result<()> {
        let bytes = fs::read(file)?;
        if bytes.contains(&0) {
            self.binary += 1;
            return Ok(());
        }
        self.files += 1;
        self.bytes += bytes.len();
        let text = String::from_utf8_lossy(&bytes);
        let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let inner = file.strip_prefix(package)?.to_string_lossy().into_owned();
        let places = |finds: Vec<Find>| {
            let lines = lines(&text, &finds);
            let place = |(find, line): (Find, usize)| Place {
                line,
                real: judgements.real(unversioned(&name), &inner, line, &find.rule),
                package: name.clone(),
                file: inner.clone(),
                rule: find.rule,
            };
            finds.into_iter().zip(lines).map(place).collect::<Vec<_>>()
        };
        self.secrets.extend(places(engine.secrets(&text)));
        self.personal.extend(places(engine.personal(&text)));
        Ok(())
    }

    /// Writes every find into a file, for those who judge them.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let mut text = String::new();
        for place in self.secrets.iter().chain(&self.personal) {
            let Place { package, file, line, rule, real } = place;
            let real = real.map_or("not judged", |real| if real { "real" } else { "false" });
            writeln!(text, "{package}\t{file}\t{line}\t{rule}\t{real}")?;
        }
        Ok(fs::write(file, text)?)
    }
}

/// The line of each find, from one. A file may hold thousands of finds, so it is read once.
fn lines(text: &str, finds: &[Find]) -> Vec<usize> {
    let mut ends =
        text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).peekable();
    let mut line = 1;
    let line_of = |find: &Find| {
        while ends.next_if(|end| *end < find.span.start).is_some() {
            line += 1;
        }
        line
    };
    finds.iter().map(line_of).collect()
}

/// A crate's name, of the folder that it is unpacked to: what stands before the first `-1.2.3`.
fn unversioned(folder: &str) -> &str {
    let is_version = |text: &str| {
        let numbers: Vec<_> = text.splitn(3, '.').collect();
        numbers.len() == 3
            && numbers.iter().all(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut places = folder.match_indices('-').map(|(at, _)| folder.split_at(at));
    places
        .find(|(_, rest)| is_version(rest.trim_start_matches('-')))
        .map_or(folder, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_goes_without_its_version() {
        assert_eq!(unversioned("serde_json-1.0.140"), "serde_json");
        assert_eq!(unversioned("sec-x2-y-0.3.0-rc.1+build.7"), "sec-x2-y");
        assert_eq!(unversioned("unversioned"), "unversioned");
    }

    #[test]
    fn lines_are_counted_from_one() {
        let find = |at| Find { rule: String::new(), span: at..at + 1 };
        assert_eq!(lines("a\nb\n\nc", &[find(0), find(2), find(2), find(5)]), [1, 2, 2, 4]);
    }
}
