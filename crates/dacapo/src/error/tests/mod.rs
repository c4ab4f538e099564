//! Every error as a person reads it. Each kind is made by a real mistake where the software device can make it.

mod chains;
mod mistakes;
mod mistakes_below;
mod mistakes_flow;
mod page;
