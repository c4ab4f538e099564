//! A new recording against the nodes of a live graph, one by one.
//!
//! Two ops stand in each other's place if they have the same number. Nothing is taken from names: what counts is the kind
//! of work, the function of a kernel, what an op waits for, and what the driver was told.

use crate::arrange::Arrangement;
use crate::device::Device;
use crate::graph::Replayable;
use crate::graph::making::Drafted;
use crate::graph::rerecord::{Change, NodeChange, same_function};
use crate::kernel::{Grid, Prepared};
use crate::record::{Branch, BranchKind, Node, NodeParams, Work};

/// What each op of the new recording needs; `params` are its own. Then the ops that are gone.
pub(super) fn compare(old: &Replayable, new: &Drafted, params: &[Option<NodeParams>]) -> Vec<NodeChange> {
    let nodes = &new.recorded.nodes;
    // As sets of ops: only asked for where the orders differ.
    let waits = (old.order != new.order).then(|| (waits(&old.order, old.nodes.len()), waits(&new.order, nodes.len())));
    let mut changes = Vec::with_capacity(nodes.len().max(old.nodes.len()));
    for (number, node) in nodes.iter().enumerate() {
        let change = match old.nodes.get(number) {
            None => Change::Other("there was no such op".into()),
            Some(_) if old.captured => Change::Other("the graph was captured: its nodes are not known".into()),
            Some(before) => match &waits {
                Some((old, new)) if old[number] != new[number] => {
                    Change::Other(format!("it waits for {}, and waited for {}", ops(&new[number]), ops(&old[number])))
                }
                _ => change(before, node, old.told(number), params[number].as_ref()),
            },
        };
        changes.push(NodeChange::new(node, change));
    }
    for gone in old.nodes.iter().skip(nodes.len()) {
        changes.push(NodeChange::new(gone, Change::Other("there is no such op any more".into())));
    }
    changes
}

/// What each op waits for.
fn waits(order: &Arrangement, ops: usize) -> Vec<Vec<usize>> {
    let mut waits = vec![Vec::new(); ops];
    order.edges().into_iter().for_each(|(before, after)| waits[after].push(before));
    waits
}

fn ops(list: &[usize]) -> String {
    match list {
        [] => "nothing".into(),
        [one] => format!("op {one}"),
        several => format!("ops {}", several.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn change(old: &Node, new: &Node, told: Option<&NodeParams>, params: Option<&NodeParams>) -> Change {
    use NodeParams::{Copy, Fill, Kernel, Nothing};
    let (was, is) = (kind(&old.work), kind(&new.work));
    let Some(params) = params else { return Change::Other(format!("{is} cannot be compared")) };
    if was != is {
        return Change::Other(format!("{was} became {is}"));
    }
    if let (Work::Branch(before), Work::Branch(now)) = (&old.work, &new.work) {
        let bodies = |branch: &Branch| branch.bodies.iter().map(|body| body.end).collect::<Vec<_>>();
        return match before.kind == now.kind && before.condition == now.condition && bodies(before) == bodies(now) {
            false => Change::Other("its bodies are others".into()),
            true if before.is_guarded && !now.is_guarded => Change::Other("it is not guarded any more".into()),
            true if now.is_guarded && !before.is_guarded => Change::Other("it is guarded now".into()),
            true => Change::Kept,
        };
    }
    if let (Work::Kernel(before), Work::Kernel(now)) = (&old.work, &new.work)
        && !same_function(&old.work, &new.work)
    {
        let (before, now) = (&before.function.name, &now.function.name);
        let why =
            if before == now { format!("`{now}` of another module") } else { format!("`{before}` became `{now}`") };
        return Change::Other(format!("another function: {why}"));
    }
    // What is set of a node may not come from another device: the manual's page of `cuGraphExecMemcpyNodeSetParams`.
    if matches!(new.work, Work::Copy) && devices(old) != devices(new) {
        return Change::Other("the copy goes between other devices".into());
    }
    let Some(told) = told else {
        return match params {
            // Nothing can be set to that.
            Nothing => Change::Other("it has nothing to do, and what it was told last is not known".into()),
            _ => Change::Set(vec!["what it was told last is not known".into()]),
        };
    };
    let differences = match (told, params) {
        (Nothing, Nothing) => Vec::new(),
        (Nothing, _) => return Change::Other("it had nothing to do, and has something now".into()),
        (_, Nothing) => return Change::Other("it has nothing to do any more".into()),
        (Kernel { prepared: before }, Kernel { prepared: now }) => kernels(new, before, now),
        (Copy { source, target, bytes }, Copy { source: new_source, target: new_target, bytes: new_bytes }) => {
            if (source.host, target.host) != (new_source.host, new_target.host) {
                return Change::Other("the copy goes another way between host and device".into());
            }
            let mut list = Vec::new();
            moved("the source", source.address, new_source.address, &mut list);
            moved("the target", target.address, new_target.address, &mut list);
            differs("bytes", *bytes, *new_bytes, &mut list);
            list
        }
        (
            Fill { target, value, size, count },
            Fill { target: new_target, value: new_value, size: new_size, count: new_count },
        ) => {
            let mut list = Vec::new();
            moved("the target", *target, *new_target, &mut list);
            if value != new_value {
                list.push("the value".into());
            }
            differs("bytes an element", *size as usize, *new_size as usize, &mut list);
            differs("elements", *count, *new_count, &mut list);
            list
        }
        _ => return Change::Other("another kind of work".into()),
    };
    if differences.is_empty() { Change::Kept } else { Change::Set(differences) }
}

fn devices(copy: &Node) -> Vec<&Device> {
    copy.access.iter().map(|access| access.place.allocation.device()).collect()
}

fn kind(work: &Work) -> &'static str {
    match work {
        Work::Kernel(_) => "a kernel",
        Work::Copy => "a copy",
        Work::Fill(_) => "a fill",
        Work::Upload(_) => "an upload",
        Work::Download(_) => "a download",
        Work::Foreign(_) => "another library's work",
        Work::Captured => "captured work",
        Work::Branch(branch) => match branch.kind {
            BranchKind::If => "an `if`",
            BranchKind::While { .. } => "a loop",
            BranchKind::Switch => "a `switch`",
        },
    }
}

fn kernels(node: &Node, old: &Prepared, new: &Prepared) -> Vec<String> {
    let mut list = Vec::new();
    let Grid { blocks, threads, shared } = old.grid;
    let shape = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    for (what, old, new) in [("blocks", blocks, new.grid.blocks), ("threads", threads, new.grid.threads)] {
        if old != new {
            list.push(format!("{} {what} became {}", shape(old), shape(new)));
        }
    }
    differs("bytes of shared memory", shared as usize, new.grid.shared as usize, &mut list);
    // What stands behind the parameters that the kernel was written with is its guard's.
    let own = match &node.work {
        Work::Kernel(kernel) => kernel.function.params.len(),
        _ => usize::MAX,
    };
    let differing = old.args.differing(&new.args);
    if differing.iter().any(|(argument, _)| *argument >= own) {
        list.push("where its flag is".into());
    }
    for (argument, is_address) in differing.into_iter().filter(|(argument, _)| *argument < own) {
        list.push(format!("{} {argument}", if is_address { "the address in argument" } else { "argument" }));
    }
    list
}

fn moved(what: &str, old: u64, new: u64, list: &mut Vec<String>) {
    if old != new {
        list.push(format!("{what} is elsewhere"));
    }
}

fn differs(what: &str, old: usize, new: usize, list: &mut Vec<String>) {
    if old != new {
        list.push(format!("{old} {what} became {new}"));
    }
}
