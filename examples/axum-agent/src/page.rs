//! The page at `/`: one file, which asks nobody but this server.

use axum::{
    Router,
    http::header,
    response::{Html, IntoResponse},
    routing::get,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");

/// Serves the page with headers that let it run its own script and nothing else.
pub(crate) fn router() -> Router {
    let policy = policy(PAGE);
    let headers = move || {
        [
            (header::CONTENT_SECURITY_POLICY, policy.clone()),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
            (header::REFERRER_POLICY, "no-referrer".to_owned()),
            (header::CACHE_CONTROL, "no-cache".to_owned()),
        ]
    };
    Router::new().route("/", get(move || async move { (headers(), Html(PAGE)).into_response() }))
}

/// The script and the style are allowed by their digests, so that no other one runs.
fn policy(page: &str) -> String {
    let script = digest(inner(page, "<script>", "</script>"));
    let style = digest(inner(page, "<style>", "</style>"));
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

fn inner<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    let after = page.split_once(open).map_or("", |(_, after)| after);
    after.split_once(close).map_or("", |(inner, _)| inner)
}

fn digest(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::{PAGE, inner, policy};

    #[test]
    fn the_page_is_one_file_that_asks_nobody_else() {
        assert!(
            !PAGE.contains("src=\"")
                && !PAGE.contains("@import")
                && !PAGE.contains("<link rel=\"stylesheet")
        );
        let addresses = PAGE.matches("://").count();
        assert_eq!(addresses, PAGE.matches("http://www.w3.org/").count(), "names, not addresses");
    }

    #[test]
    fn text_of_a_model_never_becomes_markup() {
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!PAGE.contains(way), "{way}");
        }
    }

    #[test]
    fn the_policy_allows_exactly_the_script_and_the_style_of_the_page() {
        assert!(inner(PAGE, "<script>", "</script>").contains("'use strict'"));
        assert_eq!(PAGE.matches("<script").count(), 1);
        assert_eq!(PAGE.matches("<style").count(), 1);
        assert!(!PAGE.contains(" style=\"") && !PAGE.contains(" onclick="));
        let policy = policy("<style>a</style><script>b</script>");
        assert!(policy.contains("style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='"));
        assert!(
            policy.contains("script-src 'sha256-PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0='")
        );
    }
}
