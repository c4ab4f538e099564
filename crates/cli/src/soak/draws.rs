//! A graph that draws random numbers: each replay must draw what comes next, whoever replays it.

use dacapo::random::{Generator, GeneratorState};
use dacapo::{Buffer, Device, Graph, Recorder, Stream};

use super::part::Part;
use crate::complaint::Complaint;

/// Numbers of one draw.
const WORDS: usize = 37;

/// A graph, its generator, and where that must stand.
pub struct Draws {
    graph: Graph<()>,
    generator: Generator,
    drawn: Buffer<u32>,
    /// Before the last draw, and now; the host's own reckoning.
    states: (GeneratorState, GeneratorState),
    replays: u32,
}

impl Draws {
    /// A graph that draws into a temp and copies that out, from the beginning of a seed's sequence.
    pub fn new(device: &Device, stream: &Stream, seed: u64) -> Result<Draws, Complaint> {
        let (mut generator, mut drawn) = (Generator::new(device, seed)?, device.zeros(WORDS)?);
        let state = generator.save(stream)?;
        let graph = device.record(|r: &mut Recorder<'_>| {
            let mut fresh = r.alloc(WORDS)?;
            r.run(generator.words(&mut fresh))?;
            r.run(dacapo::copy(&fresh, &mut drawn))
        })?;
        Ok(Draws { graph, generator, drawn, states: (state, state), replays: 0 })
    }
}

impl Part for Draws {
    fn replay(&mut self, stream: &Stream, _value: usize) -> Result<(), Complaint> {
        drop(self.graph.launch(stream)?);
        self.states = (self.states.1, self.states.1.advanced(WORDS));
        self.replays += 1;
        Ok(())
    }

    fn check(&self, stream: &Stream) -> Result<(), Complaint> {
        let stands = self.generator.save(stream)?;
        let drawn = stream.read(&self.drawn)?;
        let right = self.replays == 0 || drawn == self.states.0.next_words(WORDS);
        match right && stands == self.states.1 {
            true => Ok(()),
            false => Err(Complaint::new(format!("after {} replays a generator drew other numbers", self.replays))
                .help("a replay was lost, made twice, or drew from the wrong place: this is a bug")),
        }
    }

    fn replays(&self) -> u32 {
        self.replays
    }
}
