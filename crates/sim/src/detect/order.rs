//! Which task happens before which: clocks over chains.
//!
//! - Tasks that follow one another form a *chain*; each task has a place in one. Its clock says for each chain up to
//!   which place everything there happens before it. So "does `a` happen before `b`" is one comparison.
//! - A task comes after the tasks it was made after, done or not, and after what the host had waited for by then:
//!   synchronising, a query that answers success, a host function that has returned.
//! - The host has one clock. How threads of a program tell each other what they have waited for cannot be seen, so what
//!   one has waited for counts for all: an order that is missing between threads may be missed, and none is invented.
//! - A task gets its place when it begins: only then is it known what it comes after, because a conditional node makes
//!   tasks while it runs.
//! - A chain is taken up again by a task that comes after its last one, so there are as many as there is work side by side.
//!
//! What the host has waited for is forgotten: it happens before everything that is submitted from then on.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// Where a task came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The stream, by the machine's number for it; 0: none.
    pub(crate) stream: u64,
    /// Which launch of a graph, and which node of it, if it is of one.
    pub(crate) node: Option<(u64, u32)>,
}

/// The place in the order of a task that has begun.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) chain: u32,
    /// Its place in the chain, from 1.
    pub(crate) at: u32,
    /// For each chain, the last place that happens before this task; its own place for its own chain.
    clock: Vec<u32>,
    pub(crate) origin: Origin,
    /// Counts tasks in the order in which they were made.
    pub(crate) number: u64,
}

impl Node {
    /// Does what stands at `at` of `chain` happen before this task, or is it this task?
    #[inline(always)]
    pub(crate) fn is_after(&self, chain: u32, at: u32) -> bool {
        self.clock.get(chain as usize).is_some_and(|known| at <= *known)
    }
}

/// A task that has not begun: what it comes after may still grow.
struct Waiting<K> {
    after: Vec<K>,
    /// Kernels that have to have begun only: it comes after what they come after.
    early: Vec<K>,
    /// What the host had waited for when the task was made.
    host: Arc<Vec<u32>>,
    origin: Origin,
    number: u64,
}

#[derive(Clone, Copy, Default)]
struct Chain {
    last: u32,
    done: u32,
}

/// How many nodes are kept before those that are over are looked for.
const NODES_KEPT: usize = 4096;

/// The order of all tasks.
pub(crate) struct Order<K> {
    waiting: HashMap<K, Waiting<K>>,
    nodes: HashMap<K, Arc<Node>>,
    chains: Vec<Chain>,
    host: Arc<Vec<u32>>,
    /// Tasks that have begun and are not done.
    running: HashSet<K>,
    limit: usize,
    made: u64,
    launches: u64,
    /// Where the tasks that are made now come from.
    pub(crate) origin: Origin,
    /// The task that makes them, if they are made by one.
    pub(crate) maker: Option<K>,
    /// Counts how often everything was over: what was before then happens before all that follows.
    pub(crate) age: u64,
    /// Streams in the order of their first work.
    streams: HashMap<u64, usize>,
}

impl<K: Copy + Eq + Hash> Order<K> {
    pub(crate) fn new() -> Order<K> {
        Order {
            waiting: HashMap::new(),
            nodes: HashMap::new(),
            chains: Vec::new(),
            host: Arc::default(),
            running: HashSet::new(),
            limit: NODES_KEPT,
            made: 0,
            launches: 0,
            origin: Origin::default(),
            maker: None,
            age: 0,
            streams: HashMap::new(),
        }
    }

    /// A task is made behind `after`.
    pub(crate) fn add(&mut self, key: K, after: &[K]) {
        self.made += 1;
        let count = self.streams.len() + 1;
        self.streams.entry(self.origin.stream).or_insert(count);
        let after = after.iter().copied().chain(self.maker).collect();
        let waiting =
            Waiting { after, early: Vec::new(), host: self.host.clone(), origin: self.origin, number: self.made };
        self.waiting.insert(key, waiting);
    }

    /// A task that has not begun comes after these too.
    pub(crate) fn hold(&mut self, key: K, others: &[K]) {
        if let Some(waiting) = self.waiting.get_mut(&key) {
            waiting.after.extend(others);
        }
    }

    /// A task that has not begun comes after the begin of this one.
    pub(crate) fn hold_for_begin(&mut self, key: K, other: K) {
        if let Some(waiting) = self.waiting.get_mut(&key) {
            waiting.early.push(other);
        }
    }

    /// The place of a task that begins now, if it has not begun: all that it comes after is done.
    pub(crate) fn begin(&mut self, key: K) -> Option<Arc<Node>> {
        let Some(waiting) = self.waiting.remove(&key) else { return self.nodes.get(&key).cloned() };
        let mut clock = vec![0; self.chains.len()];
        join(&mut clock, &waiting.host);
        let mut chain = None;
        for node in waiting.after.iter().filter_map(|key| self.nodes.get(key)) {
            join(&mut clock, &node.clock);
            if self.chains[node.chain as usize].last == node.at {
                chain = Some(node.chain as usize);
            }
        }
        for node in waiting.early.iter().filter_map(|key| self.nodes.get(key)) {
            let mut before = node.clock.clone();
            before[node.chain as usize] = node.at - 1;
            join(&mut clock, &before);
        }
        let free = || (0..self.chains.len()).find(|c| clock[*c] == self.chains[*c].last);
        let chain = chain.or_else(free).unwrap_or_else(|| {
            self.chains.push(Chain::default());
            clock.push(0);
            self.chains.len() - 1
        });
        self.chains[chain].last += 1;
        let at = self.chains[chain].last;
        clock[chain] = at;
        let node = Node { chain: chain as u32, at, clock, origin: waiting.origin, number: waiting.number };
        let node = Arc::new(node);
        self.nodes.insert(key, Arc::clone(&node));
        self.running.insert(key);
        if self.nodes.len() > self.limit {
            self.forget_nodes();
        }
        Some(node)
    }

    /// A task that has begun has come to know what `other` did.
    pub(crate) fn learn(&mut self, key: K, other: &Node) {
        if let Some(node) = self.nodes.get_mut(&key) {
            let Node { chain, at, ref clock, origin, number } = **node;
            let mut clock = clock.clone();
            clock.resize(clock.len().max(other.clock.len()), 0);
            join(&mut clock, &other.clock);
            *node = Arc::new(Node { chain, at, clock, origin, number });
        }
    }

    /// A task that has begun comes after the begin of `other`: after what that came after, and not after what it did.
    pub(crate) fn learn_begin(&mut self, key: K, other: &Node) {
        let mut clock = other.clock.clone();
        clock[other.chain as usize] = other.at - 1;
        self.learn(key, &Node { clock, ..*other });
    }

    /// A number for one launch of a graph.
    pub(crate) fn next_launch(&mut self) -> u64 {
        self.launches += 1;
        self.launches
    }

    /// The number of a stream, in the order of their first work.
    pub(crate) fn stream_number(&self, stream: u64) -> usize {
        self.streams.get(&stream).copied().unwrap_or(0)
    }

    /// A task is done.
    pub(crate) fn finish(&mut self, key: K) {
        if let Some(node) = self.begin(key) {
            let done = &mut self.chains[node.chain as usize].done;
            *done = node.at.max(*done);
            self.running.remove(&key);
        }
    }

    /// The host has waited for a task, or knows that it is done.
    pub(crate) fn host_has(&mut self, key: K) {
        if let Some(node) = self.nodes.get(&key).cloned() {
            let host = Arc::make_mut(&mut self.host);
            host.resize(self.chains.len(), 0);
            join(host, &node.clock);
            self.forget_if_over();
        }
    }

    /// The host has waited for all that is done by now.
    pub(crate) fn host_has_all_done(&mut self) {
        let host = Arc::make_mut(&mut self.host);
        host.resize(self.chains.len(), 0);
        for (known, chain) in host.iter_mut().zip(&self.chains) {
            *known = chain.done.max(*known);
        }
        self.forget_if_over();
    }

    fn forget_if_over(&mut self) {
        let over = |(chain, known): (&Chain, &u32)| chain.last <= *known;
        let open = self.running.len() + self.waiting.len();
        if open == 0 && self.chains.iter().zip(self.host.iter()).all(over) {
            self.nodes.clear();
            self.chains.clear();
            self.host = Arc::default();
            self.age += 1;
        }
    }

    /// What happens before everything that runs now, waits, or is made from now on, for each chain.
    pub(crate) fn floor(&self) -> Vec<u32> {
        let mut floor = self.host.to_vec();
        let mut at_most = |clock: &[u32]| {
            for (chain, known) in floor.iter_mut().enumerate() {
                *known = clock.get(chain).copied().unwrap_or(0).min(*known);
            }
        };
        self.waiting.values().for_each(|waiting| at_most(&waiting.host));
        self.running.iter().filter_map(|key| self.nodes.get(key)).for_each(|node| at_most(&node.clock));
        floor
    }

    fn forget_nodes(&mut self) {
        let floor = self.floor();
        self.nodes.retain(|_, node| floor.get(node.chain as usize).is_none_or(|known| *known < node.at));
        self.limit = NODES_KEPT.max(2 * self.nodes.len());
    }
}

fn join(into: &mut [u32], from: &[u32]) {
    into.iter_mut().zip(from).for_each(|(a, b)| *a = (*a).max(*b));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn before(order: &Order<u32>, a: u32, b: u32) -> bool {
        match (order.nodes.get(&a), order.nodes.get(&b)) {
            (Some(a), Some(b)) => b.is_after(a.chain, a.at),
            _ => true,
        }
    }

    #[test]
    fn a_fork_and_its_join() {
        let mut order = Order::new();
        order.add(1, &[]);
        order.add(2, &[1]);
        order.add(3, &[1]);
        order.add(4, &[2, 3]);
        (1..=4).for_each(|key| order.finish(key));
        assert!(before(&order, 1, 2) && before(&order, 1, 3) && before(&order, 2, 4) && before(&order, 3, 4));
        assert!(!before(&order, 2, 3) && !before(&order, 3, 2) && !before(&order, 4, 1));
    }

    #[test]
    fn chains_are_taken_up_again() {
        let mut order = Order::new();
        let mut end = None;
        for turn in 0..100u32 {
            let key = |n: u32| turn * 10 + n;
            order.add(key(0), end.as_slice());
            (1..5).for_each(|n| order.add(key(n), &[key(0)]));
            order.add(key(5), &[key(1), key(2), key(3), key(4)]);
            end = Some(key(5));
        }
        (0..1000).for_each(|key| order.finish(key));
        assert_eq!(order.chains.len(), 4);
    }

    #[test]
    fn what_the_host_waited_for_is_before_all_that_follows() {
        let mut order = Order::new();
        order.add(1, &[]);
        order.add(2, &[]);
        order.finish(1);
        order.host_has(1);
        order.add(3, &[]);
        [2, 3].into_iter().for_each(|key| drop(order.begin(key)));
        assert!(before(&order, 1, 3) && !before(&order, 2, 3));
        [2, 3].into_iter().for_each(|key| order.finish(key));
        order.host_has_all_done();
        assert!(order.nodes.is_empty() && order.age == 1, "all of it is over");
    }

    #[test]
    fn tasks_that_a_task_makes_come_after_it_and_before_who_waits_for_them() {
        let mut order = Order::new();
        order.add(1, &[]);
        order.add(2, &[1]);
        order.add(3, &[2]);
        order.begin(1);
        order.maker = Some(1);
        order.add(4, &[]);
        order.hold(2, &[4]);
        order.maker = None;
        [1, 4, 2, 3].into_iter().for_each(|key| order.finish(key));
        assert!(before(&order, 1, 4) && before(&order, 4, 2) && before(&order, 4, 3));
    }

    #[test]
    fn who_waits_for_a_begin_comes_after_what_came_before_it() {
        let mut order = Order::new();
        order.add(1, &[]);
        order.add(2, &[1]);
        order.add(3, &[]);
        order.hold_for_begin(3, 2);
        order.finish(1);
        [2, 3].into_iter().for_each(|key| drop(order.begin(key)));
        assert!(before(&order, 1, 3) && !before(&order, 2, 3) && !before(&order, 3, 2));
    }

    #[test]
    fn what_is_learned_is_handed_on() {
        let mut order = Order::new();
        [1, 2].into_iter().for_each(|key| order.add(key, &[]));
        order.add(3, &[2]);
        let one = order.begin(1).expect("made");
        order.begin(2);
        order.learn(2, &one);
        order.begin(3);
        assert!(before(&order, 1, 2) && before(&order, 1, 3) && !before(&order, 2, 1));
    }

    /// Random small graphs: the clocks agree with a search along the edges.
    #[test]
    fn clocks_answer_as_a_search_does() {
        let mut random = Random::new(0x0dd5);
        for _ in 0..400 {
            let mut order = Order::new();
            let count = 2 + random.below(14) as u32;
            let mut edges: Vec<Vec<u32>> = Vec::new();
            let mut host: Vec<u32> = Vec::new();
            // Nothing is over while one is left.
            order.add(count, &[]);
            for key in 0..count {
                let mut after: Vec<u32> = (0..key).filter(|_| random.below(4) == 0).collect();
                order.add(key, &after);
                after.extend(&host);
                edges.push(after);
                if random.below(6) == 0 {
                    let waited = random.below(key as usize + 1) as u32;
                    (0..=waited).for_each(|key| order.finish(key));
                    order.host_has(waited);
                    host.push(waited);
                }
            }
            (0..count).for_each(|key| order.finish(key));
            let reaches = |from: u32, to: u32| {
                let mut open = vec![to];
                let mut seen = vec![false; count as usize];
                while let Some(at) = open.pop() {
                    if at == from {
                        return true;
                    }
                    if !std::mem::replace(&mut seen[at as usize], true) {
                        open.extend(&edges[at as usize]);
                    }
                }
                false
            };
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                assert_eq!(before(&order, a, b), reaches(a, b), "{a} before {b} in {edges:?}");
            }
        }
    }
}
