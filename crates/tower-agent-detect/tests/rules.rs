//! What the rules themselves say about what they find.
#![cfg(test)]

mod support;

use tower_agent_detect::Detector;

#[test]
fn try_all() {
    let all = Detector::builtin();
    println!("{} rules", all.rules().len());
    let mut bad = 0;
    for rule in all.rules() {
        if let Err(e) = rule.check() {
            println!("{e}");
            bad += 1;
        }
        for hit in rule.samples_hit() {
            let text = support::expand(hit);
            let found = all.find(&text);
            if !found.iter().any(|f| f.rule().id() == rule.id()) {
                println!("{} MISS {text} {found:?}", rule.id());
                bad += 1;
            }
            let whole = all.mask(&text);
            let again = all.mask(&whole);
            if whole != again {
                println!("{} TWICE {text} {whole} {again}", rule.id());
                bad += 1;
            }
            for n in 1..=9 {
                let mut s = all.stream(tower_agent_detect::Mask::label());
                let mut out = String::new();
                for c in text.as_bytes().chunks(n) {
                    s.push(std::str::from_utf8(c).unwrap(), &mut out);
                }
                s.finish(&mut out);
                if out != whole {
                    println!("{} STREAM {n} {text} {out} {whole}", rule.id());
                    bad += 1;
                    break;
                }
            }
        }
        for miss in rule.samples_miss() {
            let text = support::expand(miss);
            if all.find(&text).iter().any(|f| f.rule().id() == rule.id()) {
                println!("{} FALSE {text}", rule.id());
                bad += 1;
            }
        }
    }
    println!("bad {bad}");
}
