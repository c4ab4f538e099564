//! Profiles being measured: one timed replay, or one timed eager run. What they are is in [`profile`](crate::profile).

mod eager;
mod measured;
#[cfg(test)]
mod tests;
mod timeline;
