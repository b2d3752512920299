//! The life of a real CLI as the backend seam sees it: its end, its being ended, its last words. Signals go through
//! `tree`, waiting for the end through `reaper`; this is the asynchronous side of both.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::time::timeout;

use super::spawner::reaped;
use super::stderr::Tail;
use super::tree::{KillOnDrop, Tree};
use crate::backend::{Exit, ExitStatus, Grace, Life};

/// After the end, the last words are at hand as soon as the drain task has run; the bound is for an error stream that
/// something else holds open.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);

/// How long a forced end may take before it is reported without a status.
const REAPED_WITHIN: Duration = Duration::from_secs(5);

/// One running CLI.
pub(super) struct ProcessLife {
    tree: KillOnDrop,
    status: watch::Receiver<Option<ExitStatus>>,
    stderr: Tail,
    /// What must stay in place as long as the CLI runs, such as files it was pointed at.
    _guard: Box<dyn Send>,
}

impl ProcessLife {
    pub(super) fn new(
        tree: KillOnDrop,
        status: watch::Receiver<Option<ExitStatus>>,
        stderr: Tail,
        guard: Box<dyn Send>,
    ) -> Self {
        Self {
            tree,
            status,
            stderr,
            _guard: guard,
        }
    }

    async fn exit(&mut self, status: ExitStatus) -> Exit {
        if timeout(LAST_WORDS_WITHIN, self.stderr.drained()).await.is_err() {
            tracing::debug!("the error stream of Claude is still open after its end");
        }
        Exit {
            status,
            stderr_tail: self.stderr.text(),
        }
    }
}

#[async_trait]
impl Life for ProcessLife {
    async fn ended(&mut self) -> Exit {
        let status = reaped(&mut self.status).await;
        self.exit(status).await
    }

    async fn kill(&mut self, grace: &Grace) -> Exit {
        let asked = Instant::now() + grace.term;
        let tree = Arc::clone(&self.tree.0);
        let deadline = off_the_runtime(tree, move |tree| tree.terminate(asked)).await;
        let left = deadline.saturating_duration_since(Instant::now());
        let status = match timeout(left, reaped(&mut self.status)).await {
            Ok(status) => status,
            Err(_) => {
                off_the_runtime(Arc::clone(&self.tree.0), Tree::kill).await;
                timeout(REAPED_WITHIN, reaped(&mut self.status))
                    .await
                    .unwrap_or(ExitStatus::Unknown)
            }
        };
        self.exit(status).await
    }

    fn stderr_tail(&self) -> String {
        self.stderr.text()
    }
}

/// Reading the process table takes milliseconds on a busy machine, too long for a runtime's worker. While the runtime
/// shuts down it no longer takes such work; then it is done here.
async fn off_the_runtime<T: Send + 'static>(
    tree: Arc<Tree>,
    work: impl Fn(&Tree) -> T + Send + Sync + 'static,
) -> T {
    let work = Arc::new(work);
    let (theirs, of_theirs) = (Arc::clone(&work), Arc::clone(&tree));
    match tokio::task::spawn_blocking(move || theirs(&of_theirs)).await {
        Ok(done) => done,
        Err(_) => work(&tree),
    }
}
