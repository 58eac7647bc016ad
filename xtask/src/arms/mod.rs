//! `cargo xtask arms`: builds what each program language needs, from source, and only what changed:
//! guests, and the catalogues of what they offer.
//!
//! What is built stands in `target/arms/<arm>/` and is committed nowhere; the binary embeds it.

mod ecmascript;
mod ecmascript_catalogues;
mod ecmascript_sdk;
mod npm;
pub(crate) mod python;
mod reflected;
mod sources;
mod tables;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::setup;
use crate::step::{root, target};

/// Checks what is needed, then builds every arm that is missing or older than its sources.
pub(crate) fn build() -> Result<()> {
    setup::check()?;
    run()
}

/// Builds every arm that is missing or older than its sources.
pub(crate) fn run() -> Result<()> {
    make(&ECMASCRIPT)?;
    make(&ECMASCRIPT_CATALOGUES)?;
    if !python::usable() {
        println!(
            "==> the guest of Python: skipped; it takes a Python 3.10 or later with `venv` \
             (Debian: python3-venv). gg is built without it, and says so where it is asked for"
        );
        return Ok(());
    }
    make(&PYTHON)?;
    make(&PYTHON_CATALOGUE)
}

/// Reflects every catalogue that is missing or older than its sources, and writes all of them where
/// a person reads them. Every documentation tool has to be there.
pub(crate) fn signatures() -> Result<()> {
    setup::check()?;
    if !python::usable() {
        bail!("the documentation of Python takes a Python 3.10 or later with `venv`");
    }
    let folder = target().join("gg-signatures");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    let ecmascript = ecmascript_catalogues::LANGUAGES.as_slice();
    for (product, languages) in [
        (&ECMASCRIPT_CATALOGUES, ecmascript),
        (&PYTHON_CATALOGUE, &[python::LANGUAGE]),
    ] {
        make(product)?;
        for language in languages {
            let name = reflected::file_name(language);
            let (from, to) = (
                sources::built(&target(), product.arm).join(&name),
                folder.join(&name),
            );
            std::fs::copy(&from, &to)
                .with_context(|| format!("{} cannot be copied", from.display()))?;
            println!("    {}", to.display());
        }
    }
    Ok(())
}

/// Something that is built for an arm, and known by a digest of all it is made of.
struct Product {
    /// What it is, for a person.
    what: &'static str,
    /// The folder it stands in, below `target/arms`.
    arm: &'static str,
    /// Where what leads to it is put, below that.
    work: &'static str,
    /// The file that tells what it was made of.
    stamp: &'static str,
    /// What it is made of.
    paths: &'static [&'static str],
    /// Makes it into the first folder, by way of the second.
    build: fn(&Path, &Path) -> Result<()>,
}

const ECMASCRIPT: Product = Product {
    what: "the guest of TypeScript and JavaScript",
    arm: "ecmascript",
    work: "build",
    stamp: sources::GUEST,
    paths: &sources::ECMASCRIPT,
    build: ecmascript::build,
};

const ECMASCRIPT_CATALOGUES: Product = Product {
    what: "the catalogues of TypeScript and JavaScript",
    arm: "ecmascript",
    work: "reflector",
    stamp: sources::CATALOGUE,
    paths: &sources::ECMASCRIPT_CATALOGUES,
    build: ecmascript_catalogues::reflect,
};

const PYTHON: Product = Product {
    what: "the guest of Python",
    arm: "python",
    work: "build",
    stamp: sources::GUEST,
    paths: &sources::PYTHON,
    build: python::build,
};

const PYTHON_CATALOGUE: Product = Product {
    what: "the catalogue of Python",
    arm: "python",
    work: "reflector",
    stamp: sources::CATALOGUE,
    paths: &sources::PYTHON_CATALOGUE,
    build: python::reflect,
};

fn make(product: &Product) -> Result<()> {
    println!("==> {}", product.what);
    let folder = sources::built(&target(), product.arm);
    let digest = sources::digest(root(), product.paths)
        .with_context(|| format!("the sources of {} cannot be read", product.what))?;
    let stamp = folder.join(product.stamp);
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == digest) {
        println!("    unchanged");
        return Ok(());
    }
    // A build that fails half-way must not pass for the one before.
    match std::fs::remove_file(&stamp) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} cannot be removed", stamp.display()));
        }
        _ => {}
    }
    let work = folder.join(product.work);
    std::fs::create_dir_all(&work).with_context(|| format!("{} cannot be made", work.display()))?;
    (product.build)(&folder, &work).with_context(|| product.what)?;
    std::fs::write(&stamp, digest).with_context(|| format!("{} cannot be written", stamp.display()))
}
