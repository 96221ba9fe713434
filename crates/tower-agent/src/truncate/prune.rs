//! Shortens JSON text so that it stays JSON: long strings and the ends of lists go, small fields stay.

use super::{Keep, Unit, node::Node};

const NOTE: &str = "[cut]";
/// The smallest form of a string that says that it was cut.
const CUT_TEXT: &str = "\"[cut]\"";

#[derive(Clone, Copy, Debug)]
pub(super) struct Pruner {
    pub(super) unit: Unit,
    pub(super) keep: Keep,
}

impl Pruner {
    /// The text in at most `budget` units, unless it is no JSON object, array or string.
    pub(super) fn prune(self, text: &str, budget: usize) -> Option<String> {
        let node = Node::parse(text)?;
        let mut out = String::new();
        if budget >= self.least(&node) {
            self.write(&node, budget, &mut out);
        }
        Some(out)
    }

    /// The size without spaces.
    fn size(self, node: &Node<'_>) -> usize {
        match node {
            Node::Scalar(text) | Node::Text(text) => self.unit.measure(text),
            Node::Array(items) => {
                2 + commas(items.len()) + items.iter().map(|item| self.size(item)).sum::<usize>()
            }
            Node::Object(members) => {
                let sizes = members
                    .iter()
                    .map(|(key, value)| self.unit.measure(key) + 1 + self.size(value));
                2 + commas(members.len()) + sizes.sum::<usize>()
            }
        }
    }

    /// The smallest size that it can be pruned to.
    fn least(self, node: &Node<'_>) -> usize {
        match node {
            Node::Scalar(text) => self.unit.measure(text),
            Node::Text(text) => self.unit.measure(text).min(CUT_TEXT.len()),
            Node::Array(_) | Node::Object(_) => 2,
        }
    }

    /// Writes a value in at most `budget` units, of which there are at least as many as it needs.
    fn write(self, node: &Node<'_>, budget: usize, out: &mut String) {
        if self.size(node) <= budget {
            return node.write(out);
        }
        match node {
            Node::Scalar(text) => out.push_str(text),
            Node::Text(text) => out.push_str(&self.text(text, budget)),
            Node::Array(items) => self.array(items, budget, out),
            Node::Object(members) => self.object(members, budget, out),
        }
    }

    fn text(self, text: &str, budget: usize) -> String {
        // Escapes of half a character are JSON, but no text.
        let decoded: String = serde_json::from_str(text).unwrap_or_default();
        let room = budget - CUT_TEXT.len();
        let head = self.keep.head_of(room);
        let start = self.fitting(decoded.chars(), head);
        let start: String = decoded.chars().take(start).collect();
        let rest = decoded.get(start.len()..).unwrap_or_default();
        let end = self.fitting(rest.chars().rev(), room - head);
        let end: String = rest.chars().skip(rest.chars().count() - end).collect();
        format!("\"{}{NOTE}{}\"", escaped(&start), escaped(&end))
    }

    /// How many characters fit when they are written as JSON.
    fn fitting(self, characters: impl Iterator<Item = char>, room: usize) -> usize {
        let mut used = 0;
        characters
            .take_while(|character| {
                used += self.unit.measure(&escaped(character.encode_utf8(&mut [0; 4])));
                used <= room
            })
            .count()
    }

    fn array(self, items: &[Node<'_>], budget: usize, out: &mut String) {
        let note = format!("\"[{0} of {0} items cut]\"", items.len());
        let noted = 2 + note.len() <= budget;
        // Every item that is kept has a comma beside it, since the note is an item too.
        let room = if noted { budget - 2 - note.len() } else { 0 };
        let head_room = self.keep.head_of(room);
        let (head, left) = self.whole(items.iter(), head_room);
        let (tail, tail_left) = self.whole(items.iter().skip(head).rev(), room - head_room);
        let middle = items.get(head..items.len() - tail).unwrap_or_default();
        // A value too big to keep is worth shortening where it would have most of the room.
        let worth =
            |next: &&Node<'_>, left: usize, room: usize| left > room / 2 && left > self.least(next);
        let after_head = middle.first().filter(|next| worth(next, left, head_room));
        let before_tail = middle
            .last()
            .filter(|next| after_head.is_none() && worth(next, tail_left, room - head_room));
        let shortened = usize::from(after_head.is_some() || before_tail.is_some());
        let cut = middle.len() - shortened;

        let mut parts: Vec<_> =
            items.iter().take(head).map(|item| self.written(item, usize::MAX)).collect();
        parts.extend(after_head.map(|item| self.written(item, left - 1)));
        if noted && cut > 0 {
            parts.push(format!("\"[{cut} of {} items cut]\"", items.len()));
        }
        parts.extend(before_tail.map(|item| self.written(item, tail_left - 1)));
        parts.extend(
            items.iter().skip(items.len() - tail).map(|item| self.written(item, usize::MAX)),
        );
        *out += &format!("[{}]", parts.join(","));
    }

    /// How many items fit as they are, and the room that is left then.
    fn whole<'a, 'b: 'a>(
        self,
        items: impl Iterator<Item = &'a Node<'b>>,
        mut room: usize,
    ) -> (usize, usize) {
        let mut count = 0;
        for item in items {
            let size = self.size(item) + 1;
            if size > room {
                break;
            }
            room -= size;
            count += 1;
        }
        (count, room)
    }

    fn written(self, node: &Node<'_>, budget: usize) -> String {
        let mut out = String::new();
        self.write(node, budget, &mut out);
        out
    }

    fn object(self, members: &[(&str, Node<'_>)], budget: usize, out: &mut String) {
        let kept = self.kept_members(members, budget);
        let cut = members.len() - kept.len();
        let note = format!("\"[cut]\":\"{cut} of {} fields\"", members.len());
        let fixed: usize = kept.iter().map(|(_, key, value)| self.overhead(key, value)).sum();
        let noted = cut > 0 && 2 + fixed + note.len() <= budget;
        // The last comma is one too many, unless the note follows it.
        let rest = if noted { note.len() } else { 0 };
        let spare = (budget + usize::from(!noted)).saturating_sub(2 + fixed + rest);
        let shares = self.shares(&kept, spare);
        let mut parts: Vec<_> = kept
            .iter()
            .zip(shares)
            .map(|((_, key, value), share)| format!("{key}:{}", self.written(value, share)))
            .collect();
        parts.extend(noted.then_some(note));
        *out += &format!("{{{}}}", parts.join(","));
    }

    /// What a member takes at least, the comma beside it included.
    fn overhead(self, key: &str, value: &Node<'_>) -> usize {
        self.unit.measure(key) + 1 + self.least(value) + 1
    }

    /// The members that there is room for, the smallest ones first, in their order.
    fn kept_members<'a, 'b>(
        self,
        members: &'a [(&'a str, Node<'b>)],
        budget: usize,
    ) -> Vec<(usize, &'a str, &'a Node<'b>)> {
        let all = members.iter().enumerate().map(|(place, (key, value))| (place, *key, value));
        let mut kept: Vec<_> = all.collect();
        let needed: usize = kept.iter().map(|(_, key, value)| self.overhead(key, value)).sum();
        if needed < budget {
            return kept;
        }
        let note = format!("\"[cut]\":\"{0} of {0} fields\"", members.len()).len();
        let mut room = budget.saturating_sub(2 + note);
        kept.sort_by_key(|(_, key, value)| self.overhead(key, value));
        let fitting = kept.iter().take_while(|(_, key, value)| {
            let fits = self.overhead(key, value) <= room;
            room = room.saturating_sub(self.overhead(key, value));
            fits
        });
        kept.truncate(fitting.count());
        kept.sort_by_key(|(place, ..)| *place);
        kept
    }

    /// Shares what is spare: small values stay whole, big ones get equal parts.
    fn shares(self, kept: &[(usize, &str, &Node<'_>)], mut spare: usize) -> Vec<usize> {
        let least = |value| self.least(value);
        let mut wants: Vec<_> =
            kept.iter().map(|(.., value)| self.size(value) - least(value)).collect();
        let mut order: Vec<_> = (0..wants.len()).collect();
        order.sort_by_key(|place| wants.get(*place).copied());
        let mut left = order.len();
        for place in order {
            if let Some(want) = wants.get_mut(place) {
                *want = (*want).min(spare / left);
                spare -= *want;
            }
            left -= 1;
        }
        kept.iter().zip(wants).map(|((.., value), extra)| least(value) + extra).collect()
    }
}

const fn commas(count: usize) -> usize {
    count.saturating_sub(1)
}

/// A text as it stands between the quotes of JSON.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}
