//! JSON-RPC as data: ids, the envelope, params, outgoing lines and the method registry. No input or output here.
//!
//! Place in the flow: [`crate::peer`] reads an [`envelope`] from each line, looks the method up in the [`Router`] and
//! writes the answer as a [`Line`]. It must not touch a socket or keep the state of a connection.

pub(crate) mod envelope;
mod id;
mod line;
pub(crate) mod params;
mod router;

pub use id::{InvalidRpcId, RpcId};
pub use line::{ChunkKind, Line};
pub(crate) use router::Handler;
pub use router::{Router, RouterBuilder, RouterError};
