//! Keeps foreign web pages away from a server on this machine.
//!
//! A page from elsewhere can have its own name point to 127.0.0.1. To the browser it then comes from the same place as
//! this server, and it could read the folder through the agent. What it cannot do is to send another name than its own.

use axum::{
    http::{HeaderMap, Request, StatusCode, header, uri::Authority},
    response::{IntoResponse, Response},
};
use tower_agent_axum::ApiError;

/// Lets pass what is addressed to this machine by a name that nobody else can have.
#[expect(clippy::result_large_err, reason = "the layer asks for this type")]
pub(crate) fn only<B>(request: &mut Request<B>) -> Result<(), Response> {
    if names_this_machine(request.headers()) {
        return Ok(());
    }
    let text = "this server answers to localhost only; --addr binds it to another address";
    Err(ApiError::new(StatusCode::FORBIDDEN, "foreign_host", text).into_response())
}

fn names_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(authority) = host.and_then(|host| host.parse::<Authority>().ok()) else {
        return false;
    };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|addr| addr.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, header};

    use super::names_this_machine;

    #[test]
    fn only_names_of_this_machine_are_let_in() {
        let named = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            names_this_machine(&headers)
        };
        for host in [
            "localhost",
            "localhost:3000",
            "LOCALHOST:1",
            "127.0.0.1:3000",
            "127.8.8.8",
            "[::1]:3000",
        ] {
            assert!(named(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:3000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
        ] {
            assert!(!named(host), "{host}");
        }
        assert!(!names_this_machine(&HeaderMap::new()));
    }
}
