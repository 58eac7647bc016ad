//! Every library the workspace uses is named in `docs/decisions.md`, with what it was chosen over.

use std::collections::BTreeSet;

use crate::floors::Package;

/// Where libraries are argued for.
pub(crate) const DOCUMENT: &str = "docs/decisions.md";

/// A sentence for each library that `text` names in no table's first column.
pub(crate) fn check(packages: &[Package], text: &str) -> Vec<String> {
    let named: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" | ").next())
        .flat_map(|cell| cell.split('`'))
        .collect();
    let used: BTreeSet<&str> = packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| dependency.path.is_none())
        .map(|dependency| dependency.name.as_str())
        .collect();
    used.difference(&named)
        .map(|library| {
            format!("`{library}` is not in {DOCUMENT}: say what it was chosen over, or drop it")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floors::tests::using;

    #[test]
    fn a_library_that_no_row_begins_with_is_a_fault() {
        let packages = [using("gg", &["anyhow", "clap_complete", "serde"])];
        let text = "| `clap`, `clap_complete` | … | `lexopt` |\n| `anyhow` | … | `serde` |\n";
        let faults = check(&packages, text);
        let [fault] = &faults[..] else {
            panic!("{faults:?}");
        };
        assert!(fault.starts_with("`serde` is not in"), "{fault}");
    }
}
