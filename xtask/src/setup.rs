//! What has to be there before anything is built, and how to get it.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::step::{cargo, run};

/// Programs the build and the tests call, and the Debian package each comes in.
const PROGRAMS: [(&str, &str); 6] = [
    ("cc", "build-essential"),
    ("git", "git"),
    ("sh", "dash"),
    ("mount", "mount"),
    ("setpriv", "util-linux"),
    ("unshare", "util-linux"),
];

/// Parts of the Rust toolchain, by their cargo command and their rustup component.
const COMPONENTS: [(&str, &str); 2] = [("fmt", "rustfmt"), ("clippy", "clippy")];

/// Checks programs and toolchain parts; gets what can be got without asking, else says what to do.
pub(crate) fn check() -> Result<()> {
    println!("==> set-up");
    let missing: Vec<_> = PROGRAMS
        .iter()
        .filter(|(program, _)| !on_path(program))
        .collect();
    if !missing.is_empty() {
        let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
        packages.dedup();
        install(&packages)?;
    }
    for (command, component) in COMPONENTS {
        if answers(cargo().args([command, "--version"])) {
            continue;
        }
        if !answers(Command::new("rustup").arg("--version")) {
            bail!(
                "`cargo {command}` is missing: install the component `{component}` of your Rust \
                 toolchain"
            );
        }
        println!("    rustup component add {component}");
        run(Command::new("rustup").args(["component", "add", component]))?;
    }
    Ok(())
}

fn install(packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    let debian = Path::new("/etc/debian_version").exists() && on_path("apt-get");
    if !debian || !rustix::process::geteuid().is_root() {
        bail!("programs are missing; install {list} (Debian's names) and try again");
    }
    println!("    apt-get install {list}");
    run(Command::new("apt-get").args(["-qq", "update"]))?;
    run(Command::new("apt-get")
        .args(["-qq", "-y", "install", "--no-install-recommends"])
        .args(packages))
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

fn answers(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
