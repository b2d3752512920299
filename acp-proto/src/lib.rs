//! The ACP wire: types, JSON-RPC in both directions, framing and transports.
//!
//! Place in the flow: the outermost layer. An editor's bytes come in through `transport`, are cut into lines and
//! dispatched by `peer`, and reach the agent (or, on the client side, the chat) as typed calls of a [`Router`];
//! everything that is sent leaves as a [`Line`] through a [`Connection`].
//!
//! It must not know how Claude works, what a session is, or what is decided about a permission.

pub mod errors;
pub mod ext;
pub mod schema;

mod rpc;

mod peer;

mod transport;

pub use peer::{
    Closed, Connection, ConnectionClosed, ConnectionId, PeerOptions, PendingResponse, RequestContext,
    RequestFailed, SendPermit, TrySendError, serve,
};
pub use rpc::{ChunkKind, InvalidRpcId, Line, Router, RouterBuilder, RouterError, RpcId};
pub use transport::{
    Accounts, AddressError, BindError, Caller, ConnectError, Duplex, ListenAddress, Listener, bind, connect,
};

/// A JSON-RPC error object: code, message and optional data.
pub type RpcError = jsonrpsee::types::ErrorObjectOwned;
