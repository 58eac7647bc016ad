//! The HTTP client of a run: made at the first call, shared by all of them.

use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};

use super::endpoint::Endpoint;
use crate::fault::Fault;

/// How long a connection may take to come about.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// Makes the client for an endpoint.
///
/// Certificates are checked against Mozilla's roots as compiled in: the platform's verifier takes
/// milliseconds to load, and a container without certificates would fail every call. Behind an
/// `http://` base nothing is loaded. The usual proxy variables are honoured, but for a server on
/// this machine. A client that cannot be made is a fault, never a panic.
pub fn client(endpoint: &Endpoint) -> Result<reqwest::Client, Fault> {
    let unusable = |error: &dyn std::fmt::Display| Fault::Unusable {
        why: format!("no HTTP client can be made: {error}"),
    };
    let mut roots = RootCertStore::empty();
    if endpoint.is_encrypted() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("gg/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIME)
        .tcp_nodelay(true)
        .http1_only();
    if endpoint.is_loopback() {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| unusable(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_made_for_either_scheme() {
        for base in ["https://openrouter.ai/api/v1", "http://127.0.0.1:1/v1"] {
            client(&Endpoint::new(base, None).unwrap()).unwrap();
        }
    }
}
