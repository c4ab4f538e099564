//! The same program on the host: what exists, what is in memory, and how each step ends.
//!
//! - [`Model::step`] takes a step and says what is expected of it; none for a step that is not valid here (an object
//!   that is gone, what the borrow checker would refuse, a kernel that would read what nobody wrote), which changes
//!   nothing.
//! - Without a fault every word is known. [`Model::fail`] is a step that a fault has ended half-way: what it would have
//!   written is unknown from then on, and what comes of unknown words is unknown.
//! - The threads of a program are run one after another. What is valid in them gives the same in every interleaving.

mod effect;
mod items;
pub(in crate::chance) mod steps;
mod taken;
mod taken_flow;

use std::collections::BTreeMap;

use dacapo::random::GeneratorState;

use self::items::{Item, has_flow};
use self::taken::{At, Range, Style, Taken};
use super::numbers::Type;
use super::program::{Body, Name, NamedMemory, Padding};

/// A word of memory; none if nobody can know it.
pub type Word = Option<u32>;
/// The variant of `ErrorKind` that a call is refused with.
pub type Refusal = &'static str;

/// How a step is expected to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Well.
    Done,
    /// Well, with these contents.
    Values(Vec<Vec<Word>>),
    /// With this refusal.
    Refused(Refusal),
    /// With the panic of its closure.
    Panicked,
}

/// Which part of a program is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A program without threads, or what comes after them.
    Alone,
    /// What comes before threads.
    Before,
    /// A thread, of so many.
    Thread(usize, usize),
}

/// Everything that a program has made.
#[derive(Clone, Debug)]
pub struct Model {
    phase: Phase,
    objects: BTreeMap<Name, Held>,
    memory: Vec<Memory>,
    slots: Vec<Word>,
    generators: Vec<Option<GeneratorState>>,
    /// Whether each is sealed.
    pools: Vec<bool>,
    /// How often something occurred that only a run shows.
    seen: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Debug)]
struct Memory {
    words: Vec<Word>,
    is_host: bool,
}

#[derive(Clone, Debug)]
struct Held {
    object: Object,
    /// Made by a thread.
    is_threads: bool,
}

#[derive(Clone, Debug)]
enum Object {
    Buffer(usize),
    Scalar(usize),
    Host(usize),
    Slot(usize),
    /// Two words of memory.
    Number(Type, usize),
    /// The first of two slots.
    Dial(Type, usize),
    Stream,
    Pool(usize),
    /// Whether anything fits.
    Arena(bool),
    Generator(usize),
    Saved(Option<GeneratorState>),
    Graph(Graph),
    Into(Graph, [u8; 2], [u8; 2]),
    Cache(Cache),
    Bucketed(Rows),
}

/// A graph, with what it was recorded with.
#[derive(Clone, Debug)]
struct Graph {
    recording: Option<Recording>,
    outputs: Vec<usize>,
    pools: Vec<usize>,
    /// What a recording in its place has again.
    pool: Option<usize>,
    arena: Option<bool>,
}

#[derive(Clone, Debug)]
struct Recording {
    lines: Vec<Item>,
    temps: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Cache {
    max: usize,
    bodies: Vec<Body>,
    /// The one used longest ago first.
    entries: Vec<(u8, Recording, Vec<usize>)>,
    /// Used by threads too.
    is_shared: bool,
}

#[derive(Clone, Debug)]
struct Rows {
    buckets: Vec<u8>,
    row: u8,
    padding: Padding,
    slot: usize,
    larger: bool,
    fixed: Vec<Word>,
}

/// What an object is, for whoever draws steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// So many elements.
    Buffer(u8),
    /// One value.
    Scalar,
    /// So many elements.
    Host(u8),
    /// A number.
    Slot,
    /// A number on the device.
    Number(Type),
    /// A slot of any type.
    Dial(Type),
    /// A stream.
    Stream,
    /// A pool.
    Pool,
    /// An arena.
    Arena,
    /// A generator.
    Generator,
    /// A generator's state.
    Saved,
    /// So many outputs.
    Graph(u8),
    /// Lengths of what is read and written.
    Into([u8; 2], [u8; 2]),
    /// So many keys.
    Cache(u8),
    /// The largest bucket, and the length of a row.
    Bucketed(u8, u8),
}

impl Model {
    /// Nothing yet.
    pub fn new(is_threaded: bool) -> Model {
        Model {
            phase: if is_threaded { Phase::Before } else { Phase::Alone },
            objects: BTreeMap::new(),
            memory: Vec::new(),
            slots: Vec::new(),
            generators: Vec::new(),
            pools: Vec::new(),
            seen: BTreeMap::new(),
        }
    }

    /// The next part begins. What a thread made is gone when it ends; what its slots hold, nobody knows while others
    /// run.
    pub fn enter(&mut self, phase: Phase) {
        self.objects.retain(|_, held| !held.is_threads);
        if self.phase == Phase::Before {
            self.slots.fill(None);
        }
        self.phase = phase;
    }

    /// What occurred in runs, and how often.
    pub fn seen(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.seen.iter().map(|(word, count)| (*word, *count))
    }

    /// The last launch of a graph, behind which nothing is read any more: whether it may be made. One whose rounds
    /// nobody can foresee might never end.
    pub fn may_launch_last(&mut self, graph: Name, may_fail: bool) -> bool {
        let Some(Held { object: Object::Graph(Graph { recording: Some(recording), .. }), .. }) =
            self.objects.get(&graph)
        else {
            return true;
        };
        let (recording, before) = (recording.clone(), self.clone());
        if !(may_fail && has_flow(&recording.lines)) && self.replay(&recording, &[]).is_some() {
            return true;
        }
        *self = before;
        self.poison(&recording, &[]);
        !has_flow(&recording.lines)
    }

    /// What there is to name here, and whether it may be changed.
    pub fn names(&self) -> impl Iterator<Item = (Name, Kind, bool)> {
        self.objects.iter().filter_map(|(name, held)| {
            self.see(*name)?;
            let small = |memory: &usize| self.memory[*memory].words.len() as u8;
            let kind = match &held.object {
                Object::Buffer(memory) => Kind::Buffer(small(memory)),
                Object::Scalar(_) => Kind::Scalar,
                Object::Host(memory) => Kind::Host(small(memory)),
                Object::Slot(_) => Kind::Slot,
                Object::Number(of, _) => Kind::Number(*of),
                Object::Dial(of, _) => Kind::Dial(*of),
                Object::Stream => Kind::Stream,
                Object::Pool(_) => Kind::Pool,
                Object::Arena(_) => Kind::Arena,
                Object::Generator(_) => Kind::Generator,
                Object::Saved(_) => Kind::Saved,
                Object::Graph(graph) => Kind::Graph(graph.outputs.len() as u8),
                Object::Into(_, ins, outs) => Kind::Into(*ins, *outs),
                Object::Cache(cache) => Kind::Cache(cache.bodies.len() as u8),
                Object::Bucketed(rows) => Kind::Bucketed(*rows.buckets.last()?, rows.row),
            };
            Some((*name, kind, self.own(*name).is_some()))
        })
    }

    /// The length of a graph's output.
    pub fn output_len(&self, graph: Name, output: u8) -> Option<u8> {
        let (memory, _) = self.memory_of(NamedMemory::Result(graph, output))?;
        Some(self.memory[memory].words.len() as u8)
    }

    /// The contents of everything that can be read at the end, generators by what they would draw next.
    pub fn contents(&self) -> Vec<(NamedMemory, Name, Vec<Word>)> {
        let mut all = Vec::new();
        for (name, held) in &self.objects {
            let words = |memory: usize| self.memory[memory].words.clone();
            match &held.object {
                Object::Buffer(memory) | Object::Host(memory) | Object::Number(_, memory) => {
                    all.push((NamedMemory::Buffer(*name), *name, words(*memory)))
                }
                Object::Scalar(memory) => all.push((NamedMemory::Scalar(*name), *name, words(*memory))),
                Object::Graph(graph) => {
                    for (number, memory) in graph.outputs.iter().enumerate() {
                        all.push((NamedMemory::Result(*name, number as u8), *name, words(*memory)));
                    }
                }
                Object::Generator(generator) => {
                    all.push((NamedMemory::Buffer(*name), *name, drawn(self.generators[*generator])));
                }
                _ => {}
            }
        }
        all
    }

    /// An object that may be named here.
    fn see(&self, name: Name) -> Option<&Object> {
        let held = self.objects.get(&name)?;
        match self.phase {
            Phase::Alone | Phase::Before => Some(&held.object),
            Phase::Thread(..) if held.is_threads => Some(&held.object),
            Phase::Thread(number, threads) => match &held.object {
                Object::Buffer(_) | Object::Slot(_) | Object::Pool(_) | Object::Arena(_) | Object::Stream => {
                    Some(&held.object)
                }
                Object::Cache(cache) if cache.is_shared => Some(&held.object),
                Object::Graph(_) if usize::from(name) % threads == number => Some(&held.object),
                _ => None,
            },
        }
    }

    /// An object that may be changed here.
    fn own(&self, name: Name) -> Option<&Object> {
        let object = self.see(name)?;
        let is_ours = match self.phase {
            Phase::Alone | Phase::Before => true,
            Phase::Thread(..) => self.objects[&name].is_threads || matches!(object, Object::Graph(_)),
        };
        is_ours.then_some(object)
    }

    /// An object that may be dropped here.
    fn droppable(&self, name: Name) -> Option<&Object> {
        self.own(name).filter(|_| !matches!(self.phase, Phase::Thread(..)) || self.objects[&name].is_threads)
    }

    /// Whether a slot may be set here: one of all threads is set by one of them.
    fn may_set(&self, slot: Name) -> bool {
        match (self.phase, self.objects.get(&slot)) {
            (Phase::Thread(number, threads), Some(held)) => held.is_threads || usize::from(slot) % threads == number,
            _ => true,
        }
    }

    /// The memory of a place outside of recordings, and whether it may be written.
    fn memory_of(&self, place: NamedMemory) -> Option<(usize, bool)> {
        match place {
            NamedMemory::Buffer(name) => match self.see(name)? {
                Object::Buffer(memory) => Some((*memory, self.own(name).is_some())),
                _ => None,
            },
            NamedMemory::Scalar(name) => match self.see(name)? {
                Object::Scalar(memory) => Some((*memory, self.own(name).is_some())),
                _ => None,
            },
            NamedMemory::Result(name, output) => match self.see(name)? {
                Object::Graph(graph) => Some((*graph.outputs.get(usize::from(output))?, false)),
                _ => None,
            },
            _ => None,
        }
    }

    fn stream(&self, name: Name) -> Option<()> {
        matches!(self.see(name)?, Object::Stream).then_some(())
    }

    fn is_new(&self, name: Name) -> Option<()> {
        (!self.objects.contains_key(&name)).then_some(())
    }

    fn add(&mut self, name: Name, object: Object) {
        let is_threads = matches!(self.phase, Phase::Thread(..));
        self.objects.insert(name, Held { object, is_threads });
    }

    fn add_memory(&mut self, words: Vec<Word>, is_host: bool) -> usize {
        self.memory.push(Memory { words, is_host });
        self.memory.len() - 1
    }

    /// Gives the outputs of a body memory; its lines then name that.
    fn place_outputs(&mut self, taken: &Taken) -> (Recording, Vec<usize>) {
        let outputs: Vec<usize> = taken.outputs.iter().map(|len| self.add_memory(vec![Some(0); *len], false)).collect();
        let mut lines = taken.lines.clone();
        for item in &mut lines {
            item.each_at(&mut |at| {
                if let At::Own(output) = *at {
                    *at = At::Memory(outputs[output]);
                }
            });
        }
        (Recording { lines, temps: taken.temps.clone() }, outputs)
    }

    /// Slots that a body set are set.
    fn apply_sets(&mut self, taken: &Taken) {
        for (slot, value) in &taken.sets {
            let is_contested = matches!(self.phase, Phase::Thread(..)) && self.slots[*slot].is_none();
            if !is_contested {
                self.slots[*slot] = Some(*value);
            }
        }
    }

    /// One replay with the slots as they are; whether it was made. None, and half of it is done, if nobody can know.
    fn replay(&mut self, recording: &Recording, holes: &[Range]) -> Option<bool> {
        let slots = self.slots.clone();
        let read = |slot: usize| slots[slot];
        let holds = self.holds(&recording.lines, &read)?;
        if holds {
            self.perform(&recording.lines, &recording.temps, holes, &read, false)?;
        }
        Some(holds)
    }

    /// An eager run of what was taken down, with the slots as they were read then. None as of a replay.
    fn run(&mut self, recording: &Recording, taken: &Taken) -> Option<()> {
        let read = |slot: usize| taken.readings.get(&slot).copied().flatten();
        self.perform(&recording.lines, &recording.temps, &[], &read, false)
    }

    /// What lines would write is unknown from now on.
    fn poison(&mut self, recording: &Recording, holes: &[Range]) {
        let done = self.perform(&recording.lines, &recording.temps, holes, &|_| None, true);
        done.expect("each body is gone through once");
    }

    fn words_of(&self, outputs: &[usize]) -> Vec<Vec<Word>> {
        outputs.iter().map(|memory| self.memory[*memory].words.clone()).collect()
    }

    /// How many graphs are in a pool.
    fn graphs_in(&self, pool: usize) -> usize {
        let graphs = self.objects.values().filter_map(|held| match &held.object {
            Object::Graph(graph) | Object::Into(graph, ..) => Some(graph),
            _ => None,
        });
        graphs.filter(|graph| graph.recording.is_some() && graph.pools.contains(&pool)).count()
    }

    fn style(&self) -> Style {
        if self.phase == Phase::Before { Style::Team } else { Style::Free }
    }
}

/// What a generator in this state would draw next.
fn drawn(state: Option<GeneratorState>) -> Vec<Word> {
    match state {
        Some(state) => state.next_words(4).into_iter().map(Some).collect(),
        None => vec![None; 4],
    }
}

/// A generator at the beginning of a seed's sequence.
fn seeded(seed: u64) -> Option<GeneratorState> {
    let text = format!("{{\"words\":[{},{},0,0,0,0]}}", seed as u32, seed >> 32);
    serde_json::from_str(&text).ok()
}
