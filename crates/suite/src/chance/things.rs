//! The objects of a running program, and parts of them, borrowed as a program would.

use std::collections::BTreeMap;
use std::sync::Mutex;

use dacapo::flow::{Round, Rounds as LoopRounds};
use dacapo::graph::Pool;
use dacapo::memory::Arena;
use dacapo::random::{Generator, GeneratorState};
use dacapo::shapes::{Bucketed, GraphCache, Rows};
use dacapo::{Buffer, Graph, GraphInto, HostBuffer, Recorder, Scalar, Slice, Slot, Stream, Temp};

use super::numbers::{AnyScalar, AnySlot};
use super::program::{Body, Name, NamedMemory, Part};

/// What every graph gives.
pub(super) type Outputs = Vec<Buffer<u32>>;
/// A function of rows, recorded by a closure that owns what it needs.
pub(super) type Function = Bucketed<Rows<u32>, (Buffer<u32>, Scalar<u32>), RowsBody>;
pub(super) type RowsBody = Box<
    dyn for<'a, 'r, 'i> FnMut(&'a mut Recorder<'r>, usize, &'i Slice<u32>) -> dacapo::Result<(Buffer<u32>, Scalar<u32>)>
        + Send,
>;
/// A graph of two slices that are read and two that are written.
pub(super) type Into =
    GraphInto<(&'static Slice<u32>, &'static Slice<u32>), (&'static mut Slice<u32>, &'static mut Slice<u32>)>;

/// An object.
pub(super) enum Thing {
    Buffer(Buffer<u32>),
    Scalar(Scalar<u32>),
    Host(HostBuffer<u32>),
    Slot(Slot<u32>),
    Number(AnyScalar),
    Dial(AnySlot),
    Stream(Stream),
    Pool(Pool),
    Arena(Arena),
    Generator(Generator),
    Saved(GeneratorState),
    Graph(Graph<Outputs>),
    Into(Into),
    /// And what is recorded for each key.
    Cache(Mutex<GraphCache<u8, Outputs>>, Vec<Body>),
    Bucketed(Mutex<Function>),
}

/// Objects by name.
pub(super) type Things = BTreeMap<Name, Thing>;

/// What belongs to one recording, or to one body of it.
#[derive(Default)]
pub(super) struct Local<'r, 'h> {
    pub(super) temps: Vec<(u8, Temp<'r, u32>)>,
    pub(super) outputs: Vec<(u8, Buffer<u32>)>,
    pub(super) rounds: Vec<(u8, LoopRounds<'r>)>,
    pub(super) round: Vec<(u8, Round<'r>)>,
    pub(super) ins: Vec<&'h Slice<u32>>,
    pub(super) outs: Vec<&'h mut Slice<u32>>,
    /// What belongs to the bodies around this one.
    pub(super) around: Vec<Found<'h>>,
}

/// A place, the number of its first element there, and memory of it.
pub(super) type Found<'e> = (NamedMemory, u8, Whole<'e>);

impl Local<'_, '_> {
    /// All of it, borrowed.
    pub(super) fn all(&mut self) -> Vec<Found<'_>> {
        let mut found: Vec<Found<'_>> = Vec::new();
        for (place, at, whole) in &mut self.around {
            found.push((
                *place,
                *at,
                match whole {
                    Whole::Read(slice) => Whole::Read(slice),
                    Whole::Write(slice) => Whole::Write(slice),
                },
            ));
        }
        found.extend(self.temps.iter_mut().map(|(number, temp)| (NamedMemory::Temp(*number), 0, Whole::Write(temp))));
        for (number, output) in &mut self.outputs {
            found.push((NamedMemory::Output(*number), 0, Whole::Write(output)));
        }
        for (number, rounds) in &self.rounds {
            found.push((NamedMemory::Rounds(*number), 0, Whole::Read(rounds.count().as_slice())));
            found.push((NamedMemory::Rounds(*number), 1, Whole::Read(rounds.hit_bound().as_slice())));
        }
        found.extend(
            self.round.iter().map(|(number, round)| (NamedMemory::Round(*number), 0, Whole::Read(round.as_slice()))),
        );
        for (number, hole) in self.ins.iter().enumerate() {
            found.push((NamedMemory::In(number as u8), 0, Whole::Read(hole)));
        }
        for (number, hole) in self.outs.iter_mut().enumerate() {
            found.push((NamedMemory::Out(number as u8), 0, Whole::Write(hole)));
        }
        found
    }
}

impl<'r, 'h> Local<'r, 'h> {
    /// A body inside others.
    pub(super) fn inside(around: Vec<Found<'h>>) -> Local<'r, 'h> {
        Local { around, ..Local::default() }
    }
}

/// Parts, borrowed all at once.
#[derive(Default)]
pub(super) struct Lent<'e> {
    pub(super) reads: Vec<&'e Slice<u32>>,
    pub(super) writes: Vec<&'e mut Slice<u32>>,
    pub(super) generator: Option<&'e mut Generator>,
    pub(super) host: Option<&'e mut HostBuffer<u32>>,
}

/// Memory that may be read, or written too.
pub(super) enum Whole<'e> {
    Read(&'e Slice<u32>),
    Write(&'e mut Slice<u32>),
}

/// Borrows parts: what is written by `&mut`, the rest by `&`, two parts of one buffer through `split_at_mut`. And a
/// generator or a host buffer beside them.
///
/// # Panics
///
/// - Something is not there, or two parts overlap that must not: the model has taken what it must not take.
pub(super) fn lend<'e>(
    things: &'e mut Things,
    shared: Option<&'e Things>,
    local: &'e mut Local<'_, '_>,
    reads: &[Part],
    writes: &[Part],
    beside: Option<Name>,
) -> Lent<'e> {
    let mut lent = Lent::default();
    let wanted = |place: NamedMemory| reads.iter().chain(writes).any(|part| part.place == place);
    let mut found: Vec<Found<'e>> = Vec::new();
    for (name, thing) in shared.into_iter().flatten() {
        match thing {
            Thing::Buffer(buffer) if wanted(NamedMemory::Buffer(*name)) => {
                found.push((NamedMemory::Buffer(*name), 0, Whole::Read(buffer)));
            }
            _ => {}
        }
    }
    for (name, thing) in things.iter_mut() {
        match thing {
            Thing::Buffer(buffer) if wanted(NamedMemory::Buffer(*name)) => {
                found.push((NamedMemory::Buffer(*name), 0, Whole::Write(buffer)));
            }
            Thing::Scalar(scalar) if wanted(NamedMemory::Scalar(*name)) => {
                found.push((NamedMemory::Scalar(*name), 0, Whole::Write(scalar.as_mut_slice())));
            }
            Thing::Graph(graph) => {
                for (number, output) in graph.outputs().iter().enumerate() {
                    let place = NamedMemory::Result(*name, number as u8);
                    if wanted(place) {
                        found.push((place, 0, Whole::Read(output)));
                    }
                }
            }
            Thing::Generator(generator) if beside == Some(*name) => lent.generator = Some(generator),
            Thing::Host(host) if beside == Some(*name) => lent.host = Some(host),
            _ => {}
        }
    }
    found.extend(local.all());
    let mut read_pieces: Vec<(NamedMemory, u8, &'e Slice<u32>)> = Vec::new();
    let mut write_pieces: Vec<(NamedMemory, u8, &'e mut Slice<u32>)> = Vec::new();
    for (place, first, whole) in found.into_iter().filter(|(place, ..)| wanted(*place)) {
        let mut rest = match whole {
            Whole::Read(slice) => {
                read_pieces.push((place, first, slice));
                continue;
            }
            Whole::Write(slice) => slice,
        };
        let mut here: Vec<&Part> = writes.iter().filter(|part| part.place == place).collect();
        here.sort_by_key(|part| part.start);
        let mut at = 0;
        for part in here {
            let (gap, more) = rest.split_at_mut(usize::from(part.start - at));
            let (piece, more) = more.split_at_mut(usize::from(part.len));
            read_pieces.push((place, at, gap));
            write_pieces.push((place, part.start, piece));
            (rest, at) = (more, part.end());
        }
        read_pieces.push((place, at, rest));
    }
    for part in reads {
        let piece = read_pieces.iter().find(|(place, at, piece)| {
            *place == part.place && *at <= part.start && usize::from(part.end() - at) <= piece.len()
        });
        let (_, at, piece) = piece.expect("what is read is there, and apart from what is written");
        lent.reads.push(&piece[usize::from(part.start - at)..usize::from(part.end() - at)]);
    }
    for part in writes {
        let piece = write_pieces.iter().position(|(place, at, _)| (*place, *at) == (part.place, part.start));
        let (.., piece) = write_pieces.swap_remove(piece.expect("what is written is there"));
        lent.writes.push(piece);
    }
    lent
}
