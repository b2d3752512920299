//! Addresses to listen on and to connect to, as text.
//!
//! Place in the flow: parsed from `--listen` and `--connect`. It must not open anything.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Where to listen, or to connect to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListenAddress {
    /// `stdio`: standard input and output of this process.
    Stdio,
    /// `tcp://127.0.0.1:PORT` (or `localhost`), `tcp://[::1]:PORT`; port 0 takes a free one.
    Tcp(SocketAddr),
    /// `unix:PATH`.
    Unix(PathBuf),
}

/// The text is no address that can be listened on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// None of the three forms.
    #[error("`{0}` is no address; use `stdio`, `tcp://127.0.0.1:PORT`, `tcp://[::1]:PORT` or `unix:PATH`")]
    Unknown(String),
    /// A TCP address that is not `IP:PORT`.
    #[error("`tcp://{0}` needs an ip address and a port, such as `tcp://127.0.0.1:0` or `tcp://[::1]:0`")]
    NotAnIp(String),
    /// A TCP address whose port is none.
    #[error("`tcp://{address}` has no port `{port}`; use a port up to 65535, or 0 for a free one")]
    NotAPort {
        /// The whole address.
        address: String,
        /// What stands where the port should be.
        port: String,
    },
    /// A TCP address that other machines can reach.
    #[error(
        "`tcp://{0}` can be reached from other machines, and there is no authentication yet; \
         use `tcp://127.0.0.1:{port}` or `tcp://[::1]:{port}`, and a tunnel (such as ssh -L) to reach it from elsewhere",
        port = .0.port()
    )]
    NotLoopback(SocketAddr),
    /// `unix:` without a path.
    #[error("`unix:` needs the path of the socket, such as `unix:/run/user/1000/claude-acp.sock`")]
    NoPath,
}

impl FromStr for ListenAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text == "stdio" {
            return Ok(Self::Stdio);
        }
        if let Some(address) = text.strip_prefix("tcp://") {
            let parsed = tcp(address)?;
            check_loopback(parsed)?;
            return Ok(Self::Tcp(parsed));
        }
        match text.strip_prefix("unix:") {
            Some("") => Err(AddressError::NoPath),
            Some(path) => Ok(Self::Unix(PathBuf::from(path))),
            None => Err(AddressError::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio => f.write_str("stdio"),
            Self::Tcp(address) => write!(f, "tcp://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// `IP:PORT`. The name `localhost` is this machine's by definition, and is not looked up.
fn tcp(address: &str) -> Result<SocketAddr, AddressError> {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let ip = match host {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        // An IPv6 address stands in brackets: without them its last group would be taken for the port.
        _ => match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(host) => host.parse::<Ipv6Addr>().ok().map(IpAddr::from),
            None => host.parse::<Ipv4Addr>().ok().map(IpAddr::from),
        },
    };
    let ip = ip
        .filter(|_| !port.is_empty())
        .ok_or_else(|| AddressError::NotAnIp(address.to_owned()))?;
    match port.parse() {
        Ok(port) => Ok(SocketAddr::new(ip, port)),
        Err(_) => Err(AddressError::NotAPort {
            address: address.to_owned(),
            port: port.to_owned(),
        }),
    }
}

/// Only this machine may reach a TCP listener.
pub(super) fn check_loopback(address: SocketAddr) -> Result<(), AddressError> {
    if address.ip().is_loopback() {
        Ok(())
    } else {
        Err(AddressError::NotLoopback(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_parses_and_prints_itself() {
        for text in [
            "stdio",
            "tcp://127.0.0.1:0",
            "tcp://127.9.9.9:80",
            "tcp://[::1]:65535",
            "unix:/a b/c",
            "unix:rel.sock",
        ] {
            let address: ListenAddress = text.parse().expect(text);
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn localhost_is_the_loopback_address() {
        let address: ListenAddress = "tcp://localhost:4711".parse().unwrap();
        assert_eq!(address.to_string(), "tcp://127.0.0.1:4711");
    }

    #[test]
    fn everything_else_is_refused_with_what_to_write_instead() {
        let refused = [
            ("", "use `stdio`"),
            ("http://127.0.0.1:1", "use `stdio`"),
            ("tcp:127.0.0.1:1", "use `stdio`"),
            ("tcp://example.com:1", "needs an ip address"),
            ("tcp://localhost", "needs an ip address"),
            ("tcp://127.0.0.1:", "needs an ip address"),
            ("tcp://127.0.0.1", "needs an ip address"),
            ("tcp://::1:80", "needs an ip address"),
            (
                "tcp://127.0.0.1:99999",
                "has no port `99999`; use a port up to 65535",
            ),
            ("tcp://localhost:65536", "use a port up to 65535"),
            ("tcp://[::1]:-1", "has no port `-1`"),
            ("tcp://[::1]:http", "has no port `http`"),
            ("tcp://0.0.0.0:7", "use `tcp://127.0.0.1:7`"),
            ("tcp://[::]:7", "can be reached from other machines"),
            ("tcp://192.168.0.1:7", "can be reached from other machines"),
            ("tcp://[::ffff:127.0.0.1]:7", "can be reached from other machines"),
            ("unix:", "needs the path"),
        ];
        for (text, why) in refused {
            let error = text.parse::<ListenAddress>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
