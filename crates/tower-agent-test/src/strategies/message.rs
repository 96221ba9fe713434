use proptest::{collection, option, prelude::*};
use tower_agent_core::{
    CallId, Content, Conversation, Media, MediaSource, Message, Part, Resource, Role, TextPart,
    ToolCallPart, ToolResultPart,
};

use super::json::{extra, json, json_text, text};

/// A call id, sometimes an empty one.
pub fn call_id() -> BoxedStrategy<CallId> {
    prop_oneof![5 => "call_[a-z0-9]{1,6}", 1 => Just(String::new())].prop_map(CallId::from).boxed()
}

/// Who speaks.
pub fn role() -> BoxedStrategy<Role> {
    prop_oneof![
        Just(Role::System),
        Just(Role::Developer),
        Just(Role::User),
        Just(Role::Assistant),
        Just(Role::Tool),
        text().prop_map(Role::Other),
    ]
    .boxed()
}

fn text_part() -> BoxedStrategy<TextPart> {
    (text(), extra()).prop_map(|(text, extra)| TextPart { text, extra }).boxed()
}

/// A picture, sound or file.
pub fn media() -> BoxedStrategy<Media> {
    let source = prop_oneof![
        "[A-Za-z0-9+/]{0,12}".prop_map(|bytes| MediaSource::Base64(bytes.into())),
        text().prop_map(MediaSource::Url),
        text().prop_map(MediaSource::Id),
    ];
    let mime_type = option::of(Just("image/png".into()));
    (source, mime_type, extra())
        .prop_map(|(source, mime_type, extra)| Media { source, mime_type, extra })
        .boxed()
}

/// A call as it stands in a message, with arguments that need not be JSON.
pub fn tool_call_part() -> BoxedStrategy<ToolCallPart> {
    (call_id(), text(), json_text(), extra())
        .prop_map(|(id, name, arguments, extra)| {
            let mut call = ToolCallPart::new(id, name, arguments);
            call.extra = extra;
            call
        })
        .boxed()
}

fn resource() -> BoxedStrategy<Resource> {
    let texts = || option::of(text());
    ((text(), texts(), texts()), (texts(), texts(), texts()), extra())
        .prop_map(|((uri, name, description), (mime_type, text, blob), extra)| Resource {
            uri,
            name,
            description,
            mime_type,
            text,
            blob,
            extra,
        })
        .boxed()
}

/// A block of a tool's output.
pub fn content() -> BoxedStrategy<Content> {
    prop_oneof![
        3 => text_part().prop_map(Content::Text),
        1 => media().prop_map(Content::Image),
        1 => media().prop_map(Content::Audio),
        1 => resource().prop_map(Content::ResourceLink),
        1 => resource().prop_map(Content::Resource),
        1 => json().prop_map(|json| Content::Opaque { json }),
    ]
    .boxed()
}

fn tool_result() -> BoxedStrategy<ToolResultPart> {
    let blocks = collection::vec(content(), 0..3);
    (call_id(), option::of(text()), blocks, option::of(json()), any::<bool>(), extra())
        .prop_map(|(call_id, name, content, structured, is_error, extra)| ToolResultPart {
            call_id,
            name,
            content,
            structured,
            is_error,
            extra,
        })
        .boxed()
}

/// Any part of a message.
pub fn part() -> BoxedStrategy<Part> {
    prop_oneof![
        3 => text_part().prop_map(Part::Text),
        1 => text_part().prop_map(Part::Reasoning),
        1 => media().prop_map(Part::Image),
        1 => media().prop_map(Part::Audio),
        1 => media().prop_map(Part::File),
        2 => tool_call_part().prop_map(Part::ToolCall),
        1 => tool_result().prop_map(Part::ToolResult),
        1 => json().prop_map(|json| Part::Opaque { json }),
    ]
    .boxed()
}

/// Any message.
pub fn message() -> BoxedStrategy<Message> {
    let parts = collection::vec(part(), 0..4);
    (role(), option::of(text()), parts, extra())
        .prop_map(|(role, name, parts, extra)| {
            Message::new(role, parts).with_name(name).with_extra(extra)
        })
        .boxed()
}

/// A conversation of a few messages.
pub fn conversation() -> BoxedStrategy<Conversation> {
    collection::vec(message(), 0..4).prop_map(Conversation::from).boxed()
}
