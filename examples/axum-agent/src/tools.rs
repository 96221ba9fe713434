//! The tools: what a model may do with the folder.

use schemars::JsonSchema;
use serde::Deserialize;
use tower_agent::{Context, Error, ErrorKind, ToolSet, ToolSetBuilder, tool_fn};

use crate::folder::{Folder, Lines, Query, Refused};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListFiles {
    /// The folder to list, such as "docs"; leave it out for the root.
    #[serde(default)]
    path: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    /// The file to read, such as "docs/overview.md".
    path: String,
    /// The first line to read, from 1; leave it out to read from the start.
    first_line: Option<usize>,
    /// How many lines to read; leave it out to read to the end.
    lines: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchFiles {
    /// The text to find; small letters find capitals too.
    pattern: String,
    /// The file or folder to search; leave it out to search everything.
    #[serde(default)]
    path: String,
    /// Whether the pattern is a regular expression.
    #[serde(default)]
    regex: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteFile {
    /// The file to delete.
    path: String,
}

/// All tools over one folder.
pub(crate) fn over(folder: &Folder) -> ToolSetBuilder {
    let list = tool_fn("list_files", "Lists what is in a folder.", {
        let folder = folder.clone();
        move |args: ListFiles, _: Context| list(folder.clone(), args)
    });
    let read = tool_fn("read_file", "Reads a text file, or some lines of it.", {
        let folder = folder.clone();
        move |args: ReadFile, _: Context| read(folder.clone(), args)
    });
    let search = tool_fn("search_files", "Finds the lines that contain a text.", {
        let folder = folder.clone();
        move |args: SearchFiles, _: Context| search(folder.clone(), args)
    });
    let delete = tool_fn("delete_file", "Deletes a file for good.", {
        let folder = folder.clone();
        move |args: DeleteFile, _: Context| delete(folder.clone(), args)
    });
    let delete = delete.map_spec(|spec| spec.annotations.destructive = Some(true));
    ToolSet::builder()
        .tool(list.read_only())
        .tool(read.read_only())
        .tool(search.read_only())
        .tool(delete)
}

async fn list(folder: Folder, args: ListFiles) -> Result<String, Error> {
    Ok(folder.blocking(move |folder, _| folder.list(&args.path)).await?)
}

async fn read(folder: Folder, args: ReadFile) -> Result<String, Error> {
    let lines = Lines { first: args.first_line, count: args.lines };
    Ok(folder.blocking(move |folder, _| folder.read(&args.path, lines)).await?)
}

async fn search(folder: Folder, args: SearchFiles) -> Result<String, Error> {
    let query = Query { pattern: args.pattern, path: args.path, regex: args.regex };
    Ok(folder.blocking(move |folder, stop| folder.search(&query, stop)).await?)
}

async fn delete(folder: Folder, args: DeleteFile) -> Result<String, Error> {
    Ok(folder.blocking(move |folder, _| folder.delete(&args.path)).await?)
}

/// What a tool refuses, it refuses because of its arguments, and in words for the model.
impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        let text = refused.to_string();
        Self::new(ErrorKind::InvalidArguments, text.clone()).with_model_text(text)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tower::ServiceExt;
    use tower_agent::{ErrorKind, ToolCall, ToolSet};

    use crate::folder::Folder;

    fn tools() -> ToolSet {
        let sample = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/sample"));
        super::over(&Folder::open(sample).unwrap()).build().unwrap()
    }

    async fn call(name: &str, arguments: &str) -> String {
        tools().oneshot(ToolCall::new(name, arguments)).await.unwrap().joined_text()
    }

    #[tokio::test]
    async fn the_sample_folder_is_listed_read_and_searched() {
        assert!(call("list_files", "").await.contains("config.toml"));
        assert!(call("list_files", r#"{"path": "docs"}"#).await.contains("overview.md"));
        assert!(call("read_file", r#"{"path": "config.toml"}"#).await.contains("[database]"));
        let line =
            call("read_file", r#"{"path": "config.toml", "first_line": 3, "lines": 1}"#).await;
        assert_eq!(line, "[server]\n");
        let found = call("search_files", r#"{"pattern": "drain"}"#).await;
        assert!(found.contains("docs/running.md:5"), "{found}");
    }

    #[tokio::test]
    async fn what_is_refused_is_an_error_in_words_for_the_model() {
        let call = ToolCall::new("read_file", r#"{"path": "../Cargo.toml"}"#);
        let error = tools().oneshot(call).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
        assert!(error.model_text().contains("leads out of the folder"));
    }

    #[tokio::test]
    async fn arguments_that_the_tool_does_not_know_are_named() {
        let text = call("read_file", r#"{"path": "notes.txt", "encoding": "utf-8"}"#).await;
        assert!(text.contains("encoding"), "{text}");
    }

    #[test]
    fn the_sample_has_a_file_that_is_too_long_for_a_model() {
        let log = include_str!("../sample/logs/delivery.log");
        assert!(log.len() > 8_000);
    }

    #[test]
    fn only_the_tool_that_deletes_is_not_marked_as_harmless() {
        for spec in tools().specs() {
            let deletes = spec.name == "delete_file";
            assert_eq!(spec.annotations.read_only != Some(true), deletes);
            assert_eq!(spec.annotations.destructive == Some(true), deletes);
            assert!(spec.input_schema.as_str().contains("path"));
        }
    }
}
