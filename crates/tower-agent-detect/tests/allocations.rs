//! What is clean costs no memory.
#![cfg(test)]

use allocation_counter::measure;
use tower_agent_detect::{Detector, Mask};

/// Texts with words, numbers and signs that the engine looks at, and nothing to find.
const CLEAN: [&str; 5] = [
    "The token is passed on, and the password policy says nothing about secrets of that kind.\n",
    "let token = self.next_token(); // see https://docs.example.com/a%20b/c?key=value for `max_tokens`\n",
    "{\"ts\":\"2026-11-03T04:05:06.789Z\",\"level\":\"info\",\"path\":\"/api/v1/items/48213\",\"ms\":12.5}\n",
    "id 550e8400-e29b-41d4-a716-446655440000, sha 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
    "pub fn getElementByIdAndSomethingElseThatIsLong(&self) -> Option<&'static str> { None }\n",
];

#[test]
fn a_clean_text_is_looked_at_without_an_allocation() {
    let detector = Detector::builtin();
    for text in CLEAN {
        let text = text.repeat(50);
        // What the rules need is made when it is first needed.
        assert_eq!(detector.mask(&text), text);
        let counted = measure(|| assert!(detector.find(&text).is_empty()));
        assert_eq!(counted.count_total, 0, "find: {text:.60}");
        let counted = measure(|| assert_eq!(detector.mask(&text).len(), text.len()));
        assert_eq!(counted.count_total, 0, "mask: {text:.60}");
    }
}

#[test]
fn a_clean_stream_allocates_nothing_once_its_buffer_has_grown() {
    let detector = Detector::builtin();
    for text in CLEAN {
        let mut out = String::with_capacity(64 << 10);
        let mut stream = detector.stream(Mask::label());
        let text = text.repeat(100);
        let mut push = || text.split_inclusive(' ').for_each(|piece| stream.push(piece, &mut out));
        (0..3).for_each(|_| push());
        let counted = measure(&mut push);
        assert_eq!(counted.count_total, 0, "{text:.60}");
    }
}
