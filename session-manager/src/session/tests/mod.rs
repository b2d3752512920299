//! The session as a whole, between a client and a Claude that the tests play. Time is paused: nothing waits for real.

mod account;
mod asking;
mod guarding;
mod hand_off;
mod lifecycle;
mod turns;
mod world;
