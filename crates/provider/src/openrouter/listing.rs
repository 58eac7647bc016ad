//! A model's endpoints listing, fetched from the gateway.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use tokio::time::timeout;
use vocab::credential::hidden;

use super::{Endpoint, innermost};
use crate::fault::{Fault, excerpt};

/// How long the gateway may take.
const TIME: Duration = Duration::from_secs(30);

/// Bytes of the largest listing; the longest in the field holds some dozens of endpoints.
const LARGEST: usize = 16 << 20;

/// Fetches the listing of a model's endpoints, as the gateway answers it. The credential is sent
/// where there is one: the gateway lists without it too.
///
/// The error is a sentence: what was asked, and what was answered.
pub async fn endpoints(
    http: &reqwest::Client,
    endpoint: &Endpoint,
    model: &str,
) -> Result<Vec<u8>, String> {
    let address = endpoint.listing(model);
    let said = |why: String| format!("the listing at {address} cannot be read: {why}");
    let mut request = http.get(address.clone());
    if let Some(credential) = endpoint.credential() {
        request = request.header(AUTHORIZATION, credential.header()?);
    }
    let fetch = async {
        let mut response = request.send().await.map_err(|error| innermost(&error))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|error| innermost(&error))? {
            body.extend_from_slice(&bytes);
            if body.len() > LARGEST {
                return Err(format!("it is larger than {} MiB", LARGEST >> 20));
            }
        }
        if status.is_success() {
            return Ok(body);
        }
        let fault = Fault::of_status(status.as_u16(), None, &body, None);
        let said = fault.body().map_or_else(|| excerpt(&body), str::to_owned);
        Err(format!("the gateway answered {}: {said}", status.as_u16()))
    };
    let result = match timeout(TIME, fetch).await {
        Ok(result) => result,
        Err(_) => Err(format!("no answer within {} s", TIME.as_secs())),
    };
    result.map_err(|why| match endpoint.credential() {
        Some(credential) => said(hidden(&why, credential.expose()).into_owned()),
        None => said(why),
    })
}
