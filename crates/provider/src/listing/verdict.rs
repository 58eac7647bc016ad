//! Why an endpoint is no candidate: every reason, not the first one.

use std::fmt;

use super::Needs;
use super::catalog::{CatalogEntry, Ceiling};
use super::endpoint::{Endpoint, Quantization};

/// What became of one endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Its place in the list, from 1; `None` where it is out.
    pub place: Option<usize>,
    /// Why it is out; empty where it is in.
    pub out: Vec<Out>,
}

/// A reason to leave an endpoint out.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// It declares no level, and the catalog entry does not allow its provider by name.
    Undeclared,
    /// It serves another level than the native one.
    Level {
        /// What it would have to serve.
        native: Quantization,
    },
    /// Nobody sets a price ceiling.
    NoCeiling,
    /// It publishes no price of that kind.
    Unpriced(&'static str),
    /// It asks more than the ceiling.
    TooDear {
        /// `input` or `output`.
        what: &'static str,
        /// USD per million tokens it may ask.
        ceiling: f64,
    },
    /// It publishes no price for reading from the cache.
    NoCache,
    /// It does not support a parameter that the run sends.
    Lacks(&'static str),
    /// The catalog entry bans its provider.
    Banned,
    /// Its provider has a cheaper endpoint that passes.
    Dearer,
}

impl fmt::Display for Out {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared => f.write_str("declares no quantization, and is not allowed by name"),
            Self::Level { native } => write!(f, "is not the native {native}"),
            Self::NoCeiling => f.write_str(
                "has no price ceiling: no endpoint of the developer with prices, none in the catalog",
            ),
            Self::Unpriced(what) => write!(f, "publishes no {what} price"),
            Self::TooDear { what, ceiling } => write!(f, "{what} above ${ceiling}"),
            Self::NoCache => f.write_str("publishes no cache-read price"),
            Self::Lacks(parameter) => write!(f, "does not support `{parameter}`"),
            Self::Banned => f.write_str("is banned by the catalog"),
            Self::Dearer => f.write_str("its provider has a cheaper one that passes"),
        }
    }
}

/// What every endpoint is held against.
pub(super) struct Rules<'a> {
    pub(super) entry: &'a CatalogEntry,
    pub(super) needs: Needs,
    pub(super) native: Option<&'a Quantization>,
    pub(super) ceiling: Option<Ceiling>,
}

impl Rules<'_> {
    /// Every reason against an endpoint.
    pub(super) fn judge(&self, endpoint: &Endpoint) -> Vec<Out> {
        let mut out = Vec::new();
        if !endpoint.quantization.is_declared() {
            if !self.entry.allows(&endpoint.provider) {
                out.push(Out::Undeclared);
            }
        } else if let Some(native) = self.native
            && !endpoint.quantization.is_level_of(native)
        {
            let native = native.clone();
            out.push(Out::Level { native });
        }
        match self.ceiling {
            None => out.push(Out::NoCeiling),
            Some(ceiling) => {
                out.extend(too_dear("input", endpoint.input, ceiling.input));
                out.extend(too_dear("output", endpoint.output, ceiling.output));
            }
        }
        if endpoint.cache_read.is_none() {
            out.push(Out::NoCache);
        }
        let supported = |name: &str| endpoint.parameters.iter().any(|it| it == name);
        let lacking = self.needs.parameters().filter(|name| !supported(name));
        out.extend(lacking.map(Out::Lacks));
        if self.entry.bans(&endpoint.provider) {
            out.push(Out::Banned);
        }
        out
    }
}

fn too_dear(what: &'static str, price: Option<f64>, ceiling: f64) -> Option<Out> {
    match price {
        None => Some(Out::Unpriced(what)),
        Some(price) if price > ceiling => Some(Out::TooDear { what, ceiling }),
        Some(_) => None,
    }
}
