//! Compiled guests in their folder.

use super::*;

#[test]
fn a_compiled_guest_is_kept_and_a_damaged_entry_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("guests");
    let cache = Cache::open(place.clone()).unwrap();
    let bytes = component("", "", "");
    let origin = || Guest::load(&bytes, Some(&cache)).unwrap().origin;
    assert_eq!(origin(), Origin::Compiled);
    assert_eq!(origin(), Origin::Kept);
    let entry = std::fs::read_dir(&place).unwrap().next().unwrap().unwrap();
    let mut held = std::fs::read(entry.path()).unwrap();
    let middle = held.len() / 2;
    held[middle] ^= 1;
    std::fs::write(entry.path(), &held).unwrap();
    assert_eq!(origin(), Origin::Compiled);
    std::fs::write(entry.path(), b"short").unwrap();
    assert_eq!(origin(), Origin::Compiled);
    assert_eq!(origin(), Origin::Kept);
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("guests");
    Cache::open(place.clone()).unwrap();
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(
        Cache::open(place.clone()),
        Err(CacheRefusal::Open { .. })
    ));
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert!(matches!(Cache::open(link), Err(CacheRefusal::Open { .. })));
}
