//! `cargo xtask floors`: a crate may use only crates on lower floors, and only libraries that are
//! argued for.
//!
//! Floors are the table of ARCHITECTURE.md; arrows are read off `cargo metadata`, development and
//! build dependencies included. `tests` and `xtask` stand outside: they use what they like and are
//! used by no crate.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::decisions;
use crate::step::{cargo, root};

/// Crates by floor.
const FLOORS: [&[&str]; 5] = [
    &["vocab"],
    &["config", "record", "provider", "tools"],
    &["context", "board", "sandbox"],
    &["actors"],
    &["gg"],
];

/// Packages without a floor.
const OUTSIDE: [&str; 2] = ["tests", "xtask"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A package of the workspace, as `cargo metadata` tells of it.
#[derive(Clone, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    manifest_path: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// What a package uses.
#[derive(Clone, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Set on dependencies of the workspace alone.
    pub(crate) path: Option<String>,
    /// `null`, `dev` or `build`.
    kind: Option<String>,
}

/// Checks every arrow, and that the decisions name every library.
pub(crate) fn run() -> Result<()> {
    println!("==> floors");
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .context("cargo could not be started")?;
    ensure!(
        output.status.success(),
        "`cargo metadata` failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("`cargo metadata` is not readable")?;
    let faults = check(&metadata.packages);
    if !faults.is_empty() {
        bail!("floors do not hold:\n  {}", faults.join("\n  "));
    }
    let text = std::fs::read_to_string(root().join(decisions::DOCUMENT))
        .with_context(|| format!("{} cannot be read", decisions::DOCUMENT))?;
    let faults = decisions::check(&metadata.packages, &text);
    if !faults.is_empty() {
        bail!("libraries are not argued for:\n  {}", faults.join("\n  "));
    }
    Ok(())
}

/// A sentence for each arrow or crate that breaks the rule.
fn check(packages: &[Package]) -> Vec<String> {
    let floors: BTreeMap<&str, usize> = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, names)| names.iter().map(move |name| (*name, floor)))
        .collect();
    let mut faults = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        if OUTSIDE.contains(&name) {
            continue;
        }
        let Some(floor) = floors.get(name) else {
            faults.push(format!(
                "`{name}` has no floor: add it to ARCHITECTURE.md and to xtask/src/floors.rs"
            ));
            continue;
        };
        if !package
            .manifest_path
            .ends_with(&format!("crates/{name}/Cargo.toml"))
        {
            faults.push(format!(
                "`{name}` stands at {}; expected crates/{name}",
                package.manifest_path
            ));
        }
        for dependency in package.dependencies.iter().filter(|one| one.path.is_some()) {
            let other = dependency.name.as_str();
            let kind = match dependency.kind.as_deref() {
                Some("dev") => " (in its tests)",
                Some("build") => " (in its build script)",
                _ => "",
            };
            match floors.get(other) {
                Some(below) if below < floor => {}
                Some(below) => faults.push(format!(
                    "`{name}` on floor {floor} uses `{other}` on floor {below}{kind}; a crate may \
                     use only lower floors"
                )),
                None if OUTSIDE.contains(&other) => faults.push(format!(
                    "`{name}` uses `{other}`{kind}, which stands outside the floors; only `tests` \
                     and `xtask` may"
                )),
                // It is reported at its own package.
                None => {}
            }
        }
    }
    faults
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A package that uses libraries.
    pub(crate) fn using(name: &str, libraries: &[&str]) -> Package {
        let mut package = package(name, &[]);
        package.dependencies = libraries
            .iter()
            .map(|library| Dependency {
                name: (*library).to_owned(),
                path: None,
                kind: None,
            })
            .collect();
        package
    }

    fn package(name: &str, uses: &[(&str, Option<&str>)]) -> Package {
        Package {
            name: name.to_owned(),
            manifest_path: format!("/w/crates/{name}/Cargo.toml"),
            dependencies: uses
                .iter()
                .map(|(name, kind)| Dependency {
                    name: (*name).to_owned(),
                    path: Some("/w".to_owned()),
                    kind: kind.map(str::to_owned),
                })
                .collect(),
        }
    }

    #[test]
    fn lower_floors_may_be_used() {
        let packages = [
            package("vocab", &[]),
            package("record", &[("vocab", None)]),
            package("gg", &[("vocab", None), ("actors", Some("dev"))]),
            package("tests", &[("gg", None)]),
        ];
        assert_eq!(check(&packages), Vec::<String>::new());
    }

    #[test]
    fn every_wrong_arrow_is_a_sentence() {
        let packages = [
            package("vocab", &[("record", None)]),
            package("record", &[("config", None), ("context", Some("dev"))]),
            package("context", &[("tests", Some("dev"))]),
            package("extra", &[]),
        ];
        let faults = check(&packages);
        assert_eq!(faults.len(), 5, "{faults:#?}");
        assert_eq!(
            faults[2],
            "`record` on floor 1 uses `context` on floor 2 (in its tests); a crate may use only \
             lower floors"
        );
    }

    #[test]
    fn a_crate_outside_crates_is_named() {
        let mut astray = package("vocab", &[]);
        astray.manifest_path = "/w/vocab/Cargo.toml".to_owned();
        assert_eq!(check(&[astray]).len(), 1);
    }
}
