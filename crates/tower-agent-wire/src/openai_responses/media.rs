//! Pictures, sound and files.

use std::borrow::Cow;

use tower_agent_core::{Media, MediaSource, Str};

use super::{content::write_note, extra};
use crate::{
    LossRule,
    codec::{
        Losses,
        raw::{Fields, NULL, Object, string},
    },
};

/// Fields that chat completions keep inside an object: how closely to look, and what a file is called.
const SHARED: [(&str, &str); 2] = [("detail", "image_url"), ("filename", "file")];

/// The fields of a picture or a file.
fn fields_of<'a>(media: &'a Media, losses: &mut Losses<'_>) -> Fields<'a> {
    let mut fields = extra::open(media.extra.as_ref(), &SHARED.map(|(_, outer)| outer), losses);
    for (name, outer) in SHARED {
        let is_object = |raw: &str| raw.starts_with('{').then(|| raw.to_owned());
        let Some(raw) = fields.take_if(outer, is_object) else { continue };
        for (key, raw) in Fields::parse(&raw).unwrap_or_default().iter() {
            if key == name {
                fields.set(name, raw.to_owned());
            } else {
                losses.note_at(LossRule::Foreign, key);
            }
        }
    }
    fields
}

pub(super) fn read_image(fields: &mut Fields<'_>) -> Option<Media> {
    let (source, mime) = match fields.take_str("image_url") {
        Some(url) => from_url(&url).unwrap_or((MediaSource::Url(url), None)),
        None => (MediaSource::Id(fields.take_str("file_id")?), None),
    };
    Some(finish(fields, source, mime))
}

/// The data of a file is a data URL, or bare Base64, which is marked by `null`.
pub(super) fn read_file(fields: &mut Fields<'_>) -> Option<Media> {
    let (source, mime) = if let Some(data) = fields.take_str("file_data") {
        from_url(&data).unwrap_or_else(|| {
            fields.set("file_data", NULL);
            (MediaSource::Base64(data), None)
        })
    } else if let Some(url) = fields.take_str("file_url") {
        (MediaSource::Url(url), None)
    } else {
        (MediaSource::Id(fields.take_str("file_id")?), None)
    };
    Some(finish(fields, source, mime))
}

pub(super) fn read_audio(fields: &mut Fields<'_>) -> Option<Media> {
    let raw = fields.get("input_audio")?.to_owned();
    let mut inner = Fields::parse(&raw)?;
    let data = inner.take_str("data")?;
    let format = inner.take_str("format")?;
    if !inner.is_empty() {
        return None;
    }
    fields.take("input_audio");
    let mime = if format == "mp3" { "audio/mpeg".into() } else { format!("audio/{format}") };
    Some(finish(fields, MediaSource::Base64(data), Some(mime.into())))
}

fn finish(fields: &mut Fields<'_>, source: MediaSource, mime_type: Option<Str>) -> Media {
    fields.take("type");
    let mut shared = Fields::default();
    for (name, outer) in SHARED {
        if let Some(raw) = fields.take_if(name, |raw| string(raw).map(|_| raw.to_owned())) {
            let mut inner = Fields::default();
            inner.set(name, raw);
            shared.set(outer, inner.to_text());
        }
    }
    Media { source, mime_type, extra: extra::keep_beside(fields, shared) }
}

/// Base64 and media type of a data URL; `None` for any other URL.
fn from_url(url: &str) -> Option<(MediaSource, Option<Str>)> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (!mime.is_empty()).then(|| (MediaSource::Base64(data.into()), Some(mime.into())))
}

fn data_url(mime: Option<&Str>, usual: &str, data: &str) -> String {
    format!("data:{};base64,{data}", mime.map_or(usual, Str::as_str))
}

pub(super) fn write_image(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, fields_of(media, losses));
    object.str("type", "input_image");
    match &media.source {
        MediaSource::Url(url) => object.str("image_url", url),
        MediaSource::Id(id) => object.str("file_id", id),
        MediaSource::Base64(data) => {
            object.str("image_url", &data_url(media.mime_type.as_ref(), "image/png", data));
        }
        _ => losses.note(LossRule::MediaSource),
    }
    object.end();
}

pub(super) fn write_file(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, fields_of(media, losses));
    object.str("type", "input_file");
    match &media.source {
        MediaSource::Url(url) => object.str("file_url", url),
        MediaSource::Id(id) => object.str("file_id", id),
        MediaSource::Base64(data) => {
            let is_bare = object.extra().is_null("file_data") && media.mime_type.is_none();
            let data = if is_bare {
                Cow::Borrowed(data.as_str())
            } else {
                data_url(media.mime_type.as_ref(), "application/octet-stream", data).into()
            };
            object.str("file_data", &data);
        }
        _ => losses.note(LossRule::MediaSource),
    }
    object.end();
}

pub(super) fn write_audio(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    let MediaSource::Base64(data) = &media.source else {
        losses.note(LossRule::MediaSource);
        return write_note(out, "[audio omitted: it is not in a form that can be sent]");
    };
    let mut object = Object::new(out, fields_of(media, losses));
    object.str("type", "input_audio");
    let mut inner = Object::new(object.field("input_audio"), Fields::default());
    inner.str("data", data);
    inner.str("format", format_of(media.mime_type.as_deref().unwrap_or("audio/wav")));
    inner.end();
    object.end();
}

fn format_of(mime: &str) -> &str {
    match mime {
        "audio/mpeg" => "mp3",
        "audio/x-wav" | "audio/wave" => "wav",
        other => other.strip_prefix("audio/").unwrap_or(other),
    }
}
