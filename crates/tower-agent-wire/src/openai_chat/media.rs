//! Pictures, sound and files.

use std::borrow::Cow;

use tower_agent_core::{Media, MediaSource, Str};

use super::content::write_note;
use crate::{
    LossRule,
    codec::Losses,
    codec::raw::{Fields, Object},
};

pub(super) fn read_image(fields: &mut Fields<'_>) -> Option<Media> {
    read_inner(fields, "image_url", |inner| {
        let url = inner.take_str("url")?;
        Some(from_url(&url).unwrap_or((MediaSource::Url(url), None)))
    })
}

pub(super) fn read_audio(fields: &mut Fields<'_>) -> Option<Media> {
    read_inner(fields, "input_audio", |inner| {
        let data = inner.take_str("data")?;
        let format = inner.take_str("format");
        let mime = format.as_ref().map(|format| mime_of(format));
        // Only a format that the media type leads back to can be left out.
        let is_lost = format.as_deref() != mime.as_deref().map(format_of);
        (!is_lost).then(|| (MediaSource::Base64(data), mime.map(Into::into)))
    })
}

pub(super) fn read_file(fields: &mut Fields<'_>) -> Option<Media> {
    read_inner(fields, "file", |inner| {
        if let Some(id) = inner.take_str("file_id") {
            return Some((MediaSource::Id(id), None));
        }
        let data = inner.take_str("file_data")?;
        Some(from_url(&data).unwrap_or((MediaSource::Url(data), None)))
    })
}

/// Reads the object under the name of the kind; what is left of it stays in the fields.
fn read_inner(
    fields: &mut Fields<'_>,
    kind: &'static str,
    read: impl FnOnce(&mut Fields<'_>) -> Option<(MediaSource, Option<Str>)>,
) -> Option<Media> {
    let raw = fields.take(kind)?;
    let mut inner = Fields::parse(&raw)?;
    let (source, mime_type) = read(&mut inner)?;
    fields.take("type");
    fields.set_rest(kind, &inner);
    Some(Media { source, mime_type, extra: fields.to_extra() })
}

/// Base64 and media type of a data URL; `None` for any other URL.
fn from_url(url: &str) -> Option<(MediaSource, Option<Str>)> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (!mime.is_empty()).then(|| (MediaSource::Base64(data.into()), Some(mime.into())))
}

fn data_url(mime: Option<&Str>, usual: &str, data: &str) -> String {
    format!("data:{};base64,{data}", mime.map_or(usual, Str::as_str))
}

fn mime_of(format: &str) -> String {
    match format {
        "mp3" => "audio/mpeg".into(),
        other => format!("audio/{other}"),
    }
}

fn format_of(mime: &str) -> &str {
    match mime {
        "audio/mpeg" => "mp3",
        "audio/x-wav" | "audio/wave" => "wav",
        other => other.strip_prefix("audio/").unwrap_or(other),
    }
}

pub(super) fn write_image(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    let url = match &media.source {
        MediaSource::Url(url) => Cow::Borrowed(url.as_str()),
        MediaSource::Base64(data) => data_url(media.mime_type.as_ref(), "image/png", data).into(),
        _ => return write_omitted(out, "image", losses),
    };
    write_inner(out, media, "image_url", losses, |inner| inner.str("url", &url));
}

pub(super) fn write_audio(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    let MediaSource::Base64(data) = &media.source else {
        return write_omitted(out, "audio", losses);
    };
    write_inner(out, media, "input_audio", losses, |inner| {
        inner.str("data", data);
        if let Some(mime) = &media.mime_type {
            inner.str("format", format_of(mime));
        }
    });
}

pub(super) fn write_file(out: &mut Vec<u8>, media: &Media, losses: &mut Losses<'_>) {
    write_inner(out, media, "file", losses, |inner| match &media.source {
        MediaSource::Id(id) => inner.str("file_id", id),
        MediaSource::Url(url) => inner.str("file_data", url),
        MediaSource::Base64(data) => {
            let url = data_url(media.mime_type.as_ref(), "application/octet-stream", data);
            inner.str("file_data", &url);
        }
        _ => {}
    });
}

fn write_inner(
    out: &mut Vec<u8>,
    media: &Media,
    kind: &'static str,
    losses: &mut Losses<'_>,
    write: impl FnOnce(&mut Object<'_, '_>),
) {
    let mut object = Object::new(out, losses.fields(media.extra.as_ref()));
    object.str("type", kind);
    let rest = object.take(kind).unwrap_or(Cow::Borrowed("{}"));
    let mut inner = Object::new(object.field(kind), Fields::parse(&rest).unwrap_or_default());
    write(&mut inner);
    inner.end();
    object.end();
}

fn write_omitted(out: &mut Vec<u8>, kind: &str, losses: &mut Losses<'_>) {
    losses.note(LossRule::MediaSource);
    write_note(out, &format!("[{kind} omitted: it is not in a form that can be sent]"));
}
