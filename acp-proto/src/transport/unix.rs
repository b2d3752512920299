//! Unix sockets, for this user only.
//!
//! Place in the flow: one of the three transports. The socket file must never be reachable by others, not even between
//! its creation and a `chmod`: it is made in a private directory, given mode 0600 there, and only then linked to its
//! path. A process-wide umask would touch files that other threads make at that moment. Two that start on one path at
//! once are kept apart by a lock on its directory. It must not remove a file that is not a stale socket or its own.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rustix::fs::{FlockOperation, flock};
use tokio::net::{UnixListener, UnixStream};

use super::accounts::{Account, Accounts};
use super::{BindError, Caller, Duplex, Listener, is_client_fault};

/// How often a name for the private directory is tried.
const ATTEMPTS: usize = 8;
/// How often, and after which pause, the lock on the directory is tried. Who holds it needs it for an instant.
const LOCK_ATTEMPTS: usize = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Clients over a Unix socket. Dropping it removes the socket file.
pub(super) struct Unix {
    // Dropped first: as long as the socket is served, no other process takes its path.
    file: SocketFile,
    listener: UnixListener,
    accounts: Accounts,
}

/// The file at the path, as long as it is ours.
struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

/// A directory only we can enter, beside the socket. Dropping it removes it with what it holds.
struct PrivateDirectory {
    path: PathBuf,
}

impl Unix {
    pub(super) async fn bind(path: &Path, accounts: Accounts) -> Result<Self, BindError> {
        let failed = |source| BindError::Unix {
            path: path.to_owned(),
            source,
        };
        // Clients must be able to name the path: the system takes about a hundred bytes.
        std::os::unix::net::SocketAddr::from_pathname(path).map_err(failed)?;
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let private = PrivateDirectory::inside(parent).map_err(failed)?;
        let hidden = private.path.join("s");
        let listener = UnixListener::bind(&hidden).map_err(failed)?;
        fs::set_permissions(&hidden, Permissions::from_mode(0o600)).map_err(failed)?;
        let identity = Identity::of(&fs::symlink_metadata(&hidden).map_err(failed)?);
        let lock = lock_directory(parent).await;
        clear_stale(path).await?;
        publish(&hidden, path).map_err(failed)?;
        drop(lock);
        let file = SocketFile {
            path: path.to_owned(),
            identity,
        };
        Ok(Self {
            file,
            listener,
            accounts,
        })
    }
}

#[async_trait]
impl Listener for Unix {
    async fn accept(&mut self) -> io::Result<Duplex> {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let caller = self.accounts.admit(|| account_of(&stream));
                    return Ok(duplex(stream, &self.file.path, caller));
                }
                Err(error) if is_client_fault(&error) => {
                    tracing::debug!(%error, "a client left while connecting")
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn address(&self) -> String {
        format!("unix:{}", self.file.path.display())
    }
}

/// Connects as a client.
pub(super) async fn connect(path: &Path) -> io::Result<Duplex> {
    Ok(duplex(UnixStream::connect(path).await?, path, Caller::Known))
}

/// The account that connected, as the kernel wrote it down.
fn account_of(stream: &UnixStream) -> Account {
    match stream.peer_cred() {
        Ok(credentials) => Account::Uid(credentials.uid()),
        Err(_) => Account::Hidden,
    }
}

fn duplex(stream: UnixStream, path: &Path, caller: Caller) -> Duplex {
    let (reader, writer) = stream.into_split();
    Duplex {
        reader: Box::new(reader),
        writer: Box::new(writer),
        label: format!("unix:{}", path.display()),
        caller,
    }
}

/// Keeps others of our kind from making a socket in this directory, until the file is closed.
///
/// A directory that cannot be locked is used without: then only two starts at the very same moment could disturb each
/// other.
async fn lock_directory(directory: &Path) -> Option<File> {
    let file = File::open(directory).ok()?;
    for _ in 0..LOCK_ATTEMPTS {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(file),
            Err(error) if io::Error::from(error).kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
        tokio::time::sleep(LOCK_PAUSE).await;
    }
    tracing::debug!(directory = %directory.display(), "the directory of the socket could not be locked");
    None
}

/// Removes a socket that lies at the path and that nobody serves.
async fn clear_stale(path: &Path) -> Result<(), BindError> {
    let failed = |source| BindError::Unix {
        path: path.to_owned(),
        source,
    };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => return Err(BindError::NotASocket(path.to_owned())),
        Ok(_) => {}
    }
    if is_live(path).await.map_err(failed)? {
        return Err(BindError::Live(path.to_owned()));
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Whether somebody serves the socket. One that cannot be connected to for another reason is not ours to judge.
async fn is_live(path: &Path) -> io::Result<bool> {
    match UnixStream::connect(path).await {
        Ok(_) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Ok(false),
            // Its queue of waiting clients is full.
            io::ErrorKind::WouldBlock => Ok(true),
            _ => Err(error),
        },
    }
}

/// Gives the finished socket its name, without replacing anything.
fn publish(hidden: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(hidden, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links: the short moment between the look and the move stays.
        Err(_) if fs::symlink_metadata(path).is_err() => fs::rename(hidden, path),
        other => other,
    }
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path).is_ok_and(|found| Identity::of(&found) == self.identity);
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "the socket file could not be removed");
        }
    }
}

impl PrivateDirectory {
    /// The name is short: a socket's path may not be longer than about a hundred bytes.
    fn inside(parent: &Path) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!(".{:x}.{number:x}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "a directory could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::ListenAddress;
    use crate::transport::tests::{bind, converse, within};
    use std::os::unix::net::UnixListener as StdListener;

    struct Place {
        directory: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            Self {
                directory: tempfile::tempdir().unwrap(),
            }
        }

        fn path(&self) -> PathBuf {
            self.directory.path().join("acp.sock")
        }

        fn address(&self) -> ListenAddress {
            ListenAddress::Unix(self.path())
        }

        /// What lies in the directory, hidden files too.
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.directory.path()).unwrap();
            entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect()
        }
    }

    #[tokio::test]
    async fn it_serves_many_clients_and_only_this_user() {
        let place = Place::new();
        let mut listener = bind(&place.address()).await.unwrap();
        assert_eq!(listener.address(), place.address().to_string());
        let metadata = fs::symlink_metadata(place.path()).unwrap();
        assert!(metadata.file_type().is_socket());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!(place.names(), ["acp.sock"], "nothing else is left behind");
        converse(&mut *listener, &place.address()).await;
    }

    #[tokio::test]
    async fn it_is_gone_after_its_end() {
        let place = Place::new();
        drop(bind(&place.address()).await.unwrap());
        assert_eq!(place.names(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_stale_socket_is_replaced() {
        let place = Place::new();
        drop(StdListener::bind(place.path()).unwrap());
        assert_eq!(place.names(), ["acp.sock"], "a socket file outlives its process");
        let mut listener = bind(&place.address()).await.unwrap();
        assert_eq!(place.names(), ["acp.sock"]);
        converse(&mut *listener, &place.address()).await;
    }

    #[tokio::test]
    async fn a_live_socket_is_refused_and_goes_on() {
        let place = Place::new();
        let mut first = bind(&place.address()).await.unwrap();
        let error = bind(&place.address()).await.err().expect("live");
        assert!(
            error.to_string().contains("is served by another process"),
            "{error}"
        );
        drop(within(first.accept()).await.unwrap());
        assert_eq!(place.names(), ["acp.sock"]);
        converse(&mut *first, &place.address()).await;
    }

    #[tokio::test]
    async fn what_is_no_socket_is_refused_and_stays() {
        let place = Place::new();
        fs::write(place.path(), "precious").unwrap();
        let error = bind(&place.address()).await.err().expect("in the way");
        assert!(error.to_string().contains("is not a socket"), "{error}");
        assert_eq!(fs::read_to_string(place.path()).unwrap(), "precious");
        fs::remove_file(place.path()).unwrap();
        fs::create_dir(place.path()).unwrap();
        assert!(matches!(
            bind(&place.address()).await.err(),
            Some(BindError::NotASocket(_))
        ));
        fs::remove_dir(place.path()).unwrap();
        // Also a link to something that is a socket: it would be replaced and not followed.
        let _served = StdListener::bind(place.directory.path().join("other")).unwrap();
        std::os::unix::fs::symlink("other", place.path()).unwrap();
        assert!(matches!(
            bind(&place.address()).await.err(),
            Some(BindError::NotASocket(_))
        ));
    }

    #[tokio::test]
    async fn a_missing_directory_and_a_path_that_is_too_long_are_refused_by_name() {
        let place = Place::new();
        let missing = place.directory.path().join("missing/acp.sock");
        let long = place.directory.path().join("x".repeat(200));
        for path in [missing, long] {
            let error = bind(&ListenAddress::Unix(path.clone()))
                .await
                .err()
                .expect("not possible");
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
        assert_eq!(place.names(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn the_end_of_one_does_not_remove_the_socket_of_its_successor() {
        let place = Place::new();
        let first = bind(&place.address()).await.unwrap();
        fs::remove_file(place.path()).unwrap();
        let mut second = bind(&place.address()).await.unwrap();
        drop(first);
        converse(&mut *second, &place.address()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_stale_socket_stays_while_another_start_holds_the_directory() {
        let place = Place::new();
        let stale = StdListener::bind(place.path()).unwrap();
        let identity = || Identity::of(&fs::symlink_metadata(place.path()).unwrap());
        let before = identity();
        drop(stale);
        let other = lock_directory(place.directory.path()).await.unwrap();
        let address = place.address();
        let mut starting = Box::pin(bind(&address));
        assert!(futures::poll!(&mut starting).is_pending());
        assert_eq!(identity(), before);
        drop(other);
        let listener = within(starting).await.unwrap();
        assert_ne!(identity(), before);
        drop(listener);

        // Whoever holds it for ever does not keep us from starting.
        let _other = lock_directory(place.directory.path()).await.unwrap();
        within(bind(&place.address())).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_many_that_start_at_once_on_a_stale_socket_exactly_one_serves() {
        for _ in 0..20 {
            let place = Place::new();
            drop(StdListener::bind(place.path()).unwrap());
            let starters = (0..8).map(|_| {
                let address = place.address();
                tokio::spawn(async move { bind(&address).await })
            });
            let mut serving = Vec::new();
            for outcome in within(futures::future::join_all(starters)).await {
                match outcome.unwrap() {
                    Ok(listener) => serving.push(listener),
                    Err(error) => assert!(matches!(error, BindError::Live(_)), "{error}"),
                }
            }
            assert_eq!(serving.len(), 1);
            assert!(is_live(&place.path()).await.unwrap());
            assert_eq!(place.names(), ["acp.sock"]);
        }
    }
}
