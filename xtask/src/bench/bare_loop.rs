//! The floor: requests of given sizes over one connection, a command between two of them.
//!
//! No JSON, no record, no window: what is left is what any harness must do.

use std::io::{BufRead, BufReader, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};

/// What the loop repeats.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The gateway's address.
    #[arg(long)]
    address: SocketAddr,
    /// A file with the bytes of each body, a decimal number a line.
    #[arg(long)]
    sizes: PathBuf,
    /// The command run between two requests.
    #[arg(long)]
    command: String,
    /// Where commands run.
    #[arg(long)]
    folder: PathBuf,
    /// Where both streams of every command are kept, a file each.
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// Runs the loop.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sizes: Vec<usize> = std::fs::read_to_string(&arguments.sizes)?
        .lines()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .context("a size is not a number")?;
    let mut socket = BufReader::new(TcpStream::connect(arguments.address)?);
    socket.get_ref().set_nodelay(true)?;
    // Only as long as this turn's body: a harness holds no more of its window either.
    let mut body: Vec<u8> = Vec::new();
    let mut reply = Vec::new();
    for (turn, size) in sizes.iter().enumerate() {
        body.resize(*size, b' ');
        send(&mut socket, arguments.address, &body)?;
        receive(&mut socket, &mut reply)?;
        if turn + 1 < sizes.len() {
            let output = run_command(&arguments.command, &arguments.folder)?;
            if let Some(folder) = &arguments.keep {
                std::fs::write(folder.join(format!("{turn}.stdout")), &output.stdout)?;
                std::fs::write(folder.join(format!("{turn}.stderr")), &output.stderr)?;
            }
        }
    }
    Ok(())
}

/// Runs a command in a group of its own and collects both its streams.
pub(super) fn run_command(command: &str, folder: &Path) -> Result<Output> {
    let output = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(folder)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()?;
    ensure!(output.status.success(), "the command failed");
    Ok(output)
}

/// Sends one request.
pub(super) fn send(
    socket: &mut BufReader<TcpStream>,
    address: SocketAddr,
    body: &[u8],
) -> Result<()> {
    let head = format!(
        "POST /api/v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer x\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let socket = socket.get_mut();
    let mut slices = [IoSlice::new(head.as_bytes()), IoSlice::new(body)];
    let mut rest = &mut slices[..];
    while !rest.is_empty() {
        let sent = socket.write_vectored(rest)?;
        ensure!(sent > 0, "the gateway takes nothing more");
        IoSlice::advance_slices(&mut rest, sent);
    }
    Ok(())
}

/// Reads one reply, by its length.
pub(super) fn receive(socket: &mut BufReader<TcpStream>, reply: &mut Vec<u8>) -> Result<()> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        ensure!(socket.read_line(&mut line)? > 0, "the gateway hung up");
        let lower = line.trim_end().to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if lower.is_empty() {
            break;
        }
    }
    reply.resize(length, 0);
    socket.read_exact(reply)?;
    Ok(())
}
