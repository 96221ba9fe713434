//! What llmock is told and asked beside its models.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Result;

/// A running llmock.
pub(crate) struct Llmock {
    client: reqwest::Client,
    url: String,
}

/// What it says of a client.
#[derive(Deserialize)]
pub(crate) struct Verdict {
    pub(crate) attempts: usize,
    /// How many faults there were.
    #[serde(rename = "faults_injected")]
    pub(crate) faults: usize,
    pub(crate) findings: Vec<Finding>,
}

#[derive(Deserialize)]
pub(crate) struct Finding {
    pub(crate) code: String,
}

impl Llmock {
    pub(crate) fn at(url: String) -> Result<Self> {
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60));
        Ok(Self { client: client.build()?, url })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Forgets what was, and does this to the requests to come.
    pub(crate) async fn behave(&self, behaviours: &[Value]) -> Result {
        self.post("reset", "{}".to_owned()).await?;
        if behaviours.is_empty() {
            return Ok(());
        }
        self.post("scenario", json!({ "behaviors": behaviours }).to_string()).await
    }

    async fn post(&self, path: &str, body: String) -> Result {
        let url = format!("{}/_llmock/{path}", self.url);
        let answer = self.client.post(url).body(body).send().await?;
        if answer.status().is_success() {
            return Ok(());
        }
        Err(format!("llmock refused `{path}`: {}", answer.text().await?).into())
    }

    /// What it says once it has seen the end of so many requests.
    pub(crate) async fn verdict(&self, attempts: usize) -> Result<Verdict> {
        // It leaves out what it still serves, such as an answer that nobody waits for any more.
        let mut tries = 10;
        loop {
            let url = format!("{}/_llmock/verdict", self.url);
            let text = self.client.get(url).send().await?.error_for_status()?.text().await?;
            let verdict: Verdict = serde_json::from_str(&text)?;
            if verdict.attempts >= attempts || tries == 0 {
                return Ok(verdict);
            }
            tries -= 1;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}
