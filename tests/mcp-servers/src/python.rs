//! The servers in Python, of both generations.

use std::process::Command;

use serde_json::json;

use crate::{
    Places,
    support::{Result, Story, ask, call, connect, ensure, has, program, refused, speaks},
};

pub(crate) async fn tell(story: &mut Story, places: &Places) {
    story.note("time: a server of 2026-07-28", time(places).await);
    story.note("git: no other repository", git(places).await);
    story.note("sqlite: a server before the library's 2", sqlite(places).await);
}

async fn time(places: &Places) -> Result {
    let client = connect("time", program(&places.current, "mcp-server-time")).await?;
    speaks(&client, "2026-07-28", 2)?;
    has(
        &ask(&client, "get_current_time", json!({ "timezone": "Asia/Tokyo" })).await?,
        "Asia/Tokyo",
    )?;
    refused(&client, "get_current_time", json!({ "timezone": "Nowhere/Land" })).await
}

async fn git(places: &Places) -> Result {
    let repository = places.work.join("repository");
    let made = Command::new("git").args(["init", "--quiet"]).arg(&repository).status()?;
    ensure(made.success(), || "git failed".to_owned())?;
    let child = program(&places.current, "mcp-server-git").arg("--repository").arg(&repository);
    let client = connect("git", child).await?;
    speaks(&client, "2026-07-28", 12)?;
    has(&ask(&client, "git_status", json!({ "repo_path": repository })).await?, "No commits yet")?;
    refused(&client, "git_status", json!({ "repo_path": places.work })).await
}

async fn sqlite(places: &Places) -> Result {
    let file = places.work.join("data.db");
    let child = program(&places.before_2, "mcp-server-sqlite").arg("--db-path").arg(&file);
    let client = connect("sqlite", child).await?;
    speaks(&client, "2025-11-25", 6)?;
    ask(&client, "create_table", json!({ "query": "CREATE TABLE t (n INTEGER)" })).await?;
    ask(&client, "write_query", json!({ "query": "INSERT INTO t VALUES (42)" })).await?;
    has(&ask(&client, "read_query", json!({ "query": "SELECT n FROM t" })).await?, "42")?;
    // It calls its failures successes, and only its words tell.
    let broken = call(&client, "read_query", json!({ "query": "SELECT x FROM t" })).await?;
    ensure(broken.outcome.is_success(), || "it has learnt to say that it failed".to_owned())?;
    has(&broken.joined_text(), "no such column")
}
