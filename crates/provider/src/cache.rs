//! STUB
use crate::price::UsageReport;
use crate::request::ModelRequest;
use std::time::Duration;
use vocab::ids::ProviderName;
use vocab::rewrite::Rewrite;
#[derive(Debug, Default)]
pub struct CacheMemory;
#[derive(Debug, Default)]
pub struct Expectation {
    pub shared_tokens: u64,
    pub fresh: bool,
    pub broken: Option<Broken>,
    pub lost_tokens: u64,
}
#[derive(Debug)]
pub struct Broken {
    pub message: usize,
    pub byte: usize,
    pub act: Rewrite,
}
pub struct Miss {
    pub shared_tokens: u64,
    pub cached_tokens: u64,
}
impl Expectation {
    pub fn judge(&self, _: Option<u64>) -> Option<Miss> {
        None
    }
}
impl CacheMemory {
    pub fn expect(&self, _: Duration, _: Option<&ProviderName>, _: &ModelRequest) -> Expectation {
        Expectation::default()
    }
    pub fn answered(
        &mut self,
        _: Duration,
        _: Option<&ProviderName>,
        _: &ModelRequest,
        _: Option<&UsageReport>,
    ) {
    }
}
