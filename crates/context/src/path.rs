//! Paths as a model spells them: `./src//a.rs` is the file that `src/a.rs` is.
//!
//! Nothing is looked up. What a link or a `..` leads to only the disk knows, and a window holds
//! what was read, not what is there now.

use std::sync::Arc;

/// The parts of a path that count.
pub(crate) fn parts(path: &str) -> impl Iterator<Item = &str> {
    let root = path.starts_with('/').then_some("/");
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    root.into_iter().chain(parts)
}

/// Whether two paths name one file.
pub(crate) fn same(one: &str, other: &str) -> bool {
    parts(one).eq(parts(other))
}

/// The one spelling of a path, by which its views are summed. A path without any part that counts
/// stays as it is.
pub(crate) fn plain(path: &Arc<str>) -> Arc<str> {
    let root = if path.starts_with('/') { "/" } else { "" };
    let counting: Vec<_> = parts(path.trim_start_matches('/')).collect();
    let plain = format!("{root}{}", counting.join("/"));
    if plain.is_empty() || *plain == **path {
        Arc::clone(path)
    } else {
        plain.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_by_the_parts_that_count() {
        for (one, other, equal) in [
            ("./src//a.rs", "src/a.rs", true),
            ("/src/a.rs", "src/a.rs", false),
            ("src/a.rs/", "src/a.rs", true),
            ("src/a", "src/a.rs", false),
            ("//a", "/./a", true),
        ] {
            assert_eq!(same(one, other), equal, "{one} {other}");
            assert_eq!(
                plain(&one.into()) == plain(&other.into()),
                equal,
                "{one} {other}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn a_path_and_its_plain_spelling_name_one_file(path in "[./a]{0,8}", other in "[./a]{0,8}") {
            let path: Arc<str> = path.into();
            let other: Arc<str> = other.into();
            let short = plain(&path);
            proptest::prop_assert!(same(&path, &short), "{} {}", path, short);
            proptest::prop_assert_eq!(plain(&short), short.clone());
            if parts(&path).next().is_some() {
                proptest::prop_assert_eq!(same(&path, &other), plain(&other) == short);
            }
        }
    }
}
