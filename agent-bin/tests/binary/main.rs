//! The built binary from outside: its command line, its life as an agent, its chat without a terminal.

#[cfg(test)]
mod harness;

#[cfg(test)]
mod chat;
#[cfg(test)]
mod command_line;
#[cfg(test)]
mod rehearsal;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod troubleshooting;
