//! What the program does with `--model`: loads a checkpoint, writes the text behind a prompt as it comes, and says how fast.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use dacapo::Device;
use half::{bf16, f16};
use indicatif::{ProgressBar, ProgressStyle};

use super::config::Config;
use super::decoder::{Decoder, How};
use super::failure::{Failure, Refused};
use super::files::Files;
use super::kernels::Weight;
use super::model::{Choice, Model, NO_TOKEN, Sequence};
use super::needs::{self, Kind};
use super::text::{Streaming, Text};
use super::weights::Weights;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The folder of the checkpoint.
    pub folder: &'a Path,
    /// What the text begins with.
    pub prompt: &'a str,
    /// New tokens at most.
    pub tokens: usize,
    /// How they are chosen.
    pub choice: Choice,
    /// How steps reach the device.
    pub how: How,
    /// Where the times of one step's operations go, for Perfetto; they are also printed.
    pub opt_trace: Option<&'a Path>,
}

/// A checkpoint of which everything but the weights has been read, and that has been found to be whole.
pub struct Checkpoint {
    /// What config.json says.
    pub config: Config,
    /// Where the weights are.
    pub files: Files,
    /// The type of the matrices.
    pub kind: Kind,
    /// The tokenizer.
    pub text: Text,
}

impl Checkpoint {
    /// Reads and checks a folder.
    ///
    /// # Errors
    ///
    /// - Whatever is not understood, by name.
    pub fn open(folder: &Path) -> Result<Checkpoint, Refused> {
        let config = Config::read(folder)?;
        let files = Files::open(folder)?;
        let kind = needs::check(&config, &files)?;
        let text = Text::read(folder, &config)?;
        Ok(Checkpoint { config, files, kind, text })
    }

    /// Bytes of weights that a step reads: all but a table of which it needs one row.
    fn read_bytes(&self) -> u64 {
        let table = &self.files.tensors()[needs::EMBEDDING];
        self.files.total() - if self.config.tied { 0 } else { self.files.bytes(table).len() as u64 }
    }
}

/// Loads, writes the text to `out` as it comes, and what it took to standard error.
///
/// # Errors
///
/// - The checkpoint or the prompt is refused.
/// - What the device answered.
pub fn run(device: &Device, asked: &Asked<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let checkpoint = Checkpoint::open(asked.folder)?;
    let prompt = checkpoint.text.encode(asked.prompt, asked.tokens, &checkpoint.config)?;
    match checkpoint.kind {
        Kind::Bf16 => write::<bf16>(device, &checkpoint, asked, &prompt, out),
        Kind::F16 => write::<f16>(device, &checkpoint, asked, &prompt, out),
        Kind::F32 => write::<f32>(device, &checkpoint, asked, &prompt, out),
    }
}

fn write<T: Weight>(
    device: &Device,
    checkpoint: &Checkpoint,
    asked: &Asked<'_>,
    prompt: &[u32],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Checkpoint { config, files, text, .. } = checkpoint;
    let (begin, bar) = (Instant::now(), loading_bar(files.total()));
    let weights = Weights::upload(device, config, files, &|bytes| bar.inc(bytes))?;
    let loaded = begin.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let begin = Instant::now();
    let model = Model::<T>::new(device, config, weights)?;
    let kernels = begin.elapsed().as_secs_f64();
    let sequence = Sequence::new(device, config, prompt, asked.tokens, asked.choice)?;
    let cache_bytes = sequence.cache_bytes();
    let mut decoder = Decoder::new(device, &model, sequence, prompt.len(), asked.how)?;
    say(out, &text.decode(prompt)?)?;
    let fed = decoder.prompt()?;
    let (mut streaming, mut count) = (Streaming::behind(text, prompt)?, 0);
    let generated = decoder.generate(|token| {
        if token == NO_TOKEN {
            let what = format!("after {count} new tokens none of the logits is a number");
            return Err(
                Refused::asked("weights", what, "the weights have NaNs, or are too large for their type").into()
            );
        }
        count += 1;
        say(out, &streaming.push(token)?)
    })?;
    say(out, &streaming.finish()?)?;
    say(out, "\n")?;
    let (total, read) = (files.total() as f64, checkpoint.read_bytes() as f64);
    let per_second = count as f64 / generated.as_secs_f64();
    eprintln!(
        "{}: {} weights, {:.1} MB of keys and values",
        device.properties().name,
        T::NAME,
        cache_bytes as f64 / 1e6
    );
    eprintln!("weights   {:>8.1} MB in {loaded:.3} s, {:.2} GB/s", total / 1e6, total / 1e9 / loaded);
    eprintln!("kernels   loaded in {kernels:.3} s");
    eprintln!("prompt    {}", pace(prompt.len() - 1, fed));
    eprintln!(
        "text      {}, {}: {:.0} GB/s of weights",
        pace(count, generated),
        asked.how.name(),
        read * per_second / 1e9
    );
    if let Some(place) = asked.opt_trace {
        // At the end of the text: a step there finds nothing to choose, and takes as long as the last one.
        match decoder.profile()? {
            Some(profile) => {
                eprintln!("\n{profile}");
                let help = "--trace takes the name of a file that can be written";
                let refused =
                    |error| Refused::new("file", place, format!("the trace cannot be written: {error}"), help);
                std::fs::write(place, profile.trace()).map_err(refused)?;
            }
            None => {
                let what = "only a step that is a graph of its own can be timed";
                return Err(Refused::asked("option", what, "leave out --eager").into());
            }
        }
    }
    if device.is_software() {
        eprintln!("these are times of the software device and say nothing of a GPU");
    }
    Ok(())
}

/// Writes a piece of text at once.
fn say(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| {
        Refused::asked("output", format!("the text cannot be written: {error}"), "is there someone who reads it?")
            .into()
    })
}

/// Tokens in all and a second.
fn pace(tokens: usize, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    let a_second = if tokens == 0 { 0.0 } else { tokens as f64 / seconds };
    format!("{tokens:>8} tokens in {seconds:.3} s, {a_second:.1} tokens a second")
}

/// A bar of bytes, which is shown on a terminal only.
fn loading_bar(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    if let Ok(style) = ProgressStyle::with_template("loading {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}") {
        bar.set_style(style);
    }
    bar
}
