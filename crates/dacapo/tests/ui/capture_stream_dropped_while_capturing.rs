// error: E0505
// says: cannot move out of `line` because it is borrowed
// why: the guard ends the capture before its stream can go
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let line = capture::CaptureStream::new(device)?;
    let guard = unsafe { capture::begin(&line, capture::Mode::Relaxed) }?;
    drop(line); //~
    //+ 
    guard.finish()?;
    Ok(())
}
