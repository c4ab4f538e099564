//! Adds a node to the graph and then changes that node in the executable graph, which was made before.
//!
//! On a GPU: INVALID_VALUE: an executable graph is a copy, and the node is not in it.
//!
//! Near miss: both nodes are added first; then each can be changed in the executable graph.

use crate::programs::{Answer, Mistake, NearMiss, Program};

pub fn program(p: &Program) -> Answer {
    let (stream, graph, x, y) = (p.stream()?, p.graph()?, p.empty("x", 4)?, p.empty("y", 4)?);
    p.add_set(graph, &[], &x, 1)?;
    let (instantiate, add) = (|| p.instantiate(graph), || p.add_set(graph, &[], &y, 2));
    let (exec, second) = match p.way {
        Mistake => (instantiate()?, add()?),
        NearMiss => {
            let second = add()?;
            (instantiate()?, second)
        }
    };
    p.change_set(exec, second, &y, 3)?;
    p.replay(exec, stream)?;
    p.synchronize(stream)?;
    p.expect(&x, &[1; 4])?;
    p.expect(&y, &[3; 4])
}
