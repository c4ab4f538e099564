//! Graphs, executables, and the references of user objects.
//!
//! - A node stands in its graph, once; an edge is known at both ends, with the same data, once.
//! - An embedded graph is there and belongs to exactly one node; a body knows its parent.
//! - An executable finds each node where it says, and each comes after what it depends on.
//! - A user object's references are those of the program, of graphs, of executables and of releases to come.

use std::collections::HashMap;

use super::Report;
use crate::machine::State;
use crate::model::executable::{Body, ExecKind};
use crate::model::graph::{Graph, NodeKind};
use crate::model::table::Key;
use crate::model::user_object::UserObject;
use crate::model::work::Work;

impl State {
    pub(super) fn check_graphs(&self, report: &mut Report) {
        let graphs = &self.graphs;
        let mut listed = 0;
        for (key, graph) in graphs.graphs.iter() {
            listed += graph.nodes.len();
            for node in &graph.nodes {
                let belongs = graphs.nodes.get(*node).is_some_and(|node| node.graph == key);
                report.ask("graph-nodes", belongs, || format!("graph {key:?} lists {node:?}, which is not its own"));
            }
            let parent = graph.parent.is_none_or(|parent| graphs.graphs.get(parent).is_some());
            report.ask("graph-parent", parent, || format!("the graph around body {key:?} is gone"));
        }
        // Each list names only nodes of its own graph, so equal sums mean that each node is listed once.
        report.ask("node-listed", listed == graphs.nodes.len(), || {
            format!("{} nodes live and {listed} are listed", graphs.nodes.len())
        });
        let mut owners: HashMap<Key<Graph>, u32> = HashMap::new();
        for (key, node) in graphs.nodes.iter() {
            let both = [(&node.before, true), (&node.after, false)];
            for (edges, into) in both {
                for (at, (other, data)) in edges.iter().enumerate() {
                    let mirrored = graphs.nodes.get(*other).is_some_and(|far| {
                        let back = if into { &far.after } else { &far.before };
                        let same = |has: &dacapo_driver::types::CUgraphEdgeData| {
                            (has.from_port, has.to_port, has.r#type) == (data.from_port, data.to_port, data.r#type)
                        };
                        far.graph == node.graph && back.iter().filter(|(to, has)| *to == key && same(has)).count() == 1
                    });
                    let again = edges[..at].iter().any(|(earlier, _)| earlier == other);
                    report.ask("graph-edges", mirrored && !again && *other != key, || {
                        format!("the edge between {key:?} and {other:?} is not the same at both ends")
                    });
                }
            }
            match &node.kind {
                NodeKind::Child(child) => *owners.entry(*child).or_default() += 1,
                NodeKind::Conditional(conditional) => {
                    for body in &conditional.bodies {
                        *owners.entry(*body).or_default() += 1;
                        let parent = graphs.graphs.get(*body).and_then(|body| body.parent);
                        report.ask("graph-body", parent == Some(node.graph), || {
                            format!("body {body:?} does not know that it is in {:?}", node.graph)
                        });
                    }
                }
                _ => {}
            }
        }
        for (key, graph) in graphs.graphs.iter() {
            let count = owners.remove(&key).unwrap_or(0);
            report.ask("graph-embedded", count == u32::from(graph.embedded), || {
                format!("graph {key:?} is embedded in {count} nodes")
            });
        }
        report.ask("graph-child", owners.is_empty(), || format!("embedded graphs are gone: {:?}", owners.keys()));
        for (key, executable) in self.executables.iter() {
            check_body(&executable.body, report, &|| format!("executable {key:?}"));
        }
        self.check_references(report);
    }

    fn check_references(&self, report: &mut Report) {
        let mut held: HashMap<Key<UserObject>, u64> = HashMap::new();
        let of_graphs = self.graphs.graphs.iter().flat_map(|(_, graph)| &graph.objects);
        let of_executables = self.executables.iter().flat_map(|(_, executable)| &executable.objects);
        let of_tasks = self.tasks.table.iter().flat_map(|(_, task)| match &task.work {
            Work::Release(references) => references.as_slice(),
            _ => &[],
        });
        for (object, count) in of_graphs.chain(of_executables).chain(of_tasks) {
            *held.entry(*object).or_default() += count;
        }
        for (key, object) in self.graphs.objects.table.iter() {
            let others = held.remove(&key).unwrap_or(0);
            report.ask("object-references", object.total == object.own + others && object.total > 0, || {
                format!("object {key:?} counts {}; {} are the program's, {others} others'", object.total, object.own)
            });
        }
        report.ask("object-gone", held.is_empty(), || format!("objects that are gone are held: {:?}", held.keys()));
    }
}

fn check_body(body: &Body, report: &mut Report, whose: &dyn Fn() -> String) {
    let right = body.positions.len() == body.nodes.len()
        && body.positions.iter().all(|(node, at)| body.nodes.get(*at).is_some_and(|found| found.template == *node));
    report.ask("exec-positions", right, || format!("{}: a node is not where it should be", whose()));
    for (at, node) in body.nodes.iter().enumerate() {
        let behind = node.before.iter().all(|(before, _)| *before < at);
        report.ask("exec-order", behind, || format!("{}: node {at} comes before what it depends on", whose()));
        match &node.kind {
            ExecKind::Child(child) => check_body(child, report, whose),
            ExecKind::Conditional(_, _, _, bodies) => bodies.iter().for_each(|body| check_body(body, report, whose)),
            _ => {}
        }
    }
}
