//! `gg candidates`: the candidate list that a model's endpoints listing yields, or why there is
//! none.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context as _;
use provider::listing::{self, Catalog, FaultRates, Listing, Needs};
use provider::openrouter::{self, Credential, Endpoint, base_url_from_env};
use record::{faults, lines};
use vocab::credential::hidden;

use super::{DONE, REFUSED, read};
use crate::candidates;
use crate::cli::CandidatesArgs;
use crate::output;
use crate::page::{one_line, plural};

/// Prints the table and the list, or the list alone. Without a candidate the exit code is 1, and
/// every endpoint's reasons stand where a person reads them.
pub(super) fn run(args: &CandidatesArgs, credential: Option<Credential>) -> anyhow::Result<u8> {
    let listing = listed(args, credential)?;
    let entry = match &args.catalog {
        Some(file) => catalog(file)?.entry(&listing.model),
        None => listing::CatalogEntry::default(),
    };
    let rates = recorded(args, &listing.model)?;
    let needs = Needs {
        reasoning: args.reasoning,
    };
    let built = listing::build(&listing, &entry, needs, &rates);
    let table = candidates::table(&listing.model, &built, &rates);
    if built.candidates.is_empty() {
        if args.json {
            output::complain(table.trim_end());
        } else {
            output::print(&table)?;
        }
        return Ok(REFUSED);
    }
    let json = candidates::document(&listing.model, &built.candidates);
    if args.json {
        output::print(&json)?;
    } else {
        output::print(&format!("{table}\n{json}"))?;
    }
    Ok(DONE)
}

/// The saved listing, or the gateway's.
fn listed(args: &CandidatesArgs, credential: Option<Credential>) -> anyhow::Result<Listing> {
    let Some(file) = &args.listing else {
        let Some(model) = &args.model else {
            anyhow::bail!("name a MODEL whose listing is fetched, or a saved one with --listing");
        };
        let key = credential.clone();
        let answer = fetched(model, credential)?;
        let listing = Listing::read(&answer)
            .map_err(|error| {
                let key = key.as_ref().map_or("", Credential::expose);
                anyhow::Error::msg(hidden(&error.to_string(), key).into_owned())
            })
            .with_context(|| format!("the gateway's listing of `{model}` cannot be used"))?;
        // A launch carries the list under the id that its profiles are bound to.
        if listing.model != *model {
            anyhow::bail!(
                "the gateway's listing of `{model}` is of `{}`: ask for that, and bind profiles \
                 to it",
                one_line(&listing.model)
            );
        }
        return Ok(listing);
    };
    let name = file.display();
    let bytes = read(file).with_context(|| format!("the listing `{name}` cannot be read"))?;
    let listing =
        Listing::read(&bytes).with_context(|| format!("the listing `{name}` cannot be used"))?;
    if let Some(model) = args.model.as_ref().filter(|it| **it != listing.model) {
        anyhow::bail!(
            "the listing `{name}` is of `{}`, not of `{model}`",
            listing.model
        );
    }
    Ok(listing)
}

fn fetched(model: &str, credential: Option<Credential>) -> anyhow::Result<Vec<u8>> {
    if !model.contains('/') {
        anyhow::bail!("`{model}` is no model id: expected AUTHOR/NAME, as in `acme/coder-1`");
    }
    let endpoint = Endpoint::new(&base_url_from_env(), credential).map_err(anyhow::Error::msg)?;
    let http = openrouter::client(&endpoint)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime can be made")?;
    runtime
        .block_on(openrouter::endpoints(&http, &endpoint, model))
        .map_err(anyhow::Error::msg)
}

fn catalog(file: &Path) -> anyhow::Result<Catalog> {
    let name = file.display();
    let bytes = read(file).with_context(|| format!("the catalog `{name}` cannot be read"))?;
    serde_json::from_slice(&bytes).with_context(|| {
        format!(
            "the catalog `{name}` is none: expected an object of model ids, each with any of \
             developer, quantization, allow, ban, maxPrice"
        )
    })
}

/// Fault rates over the runs named.
fn recorded(args: &CandidatesArgs, model: &str) -> anyhow::Result<FaultRates> {
    let mut rates = FaultRates::default();
    for run in &args.runs {
        let stream = lines::stream_of(run);
        let name = stream.display();
        let unreadable = || format!("the run `{name}` cannot be read");
        let file = File::open(&stream).with_context(unreadable)?;
        let (observed, damaged) =
            faults::observe(BufReader::new(file), &model.into()).with_context(unreadable)?;
        if damaged > 0 {
            let lines = plural(damaged as u64, "damaged line");
            output::complain(format_args!("gg: {name}: {lines} left out"));
        }
        for provider in observed {
            rates.add(&provider.provider, provider.attempts, provider.faults);
        }
    }
    Ok(rates)
}
