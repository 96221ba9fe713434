use bytes::Bytes;
use tower_agent_core::{Error, ModelRequest};

use super::{config, content, extra::keep, extra::open, part::list_of, spelling, system, tool};
use crate::{
    Encoded,
    codec::{
        Flaw, Losses,
        raw::{Fields, Object},
    },
};

const NAMES: [&str; 6] = [
    "systemInstruction",
    "generationConfig",
    "toolConfig",
    "safetySettings",
    "cachedContent",
    "serviceTier",
];

/// Fields that a user may set beside the dialect's own key.
const KNOWN: [&str; 4] = ["cachedContent", "labels", "safetySettings", "serviceTier"];

/// Reads the request of a client. Its model and whether to stream stand in the URL and are not set here.
///
/// # Errors
/// [`ErrorKind::InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) when the body is not JSON, is nested
/// more than 127 levels deep, or lacks what the dialect asks for. The text for models names the field, and an
/// [`ApiError`](super::ApiError) is attached.
pub fn decode_request(body: &[u8]) -> Result<ModelRequest, Error> {
    read(body).map_err(Flaw::in_request)
}

fn read(body: &[u8]) -> Result<ModelRequest, Flaw> {
    let mut fields = Fields::of_body(body)?;
    spelling::in_camel_case(&mut fields, &NAMES);
    let mut request = ModelRequest::default();
    let first = system::read(&mut request, &mut fields)?;
    let list = fields.take("contents");
    let list = list.as_deref().and_then(list_of);
    let list = list.ok_or_else(|| Flaw::new("contents", "must be an array of objects"))?;
    let messages = content::read_all(&list)?;
    request.messages = first.into_iter().chain(messages).collect();
    request.tools = tool::read_all(&mut fields)?;
    request.tool_choice = tool::read_choice(&mut fields);
    (request.sampling, request.output) = config::read(&mut fields)?;
    request.extra = keep(&fields);
    Ok(request)
}

/// Writes a request for a provider; its model stands in the [`path`].
///
/// # Errors
/// [`ErrorKind::InvalidArguments`](tower_agent_core::ErrorKind::InvalidArguments) when a tool's schema or that of the
/// output is no JSON object, so that the request would mean something else without it.
pub fn encode_request(request: &ModelRequest) -> Result<Encoded, Error> {
    let mut all = Vec::new();
    let mut out = Vec::new();
    let fields =
        open(request.extra.as_ref(), &KNOWN, &mut Losses { place: "extra".into(), all: &mut all });
    let mut object = Object::new(&mut out, fields);
    system::write(&mut object, request, &mut all);
    content::write_all(object.field("contents"), request, &mut all);
    tool::write_all(&mut object, &request.tools, &mut all)?;
    tool::write_choice(&mut object, request);
    config::write(&mut object, &request.sampling, request.output.as_ref(), &mut all)?;
    object.end();
    Ok(Encoded { bytes: Bytes::from(out), losses: all })
}

/// The segments of a request's path, under the base URL with its version. A model without a folder is one of `models`.
///
/// ```
/// use tower_agent_wire::gemini::path;
///
/// assert_eq!(path("gemini-2.5-flash", false), ["models", "gemini-2.5-flash:generateContent"]);
/// assert_eq!(path("tunedModels/mine", true), ["tunedModels", "mine:streamGenerateContent"]);
/// ```
#[must_use]
pub fn path(model: &str, stream: bool) -> Vec<String> {
    let method = if stream { "streamGenerateContent" } else { "generateContent" };
    let folder = if model.contains('/') { None } else { Some("models") };
    let mut segments: Vec<String> =
        folder.into_iter().chain(model.split('/')).map(Into::into).collect();
    if let Some(last) = segments.last_mut() {
        last.push(':');
        last.push_str(method);
    }
    segments
}
