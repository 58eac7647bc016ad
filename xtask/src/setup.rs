//! What has to be there before anything is built, and how to get it.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::arms::python;
use crate::step::{cargo, run};

/// Programs the build and the tests call, and the Debian package each comes in.
const PROGRAMS: [(&str, &str); 10] = [
    ("cc", "build-essential"),
    ("git", "git"),
    ("sh", "dash"),
    ("mount", "mount"),
    ("setpriv", "util-linux"),
    ("unshare", "util-linux"),
    ("clang-19", "clang-19"),
    ("wasm-ld-19", "lld-19"),
    ("node", "nodejs"),
    ("npm", "npm"),
];

/// Files the build reads, by where Debian puts them and the package each comes in.
const FILES: [(&str, &str); 2] = [
    ("/usr/lib/wasm32-wasi/libc.a", "wasi-libc"),
    (
        "/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a",
        "libclang-rt-19-dev-wasm32",
    ),
];

/// Parts of the Rust toolchain, by their cargo command and their rustup component.
const COMPONENTS: [(&str, &str); 2] = [("fmt", "rustfmt"), ("clippy", "clippy")];

/// Checks programs and toolchain parts; gets what can be got without asking, else says what to do.
pub(crate) fn check() -> Result<()> {
    println!("==> set-up");
    let programs = PROGRAMS.iter().filter(|(program, _)| !on_path(program));
    let files = FILES.iter().filter(|(path, _)| !Path::new(path).exists());
    let mut packages: Vec<&str> = programs.chain(files).map(|(_, package)| *package).collect();
    if !packages.is_empty() {
        packages.dedup();
        install(&packages)?;
    }
    // Without it only one arm is missing, which is said where it would be built.
    if !python::usable() && installs() {
        install(&["python3", "python3-venv"])?;
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
    if !installs() {
        bail!("programs are missing; install {list} (Debian's names) and try again");
    }
    println!("    apt-get install {list}");
    run(Command::new("apt-get").args(["-qq", "update"]))?;
    run(Command::new("apt-get")
        .args(["-qq", "-y", "install", "--no-install-recommends"])
        .args(packages))
}

/// Whether packages can be installed here without asking anyone.
fn installs() -> bool {
    Path::new("/etc/debian_version").exists()
        && on_path("apt-get")
        && rustix::process::geteuid().is_root()
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
