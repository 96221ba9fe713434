//! `docs/contract.md` names tests. Here it is held to that.
#![cfg(test)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The text of all files that tests may stand in, by the name that the page calls them.
type Sources = BTreeMap<String, String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/contract.md")).unwrap()
}

/// The folders and the Rust files in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Adds a file, or all files of a folder, under one name.
fn add(sources: &mut Sources, name: &str, path: &Path) {
    if path.is_dir() {
        entries(path).iter().for_each(|inner| add(sources, name, inner));
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        sources.entry(name.to_owned()).or_default().push_str(&fs::read_to_string(path).unwrap());
    }
}

fn stem(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

/// Adds every file under its own name.
fn add_each(sources: &mut Sources, folder: &Path) {
    for path in entries(folder) {
        if path.is_dir() {
            add_each(sources, &path);
        } else {
            add(sources, stem(&path), &path);
        }
    }
}

fn sources() -> Sources {
    let mut sources = Sources::new();
    for member in entries(&root().join("crates")) {
        entries(&member.join("tests")).iter().for_each(|path| add(&mut sources, stem(path), path));
        add_each(&mut sources, &member.join("src"));
    }
    let ours = entries(&root().join("tests")).into_iter().filter(|path| path.is_dir());
    ours.for_each(|path| add(&mut sources, stem(&path), &path));
    sources
}

/// Whether a text has a test of a name: a function under an attribute that says so, or a line in the table of cases.
fn has_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let function = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ")
            .is_some_and(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')))
    };
    let is_test = |line: usize| {
        let above = lines[..line].iter().rev().take_while(|line| line.starts_with("#["));
        above.into_iter().any(|attribute| {
            attribute.starts_with("#[test]") || attribute.starts_with("#[tokio::test")
        })
    };
    let in_table = format!(" {name}: ");
    lines.iter().enumerate().any(|(number, line)| {
        (function(line) && is_test(number)) || (line.starts_with('"') && line.contains(&in_table))
    })
}

/// The tests that a text names: code spans of a file and a name.
fn named(text: &str) -> Vec<(&str, &str)> {
    let is_word =
        |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let spans = text.split('`').skip(1).step_by(2);
    let pairs = spans.filter_map(|span| span.split_once("::"));
    pairs.filter(|(file, name)| is_word(file) && is_word(name)).collect()
}

/// The rows of the table under a heading, each as its cells.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let (_, rest) = page.split_once(&format!("## {heading}\n")).unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with("## "));
    let rows = lines.filter(|line| line.starts_with("| ")).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

#[test]
fn every_test_that_the_page_names_exists() {
    let (page, sources) = (page(), sources());
    let all = named(&page);
    assert!(all.len() > 200, "the page names {} tests", all.len());
    let exists =
        |(file, name): &(&str, &str)| sources.get(*file).is_some_and(|text| has_test(text, name));
    let gone: Vec<_> = all.iter().filter(|test| !exists(test)).collect();
    assert!(gone.is_empty(), "no such tests: {gone:#?}");
}

#[test]
fn every_row_names_a_test_or_what_it_waits_for() {
    let page = page();
    let headings = [
        "Every layer",
        "Each layer",
        "The vocabulary",
        "Known defects of such systems",
        "Behaviours of peers",
    ];
    for heading in headings {
        let rows = rows(&page, heading);
        assert!(!rows.is_empty(), "{heading}");
        for row in rows {
            let shown = row.last().unwrap();
            let later = shown.split("later: ").nth(1).is_some_and(|part| part.len() > 3);
            assert!(!named(shown).is_empty() || later, "{heading}: {row:?}");
        }
    }
}

#[test]
fn no_behaviour_of_the_peers_is_left_out() {
    let page = page();
    let rows = rows(&page, "Behaviours of peers");
    let numbers: Vec<usize> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(numbers, (1..=63).collect::<Vec<_>>());
}

#[test]
fn a_test_is_told_from_a_function_that_is_none() {
    let text = "#[test]\nfn shows_it() {\n}\n#[tokio::test(start_paused = true)]\nasync fn waits(\nfn helper() {";
    assert!(has_test(text, "shows_it") && has_test(text, "waits"));
    assert!(!has_test(text, "helper") && !has_test(text, "shows") && !has_test(text, "wait"));
    assert!(has_test(r#"    "a-1" shows_that: file::function,"#, "shows_that"));
    assert_eq!(named("`a::b_1`, `Outcome::Denied`, a::c, `plain`"), [("a", "b_1")]);
}
