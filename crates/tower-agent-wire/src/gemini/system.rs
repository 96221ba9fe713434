//! The operator's text before the contents.

use std::borrow::Cow;

use tower_agent_core::{Message, ModelRequest, Part, Role, Str, TextPart};

use super::{
    content::{is_system, read_parts},
    extra::{keep, open, rest},
    ids::{Calls, Ids},
    part,
};
use crate::{
    Loss, LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, string, write_array},
    },
};

const FIELD: &str = "systemInstruction";

/// Reads the operator's text: one plain text is the instructions, anything else a message of its own.
pub(super) fn read(
    request: &mut ModelRequest,
    fields: &mut Fields<'_>,
) -> Result<Option<Message>, Flaw> {
    let Some(raw) = fields.get(FIELD).filter(|raw| *raw != NULL).map(str::to_owned) else {
        return Ok(None);
    };
    // Some clients send the text alone.
    if let Some(text) = string(&raw).filter(|text| !text.is_empty()) {
        fields.take(FIELD);
        request.instructions = Some(text);
        return Ok(None);
    }
    let mut content =
        Fields::parse(&raw).ok_or_else(|| Flaw::new(FIELD, "must be an object with parts"))?;
    let parts = read_parts(&mut content, &mut Ids::default()).map_err(|flaw| flaw.within(FIELD))?;
    if parts.is_empty() {
        return Ok(None);
    }
    fields.take(FIELD);
    match plain(&parts) {
        Some(text) => {
            fields.set_rest(FIELD, &content);
            request.instructions = Some(text);
            Ok(None)
        }
        None => Ok(Some(Message::new(Role::System, parts).with_extra(keep(&content)))),
    }
}

fn plain(parts: &[Part]) -> Option<Str> {
    match parts {
        [Part::Text(TextPart { text, extra: None })] => Some(text.clone()),
        _ => None,
    }
}

/// Writes instructions and operators' messages, which stand before all others.
pub(super) fn write(object: &mut Object<'_, '_>, request: &ModelRequest, losses: &mut Vec<Loss>) {
    let instructions = request.instructions.iter().filter(|text| !text.is_empty());
    let mut parts: Vec<_> = instructions
        .map(|text| ("instructions".into(), Cow::Owned(Part::text(text.clone()))))
        .collect();
    let mut fields = Fields::default();
    let mut is_before = true;
    for (index, message) in request.messages.iter().enumerate() {
        if !is_system(message) {
            is_before = false;
            continue;
        }
        let place = format!("messages[{index}]");
        let mut losses = Losses { place: place.clone(), all: losses };
        if !is_before {
            losses.note(LossRule::Moved);
        }
        fields = open(message.extra(), &[], &mut losses);
        let fitting = message.parts().iter().filter(|part| part::fits(part, &mut losses));
        parts.extend(fitting.map(|part| (place.clone(), Cow::Borrowed(part))));
    }
    if !parts.is_empty() {
        write_parts(object, &parts, fields, losses);
    }
}

fn write_parts(
    object: &mut Object<'_, '_>,
    parts: &[(String, Cow<'_, Part>)],
    mut fields: Fields<'_>,
    losses: &mut Vec<Loss>,
) {
    let raw = object.take(FIELD);
    for (key, raw) in rest(raw.as_ref()).into_pairs() {
        if fields.get(&key).is_none() {
            fields.set(key.into_owned(), raw.into_owned());
        }
    }
    let mut content = Object::new(object.field(FIELD), fields);
    write_array(content.field("parts"), parts, |out, (place, part)| {
        let mut losses = Losses { place: place.clone(), all: losses };
        part::write(out, part, &Calls::default(), &mut losses);
    });
    content.end();
}
