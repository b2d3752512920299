//! Whose program is at the other end of a local connection, and whether it may come in.
//!
//! Place in the flow: the network transports ask it about every client before a byte is read. A loopback port is open to
//! every account of the machine, and who reaches the agent can run commands as its user. It must not let in whom it
//! cannot tell.

#[cfg(target_os = "linux")]
use std::fs;
use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::net::{IpAddr, Ipv6Addr};

use super::Caller;

/// How often the table of sockets is read until the client's is found: it is shown in pieces, and others open and close
/// theirs meanwhile.
#[cfg(target_os = "linux")]
const LOOKS: usize = 3;
/// The account that nothing on the machine is closed to.
const ROOT: u32 = 0;

/// Which accounts of this machine a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounts {
    /// The one this process runs as, and root, from which nothing could be kept.
    Own,
    /// Every account of this machine.
    Any,
}

/// Whose program a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Account {
    /// The account with this number.
    Uid(u32),
    /// The system could have told, and did not: the client is gone already, or another user namespace's.
    Hidden,
    /// This system has no way to tell.
    #[cfg(not(target_os = "linux"))]
    Untold,
}

impl Accounts {
    /// What a client of the account is to us. The account is asked for only where it decides.
    pub(super) fn admit(self, account: impl FnOnce() -> Account) -> Caller {
        let own = rustix::process::geteuid().as_raw();
        match self {
            Self::Any => Caller::Stranger,
            Self::Own => match account() {
                Account::Uid(uid) if uid == own || uid == ROOT => Caller::Stranger,
                Account::Uid(uid) => refused(format_args!("a program of the account with uid {uid}"), own),
                Account::Hidden => refused(format_args!("a program whose account cannot be told"), own),
                #[cfg(not(target_os = "linux"))]
                Account::Untold => Caller::Stranger,
            },
        }
    }
}

fn refused(who: std::fmt::Arguments<'_>, own: u32) -> Caller {
    Caller::Refused(format!(
        "this agent serves programs of the account with uid {own}, and not {who}; \
         start it with `--allow-any-local-user` to let every account of this machine in"
    ))
}

/// Whose socket is connected from `client` to our `server`.
#[cfg(target_os = "linux")]
pub(super) fn of_tcp_client(client: SocketAddr, server: SocketAddr) -> Account {
    // A client may speak IPv4 through an IPv6 socket, as some runtimes always do.
    let tables = [
        ("/proc/self/net/tcp", client, server),
        ("/proc/self/net/tcp6", client, server),
        ("/proc/self/net/tcp6", mapped(client), mapped(server)),
    ];
    let look = || {
        tables.iter().find_map(|(path, client, server)| {
            let table = fs::read_to_string(path).ok()?;
            owner_in(&table, &column(*client), &column(*server))
        })
    };
    (0..LOOKS)
        .find_map(|_| look())
        .map_or(Account::Hidden, Account::Uid)
}

/// Whose socket is connected from `client` to our `server`: not to be known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_tcp_client(_client: SocketAddr, _server: SocketAddr) -> Account {
    Account::Untold
}

/// The owner of the socket with these two ends. One that its program has closed has none: its row says 0, which would
/// read as root.
#[cfg(target_os = "linux")]
fn owner_in(table: &str, local: &str, remote: &str) -> Option<u32> {
    table.lines().find_map(|row| {
        let mut columns = row.split_ascii_whitespace().skip(1);
        if columns.next() != Some(local) || columns.next() != Some(remote) {
            return None;
        }
        let uid = columns.nth(4)?.parse().ok()?;
        let inode = columns.nth(1)?;
        (inode != "0").then_some(uid)
    })
}

/// An end of a socket as the kernel's tables show it: each four bytes of the address as a number of this machine.
#[cfg(target_os = "linux")]
fn column(address: SocketAddr) -> String {
    use std::fmt::Write as _;
    let mut shown = String::new();
    let mut push = |group: [u8; 4]| {
        // Writing into a string cannot fail.
        let _ = write!(shown, "{:08X}", u32::from_ne_bytes(group));
    };
    match address.ip() {
        IpAddr::V4(ip) => push(ip.octets()),
        IpAddr::V6(ip) => {
            let octets = ip.octets();
            let (groups, _) = octets.as_chunks::<4>();
            groups.iter().copied().for_each(&mut push);
        }
    }
    format!("{shown}:{:04X}", address.port())
}

#[cfg(target_os = "linux")]
fn mapped(address: SocketAddr) -> SocketAddr {
    let ip: Ipv6Addr = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    SocketAddr::new(ip.into(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn own() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn own_programs_and_roots_come_in_and_everybody_else_is_told_why_not() {
        let admit = |account| Accounts::Own.admit(|| account);
        for account in [Account::Uid(own()), Account::Uid(0)] {
            assert_eq!(admit(account), Caller::Stranger, "{account:?}");
        }
        for (account, who) in [
            (Account::Uid(own() + 1), format!("uid {}", own() + 1)),
            (Account::Hidden, "cannot be told".to_owned()),
        ] {
            match admit(account) {
                Caller::Refused(why) => {
                    assert!(
                        why.contains(&who) && why.contains("--allow-any-local-user"),
                        "{why}"
                    );
                }
                other => panic!("{account:?}: {other:?}"),
            }
        }
        let nobody_asked = Accounts::Any.admit(|| panic!("the account does not matter"));
        assert_eq!(nobody_asked, Caller::Stranger);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_owner_of_a_connected_socket_is_found() {
        let mut hosts = vec!["127.0.0.1:0", "127.9.8.7:0"];
        if TcpListener::bind("[::1]:0").is_ok() {
            hosts.push("[::1]:0");
        }
        for host in hosts {
            let listener = TcpListener::bind(host).unwrap();
            let address = listener.local_addr().unwrap();
            let client = TcpStream::connect(address).unwrap();
            let (_served, peer) = listener.accept().unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
            assert_eq!(of_tcp_client(peer, address), Account::Uid(own()), "{host}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_owner_is_found_also_behind_an_ipv6_socket_that_speaks_ipv4() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let Ok(client) = TcpStream::connect(mapped(address)) else {
            return;
        };
        let (_served, peer) = listener.accept().unwrap();
        assert_eq!(of_tcp_client(peer, address), Account::Uid(own()));
        drop(client);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_client_that_is_gone_already_has_no_account() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(TcpStream::connect(address).unwrap());
        let (_served, peer) = listener.accept().unwrap();
        assert_eq!(of_tcp_client(peer, address), Account::Hidden);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_row_counts_only_with_both_ends_and_an_inode() {
        let table = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1A2B 0100007F:0050 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 20 4 30 10 -1
   1: 0100007F:1A2C 0100007F:0050 05 00000000:00000000 03:00001000 00000000     0        0 0 3 0
   2: 0100007F:1A2D 0100007F:0051 01";
        let owner = |local, remote| owner_in(table, local, remote);
        assert_eq!(owner("0100007F:1A2B", "0100007F:0050"), Some(1000));
        assert_eq!(owner("0100007F:1A2B", "0100007F:0051"), None);
        assert_eq!(
            owner("0100007F:1A2C", "0100007F:0050"),
            None,
            "closed: not root's"
        );
        assert_eq!(
            owner("0100007F:1A2D", "0100007F:0051"),
            None,
            "a row that is cut off"
        );
    }
}
