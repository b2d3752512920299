//! Every duration a query waits for, in one place and injected, so that no test waits for real.

use std::time::Duration;

use crate::backend::Grace;

/// How long a query waits for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryTimings {
    /// The answer to `initialize`; Claude starts its extensions before it answers.
    pub initialize: Duration,
    /// The answer to a request Claude answers at once, such as a change of mode. Requests that may take as long as they
    /// take (a server that connects, a question to the model) have no limit.
    pub control: Duration,
    /// The result of a turn that was interrupted because the query closes.
    pub interrupted_result: Duration,
    /// From the end of Claude's output until it is ended too.
    pub exit_after_output: Duration,
    /// Waiting for more output after Claude's end, while something else holds its output open.
    pub drain: Duration,
    /// The steps of the end.
    pub grace: Grace,
}

impl Default for QueryTimings {
    fn default() -> Self {
        Self {
            initialize: Duration::from_secs(60),
            control: Duration::from_secs(30),
            interrupted_result: Duration::from_secs(1),
            exit_after_output: Duration::from_secs(2),
            drain: Duration::from_millis(500),
            grace: Grace::default(),
        }
    }
}
