//! Does the jobs of an engine: hooks and tools that may run.
//!
//! Place in the flow: the rim awaits what this gives; dropping it ends the job. Whether something may run has been decided.

use crate::engine::{Done, Job, Places, ToolOutput};

use super::{files, search, shell};

/// Does a job to its end.
pub(super) async fn run(places: Places, job: Job) -> Done {
    match job {
        Job::Hook { hook, payload } => Done::Hook(shell::hook(&places, &hook, &payload).await),
        Job::Tool { name, input } if name == "Bash" => Done::Tool(shell::bash(&places, &input).await),
        Job::Tool { name, input } => {
            // What waits for a disk must not keep the engine from listening.
            let work = tokio::task::spawn_blocking(move || match name.as_str() {
                "Read" => files::read(&places, &input),
                "Write" => files::write(&places, &input),
                "Edit" => files::edit(&places, &input),
                "Glob" => search::glob(&places, &input),
                "Grep" => search::grep(&places, &input),
                _ => Err(format!("the tool `{name}` cannot be run here")),
            });
            let output = work.await.unwrap_or_else(|error| Err(error.to_string()));
            Done::Tool(output.unwrap_or_else(ToolOutput::error))
        }
    }
}
