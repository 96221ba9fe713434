use std::{collections::HashMap, fmt};

use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};

/// A server behind a URL, spoken to by streamable HTTP.
#[derive(Clone)]
#[must_use]
pub struct Http {
    url: String,
}

impl Http {
    /// A server at a URL.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into() }
    }

    pub(crate) fn open(&self, max: usize) -> StreamableHttpClientTransport<reqwest::Client> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(&*self.url);
        config.max_sse_event_size = max;
        config.max_json_response_size = max;
        config.custom_headers = HashMap::new();
        StreamableHttpClientTransport::with_client(reqwest::Client::new(), config)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("url", &self.url).finish_non_exhaustive()
    }
}
