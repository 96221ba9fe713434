//! Pictures and documents.

use std::borrow::Cow;

use tower_agent_core::{Media, MediaSource};

use super::{
    block::write_note,
    extra::{keep, open},
};
use crate::{
    LossRule,
    codec::{
        Losses,
        raw::{Fields, Object},
    },
};

/// Reads an image or a document; `None` for a source that the vocabulary has no name for, such as plain text.
pub(super) fn read(fields: &mut Fields<'_>) -> Option<Media> {
    let raw = fields.take("source")?;
    let mut source = Fields::parse(&raw)?;
    let (place, mime_type) = match source.take_str("type")?.as_str() {
        "base64" => {
            let mime = source.take_str("media_type")?;
            (MediaSource::Base64(source.take_str("data")?), Some(mime))
        }
        "url" => (MediaSource::Url(source.take_str("url")?), None),
        "file" => (MediaSource::Id(source.take_str("file_id")?), None),
        _ => return None,
    };
    fields.take("type");
    fields.set_rest("source", &source);
    Some(Media { source: place, mime_type, extra: keep(fields) })
}

pub(super) fn write_image(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    write(out, "image", "image/png", media, losses);
}

pub(super) fn write_document(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    write(out, "document", "application/pdf", media, losses);
}

fn write(out: &mut Vec<u8>, kind: &str, usual: &str, media: &Media, losses: &mut Losses<'_>) {
    const KNOWN: [&str; 4] = ["cache_control", "citations", "context", "title"];
    let (name, key, text) = match &media.source {
        MediaSource::Base64(data) => ("base64", "data", data),
        MediaSource::Url(url) => ("url", "url", url),
        MediaSource::Id(id) => ("file", "file_id", id),
        _ => {
            losses.note(LossRule::MediaSource);
            return write_note(
                out,
                &format!("[{kind} omitted: it is not in a form that can be sent]"),
            );
        }
    };
    let mut object = Object::new(out, open(media.extra.as_ref(), &KNOWN, losses));
    object.str("type", kind);
    let rest = object.take("source").unwrap_or(Cow::Borrowed("{}"));
    let mut source = Object::new(object.field("source"), Fields::parse(&rest).unwrap_or_default());
    source.str("type", name);
    if name == "base64" {
        source.str("media_type", media.mime_type.as_deref().unwrap_or(usual));
    }
    source.str(key, text);
    source.end();
    object.end();
}
