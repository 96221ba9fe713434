//! Finds the requests in a sentence.

use serde_json::{Map, Value, json};
use tower_agent::Json;

mod words;

use self::words::{Word, words};

/// What a message asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plan {
    Calls(Vec<Wish>),
    Help,
    Count(u32),
    Think,
    Recall,
    Fail,
    BreakOff,
    Puzzled,
}

/// One thing that needs a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    Read { path: String, lines: Option<(usize, usize)> },
    List { path: String },
    Search { pattern: String, path: Option<String>, regex: bool },
    Delete { path: String },
    Call { tool: String, arguments: String },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verb {
    Read,
    List,
    /// "What is in x": a file or a folder, by its look.
    LookInto,
    Search,
    Delete,
}

/// The longest phrases first, so that "search for" is not a search for "for".
const VERBS: [(&str, Verb); 25] = [
    ("what files are in", Verb::List),
    ("which files are in", Verb::List),
    ("what is in", Verb::LookInto),
    ("what's in", Verb::LookInto),
    ("what’s in", Verb::LookInto),
    ("look into", Verb::LookInto),
    ("look for", Verb::Search),
    ("search for", Verb::Search),
    ("grep for", Verb::Search),
    ("where is", Verb::Search),
    ("show me", Verb::LookInto),
    ("search", Verb::Search),
    ("grep", Verb::Search),
    ("find", Verb::Search),
    ("summarise", Verb::Read),
    ("summarize", Verb::Read),
    ("read", Verb::Read),
    ("open", Verb::Read),
    ("print", Verb::Read),
    ("cat", Verb::Read),
    ("show", Verb::LookInto),
    ("list", Verb::List),
    ("ls", Verb::List),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
];

/// Words that say nothing about which file is meant.
const FILLERS: [&str; 22] = [
    "please",
    "can",
    "could",
    "would",
    "you",
    "now",
    "first",
    "also",
    "then",
    "and",
    "the",
    "a",
    "file",
    "files",
    "folder",
    "directory",
    "contents",
    "content",
    "of",
    "me",
    "my",
    "called",
];

/// Other names of the folder itself.
const HERE: [&str; 5] = ["here", "this", "root", "everything", "all"];

/// More calls than this are not asked for at once.
const MOST_CALLS: usize = 8;
const MOST_COUNTED: u32 = 500;

pub(super) fn plan(text: &str) -> Plan {
    let lower = text.to_lowercase();
    if lower.contains("simulate a failure") {
        return Plan::Fail;
    }
    if lower.contains("break off") {
        return Plan::BreakOff;
    }
    if lower.contains("think aloud") {
        return Plan::Think;
    }
    if lower.contains("what did you think") {
        return Plan::Recall;
    }
    if let Some(last) = lower.split_once("count to ").and_then(|(_, rest)| leading_number(rest)) {
        return Plan::Count(last.min(MOST_COUNTED));
    }
    if let Some(call) = raw_call(text) {
        return Plan::Calls(vec![call]);
    }
    let wishes = wishes(text);
    if !wishes.is_empty() {
        return Plan::Calls(wishes);
    }
    let words = words(&lower);
    let asks_for_help = |word: &Word| {
        ["help", "hello", "hi", "hey", "who"].contains(&word.bare()) || word.bare() == "examples"
    };
    if words.iter().any(asks_for_help) || lower.contains("can you do") {
        return Plan::Help;
    }
    Plan::Puzzled
}

fn leading_number(text: &str) -> Option<u32> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn wishes(text: &str) -> Vec<Wish> {
    let words = words(text);
    let mut wishes = Vec::new();
    let mut open: Option<(Verb, Vec<Word>)> = None;
    let mut skip = 0;
    for (place, word) in words.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        match may_begin(&words, place).then(|| verb_at(&words, place)).flatten() {
            Some((verb, length)) => {
                close(open.replace((verb, Vec::new())), &mut wishes);
                skip = length - 1;
            }
            None => open.iter_mut().for_each(|(_, object)| object.push(word.clone())),
        }
    }
    close(open, &mut wishes);
    wishes.truncate(MOST_CALLS);
    wishes
}

fn close(clause: Option<(Verb, Vec<Word>)>, wishes: &mut Vec<Wish>) {
    if let Some((verb, object)) = clause {
        wishes.extend(verb.wishes(&object));
    }
}

/// A request begins a sentence or follows a comma, an "and" or a politeness.
fn may_begin(words: &[Word], place: usize) -> bool {
    let Some(before) = place.checked_sub(1).and_then(|before| words.get(before)) else {
        return true;
    };
    let opener = ["and", "then", "also", "please", "you", "now", "to", "first", "or"];
    before.ends_clause || opener.contains(&before.bare().to_lowercase().as_str())
}

fn verb_at(words: &[Word], place: usize) -> Option<(Verb, usize)> {
    let here = words.get(place..)?;
    VERBS.iter().find_map(|(phrase, verb)| {
        let parts: Vec<_> = phrase.split(' ').collect();
        let fits = here.len() >= parts.len()
            && parts
                .iter()
                .zip(here)
                .all(|(part, word)| word.is_plain() && word.bare().to_lowercase() == *part);
        fits.then_some((*verb, parts.len()))
    })
}

impl Verb {
    fn wishes(self, object: &[Word]) -> Vec<Wish> {
        match self {
            Self::Search => search(object).into_iter().collect(),
            Self::Read => reads(object),
            Self::Delete => each(object, |path| Wish::Delete { path }),
            Self::List => list(object),
            Self::LookInto => {
                let looks_like_file = |path: &String| {
                    let last = path.rsplit('/').next().unwrap_or_default();
                    last.contains('.') && last != "." && last != ".."
                };
                let paths = paths(object);
                if paths.is_empty() || !paths.iter().all(looks_like_file) {
                    return list(object);
                }
                reads(object)
            }
        }
    }
}

fn each(object: &[Word], wish: impl Fn(String) -> Wish) -> Vec<Wish> {
    paths(object).into_iter().map(wish).collect()
}

fn list(object: &[Word]) -> Vec<Wish> {
    let mut wishes = each(object, |path| Wish::List { path });
    if wishes.is_empty() {
        wishes.push(Wish::List { path: ".".into() });
    }
    wishes
}

/// "lines 3 to 9 of notes.txt", or just paths.
fn reads(object: &[Word]) -> Vec<Wish> {
    let is_lines = object.first().is_some_and(|word| word.bare() == "lines");
    let numbers: Vec<usize> = object
        .iter()
        .take_while(|word| is_lines && word.bare() != "of")
        .flat_map(|word| word.bare().split('-').flat_map(str::parse).collect::<Vec<_>>())
        .collect();
    let (lines, object) = match numbers.as_slice() {
        [first, last] => {
            let of = object
                .iter()
                .position(|word| word.bare() == "of")
                .map_or(object.len(), |of| of + 1);
            let count = last.saturating_sub(*first).saturating_add(1);
            (Some((*first, count)), object.get(of..).unwrap_or_default())
        }
        _ => (None, object),
    };
    each(object, |path| Wish::Read { path, lines })
}

fn paths(object: &[Word]) -> Vec<String> {
    let is_path =
        |word: &&Word| word.quoted || !FILLERS.contains(&word.bare().to_lowercase().as_str());
    let path = |word: &Word| {
        let here = !word.quoted && HERE.contains(&word.bare());
        if here { ".".to_owned() } else { word.bare().to_owned() }
    };
    object.iter().filter(is_path).map(path).filter(|path| !path.is_empty()).collect()
}

/// A text, perhaps "in" a path; between slashes it is a regular expression.
fn search(object: &[Word]) -> Option<Wish> {
    let within = |word: &Word| word.is_plain() && ["in", "inside", "under"].contains(&word.bare());
    let (pattern, path) = match object.iter().rposition(within) {
        Some(place) if place > 0 => {
            let (pattern, place) = object.split_at(place);
            let mut paths = paths(place.get(1..).unwrap_or_default());
            (pattern, if paths.len() == 1 { paths.pop() } else { None })
        }
        _ => (object, None),
    };
    let last = pattern.len().checked_sub(1)?;
    let text = pattern.iter().enumerate().map(|(place, word)| {
        // Inside the text, a comma belongs to it.
        if place == last || word.quoted { word.bare() } else { &word.text }
    });
    let pattern = text.collect::<Vec<_>>().join(" ");
    let regex = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let (pattern, regex) = match regex {
        Some(inner) => (inner.to_owned(), true),
        None => (pattern, false),
    };
    (!pattern.is_empty()).then_some(Wish::Search { pattern, path, regex })
}

/// "call weather with city Oslo", or with arguments that are taken as they are, for trying out any tool.
fn raw_call(text: &str) -> Option<Wish> {
    let rest = text.trim().strip_prefix("call ")?.trim_start();
    let (tool, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("with ").unwrap_or(rest).trim();
    let arguments = if rest.starts_with('{') { rest.to_owned() } else { named(rest) };
    (!tool.is_empty()).then(|| Wish::Call { tool: tool.to_owned(), arguments })
}

/// "city Oslo, unit celsius" as an object of texts.
fn named(text: &str) -> String {
    let pairs = text.split(',').filter_map(|pair| pair.trim().split_once(' '));
    let fields: Map<_, _> =
        pairs.map(|(name, value)| (name.to_owned(), value.trim().into())).collect();
    Value::Object(fields).to_string()
}

impl Wish {
    pub(super) fn tool(&self) -> &str {
        match self {
            Self::Read { .. } => "read_file",
            Self::List { .. } => "list_files",
            Self::Search { .. } => "search_files",
            Self::Delete { .. } => "delete_file",
            Self::Call { tool, .. } => tool,
        }
    }

    pub(super) fn arguments(&self) -> Json {
        let mut arguments = match self {
            Self::Read { path, lines: None } | Self::List { path } | Self::Delete { path } => {
                json!({ "path": path })
            }
            Self::Read { path, lines: Some((first, count)) } => {
                json!({ "path": path, "first_line": first, "lines": count })
            }
            Self::Search { pattern, path, regex } => {
                json!({ "pattern": pattern, "path": path, "regex": regex.then_some(true) })
            }
            Self::Call { arguments, .. } => return Json::from_text(arguments.as_str()),
        };
        if let Value::Object(fields) = &mut arguments {
            fields.retain(|_, value| !value.is_null());
        }
        Json::from_value(arguments)
    }
}

#[cfg(test)]
mod tests;
