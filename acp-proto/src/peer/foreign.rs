//! Lines of other protocols that find their way to a port.
//!
//! Place in the flow: asked about a stranger's line that is no message. It must not be the only guard: what a stranger
//! sends first has to be a JSON-RPC request, whatever else it looks like.

/// Whether the line is a request, a status or the first header of HTTP, or begins a TLS handshake.
pub(super) fn is_foreign(line: &[u8]) -> bool {
    is_tls(line) || is_http(line)
}

/// A TLS record of the kind handshake, version 3.x.
fn is_tls(line: &[u8]) -> bool {
    line.starts_with(&[0x16, 0x03])
}

/// `METHOD target HTTP/…`, `HTTP/…`, or a header without which no HTTP request is made.
fn is_http(line: &[u8]) -> bool {
    let word = |byte: &u8| *byte == b' ';
    let last = line
        .rsplit(word)
        .next()
        .and_then(|last| last.strip_prefix(b"HTTP/"))
        .is_some_and(|version| version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'));
    let host = line
        .get(..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"host:"));
    line.starts_with(b"HTTP/") || last || host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_protocols_are_known_by_their_first_bytes() {
        let foreign: [&[u8]; 6] = [
            b"POST /acp HTTP/1.1",
            b"PRI * HTTP/2.0",
            b"HTTP/1.1 200 OK",
            b"Host: 127.0.0.1:4711",
            b"hOST:x",
            b"\x16\x03\x01\x02\x00\x01",
        ];
        for line in foreign {
            assert!(is_foreign(line), "{}", line.escape_ascii());
        }
        let ours: [&[u8]; 5] = [
            b"",
            b"{not json",
            b"[1, 2]",
            br#"{"jsonrpc": "2.0", "method": "GET / HTTP/1.1""#,
            b"\x16",
        ];
        for line in ours {
            assert!(!is_foreign(line), "{}", line.escape_ascii());
        }
    }
}
