use std::{fs, path::PathBuf};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Folder, Lines, Query, Refused};

/// A folder `inside` with a neighbour `outside.txt` that nobody may see.
struct Place {
    parent: TempDir,
    folder: Folder,
}

impl Place {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let inside = parent.path().join("inside");
        fs::create_dir_all(inside.join("docs")).unwrap();
        fs::write(inside.join("notes.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(inside.join("docs/guide.md"), "The timeout is five seconds.\n").unwrap();
        fs::write(parent.path().join("outside.txt"), "the timeout outside\n").unwrap();
        let folder = Folder::open(&inside).unwrap();
        Self { parent, folder }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.inside(name), bytes).unwrap();
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.parent.path().join("inside").join(name)
    }

    fn read(&self, path: &str) -> Result<String, Refused> {
        self.folder.read(path, Lines::default())
    }

    fn search(&self, pattern: &str) -> String {
        self.search_in(pattern, "", false).unwrap()
    }

    fn search_in(&self, pattern: &str, path: &str, regex: bool) -> Result<String, Refused> {
        let query = Query { pattern: pattern.into(), path: path.into(), regex };
        self.folder.search(&query, &CancellationToken::new())
    }
}

fn text(result: Result<String, Refused>) -> String {
    match result {
        Ok(text) => panic!("it was not refused: {text}"),
        Err(refused) => refused.to_string(),
    }
}

#[test]
fn a_file_is_read_as_it_is() {
    assert_eq!(Place::new().read("notes.txt").unwrap(), "one\ntwo\nthree\n");
}

#[test]
fn a_path_may_wander_as_long_as_it_stays_inside() {
    let place = Place::new();
    for path in ["./notes.txt", "docs/../notes.txt", " notes.txt ", "docs/.././docs/../notes.txt"] {
        assert_eq!(place.read(path).unwrap(), "one\ntwo\nthree\n", "{path}");
    }
}

#[test]
fn no_path_leads_out() {
    let place = Place::new();
    let outside = place.parent.path().join("outside.txt");
    let there = outside.to_str().unwrap();
    for path in [
        "../outside.txt",
        "docs/../../outside.txt",
        "../inside/../outside.txt",
        there,
        "/etc/passwd",
    ] {
        for refused in [
            text(place.read(path)),
            text(place.folder.list(path)),
            text(place.folder.delete(path)),
            text(place.search_in("timeout", path, false)),
        ] {
            assert!(
                refused.contains("folder") && !refused.contains("timeout"),
                "{path}: {refused}"
            );
        }
    }
    assert!(outside.exists());
}

#[test]
fn a_path_with_a_nul_is_refused_in_words() {
    assert!(text(Place::new().read("notes.txt\0.md")).contains("NUL"));
}

#[test]
fn what_is_missing_is_said_to_be_missing() {
    let refused = text(Place::new().read("nothing.txt"));
    assert_eq!(refused, "nothing.txt does not exist; list_files shows what does.");
}

#[test]
fn a_folder_is_listed_and_not_read() {
    let place = Place::new();
    assert!(text(place.read("docs")).contains("list_files"));
    assert_eq!(place.folder.list("").unwrap(), "2 entries in .:\ndocs/\nnotes.txt (14 bytes)");
    assert_eq!(place.folder.list("docs/").unwrap(), "1 entry in docs/:\nguide.md (29 bytes)");
    assert!(text(place.folder.list("notes.txt")).contains("not a folder"));
}

#[test]
fn a_listing_is_bounded_and_says_so() {
    let place = Place::new();
    fs::create_dir(place.inside("many")).unwrap();
    for number in 0..205 {
        place.write(&format!("many/{number:03}.txt"), "");
    }
    let listing = place.folder.list("many").unwrap();
    assert_eq!(listing.lines().count(), 202);
    assert!(listing.ends_with("[5 more are not shown]"), "{listing}");
}

#[test]
fn some_lines_are_read_when_some_are_asked_for() {
    let place = Place::new();
    let lines = |first, count| place.folder.read("notes.txt", Lines { first, count });
    assert_eq!(lines(Some(2), Some(1)).unwrap(), "two\n");
    assert_eq!(lines(Some(2), None).unwrap(), "two\nthree\n");
    assert_eq!(lines(None, Some(1)).unwrap(), "one\n");
    assert_eq!(lines(Some(0), Some(1)).unwrap(), "one\n");
    assert!(text(lines(Some(4), None)).contains("3 lines"));
    assert!(text(lines(Some(usize::MAX), Some(usize::MAX))).contains("3 lines"));
}

#[test]
fn a_binary_file_is_named_as_one() {
    let place = Place::new();
    place.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    assert!(text(place.read("logo.png")).contains("binary"));
}

#[test]
fn text_that_is_not_utf8_is_read_with_a_note() {
    let place = Place::new();
    place.write("latin1.txt", b"caf\xe9\n");
    let read = place.read("latin1.txt").unwrap();
    assert!(read.starts_with("caf\u{fffd}\n") && read.contains("not UTF-8"), "{read}");
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    let place = Place::new();
    place.write("empty.txt", "");
    assert_eq!(place.read("empty.txt").unwrap(), "empty.txt is empty.");
}

#[test]
fn a_huge_file_is_not_read_but_can_be_searched() {
    let place = Place::new();
    let huge = format!("{}needle\n", "hay\n".repeat(300_000));
    place.write("huge.log", huge);
    let refused = text(place.read("huge.log"));
    assert!(refused.contains("1200 kB") && refused.contains("search_files"), "{refused}");
    assert!(place.search("needle").contains("huge.log:300001: needle"));
}

#[test]
fn a_search_finds_lines_below_a_path_in_order() {
    let place = Place::new();
    place.write("docs/about.md", "A Timeout.\nNothing.\n");
    let found = place.search("timeout");
    assert_eq!(
        found,
        "2 lines in 2 files match \"timeout\":\n\
         docs/about.md:1: A Timeout.\n\
         docs/guide.md:1: The timeout is five seconds."
    );
    assert!(place.search("Timeout").starts_with("1 line in 1 file"), "capitals count once used");
    assert!(place.search_in("t.meout", "docs", true).unwrap().starts_with("2 lines"));
    assert!(place.search_in("timeout", "docs/guide.md", false).unwrap().starts_with("1 line"));
    assert_eq!(place.search("t.meout"), "No line matches \"t.meout\".");
}

#[test]
fn a_pattern_that_cannot_be_used_is_explained() {
    let place = Place::new();
    assert!(text(place.search_in("(", "", true)).contains("nothing was searched"));
    assert!(text(place.search_in("", "", false)).contains("empty"));
    assert!(text(place.search_in("(a{1000}){1000}", "", true)).contains("nothing was searched"));
    assert!(text(place.search_in("x", "nowhere", false)).contains("does not exist"));
}

#[test]
fn hits_are_bounded_and_long_lines_are_shown_around_the_match() {
    let place = Place::new();
    place.write("many.txt", "match\n".repeat(80));
    let found = place.search("match");
    assert_eq!(found.lines().filter(|line| line.starts_with("many.txt")).count(), 50);
    assert!(found.contains("[Stopped after 50 lines"), "{found}");

    place.write("long.txt", format!("{}Here{}\n", "ä".repeat(5_000), "ß".repeat(5_000)));
    let found = place.search("Here");
    let line = found.lines().nth(1).unwrap();
    assert!(line.contains("Here") && line.chars().count() < 250, "{line}");
    assert!(line.starts_with("long.txt:1: …") && line.ends_with('…'));
}

#[test]
fn a_line_that_does_not_fit_the_memory_is_counted_as_not_searched() {
    let place = Place::new();
    place.write("one-line.json", "x".repeat(3_000_000));
    let found = place.search("timeout");
    assert!(found.contains("docs/guide.md:1") && found.contains("[1 file could not"), "{found}");
}

#[test]
fn a_search_leaves_out_what_is_ignored_or_binary() {
    let place = Place::new();
    fs::create_dir(place.inside("target")).unwrap();
    place.write(".gitignore", "target/\n");
    place.write("target/out.txt", "timeout\n");
    place.write("data.bin", b"\0timeout\n");
    place.write(".env", "TIMEOUT=5\n");
    let found = place.search("timeout");
    assert!(found.contains(".env:1") && found.contains("2 lines in 2 files"), "{found}");
}

#[test]
fn a_search_that_nobody_waits_for_stops() {
    let place = Place::new();
    let stop = CancellationToken::new();
    stop.cancel();
    let query = Query { pattern: "timeout".into(), ..Query::default() };
    assert_eq!(place.folder.search(&query, &stop).unwrap(), "No line matches \"timeout\".");
}

#[tokio::test]
async fn dropping_the_call_tells_its_thread_to_stop() {
    let place = Place::new();
    let (send, started) = tokio::sync::oneshot::channel();
    let (sent, stopped) = std::sync::mpsc::channel();
    let mut work = Box::pin(place.folder.blocking(move |_, stop| {
        send.send(stop.clone()).unwrap();
        while !stop.is_cancelled() {
            std::thread::yield_now();
        }
        sent.send(()).unwrap();
        Ok(())
    }));
    let token = tokio::select! {
        token = started => token.unwrap(),
        _ = &mut work => unreachable!("it waits to be stopped"),
    };
    assert!(!token.is_cancelled());
    drop(work);
    assert!(token.is_cancelled());
    stopped.recv().unwrap();
}

#[test]
fn a_file_inside_is_deleted_and_nothing_else() {
    let place = Place::new();
    assert_eq!(place.folder.delete("notes.txt").unwrap(), "Deleted notes.txt.");
    assert!(!place.inside("notes.txt").exists());
    assert!(text(place.folder.delete("docs")).contains("docs"));
    assert!(place.inside("docs").exists());
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_stays_inside_is_followed() {
        let place = Place::new();
        symlink("docs/guide.md", place.inside("guide")).unwrap();
        symlink("../notes.txt", place.inside("docs/notes")).unwrap();
        assert!(place.read("guide").unwrap().contains("timeout"));
        assert_eq!(place.read("docs/notes").unwrap(), "one\ntwo\nthree\n");
        assert!(place.search_in("timeout", "guide", false).unwrap().contains("docs/guide.md:1"));
    }

    #[test]
    fn a_link_that_leads_out_is_refused_by_every_tool() {
        let place = Place::new();
        symlink("../outside.txt", place.inside("file")).unwrap();
        symlink("..", place.inside("up")).unwrap();
        symlink(place.parent.path(), place.inside("absolute")).unwrap();
        for path in ["file", "up/outside.txt", "absolute/outside.txt", "up/inside/../outside.txt"] {
            assert!(text(place.read(path)).contains("leads out"), "{path}");
            assert!(text(place.search_in("timeout", path, false)).contains("leads out"), "{path}");
        }
        for path in ["up", "absolute", "up/inside"] {
            assert!(text(place.folder.list(path)).contains("leads out"), "{path}");
        }
        assert!(text(place.folder.delete("up/outside.txt")).contains("leads out"));
        assert!(place.parent.path().join("outside.txt").exists());
    }

    #[test]
    fn a_search_and_a_listing_do_not_look_through_links() {
        let place = Place::new();
        symlink("..", place.inside("up")).unwrap();
        symlink("../outside.txt", place.inside("file")).unwrap();
        let found = place.search("timeout");
        assert_eq!(found.lines().count(), 2, "{found}");
        let listing = place.folder.list("").unwrap();
        assert!(listing.contains("file (link)") && listing.contains("up (link)"), "{listing}");
    }

    #[test]
    fn a_link_that_turns_in_circles_ends() {
        let place = Place::new();
        symlink("round", place.inside("round")).unwrap();
        assert!(text(place.read("round")).contains("could not be opened"));
    }

    #[test]
    fn a_pipe_does_not_hold_a_thread() {
        let place = Place::new();
        let made = std::process::Command::new("mkfifo").arg(place.inside("pipe")).status();
        assert!(made.unwrap().success());
        assert!(text(place.read("pipe")).contains("not an ordinary file"));
        assert!(place.folder.list("").unwrap().contains("pipe (special file)"));
    }
}
