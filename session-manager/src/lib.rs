//! Sessions: what an ACP client asks for on one side, Claude on the other.

#![allow(dead_code)]
mod turn;
