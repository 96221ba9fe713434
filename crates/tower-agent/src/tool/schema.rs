use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tower_agent_core::{Context, Str, ToolSpec};

use super::{IntoToolOutput, Tool, ToolFn};

/// Makes a tool of an async function; the JSON Schema of its arguments comes from their type.
///
/// Arguments that do not fit the type are answered with a readable failure that names the place, and the
/// function does not run.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use tower::ServiceExt;
/// use tower_agent::{Context, ToolCall, tool_fn};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let add = tool_fn("add", "Adds two numbers", |args: Add, _: Context| async move { (args.a + args.b).to_string() });
/// assert!(add.spec().input_schema.as_str().contains("int64"));
///
/// let sum = add.clone().oneshot(ToolCall::new("add", r#"{"a": 2, "b": 3}"#)).await?;
/// assert_eq!(sum.joined_text(), "5");
///
/// let refused = add.oneshot(ToolCall::new("add", r#"{"a": 2}"#)).await?;
/// assert!(refused.joined_text().contains("missing field `b`"));
/// # Ok(())
/// # }
/// ```
pub fn tool_fn<T, F, Fut>(
    name: impl Into<Str>,
    description: impl Into<Str>,
    function: F,
) -> Tool<ToolFn<T, F>>
where
    T: DeserializeOwned + JsonSchema,
    F: Fn(T, Context) -> Fut,
    Fut: Future,
    Fut::Output: IntoToolOutput,
{
    let schema = schemars::schema_for!(T).to_value();
    Tool::new(ToolSpec::new(name, description).with_input_schema(schema), ToolFn::new(function))
}
