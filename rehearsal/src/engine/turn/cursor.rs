//! Walks through the steps of a turn, into `repeat` steps and out again, without unrolling them.
//!
//! Place in the flow: `engine::turn` asks it for the next step.

use std::sync::Arc;

use crate::script::Step;

/// A place in a turn.
#[derive(Debug)]
pub(crate) struct Cursor {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    steps: Arc<[Step]>,
    next: usize,
    rounds_left: u32,
}

impl Cursor {
    pub(crate) fn new(steps: Arc<[Step]>) -> Self {
        Self {
            levels: vec![Level {
                steps,
                next: 0,
                rounds_left: 0,
            }],
        }
    }

    /// The next step, which is never a `repeat`; it stays the next one.
    pub(crate) fn peek(&mut self) -> Option<&Step> {
        loop {
            let level = self.levels.last_mut()?;
            match level.steps.get(level.next) {
                Some(Step::Repeat(repeat)) => {
                    let inner = Level {
                        steps: Arc::clone(&repeat.steps),
                        next: 0,
                        rounds_left: repeat.times.get() - 1,
                    };
                    level.next += 1;
                    self.levels.push(inner);
                }
                Some(_) => break,
                None if level.rounds_left > 0 => {
                    level.rounds_left -= 1;
                    level.next = 0;
                }
                None => {
                    self.levels.pop();
                }
            }
        }
        self.levels.last().and_then(|level| level.steps.get(level.next))
    }

    /// The next step, which is done with.
    pub(crate) fn next(&mut self) -> Option<Step> {
        let step = self.peek()?.clone();
        if let Some(level) = self.levels.last_mut() {
            level.next += 1;
        }
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Script;

    #[track_caller]
    fn check(steps: &str, expected: &[u64]) {
        let script = Script::parse(
            "test",
            &format!("{{\"version\":1,\"turns\":[{{\"steps\":{steps}}}]}}"),
        )
        .unwrap();
        let mut cursor = Cursor::new(Arc::clone(&script.turns().next().unwrap().steps));
        let mut seen = Vec::new();
        while let Some(step) = cursor.next() {
            let Step::DelayMs(number) = step else {
                panic!("{step:?}")
            };
            seen.push(number);
        }
        assert_eq!(seen, expected, "{steps}");
    }

    #[test]
    fn repeats_are_played_in_place() {
        check(r#"[]"#, &[]);
        check(
            r#"[{"delay_ms":1},{"repeat":{"times":2,"steps":[{"delay_ms":2},{"delay_ms":3}]}},{"delay_ms":4}]"#,
            &[1, 2, 3, 2, 3, 4],
        );
        check(
            r#"[{"repeat":{"times":2,"steps":[{"repeat":{"times":2,"steps":[{"delay_ms":1}]}},{"delay_ms":2}]}}]"#,
            &[1, 1, 2, 1, 1, 2],
        );
    }
}
