//! Which ops come before which, for recordings so large that a bit for each pair would be too many.
//!
//! Moments are sorted into chains: in a chain each comes before the next. For each step it is known how far along each
//! chain everything has ended. There is a limited number of chains; a moment that finds no place in one is not known to be
//! before anything, so that what it touches is shared with nobody after it. That is safe, and costs memory only for
//! recordings both very long and very wide.

use super::super::{NONE, Order, number};
use super::reach::Moments;

/// So many numbers are kept, whatever the recording.
const NUMBERS: usize = 1 << 22;

pub(super) struct Chains {
    pub(super) moments: Moments,
    width: usize,
    /// For each step and chain: the last moment of the chain that has ended, and one more; 0 for none.
    ended: Vec<u32>,
    /// The moments of each chain, ascending.
    chains: Vec<Vec<u32>>,
    /// The chain of each moment, or `NONE`.
    chain_of: Vec<u32>,
    /// The moments without one, ascending.
    others: Vec<u32>,
}

impl Chains {
    pub(super) fn new(order: &Order, moments: Moments, most: usize) -> Chains {
        let steps = order.steps().len();
        let width = (NUMBERS / steps.max(1)).clamp(1, most);
        let mut ended = vec![0u32; steps * width];
        let mut chains: Vec<Vec<u32>> = Vec::new();
        let mut chain_of = vec![NONE; moments.steps.len()];
        let mut others = Vec::new();
        for step in 0..steps {
            let (before, own) = ended.split_at_mut(step * width);
            let own = &mut own[..width];
            for &earlier in order.after(step) {
                let earlier = earlier as usize;
                own.iter_mut().zip(&before[earlier * width..][..width]).for_each(|(to, from)| *to = (*to).max(*from));
                let moment = moments.of_step[earlier];
                if moment != NONE && chain_of[moment as usize] != NONE {
                    let chain = chain_of[moment as usize] as usize;
                    own[chain] = own[chain].max(moment + 1);
                }
            }
            let moment = moments.of_step[step];
            if moment == NONE {
                continue;
            }
            // The chain whose end has ended last: the others are left to those that wait for them.
            let ends = chains.iter().enumerate().map(|(chain, list)| (list[list.len() - 1], chain));
            let chain = match ends.filter(|(end, chain)| own[*chain] == end + 1).max() {
                Some((_, chain)) => chain,
                None if chains.len() < width => {
                    chains.push(Vec::new());
                    chains.len() - 1
                }
                None => {
                    others.push(moment);
                    continue;
                }
            };
            chains[chain].push(moment);
            chain_of[moment as usize] = number(chain);
        }
        Chains { moments, width, ended, chains, chain_of, others }
    }

    fn row(&self, moment: u32) -> &[u32] {
        &self.ended[self.moments.steps[moment as usize] as usize * self.width..][..self.width]
    }

    pub(super) fn is_before(&self, a: u32, b: u32) -> bool {
        let chain = self.chain_of[a as usize];
        chain != NONE && a < self.row(b)[chain as usize]
    }

    pub(super) fn for_each_beside(&self, b: u32, limit: u32, act: &mut impl FnMut(u32) -> bool) -> bool {
        let below = |list: &[u32]| list.partition_point(|moment| *moment < limit);
        let chains = self.chains.iter().zip(self.row(b)).map(|(list, ended)| {
            let from = list.partition_point(|moment| moment < ended);
            &list[from..below(list).max(from)]
        });
        chains.chain([&self.others[..below(&self.others)]]).flatten().all(|moment| act(*moment))
    }
}
