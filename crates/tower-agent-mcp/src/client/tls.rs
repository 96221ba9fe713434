//! rustls with ring: no C library to find and no CMake, unlike the usual provider.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::Verifier;
use tower_agent_core::BoxError;

/// The configuration of a client. Without https nobody is trusted, so that no certificates are read either.
pub(super) fn config(is_https: bool) -> Result<ClientConfig, BoxError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    if !is_https {
        return Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let verifier = Arc::new(Verifier::new(provider)?);
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}
