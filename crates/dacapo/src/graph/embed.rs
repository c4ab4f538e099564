//! A graph as a part of a larger recording: all its ops again, with temps of the larger one in place of its own.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::Result;
use crate::graph::Replayable;
use crate::lower::unguard;
use crate::memory::{Allocation, Kind};
use crate::record::{BranchKind, Certain, Node, Recorder, ScopeKind, Work, in_both};

/// One embedding: what stands for what.
pub(super) struct Embedding<'g> {
    graph: &'g Replayable,
    /// Temps of the graph by number, and those that stand for them.
    temps: HashMap<u32, Arc<Allocation>>,
    /// Bodies of the graph, and those that stand for them.
    scopes: HashMap<u32, u32>,
    /// Likewise of conditions.
    conditions: HashMap<u32, u32>,
}

impl<'g> Embedding<'g> {
    pub(super) fn new(graph: &'g Replayable) -> Embedding<'g> {
        Embedding { graph, temps: HashMap::new(), scopes: HashMap::new(), conditions: HashMap::new() }
    }

    /// Records all of it.
    pub(super) fn all(mut self, recorder: &mut Recorder<'_>) -> Result<()> {
        self.scopes.insert(0, recorder.scope());
        self.range(recorder, 0..self.graph.nodes.len())
    }

    fn range(&mut self, recorder: &mut Recorder<'_>, range: Range<usize>) -> Result<()> {
        let graph = self.graph;
        let (mut number, mut last_if) = (range.start, Certain::new());
        while number < range.end {
            let node = &graph.nodes[number];
            let mut copy = node.clone();
            unguard(&mut copy);
            if let Work::Branch(branch) = &node.work {
                // What its bodies touch, it gets from the bodies that are recorded behind it.
                copy.access = std::iter::once(branch.state.clone()).collect();
            }
            self.exchange_temps(recorder, &mut copy)?;
            self.exchange_conditions(recorder, &mut copy);
            let slots = graph.slots_of(node);
            recorder.push_embedded(copy, &slots)?;
            if let Work::Branch(branch) = &node.work {
                let at = recorder.len() - 1;
                let mut bodies: SmallVec<[Certain; 2]> = SmallVec::new();
                for (scope, body) in branch.bodies(number) {
                    // What the original was, nobody inside asks any more.
                    recorder.open_body(at, ScopeKind::Choice)?;
                    self.scopes.insert(scope, recorder.scope());
                    self.range(recorder, body)?;
                    bodies.push(recorder.close_body());
                }
                // What both sides of a branch write is written behind it, as it was when they were recorded.
                match (branch.kind, &mut bodies[..]) {
                    (BranchKind::If, [then, otherwise]) => recorder.note_written(&in_both(then, otherwise)),
                    (BranchKind::If, [only]) if branch.is_else => recorder.note_written(&in_both(&last_if, only)),
                    (BranchKind::If, [only]) => last_if = std::mem::take(only),
                    _ => {}
                }
            }
            number = node.next(number);
        }
        Ok(())
    }

    fn exchange_temps(&mut self, recorder: &mut Recorder<'_>, node: &mut Node) -> Result<()> {
        for access in &mut node.access {
            let allocation = &access.place.allocation;
            if !matches!(allocation.kind(), Kind::Temp(_)) {
                continue;
            }
            let twin = match self.temps.get(&allocation.number()) {
                Some(twin) => twin.clone(),
                None => {
                    let home = self.scopes[&allocation.home()];
                    let twin = recorder.alloc_in(home, allocation.bytes())?;
                    if allocation.is_workspace() {
                        twin.mark_workspace();
                    }
                    self.temps.insert(allocation.number(), twin.clone());
                    twin
                }
            };
            access.place.allocation = twin;
        }
        Ok(())
    }

    fn exchange_conditions(&mut self, recorder: &mut Recorder<'_>, node: &mut Node) {
        let mut twin = |condition: &mut u32| {
            *condition = *self.conditions.entry(*condition).or_insert_with(|| recorder.new_condition());
        };
        match &mut node.work {
            Work::Kernel(kernel) => kernel.sets.iter_mut().flat_map(|sets| sets.iter_mut()).for_each(&mut twin),
            Work::Branch(branch) => {
                twin(&mut branch.condition);
                branch.state = node.access[0].clone();
                // Its bodies are recorded behind it.
                branch.bodies.clear();
            }
            _ => {}
        }
    }
}
