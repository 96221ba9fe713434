use tower_agent_core::{Error, ErrorKind, Json};

use super::raw::Fields;

/// The text of a schema, once it is known to be an object.
pub(crate) fn schema_text<'a>(schema: &'a Json, name: &str) -> Result<&'a str, Error> {
    match Fields::parse(schema.as_str()) {
        Some(_) => Ok(schema.as_str()),
        None => Err(Error::new(
            ErrorKind::InvalidArguments,
            format!("the schema of `{name}` is no JSON object"),
        )),
    }
}
