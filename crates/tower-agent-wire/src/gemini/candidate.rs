//! Candidates: the replies among which the first counts.

use tower_agent_core::Part;

use super::{ids::Ids, part::list_of, spelling::in_camel_case};
use crate::codec::{
    Flaw,
    raw::{Fields, NULL},
};

pub(super) const FIELD: &str = "candidates";
const NAMES: [&str; 4] = ["finishReason", "safetyRatings", "citationMetadata", "groundingMetadata"];

/// Whether a candidate is the first one.
pub(super) fn is_first(fields: &Fields<'_>) -> bool {
    matches!(fields.get("index"), None | Some("0" | NULL))
}

pub(super) fn fields(raw: &str) -> Result<Fields<'_>, Flaw> {
    let mut fields = Fields::parse(raw).ok_or_else(|| Flaw::new("", "must be an object"))?;
    in_camel_case(&mut fields, &NAMES);
    Ok(fields)
}

/// Takes the parts of a candidate; a content that has none stays, and so does what is written otherwise than usual.
pub(super) fn take_parts(fields: &mut Fields<'_>, ids: &mut Ids) -> Result<Vec<Part>, Flaw> {
    let Some(raw) = fields.get("content").filter(|raw| *raw != NULL).map(str::to_owned) else {
        return Ok(Vec::new());
    };
    let mut content =
        Fields::parse(&raw).ok_or_else(|| Flaw::new("content", "must be an object"))?;
    let Some(list) = content.get("parts").filter(|raw| *raw != NULL) else {
        return Ok(Vec::new());
    };
    let list =
        list_of(list).ok_or_else(|| Flaw::new("content.parts", "must be an array of objects"))?;
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let parts = super::part::read_all(&list, ids).map_err(|flaw| flaw.within("content"))?;
    content.take("parts");
    match content.get("role") {
        None => content.set("role", NULL),
        Some("\"model\"") => drop(content.take("role")),
        Some(_) => {}
    }
    fields.take("content");
    fields.set_rest("content", &content);
    Ok(parts)
}
