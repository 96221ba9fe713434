//! Pictures, sound and files.

use tower_agent_core::{Media, MediaSource, Part};

use super::{
    extra::{keep, open, rest},
    part::{KNOWN, write_note},
    spelling::in_camel_case,
};
use crate::{
    LossRule,
    codec::{
        Losses,
        raw::{Fields, Object},
    },
};

/// Reads data or a reference to a file; `None` for a part that is neither.
pub(super) fn read(fields: &mut Fields<'_>) -> Option<Part> {
    let mut media = read_inline(fields).or_else(|| read_file(fields))?;
    media.extra = keep(fields);
    let kind = media.mime_type.as_deref().and_then(|mime| mime.split('/').next());
    Some(match kind {
        Some("image") => Part::Image(media),
        Some("audio") => Part::Audio(media),
        _ => Part::File(media),
    })
}

fn read_inline(fields: &mut Fields<'_>) -> Option<Media> {
    let mut inner = Fields::parse(fields.get("inlineData")?)?;
    in_camel_case(&mut inner, &["mimeType", "displayName"]);
    let data = inner.take_str("data")?;
    let mime_type = inner.take_text("mimeType");
    let rest = inner.to_text();
    fields.take("inlineData");
    keep_rest(fields, "inlineData", rest);
    Some(Media { source: MediaSource::Base64(data), mime_type, extra: None })
}

fn read_file(fields: &mut Fields<'_>) -> Option<Media> {
    let mut inner = Fields::parse(fields.get("fileData")?)?;
    in_camel_case(&mut inner, &["mimeType", "displayName", "fileUri"]);
    let uri = inner.take_str("fileUri")?;
    let mime_type = inner.take_text("mimeType");
    let rest = inner.to_text();
    fields.take("fileData");
    keep_rest(fields, "fileData", rest);
    Some(Media { source: MediaSource::Url(uri), mime_type, extra: None })
}

fn keep_rest(fields: &mut Fields<'_>, key: &'static str, rest: String) {
    if rest != "{}" {
        fields.set(key, rest);
    }
}

pub(super) fn write(out: &mut Vec<u8>, media: &Media, kind: &str, losses: &mut Losses<'_>) {
    let (name, key, text) = match &media.source {
        MediaSource::Base64(data) => ("inlineData", "data", data),
        MediaSource::Url(uri) => ("fileData", "fileUri", uri),
        _ => {
            losses.note(LossRule::MediaSource);
            let text = format!("[{kind} omitted: it is not in a form that can be sent]");
            return write_note(out, &text);
        }
    };
    let mut object = Object::new(out, open(media.extra.as_ref(), &KNOWN, losses));
    let raw = object.take(name);
    let mut inner = Object::new(object.field(name), rest(raw.as_ref()));
    match &media.mime_type {
        Some(mime) => inner.str("mimeType", mime),
        None if name == "inlineData" => inner.default_raw("mimeType", usual_type(kind)),
        None => {}
    }
    inner.str(key, text);
    inner.end();
    object.end();
}

/// Bytes need a type, and nobody said which.
fn usual_type(kind: &str) -> &'static str {
    match kind {
        "image" => "\"image/png\"",
        "audio" => "\"audio/wav\"",
        _ => "\"application/pdf\"",
    }
}
