//! Checks of the source tree. (to be filled)
