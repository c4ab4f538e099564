// error: E0277
// says: cannot be sent between threads safely
// why: a capture is ended by the thread that began it
use kit::*;

pub fn demo(device: &Device, stream: &Stream, k: &Nn, x: Buffer<f32>, mut y: Buffer<f32>) -> Result<()> {
    let line = capture::CaptureStream::new(device)?;
    let guard = unsafe { capture::begin(&line, capture::Mode::Relaxed) }?;
    std::thread::scope(|scope| {
    scope.spawn(move || drop(guard)); //~
    //+ drop(guard);
    });
    Ok(())
}
