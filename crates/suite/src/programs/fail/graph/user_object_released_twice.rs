//! A graph gives back two references of a user object and holds one.
//!
//! On a GPU: the driver answers success. What is left of the object is anybody's guess.

use crate::programs::{Answer, Program};

pub fn program(p: &Program) -> Answer {
    let (graph, object) = (p.graph()?, p.user_object()?);
    p.retain_object(graph, object)?;
    p.release_object(graph, object, 2)
}
