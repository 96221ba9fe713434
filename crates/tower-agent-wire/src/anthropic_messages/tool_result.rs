//! What came of a call.

use tower_agent_core::{Content, Json, Media, Part, Resource, TextPart, ToolResultPart};

use super::{
    block::{self, list_mark, take_list, write_note},
    extra::{keep, open},
    media,
};
use crate::{
    LossRule,
    codec::{
        Flaw, Losses,
        raw::{Fields, Object, write_array},
    },
};

pub(super) fn read(mut fields: Fields<'_>) -> Result<ToolResultPart, Flaw> {
    let call_id = fields
        .take_str("tool_use_id")
        .ok_or_else(|| Flaw::new("tool_use_id", "must be a string"))?;
    let content = read_content(&mut fields)?;
    // A literal `false` stays, because it is not written.
    let is_error = fields.take_if("is_error", |raw| (raw == "true").then_some(())).is_some();
    fields.take("type");
    Ok(ToolResultPart {
        call_id: call_id.into(),
        name: None,
        content,
        structured: None,
        is_error,
        extra: keep(&fields),
    })
}

fn read_content(fields: &mut Fields<'_>) -> Result<Vec<Content>, Flaw> {
    if let Some(text) = fields.take_text("content") {
        return Ok(vec![Content::text(text)]);
    }
    if fields.get("content") == Some("\"\"") {
        return Ok(Vec::new());
    }
    let Some(list) = take_list(fields)? else { return Ok(Vec::new()) };
    let read = |(index, raw): (usize, &String)| {
        let part = block::read(raw).map_err(|flaw| flaw.at("content", index))?;
        Ok(match part {
            Part::Text(part) => Content::Text(part),
            Part::Image(media) => Content::Image(media),
            _ => Content::Opaque { json: Json::from_text(raw.as_str()) },
        })
    };
    let mut content = list.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    if let [Content::Text(TextPart { extra: extra @ None, .. })] = content.as_mut_slice() {
        *extra = Some(list_mark());
    }
    Ok(content)
}

pub(super) fn write(out: &mut Vec<u8>, result: &ToolResultPart, losses: &mut Losses<'_>) {
    let mut object = Object::new(out, open(result.extra.as_ref(), &["cache_control"], losses));
    object.str("type", "tool_result");
    object.str("tool_use_id", &block::call_id(&result.call_id, losses));
    write_content(&mut object, result, losses);
    if result.is_error {
        object.raw("is_error", "true");
    }
    object.end();
}

fn write_content(object: &mut Object<'_, '_>, result: &ToolResultPart, losses: &mut Losses<'_>) {
    match result.content.as_slice() {
        [] => {
            if let Some(json) = &result.structured {
                object.str("content", json.as_str());
            }
        }
        [Content::Text(TextPart { text, extra: None })] => object.str("content", text),
        blocks => write_array(object.field("content"), blocks, |out, block| {
            write_block(out, block, losses);
        }),
    }
}

fn write_block(out: &mut Vec<u8>, content: &Content, losses: &mut Losses<'_>) {
    match content {
        Content::Text(part) => block::write(out, &Part::Text(part.clone()), losses),
        Content::Image(image) => media::write_image(out, image, losses),
        Content::Resource(Resource { text: Some(text), .. }) => write_note(out, text),
        Content::Resource(resource) if is_pdf(resource) => write_pdf(out, resource, losses),
        Content::ResourceLink(Resource { name: Some(name), uri, .. }) => {
            write_note(out, &format!("{name}: {uri}"));
        }
        Content::ResourceLink(resource) => write_note(out, &resource.uri),
        Content::Opaque { json }
            if block::kind_of(json).is_some_and(|kind| !block::is_foreign(&kind)) =>
        {
            out.extend_from_slice(json.as_str().as_bytes());
        }
        _ => {
            losses.note(LossRule::MediaInToolResult);
            write_note(out, "[block omitted: tool results cannot carry it here]");
        }
    }
}

fn is_pdf(resource: &Resource) -> bool {
    resource.blob.is_some() && resource.mime_type.as_deref() == Some("application/pdf")
}

fn write_pdf(out: &mut Vec<u8>, resource: &Resource, losses: &mut Losses<'_>) {
    let data = resource.blob.clone().unwrap_or_default();
    let source = tower_agent_core::MediaSource::Base64(data);
    let media = Media { source, mime_type: resource.mime_type.clone(), extra: None };
    media::write_document(out, &media, losses);
}
