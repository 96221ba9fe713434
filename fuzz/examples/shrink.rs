//! Shows the text that an input of a fuzz target stands for, as short as it still fails.

use std::{env, error::Error, fs, panic};

use tower_agent_fuzz::target;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: shrink TARGET FILE..";
    let name = env::args().nth(1).ok_or(usage)?;
    let (check, pieces) = target(&name).ok_or(usage)?;
    panic::set_hook(Box::new(|_| {}));
    for file in env::args().skip(2) {
        let mut pieces = pieces(&fs::read(&file)?);
        match failure(check, &pieces) {
            None => println!("{file} passes"),
            Some(first) => {
                shrink(&mut pieces, |pieces| {
                    failure(check, pieces).is_some_and(|now| kind(&now) == kind(&first))
                });
                println!("{file}\n  {pieces:?}\n  {}", failure(check, &pieces).unwrap_or_default());
            }
        }
    }
    Ok(())
}

/// What went wrong, if anything.
fn failure(check: fn(&[String]), pieces: &[String]) -> Option<String> {
    let panic = panic::catch_unwind(|| check(pieces)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(
        text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()))
            .unwrap_or_default(),
    )
}

fn kind(failure: &str) -> &str {
    failure.split([',', '[', '"']).next().unwrap_or_default()
}

/// Takes away whatever may go: whole pieces, then runs of characters, the long ones first.
fn shrink(pieces: &mut Vec<String>, fails: impl Fn(&[String]) -> bool) {
    loop {
        let before = pieces.clone();
        for at in (1..pieces.len()).rev() {
            let mut joined = pieces.clone();
            let piece = joined.remove(at);
            joined[at - 1].push_str(&piece);
            if fails(&joined) {
                *pieces = joined;
            }
        }
        for at in 0..pieces.len() {
            shrink_piece(pieces, at, &fails);
        }
        if *pieces == before {
            return;
        }
    }
}

fn shrink_piece(pieces: &mut [String], at: usize, fails: impl Fn(&[String]) -> bool) {
    let mut size = pieces[at].chars().count();
    while size > 0 {
        let mut from = 0;
        loop {
            let letters: Vec<char> = pieces[at].chars().collect();
            if from >= letters.len() {
                break;
            }
            let end = letters.len().min(from + size);
            let shorter = letters[..from].iter().chain(&letters[end..]).collect();
            let longer = std::mem::replace(&mut pieces[at], shorter);
            if !fails(pieces) {
                pieces[at] = longer;
                from += size;
            }
        }
        size /= 2;
    }
}
