//! The largest live set: the most bytes of temps that may all be alive at the same time.
//!
//! Exact, and too slow to use. Temps that are pairwise unordered are an antichain; the heaviest one weighs as much as the
//! lightest cover by chains (Dilworth, with weights), which is the sum of all weights less the largest flow from temps to
//! temps that come after them.

use crate::plan::layout::TempUse;

/// `before[b][a]`: op a comes before op b.
pub(super) fn largest_live_set(before: &[Vec<bool>], temps: &[TempUse<'_>]) -> u64 {
    let temps: Vec<&TempUse<'_>> = temps.iter().filter(|temp| temp.bytes > 0 && !temp.ops.is_empty()).collect();
    let mut flow = Flow::new(2 * temps.len() + 2);
    let (source, sink) = (2 * temps.len(), 2 * temps.len() + 1);
    for (a, temp) in temps.iter().enumerate() {
        flow.edge(source, a, temp.bytes);
        flow.edge(temps.len() + a, sink, temp.bytes);
        for (b, later) in temps.iter().enumerate() {
            if is_before(before, temp, later) {
                flow.edge(a, temps.len() + b, u64::MAX);
            }
        }
    }
    temps.iter().map(|temp| temp.bytes).sum::<u64>() - flow.largest(source, sink)
}

/// Whether all of `a` comes before all of `b`.
pub(super) fn is_before(before: &[Vec<bool>], a: &TempUse<'_>, b: &TempUse<'_>) -> bool {
    a.ops.iter().all(|a| b.ops.iter().all(|b| before[*b as usize][*a as usize]))
}

/// Dinic's algorithm.
struct Flow {
    /// Of each node, the numbers of its edges. An edge's way back has the number beside it.
    of: Vec<Vec<usize>>,
    to: Vec<usize>,
    left: Vec<u64>,
    depth: Vec<usize>,
    next: Vec<usize>,
}

impl Flow {
    fn new(nodes: usize) -> Flow {
        Flow { of: vec![Vec::new(); nodes], to: Vec::new(), left: Vec::new(), depth: Vec::new(), next: Vec::new() }
    }

    fn edge(&mut self, from: usize, to: usize, most: u64) {
        for (from, to, left) in [(from, to, most), (to, from, 0)] {
            self.of[from].push(self.to.len());
            self.to.push(to);
            self.left.push(left);
        }
    }

    fn largest(&mut self, source: usize, sink: usize) -> u64 {
        let mut total = 0;
        while self.measure(source, sink) {
            self.next = vec![0; self.of.len()];
            loop {
                let pushed = self.push(source, sink, u64::MAX);
                if pushed == 0 {
                    break;
                }
                total += pushed;
            }
        }
        total
    }

    /// The depth of each node; whether the sink has one.
    fn measure(&mut self, source: usize, sink: usize) -> bool {
        self.depth = vec![usize::MAX; self.of.len()];
        self.depth[source] = 0;
        let mut open = std::collections::VecDeque::from([source]);
        while let Some(node) = open.pop_front() {
            for &edge in &self.of[node] {
                if self.left[edge] > 0 && self.depth[self.to[edge]] == usize::MAX {
                    self.depth[self.to[edge]] = self.depth[node] + 1;
                    open.push_back(self.to[edge]);
                }
            }
        }
        self.depth[sink] != usize::MAX
    }

    fn push(&mut self, node: usize, sink: usize, most: u64) -> u64 {
        if node == sink {
            return most;
        }
        while self.next[node] < self.of[node].len() {
            let edge = self.of[node][self.next[node]];
            let to = self.to[edge];
            if self.left[edge] > 0 && self.depth[to] == self.depth[node] + 1 {
                let pushed = self.push(to, sink, most.min(self.left[edge]));
                if pushed > 0 {
                    self.left[edge] -= pushed;
                    self.left[edge ^ 1] = self.left[edge ^ 1].saturating_add(pushed);
                    return pushed;
                }
            }
            self.next[node] += 1;
        }
        0
    }
}
