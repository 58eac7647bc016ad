//! HTTP/1.1 over one connection, by hand: chunk boundaries, resets and silences have to be exact.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// The largest head that is read.
const HEAD_LIMIT: usize = 64 * 1024;

/// A connection and what was read ahead on it.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    ahead: Vec<u8>,
}

/// A request's head.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    /// `POST`.
    pub(super) method: String,
    /// Path and query.
    pub(super) path: String,
    /// Headers as sent, in order.
    pub(super) headers: Vec<(String, String)>,
}

impl Head {
    fn length(&self) -> Option<usize> {
        self.find("content-length")
            .and_then(|value| value.parse().ok())
    }

    fn chunked(&self) -> bool {
        self.find("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}

impl Connection {
    /// Takes over an accepted socket.
    pub(super) fn new(stream: TcpStream) -> Self {
        // Each write is a flush point, so none may wait for the one before to be acknowledged.
        stream.set_nodelay(true).ok();
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    /// The socket, to write to.
    pub(super) fn socket(&self) -> &TcpStream {
        &self.stream
    }

    /// The next request's head; `None` where the peer hung up before one.
    pub(super) fn read_head(&mut self) -> io::Result<Option<Head>> {
        loop {
            if let Some(end) = find(&self.ahead, b"\r\n\r\n") {
                let head = parse_head(&self.ahead[..end]);
                self.ahead.drain(..end + 4);
                return head.map(Some);
            }
            if self.ahead.len() > HEAD_LIMIT {
                return Err(invalid("the head has no end"));
            }
            if self.read_more()? == 0 {
                return if self.ahead.is_empty() {
                    Ok(None)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        }
    }

    /// The body behind a head, unframed.
    pub(super) fn read_body(&mut self, head: &Head) -> io::Result<Vec<u8>> {
        if head.chunked() {
            return self.read_chunked();
        }
        let length = head.length().unwrap_or(0);
        let mut body = std::mem::take(&mut self.ahead);
        if body.len() > length {
            self.ahead = body.split_off(length);
        } else {
            let have = body.len();
            body.resize(length, 0);
            self.stream.read_exact(&mut body[have..])?;
        }
        Ok(body)
    }

    /// Reads a body away and returns its length.
    pub(super) fn drain_body(&mut self, head: &Head, scratch: &mut Vec<u8>) -> io::Result<usize> {
        let Some(length) = head.length() else {
            return self.read_body(head).map(|body| body.len());
        };
        let had = self.ahead.len().min(length);
        self.ahead.drain(..had);
        let mut left = length - had;
        scratch.resize(256 * 1024, 0);
        while left > 0 {
            let want = left.min(scratch.len());
            let got = self.stream.read(&mut scratch[..want])?;
            if got == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= got;
        }
        Ok(length)
    }

    /// Writes and flushes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Writes one chunk of a chunked body, in one call.
    pub(super) fn write_chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.write(&chunk)
    }

    /// Whether the peer has hung up, without waiting and without reading.
    pub(super) fn peer_gone(&self) -> bool {
        let mut byte = [0];
        if self.stream.set_nonblocking(true).is_err() {
            return true;
        }
        let gone = match self.stream.peek(&mut byte) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        };
        self.stream.set_nonblocking(false).is_err() || gone
    }

    /// Makes the coming close a reset.
    pub(super) fn reset_on_close(&self) {
        rustix::net::sockopt::set_socket_linger(
            &self.stream,
            Some(std::time::Duration::from_secs(0)),
        )
        .ok();
    }

    fn read_chunked(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.read_line()?;
            let size = line.split(';').next().unwrap_or("").trim();
            let size =
                usize::from_str_radix(size, 16).map_err(|_| invalid("a chunk has no size"))?;
            while self.ahead.len() < size + 2 {
                if self.read_more()? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            body.extend(self.ahead.drain(..size));
            self.ahead.drain(..2);
            if size == 0 {
                return Ok(body);
            }
        }
    }

    fn read_line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = find(&self.ahead, b"\r\n") {
                let line = String::from_utf8_lossy(&self.ahead[..end]).into_owned();
                self.ahead.drain(..end + 2);
                return Ok(line);
            }
            if self.read_more()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn read_more(&mut self) -> io::Result<usize> {
        let mut block = [0; 16 * 1024];
        let got = self.stream.read(&mut block)?;
        self.ahead.extend_from_slice(&block[..got]);
        Ok(got)
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Head> {
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("the head is not text"))?;
    let mut lines = text.split("\r\n");
    let mut request = lines.next().unwrap_or("").split(' ');
    let method = request.next().unwrap_or("").to_owned();
    let path = request.next().unwrap_or("").to_owned();
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    Ok(Head {
        method,
        path,
        headers,
    })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}
