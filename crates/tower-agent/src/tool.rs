//! Tools as services, and sets of them.

mod function;
mod output;
mod router;
#[cfg(feature = "schema")]
mod schema;
mod set;
mod single;

#[cfg(feature = "agent")]
pub(crate) use self::function::read;
#[cfg(feature = "schema")]
pub use self::schema::tool_fn;
pub use self::{
    function::{RawToolFn, ToolFn, ToolFnFuture},
    output::IntoToolOutput,
    router::{ToolRouter, ToolRouterFuture},
    set::{BuildError, ToolSet, ToolSetBuilder},
    single::Tool,
};
