//! The method registry: names to typed handlers.
//!
//! Place in the flow: built once by the agent (or a client), then asked by the peer for each call. jsonrpsee's
//! `RpcModule` keeps the callbacks; what a handler needs of its request travels in the call's `Extensions`.
//! It must not read lines, keep requests in flight or write answers.

use std::sync::Arc;

use jsonrpsee::types::Params;
use jsonrpsee::{AsyncMethod, Extensions, MethodCallback, Methods, RpcModule, SyncMethod};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use crate::peer::{Connection, RequestContext};
use crate::rpc::params;
use crate::{RpcError, errors};

/// Collects the handlers of a [`Router`].
pub struct RouterBuilder {
    module: RpcModule<()>,
}

/// The handlers of one side, shared by all its connections.
#[derive(Clone, Debug)]
pub struct Router {
    methods: Methods,
}

/// A handler could not be registered.
#[derive(Debug, thiserror::Error)]
pub enum RouterError {
    /// The name is taken.
    #[error("the method `{0}` has a handler already")]
    Duplicate(&'static str),
}

/// What is registered under a name.
pub(crate) enum Handler {
    Request(AsyncMethod<'static>),
    Notification(SyncMethod),
}

impl RouterBuilder {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self {
            module: RpcModule::new(()),
        }
    }

    /// Answers requests for `method`.
    ///
    /// The handler itself and the first poll of its future run on the connection's reader, in arrival order, before the
    /// next line is read: what it does before its first wait is ordered with everything the client sent.
    ///
    /// # Errors
    /// When `method` has a handler already.
    pub fn request<P, R, F, Fut>(mut self, method: &'static str, handler: F) -> Result<Self, RouterError>
    where
        P: DeserializeOwned,
        R: Serialize,
        F: Fn(RequestContext, P) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, RpcError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let callback = move |params: Params<'static>, _: Arc<()>, extensions: Extensions| {
            // Params and their text end here: they must not live for as long as the request runs.
            let running = start(&*handler, &params, &extensions);
            async move {
                let result = running?.await?;
                to_raw_value(&result).map_err(errors::unserializable)
            }
        };
        match self
            .module
            .register_async_method::<Result<Box<RawValue>, RpcError>, _, _>(method, callback)
        {
            Ok(_) => Ok(self),
            Err(_) => Err(RouterError::Duplicate(method)),
        }
    }

    /// Takes notifications of `method`. The handler runs on the connection's reader and must not block.
    ///
    /// # Errors
    /// When `method` has a handler already.
    pub fn notification<P, F>(mut self, method: &'static str, handler: F) -> Result<Self, RouterError>
    where
        P: DeserializeOwned,
        F: Fn(Connection, P) + Send + Sync + 'static,
    {
        let callback = move |params: Params<'_>, _: &(), extensions: &Extensions| -> Result<(), RpcError> {
            let connection = extensions.get::<Connection>().ok_or_else(lost_context)?;
            handler(connection.clone(), params::parse(params.as_str())?);
            Ok(())
        };
        match self.module.register_method(method, callback) {
            Ok(_) => Ok(self),
            Err(_) => Err(RouterError::Duplicate(method)),
        }
    }

    /// The finished registry.
    #[must_use]
    pub fn build(self) -> Router {
        Router {
            methods: self.module.into(),
        }
    }
}

impl Default for RouterBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl Router {
    pub(crate) fn handler(&self, method: &str) -> Option<Handler> {
        match self.methods.method(method)? {
            MethodCallback::Async(callback) => Some(Handler::Request(Arc::clone(callback))),
            MethodCallback::Sync(callback) => Some(Handler::Notification(Arc::clone(callback))),
            MethodCallback::Subscription(_) | MethodCallback::Unsubscription(_) => None,
        }
    }
}

fn start<P, Fut>(
    handler: &impl Fn(RequestContext, P) -> Fut,
    params: &Params<'static>,
    extensions: &Extensions,
) -> Result<Fut, RpcError>
where
    P: DeserializeOwned,
{
    let context = extensions
        .get::<RequestContext>()
        .cloned()
        .ok_or_else(lost_context)?;
    Ok(handler(context, params::parse(params.as_str())?))
}

/// Cannot happen: the peer puts the context into every call.
fn lost_context() -> RpcError {
    errors::internal("the request lost its connection", None)
}
