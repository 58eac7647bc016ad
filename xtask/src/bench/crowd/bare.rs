//! The floor of many agents: as many threads as run at once, each with a connection of its own.
//!
//! A thread takes the next agent, sends its requests one after another and does in between what
//! the agent's turn does. No JSON, no record, no window, and nobody to coordinate with.

use std::io::BufReader;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow};

use super::super::bare_loop::{receive, run_command, send};

/// What the crowd does.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The gateway's address.
    #[arg(long)]
    address: SocketAddr,
    /// Agents.
    #[arg(long)]
    workers: usize,
    /// Agents at once.
    #[arg(long)]
    cap: usize,
    /// Bytes of the root's bodies.
    #[arg(long, value_delimiter = ',')]
    root: Vec<usize>,
    /// Bytes of an agent's bodies.
    #[arg(long, value_delimiter = ',')]
    worker: Vec<usize>,
    /// Agents started one by one, a reply of the root each.
    #[arg(long)]
    newcomers: Option<usize>,
    /// Run between two requests; without it, a file is read.
    #[arg(long)]
    command: Option<String>,
    /// Where commands run.
    #[arg(long)]
    folder: PathBuf,
}

/// Plays it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut root = connect(arguments.address)?;
    let mut reply = Vec::new();
    let mut ask = |turn: usize| {
        let size = arguments.root.get(turn).copied().unwrap_or_default();
        ask(&mut root, arguments.address, 'R', turn, size, &mut reply)
    };
    ask(0)?;
    let next = AtomicUsize::new(0);
    let threads = arguments.cap.min(arguments.workers);
    std::thread::scope(|scope| -> Result<()> {
        let mut running = Vec::with_capacity(threads);
        for _ in 0..threads {
            running.push(scope.spawn(|| work(arguments, &next)));
        }
        for turn in 1..=arguments.newcomers.unwrap_or_default() {
            ask(turn)?;
            running.push(scope.spawn(|| come(arguments)));
        }
        if let Some(newcomers) = arguments.newcomers {
            ask(newcomers + 1)?;
        }
        for thread in running {
            thread.join().map_err(|_| anyhow!("an agent panicked"))??;
        }
        Ok(())
    })?;
    ask(arguments.root.len().saturating_sub(1))
}

/// One slot: agent after agent.
fn work(arguments: &Arguments, next: &AtomicUsize) -> Result<()> {
    let mut socket = None;
    let mut reply = Vec::new();
    while next.fetch_add(1, Ordering::Relaxed) < arguments.workers {
        let socket = match &mut socket {
            Some(socket) => socket,
            none => none.insert(connect(arguments.address)?),
        };
        for (turn, size) in arguments.worker.iter().enumerate() {
            ask(socket, arguments.address, 'W', turn, *size, &mut reply)?;
            if turn + 1 == arguments.worker.len() {
                continue;
            }
            match &arguments.command {
                Some(command) => drop(run_command(command, &arguments.folder)?),
                None => drop(std::fs::read(arguments.folder.join("notes.txt"))?),
            }
        }
    }
    Ok(())
}

/// One agent that comes while all others are held.
fn come(arguments: &Arguments) -> Result<()> {
    let mut socket = connect(arguments.address)?;
    let size = arguments.worker.first().copied().unwrap_or_default();
    ask(
        &mut socket,
        arguments.address,
        'N',
        0,
        size,
        &mut Vec::new(),
    )
}

fn ask(
    socket: &mut BufReader<TcpStream>,
    address: SocketAddr,
    who: char,
    turn: usize,
    size: usize,
    reply: &mut Vec<u8>,
) -> Result<()> {
    let mut body = format!("{who}{turn} ").into_bytes();
    body.resize(size.max(body.len()), b' ');
    send(socket, address, &body)?;
    receive(socket, reply)
}

fn connect(address: SocketAddr) -> Result<BufReader<TcpStream>> {
    let socket = TcpStream::connect(address).context("the gateway takes no connection")?;
    socket.set_nodelay(true)?;
    Ok(BufReader::new(socket))
}
