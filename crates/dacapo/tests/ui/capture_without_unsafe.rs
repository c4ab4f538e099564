// error: E0133
// says: call to unsafe function
// why: what is captured by raw calls is a promise of the caller's
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let line = capture::CaptureStream::new(device)?;
    let guard = capture::begin(&line, capture::Mode::Relaxed)?; //~
    //+ let guard = unsafe { capture::begin(&line, capture::Mode::Relaxed) }?;
    Ok(())
}
