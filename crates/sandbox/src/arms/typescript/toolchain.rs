//! Where TypeScript's compiler is (05 §8, R17).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::super::MissingTool;
use crate::prepare::compile::{self, COMPILE_TIME, Redirected};

/// The variable that names the compiler.
const VARIABLE: &str = "GG_TSC";

/// The folder `cargo xtask arms` installs it into, below a place for toolchains.
const FOLDER: &str = "toolchains/typescript";

/// Where toolchains of the whole machine are.
const OPT: &str = "/opt/gg";

/// Where a user's own are, below the home directory.
const LOCAL: &str = ".local/share/gg";

/// The release that answers as this gg asks: the native compiler, with its API server.
const RELEASE: &str = "Version 7.";

/// How to get it.
const INSTALL: &str = "`cargo xtask arms` installs it beside the build, and `npm install --prefix \
                       ~/.local/share/gg/toolchains/typescript typescript@7.0.2` for any gg";

/// What the places depend on.
struct Machine {
    named: Option<OsString>,
    executable: Option<PathBuf>,
    home: Option<PathBuf>,
    path: Option<OsString>,
}

/// The compiler, looked for once in a process.
pub(super) fn compiler() -> Result<&'static Path, MissingTool> {
    static FOUND: OnceLock<Result<PathBuf, MissingTool>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let machine = Machine {
            named: std::env::var_os(VARIABLE),
            executable: std::env::current_exe().ok(),
            home: std::env::var_os("HOME").map(PathBuf::from),
            path: std::env::var_os("PATH"),
        };
        find(&machine, release)
    });
    found.as_deref().map_err(Clone::clone)
}

/// The first place that holds a compiler of the right release.
fn find(
    machine: &Machine,
    release: impl Fn(&Path) -> Result<(), String>,
) -> Result<PathBuf, MissingTool> {
    let mut looked = Vec::new();
    let mut candidates = Vec::new();
    match &machine.named {
        // Whoever names one wants that one.
        Some(named) => candidates.push((PathBuf::from(named), format!("{VARIABLE}="))),
        None => looked.push(format!("{VARIABLE} (not set)")),
    }
    if machine.named.is_none() {
        let mut places = Vec::new();
        // A build's own: `target/debug/gg` and what it is tested by stand below `target`.
        let ancestors = machine.executable.iter().flat_map(|path| path.ancestors());
        places.extend(ancestors.skip(1).take(3).map(Path::to_owned));
        places.push(PathBuf::from(OPT));
        places.extend(machine.home.iter().map(|home| home.join(LOCAL)));
        for place in places {
            let path = installed(&place.join(FOLDER));
            candidates.push((path, String::new()));
        }
        let path = machine.path.iter().flat_map(std::env::split_paths);
        candidates.extend(path.map(|folder| (folder.join("tsc"), "PATH: ".to_owned())));
    }
    for (path, from) in candidates {
        let shown = format!("{from}{}", path.display());
        if !path.is_file() {
            looked.push(shown);
            continue;
        }
        match release(&path) {
            Ok(()) => return Ok(path),
            Err(other) => looked.push(format!("{shown} ({other})")),
        }
    }
    Err(MissingTool {
        tool: "tsc",
        looked,
        install: INSTALL,
    })
}

/// The compiler of an installed package: npm puts the one for this machine beside the package.
fn installed(folder: &Path) -> PathBuf {
    let machine = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "x86_64") => "darwin-x64",
        ("macos", _) => "darwin-arm64",
        (_, "x86_64") => "linux-x64",
        (_, "arm") => "linux-arm",
        _ => "linux-arm64",
    };
    folder.join(format!(
        "node_modules/@typescript/typescript-{machine}/lib/tsc"
    ))
}

/// Whether a compiler is of the right release; else what it is.
fn release(path: &Path) -> Result<(), String> {
    let finished = compile::run(path, &["--version"], &Redirected::anywhere(), COMPILE_TIME)
        .map_err(|error| error.to_string())?;
    if finished.success && finished.stdout.starts_with(RELEASE) {
        return Ok(());
    }
    match finished.stdout.lines().next() {
        Some(line) if finished.success => Err(format!("{line}; expected {RELEASE}x")),
        _ => Err(finished.account),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(path: &Path) -> Result<(), String> {
        path.is_file().then_some(()).ok_or_else(String::new)
    }

    fn place(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn the_first_place_in_order_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let machine = |named: Option<&Path>| Machine {
            named: named.map(|path| path.as_os_str().to_owned()),
            executable: Some(root.join("target/debug/gg")),
            home: Some(root.join("home")),
            path: Some(root.join("bin").into_os_string()),
        };
        let missing = find(&machine(None), any).unwrap_err();
        let told = missing.to_string();
        for part in [
            "`tsc` was not found",
            "GG_TSC (not set)",
            "/opt/gg/toolchains",
            "PATH: ",
        ] {
            assert!(told.contains(part), "{part} is not in {told}");
        }
        let order = [
            root.join("bin/tsc"),
            installed(&root.join("home/.local/share/gg/toolchains/typescript")),
            installed(&root.join("target/toolchains/typescript")),
        ];
        for path in &order {
            place(path);
            assert_eq!(find(&machine(None), any).as_ref(), Ok(path));
        }
        let named = root.join("named");
        assert!(find(&machine(Some(&named)), any).is_err());
        place(&named);
        assert_eq!(find(&machine(Some(&named)), any), Ok(named));
    }

    #[test]
    fn another_release_is_passed_over_and_told() {
        let root = tempfile::tempdir().unwrap();
        let named = root.path().join("tsc");
        place(&named);
        let machine = Machine {
            named: Some(named.into_os_string()),
            executable: None,
            home: None,
            path: None,
        };
        let told = find(&machine, |_| Err("Version 5.9.3".to_owned())).unwrap_err();
        assert!(told.to_string().contains("tsc (Version 5.9.3)"), "{told}");
    }
}
