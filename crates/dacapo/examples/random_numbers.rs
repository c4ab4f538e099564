//! Random numbers inside a graph: each replay draws the next ones.
//!
//! `cargo run -p dacapo --example random_numbers`

use dacapo::random::Generator;
use dacapo::{Device, Result};

/// Draws, saves where it stands, and draws the same again.
pub fn main() -> Result<()> {
    let device = Device::best()?;
    let stream = device.stream()?;

    let mut generator = Generator::new(&device, 42)?;
    let mut noise = device.zeros::<f32>(4)?;
    let mut graph = device.record(generator.uniform(&mut noise))?;
    graph.launch(&stream)?;
    let saved = generator.save(&stream)?; // for a checkpoint
    graph.launch(&stream)?;
    let second = stream.read(&noise)?;

    generator.restore(&stream, &saved)?;
    graph.launch(&stream)?;
    assert_eq!(stream.read(&noise)?, second); // the same bits, on every device
    assert_eq!(saved.next_uniform(4), second); // and on the host
    Ok(())
}
