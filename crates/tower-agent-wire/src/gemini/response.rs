//! Responses of functions: what came of calls.

use std::borrow::Cow;

use tower_agent_core::{Content, Json, Media, MediaSource, Part, Resource, ToolResultPart};

use super::{
    extra::{keep, open, rest},
    ids::{Calls, Ids},
    media,
    part::{KNOWN, list_of},
    spelling::in_camel_case,
};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, NULL, Object, string, write_array, write_str},
    },
};

pub(super) fn read(mut fields: Fields<'_>, ids: &mut Ids) -> Result<ToolResultPart, Flaw> {
    let flaw = || Flaw::new("functionResponse", "must be an object with a name");
    let raw = fields.take("functionResponse").ok_or_else(flaw)?;
    let mut inner = Fields::parse(&raw).ok_or_else(flaw)?;
    in_camel_case(&mut inner, &["willContinue"]);
    let name = inner.take_text("name").ok_or_else(flaw)?;
    let given = inner.take_text("id");
    if given.is_none() && inner.get("id").is_none() {
        inner.set("id", NULL);
    }
    let mut result = ToolResultPart {
        call_id: ids.response(given, &name),
        name: Some(name),
        content: Vec::new(),
        structured: None,
        is_error: false,
        extra: None,
    };
    read_response(&mut inner, &mut result)?;
    read_parts(&mut inner, &mut result.content);
    fields.set_rest("functionResponse", &inner);
    result.extra = keep(&fields);
    Ok(result)
}

fn read_response(inner: &mut Fields<'_>, result: &mut ToolResultPart) -> Result<(), Flaw> {
    let Some(raw) = inner.take("response").filter(|raw| raw != NULL) else {
        inner.set("response", NULL);
        return Ok(());
    };
    let flaw = || Flaw::new("functionResponse.response", "must be an object");
    let fields = Fields::parse(&raw).ok_or_else(flaw)?;
    if let Some((key, text)) = plain_text(&fields) {
        if key == "result" {
            inner.set("response", r#"{"result":null}"#);
        }
        result.is_error = key == "error";
        result.content.push(Content::text(text));
        return Ok(());
    }
    result.is_error = fields.get("error").is_some_and(|raw| raw != NULL);
    result.content.push(Content::text(&*raw));
    result.structured = Some(Json::from_text(&*raw));
    Ok(())
}

/// The text of a response that is nothing else.
fn plain_text<'a>(fields: &'a Fields<'_>) -> Option<(&'a str, tower_agent_core::Str)> {
    let mut all = fields.iter();
    let (key, raw) = all.next().filter(|(key, _)| ["output", "result", "error"].contains(key))?;
    let text = string(raw).filter(|text| !text.is_empty())?;
    all.next().is_none().then_some((key, text))
}

/// Media beside the response; an empty list stays.
fn read_parts(inner: &mut Fields<'_>, content: &mut Vec<Content>) {
    let Some(raw) = inner.get("parts").map(str::to_owned) else { return };
    let list = list_of(&raw).unwrap_or_default();
    if list.is_empty() {
        return;
    }
    inner.take("parts");
    content.extend(list.into_iter().map(|raw| {
        let mut fields = Fields::parse(raw).unwrap_or_default();
        in_camel_case(&mut fields, &["inlineData", "fileData"]);
        match media::read(&mut fields) {
            Some(Part::Image(media)) => Content::Image(media),
            Some(Part::Audio(media)) => Content::Audio(media),
            _ => Content::Opaque { json: Json::from_text(raw) },
        }
    }));
}

pub(super) fn write(
    out: &mut Vec<u8>,
    result: &ToolResultPart,
    calls: &Calls<'_>,
    losses: &mut Losses<'_>,
) {
    let mut object = Object::new(out, open(result.extra.as_ref(), &KNOWN, losses));
    let raw = object.take("functionResponse");
    let mut rest = rest(raw.as_ref());
    let is_made = rest.get("id").is_some() || calls.is_made(&result.call_id);
    rest.retain(|key, raw| key != "id" || raw != NULL);
    let spelt = rest.take("response");
    let mut inner = Object::new(object.field("functionResponse"), rest);
    if !is_made {
        inner.str("id", result.call_id.as_str());
    }
    let name = result.name.as_ref().or_else(|| calls.name(&result.call_id));
    inner.str("name", name.map_or(result.call_id.as_str(), |name| name.as_str()));
    let said = Said::of(result, losses);
    if !said.texts.is_empty() || result.structured.is_some() || spelt.as_deref() != Some(NULL) {
        said.write_response(inner.field("response"), result, spelt.as_deref());
    }
    if !said.parts.is_empty() {
        write_array(inner.field("parts"), &said.parts, |out, part| out.extend_from_slice(part));
    }
    inner.end();
    object.end();
}

/// What a result says, as far as it can be sent.
struct Said<'a> {
    texts: Vec<Cow<'a, str>>,
    parts: Vec<Vec<u8>>,
}

impl<'a> Said<'a> {
    fn of(result: &'a ToolResultPart, losses: &mut Losses<'_>) -> Self {
        let mut said = Self { texts: Vec::new(), parts: Vec::new() };
        result.content.iter().for_each(|content| said.add(content, losses));
        said
    }

    fn add(&mut self, content: &'a Content, losses: &mut Losses<'_>) {
        match content {
            Content::Text(part) => {
                drop(open(part.extra.as_ref(), &[], losses));
                self.texts.push((&*part.text).into());
            }
            Content::Resource(Resource { text: Some(text), .. }) => {
                self.texts.push((&**text).into());
            }
            Content::ResourceLink(Resource { name: Some(name), uri, .. }) => {
                self.texts.push(format!("{name}: {uri}").into());
            }
            Content::ResourceLink(resource) => self.texts.push((&*resource.uri).into()),
            Content::Image(media) if is_here(media) => self.media(media, "image", losses),
            Content::Audio(media) if is_here(media) => self.media(media, "audio", losses),
            Content::Resource(Resource { blob: Some(blob), mime_type: Some(mime), .. }) => {
                let source = MediaSource::Base64(blob.clone());
                let media = Media { source, mime_type: Some(mime.clone()), extra: None };
                self.media(&media, "file", losses);
            }
            Content::Opaque { json } if is_own(json) => self.parts.push(json.as_str().into()),
            _ => {
                losses.note(LossRule::MediaInToolResult);
                self.texts.push("[block omitted: tool results cannot carry it here]".into());
            }
        }
    }

    fn media(&mut self, media: &Media, kind: &str, losses: &mut Losses<'_>) {
        let mut part = Vec::new();
        media::write(&mut part, media, kind, losses);
        self.parts.push(part);
    }

    /// A result that is a value is sent as the value that its text says, since layers edit the text.
    fn write_response(&self, out: &mut Vec<u8>, result: &ToolResultPart, spelt: Option<&str>) {
        let text = self.texts.join("\n");
        let value = result.structured.as_ref().map(|value| match self.texts.is_empty() {
            true => value.as_str(),
            false => text.as_str(),
        });
        let value =
            value.filter(|value| serde_json::from_str::<serde::de::IgnoredAny>(value).is_ok());
        let fields = value.and_then(Fields::parse);
        if let (Some(value), Some(fields)) = (value, fields)
            && (!result.is_error || fields.get("error").is_some())
        {
            return out.extend_from_slice(value.as_bytes());
        }
        let key = match spelt {
            _ if result.is_error => "error",
            Some(spelt) if spelt.contains("result") => "result",
            _ => "output",
        };
        let mut object = Object::new(out, Fields::default());
        match value {
            Some(value) => object.raw(key, value),
            None => write_str(object.field(key), &text),
        }
        object.end();
    }
}

const fn is_here(media: &Media) -> bool {
    matches!(media.source, MediaSource::Base64(_))
}

/// Blocks of other dialects have a type.
fn is_own(json: &Json) -> bool {
    Fields::parse(json.as_str()).is_some_and(|fields| fields.get("type").is_none())
}
