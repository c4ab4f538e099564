//! A struct of one's own on a device, in a crate that depends on `dacapo` alone and forbids unsafe code.
#![forbid(unsafe_code)]

/// What a particle is.
#[derive(Clone, Copy, Debug, PartialEq, dacapo::Pod)]
#[repr(C)]
pub struct Particle {
    position: [f32; 3],
    charge: i32,
}

#[test]
fn particles_go_to_the_device_and_back() -> dacapo::Result<()> {
    let device = dacapo::Device::software()?;
    let stream = device.stream()?;
    let sent = [Particle { position: [1.0, 2.0, 3.0], charge: -1 }; 2];
    let there = device.buffer(&sent)?;
    let mut back = device.zeros::<Particle>(2)?;
    stream.run(dacapo::copy(&there, &mut back))?;
    assert_eq!(stream.read(&back)?, sent);
    Ok(())
}
