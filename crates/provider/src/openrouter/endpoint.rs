//! Where requests go, and with which credential.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use reqwest::Url;
use reqwest::header::HeaderValue;
use vocab::ids::GenerationId;

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
    base: Url,
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
        let mut base_url = Url::parse(base).map_err(|error| refuse(&error.to_string()))?;
        if !matches!(base_url.scheme(), "http" | "https") {
            return Err(refuse("its scheme is neither http nor https"));
        }
        if !base_url.username().is_empty() || base_url.password().is_some() {
            // Not quoted: what it holds is a secret.
            return Err(
                "OPENROUTER_BASE_URL holds a user name or password; the credential belongs in \
                 OPENROUTER_API_KEY"
                    .to_owned(),
            );
        }
        base_url.set_fragment(None);
        Ok(Self {
            completions: under(&base_url, ["chat", "completions"]),
            base: base_url,
            credential,
        })
    }

    /// The address of chat completions.
    pub(super) const fn completions(&self) -> &Url {
        &self.completions
    }

    /// The address that tells of one generation.
    pub(super) fn generation(&self, id: &GenerationId) -> Url {
        let mut url = under(&self.base, ["generation"]);
        url.query_pairs_mut().append_pair("id", id.as_str());
        url
    }

    /// The address of the endpoints listing of a model.
    pub(super) fn listing(&self, model: &str) -> Url {
        let model = model.split('/');
        under(
            &self.base,
            ["models"].into_iter().chain(model).chain(["endpoints"]),
        )
    }

    /// The credential, where there is one.
    pub const fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Host and port, for a person.
    pub(super) fn host(&self) -> String {
        let host = self.completions.host_str().unwrap_or_default();
        match self.completions.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Whether OpenRouter itself answers there, and not a server of the same protocol (R14).
    pub fn is_openrouter(&self) -> bool {
        let host = self.completions.host_str().unwrap_or_default();
        host.strip_suffix("openrouter.ai")
            .is_some_and(|front| front.is_empty() || front.ends_with('.'))
    }

    /// Whether connections are encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.completions.scheme() == "https"
    }

    /// Whether the server runs on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.completions.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || address.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

/// An address under a base.
fn under<'a>(base: &Url, path: impl IntoIterator<Item = &'a str>) -> Url {
    let mut address = base.clone();
    address
        .path_segments_mut()
        .expect("an address of http or https has a path")
        .pop_if_empty()
        .extend(path);
    address
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
    fn openrouter_is_told_by_its_host() {
        let own = |base| Endpoint::new(base, None).unwrap().is_openrouter();
        assert!(own(DEFAULT_BASE_URL));
        assert!(own("https://EU.openrouter.ai/api/v1"));
        for other in [
            "http://127.0.0.1:8080/v1",
            "https://notopenrouter.ai/api/v1",
            "https://openrouter.ai.example/api/v1",
            "https://example.com/openrouter.ai",
        ] {
            assert!(!own(other), "{other}");
        }
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
    fn a_generation_is_asked_for_by_its_id_whatever_it_holds() {
        let endpoint = |base| Endpoint::new(base, None).unwrap();
        let url = |base, id: &str| endpoint(base).generation(&id.into()).to_string();
        assert_eq!(
            url(DEFAULT_BASE_URL, "gen-1"),
            "https://openrouter.ai/api/v1/generation?id=gen-1"
        );
        assert_eq!(
            url("http://h/v1/?k=2", "a&b c"),
            "http://h/v1/generation?k=2&id=a%26b+c"
        );
    }

    #[test]
    fn a_listing_is_asked_for_by_the_parts_of_a_models_id() {
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
