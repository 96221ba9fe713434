use serde_json::json;

use super::{Plan, Wish, plan};

fn wishes(text: &str) -> Vec<Wish> {
    match plan(text) {
        Plan::Calls(wishes) => wishes,
        other => panic!("{text:?} became {other:?}"),
    }
}

fn read(path: &str) -> Wish {
    Wish::Read { path: path.into(), lines: None }
}

fn list(path: &str) -> Wish {
    Wish::List { path: path.into() }
}

fn search(pattern: &str, path: Option<&str>) -> Wish {
    Wish::Search { pattern: pattern.into(), path: path.map(Into::into), regex: false }
}

fn delete(path: &str) -> Wish {
    Wish::Delete { path: path.into() }
}

#[test]
fn plain_requests_become_calls() {
    let cases = [
        ("read config.toml", vec![read("config.toml")]),
        ("Read config.toml.", vec![read("config.toml")]),
        ("Could you please read the file config.toml?", vec![read("config.toml")]),
        ("show me the contents of docs/overview.md", vec![read("docs/overview.md")]),
        ("open \"my notes.txt\"", vec![read("my notes.txt")]),
        ("what's in config.toml?", vec![read("config.toml")]),
        ("read .env", vec![read(".env")]),
        ("what is in docs?", vec![list("docs")]),
        ("What files are in the folder docs/?", vec![list("docs/")]),
        ("show docs", vec![list("docs")]),
        ("list ..", vec![list("..")]),
        ("list", vec![list(".")]),
        ("list the files", vec![list(".")]),
        ("what is in here?", vec![list(".")]),
        ("search for timeout", vec![search("timeout", None)]),
        ("find timeout in docs", vec![search("timeout", Some("docs"))]),
        ("grep \"read and weep\" in the folder docs", vec![search("read and weep", Some("docs"))]),
        ("where is the load balancer?", vec![search("the load balancer", None)]),
        ("delete notes.txt", vec![delete("notes.txt")]),
        ("Remove notes.txt!", vec![delete("notes.txt")]),
    ];
    for (text, expected) in cases {
        assert_eq!(wishes(text), expected, "{text}");
    }
}

#[test]
fn several_requests_in_one_sentence_become_several_calls() {
    assert_eq!(
        wishes("Read config.toml, search for timeout in docs and then delete notes.txt."),
        [read("config.toml"), search("timeout", Some("docs")), delete("notes.txt")]
    );
    assert_eq!(wishes("read config.toml and notes.txt"), [read("config.toml"), read("notes.txt")]);
    assert_eq!(
        wishes("what is in docs? what is in logs?\nsearch for war, and peace"),
        [list("docs"), list("logs"), search("war, and peace", None)]
    );
}

#[test]
fn no_sentence_becomes_more_than_eight_calls() {
    assert_eq!(wishes(&"read a.txt, ".repeat(30)).len(), 8);
}

#[test]
fn lines_and_regular_expressions_are_understood() {
    let lines = |first, count| Wish::Read { path: "a.txt".into(), lines: Some((first, count)) };
    assert_eq!(wishes("read lines 3 to 9 of a.txt"), [lines(3, 7)]);
    assert_eq!(wishes("read lines 3-9 of a.txt"), [lines(3, 7)]);
    assert_eq!(
        lines(3, 7).arguments().value().unwrap(),
        &json!({"path": "a.txt", "first_line": 3, "lines": 7})
    );
    let regex = Wish::Search { pattern: "time.ut".into(), path: Some("docs".into()), regex: true };
    assert_eq!(wishes("search for /time.ut/ in docs"), std::slice::from_ref(&regex));
    assert_eq!(
        regex.arguments().value().unwrap(),
        &json!({"pattern": "time.ut", "path": "docs", "regex": true})
    );
}

#[test]
fn any_tool_can_be_called_by_name_with_any_text() {
    let wish = &wishes("call get_weather {\"city\": \"read and weep\"}")[0];
    assert_eq!(wish.tool(), "get_weather");
    assert_eq!(wish.arguments().as_str(), "{\"city\": \"read and weep\"}");
    let arguments = |text| wishes(text)[0].arguments().as_str().to_owned();
    assert_eq!(arguments("call weather with city Oslo"), r#"{"city":"Oslo"}"#);
    assert_eq!(
        arguments("call weather with city New York, unit C"),
        r#"{"city":"New York","unit":"C"}"#
    );
    assert_eq!(arguments("call now"), "{}");
    assert_eq!(wishes("call read_file {\"path\":")[0].arguments().as_str(), "{\"path\":");
}

#[test]
fn what_needs_no_tool_is_told_apart() {
    let cases = [
        ("help", Plan::Help),
        ("Hello!", Plan::Help),
        ("What can you do?", Plan::Help),
        ("count to 12", Plan::Count(12)),
        ("please count to 99999999", Plan::Count(500)),
        ("count to 99999999999999999999", Plan::Puzzled),
        ("simulate a failure", Plan::Fail),
        ("break off in the middle", Plan::BreakOff),
        ("I am reading a lot lately", Plan::Puzzled),
        ("", Plan::Puzzled),
        ("read", Plan::Puzzled),
        ("search for", Plan::Puzzled),
    ];
    for (text, expected) in cases {
        assert_eq!(plan(text), expected, "{text}");
    }
}
