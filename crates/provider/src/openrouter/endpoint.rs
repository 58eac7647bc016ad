//! Where requests go, and with which credential.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use reqwest::Url;
use reqwest::header::HeaderValue;

/// OpenRouter's own address, where `OPENROUTER_BASE_URL` names no other.
pub const DEFAULT_BASE_URL: &str = "https://openrouter.ai/api/v1";

/// The base URL the environment names, [`DEFAULT_BASE_URL`] where it names none or a blank one.
/// Not checked yet: [`Endpoint::new`] does that.
pub fn base_url_from_env() -> String {
    std::env::var_os("OPENROUTER_BASE_URL")
        .map(|url| url.to_string_lossy().trim().to_owned())
        .filter(|url| !url.is_empty())
        .unwrap_or_else(|| DEFAULT_BASE_URL.to_owned())
}

/// The address of a run's gateway and the credential it is asked with.
#[derive(Clone, Debug)]
pub struct Endpoint {
    completions: Url,
    credential: Option<Credential>,
}

impl Endpoint {
    /// Reads a base URL, such as [`DEFAULT_BASE_URL`]. The error is a sentence that quotes it.
    pub fn new(base_url: &str, credential: Option<Credential>) -> Result<Self, String> {
        let base = base_url.trim();
        let refuse = |why: &str| {
            format!(
                "OPENROUTER_BASE_URL is {base:?}: {why}; expected an address such as \
                 {DEFAULT_BASE_URL}"
            )
        };
        let mut completions = Url::parse(base).map_err(|error| refuse(&error.to_string()))?;
        if !matches!(completions.scheme(), "http" | "https") {
            return Err(refuse("its scheme is neither http nor https"));
        }
        if !completions.username().is_empty() || completions.password().is_some() {
            // Not quoted: what it holds is a secret.
            return Err(
                "OPENROUTER_BASE_URL holds a user name or password; the credential belongs in \
                 OPENROUTER_API_KEY"
                    .to_owned(),
            );
        }
        completions.set_fragment(None);
        completions
            .path_segments_mut()
            .map_err(|()| refuse("it takes no path"))?
            .pop_if_empty()
            .extend(["chat", "completions"]);
        Ok(Self {
            completions,
            credential,
        })
    }

    /// The address of chat completions.
    pub const fn completions(&self) -> &Url {
        &self.completions
    }

    /// The address of the endpoints listing of a model.
    pub fn listing(&self, model: &str) -> Url {
        let mut path = vec!["models"];
        path.extend(model.split('/'));
        path.push("endpoints");
        self.beside(&path)
    }

    /// An address beside that of completions.
    fn beside(&self, path: &[&str]) -> Url {
        let mut address = self.completions.clone();
        if let Ok(mut segments) = address.path_segments_mut() {
            segments.pop().pop().extend(path);
        }
        address
    }

    /// The credential, where there is one.
    pub const fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Host and port, for a person.
    pub fn host(&self) -> String {
        let host = self.completions.host_str().unwrap_or_default();
        match self.completions.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.completions.scheme() == "https"
    }

    /// Whether the server runs on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.completions.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || address.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

/// An API key. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential(Arc<str>);

impl Credential {
    /// Takes a key as the environment gives it; `None` where it is blank.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.into()))
    }

    /// The key itself, for masking it in captured text (R23).
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn header(&self) -> Result<HeaderValue, String> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0)).map_err(|_| {
            "OPENROUTER_API_KEY holds characters that no HTTP header may carry".to_owned()
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[credential]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completions(base: &str) -> String {
        Endpoint::new(base, None).unwrap().completions().to_string()
    }

    #[test]
    fn the_path_is_appended_to_any_base() {
        assert_eq!(
            completions("https://openrouter.ai/api/v1/"),
            completions(DEFAULT_BASE_URL)
        );
        assert_eq!(
            completions("http://[::1]:80"),
            "http://[::1]/chat/completions"
        );
        assert_eq!(
            completions("http://h/v1?k=2"),
            "http://h/v1/chat/completions?k=2"
        );
    }

    #[test]
    fn a_listing_stands_beside_the_completions() {
        let endpoint = Endpoint::new("http://h/v1?k=2", None).unwrap();
        assert_eq!(
            endpoint.listing("z-ai/glm-5:free").as_str(),
            "http://h/v1/models/z-ai/glm-5:free/endpoints?k=2"
        );
    }

    #[test]
    fn an_address_that_is_none_is_refused_in_a_sentence() {
        let refused = |base| Endpoint::new(base, None).unwrap_err();
        assert!(refused("openrouter.ai").contains("\"openrouter.ai\""));
        assert!(refused("ftp://h/").contains("neither http nor https"));
        assert!(!refused("http://me:secret@h/").contains("secret"));
    }

    #[test]
    fn loopback_is_known_by_name_and_number() {
        let loopback = |base| Endpoint::new(base, None).unwrap().is_loopback();
        for base in [
            "http://localhost:1",
            "http://127.0.0.9/v1",
            "http://[::1]:3",
        ] {
            assert!(loopback(base), "{base}");
        }
        assert!(!loopback("http://localhost.example"));
    }

    #[test]
    fn a_key_is_trimmed_and_never_shown() {
        let key = Credential::new(" sk-1\n").unwrap();
        assert_eq!(
            (key.expose(), format!("{key:?}").as_str()),
            ("sk-1", "[credential]")
        );
        assert!(key.header().unwrap().is_sensitive());
        assert_eq!(Credential::new(" \n"), None);
        assert!(Credential::new("a\nb").unwrap().header().is_err());
    }
}
