//! A graph gives back two references of a user object and holds one.
//!
//! On a GPU: the driver answers success. What is left of the object is anybody's guess.
//!
//! Near miss: it gives back the one that it holds.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (graph, object, x) = (p.graph()?, p.user_object()?, p.buffer("x", &[4])?);
    p.retain_object(graph, object)?;
    let count = match p.way {
        Mistake => 2,
        NearMiss => 1,
    };
    p.release_object(graph, object, count)?;
    p.expect(&x, &[4])
}
