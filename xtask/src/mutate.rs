//! `cargo xtask mutate`: PTX that nobody wrote.
//!
//! Takes the committed PTX apart and puts it together wrongly: bytes flipped, tokens swapped, lines doubled, dropped
//! or moved, files cut short or spliced. Most mutants are made of one kernel with its file's head, some of a whole file. Each
//! result is loaded into a software driver, and whatever loads is launched with a small budget. A panic, or a case that takes
//! longer than it may, is a failure; the seed of the case reproduces it.
//!
//! The same is done to what holds PTX: fat binaries and texts that are linked (`images.rs`).
//!
//! A few thousand cases by default; `--full` runs a million texts and 200,000 images, on as many threads as `--threads` says.

mod images;

use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Machine, Options};

use crate::workspace;

/// How many cases the full run has.
const FULL: u64 = 1_000_000;
/// How many a plain one has.
const SCALED: u64 = 5_000;
/// The same for images.
const FULL_IMAGES: u64 = 200_000;
const SCALED_IMAGES: u64 = 2_000;
/// What a case may take of a processor's time; a launch's own budget is far below that.
const LONGEST: Duration = Duration::from_secs(5);
/// Warp instructions of a launch.
const BUDGET: u64 = 20_000;
/// Looks at the clock or at host memory, in vain, before a kernel is said to wait for nobody.
const POLLS: u64 = 1_000;
/// Bytes of the device: no mutant can ask for more.
const CAPACITY: u64 = 64 << 20;

/// How much is to be done.
#[derive(clap::Args)]
pub struct Scale {
    /// A million files instead of a few thousand
    #[arg(long)]
    full: bool,
    /// Only the file of this seed
    #[arg(long)]
    seed: Option<u64>,
    /// Only images: fat binaries, and texts that are linked
    #[arg(long)]
    images: bool,
    /// How many threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// What became of the cases.
#[derive(Default)]
struct Tally {
    refused: u64,
    loaded: u64,
    launches: u64,
    findings: u64,
    longest: Duration,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.refused += other.refused;
        self.loaded += other.loaded;
        self.launches += other.launches;
        self.findings += other.findings;
        self.longest = self.longest.max(other.longest);
    }
}

/// Runs the cases.
///
/// # Errors
///
/// - The first case that panicked or took too long, with its seed.
pub fn run(scale: &Scale) -> Result<(), String> {
    let sources = sources(&workspace::root())?;
    // A seed without `--images` is a text's.
    if !scale.images {
        all(scale, &sources, &TEXTS)?;
    }
    if scale.images || scale.seed.is_none() {
        all(scale, &sources, &IMAGES)?;
    }
    Ok(())
}

/// A sort of mutants.
struct Sort {
    /// What one is called, and how its seed is asked for.
    name: &'static str,
    option: &'static str,
    full: u64,
    scaled: u64,
    try_out: fn(&[Source], u64, &mut Tally),
}

const TEXTS: Sort = Sort {
    name: "files",
    option: "",
    full: FULL,
    scaled: SCALED,
    try_out: |sources, seed, tally| try_out(&mutant(sources, seed), seed, tally),
};

const IMAGES: Sort = Sort {
    name: "images",
    option: " --images",
    full: FULL_IMAGES,
    scaled: SCALED_IMAGES,
    try_out: |sources, seed, tally| images::try_out(&images::mutant(sources, seed), seed, tally),
};

fn all(scale: &Scale, sources: &[Source], sort: &Sort) -> Result<(), String> {
    let (first, count) = match scale.seed {
        Some(seed) => (seed, 1),
        None => (0, if scale.full { sort.full } else { sort.scaled }),
    };
    let (next, started) = (AtomicU64::new(first), Instant::now());
    let (tally, failed) = (Mutex::new(Tally::default()), Mutex::new(None));
    // What each thread is at, so that one that never comes back is known by its seed.
    let at: Vec<Mutex<(u64, Instant)>> =
        (0..scale.threads.clamp(1, 64)).map(|_| Mutex::new((u64::MAX, Instant::now()))).collect();
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for at in &at {
            scope.spawn(|| {
                let mut mine = Tally::default();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count || lock(&failed).is_some() {
                        break;
                    }
                    *lock(at) = (seed, Instant::now());
                    if let Err(error) = one(sources, sort, seed, &mut mine) {
                        lock(&failed).get_or_insert(error);
                    }
                }
                *lock(at) = (u64::MAX, Instant::now());
                lock(&tally).add(&mine);
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        while done.load(Ordering::Relaxed) < at.len() as u64 {
            std::thread::sleep(Duration::from_millis(20));
            for each in &at {
                let (seed, since) = *lock(each);
                // One that waits for ever takes no processor's time, so here it is the clock on the wall that counts. It
                // cannot be stopped, so the process is.
                if seed != u64::MAX && since.elapsed() > 12 * LONGEST {
                    let option = sort.option;
                    eprintln!("error: mutant {seed} hangs; reproduce: cargo xtask mutate{option} --seed {seed}");
                    std::process::exit(1);
                }
            }
        }
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (name, full) = (sort.name, sort.full);
    let scale = if count == full { "full".to_string() } else { format!("scaled down, {count} of {full}") };
    println!(
        "mutate: {count} {name} ({scale}), {} refused, {} loaded, {} launches, {} findings, longest {:.0?}, 0 panics, 0 hangs, {} s",
        tally.refused,
        tally.loaded,
        tally.launches,
        tally.findings,
        tally.longest,
        started.elapsed().as_secs()
    );
    Ok(())
}

fn lock<T>(what: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn one(sources: &[Source], sort: &Sort, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let reproduce = format!("reproduce: cargo xtask mutate{} --seed {seed}", sort.option);
    let (started, mut mine) = (thread_time(), Tally::default());
    let survived = catch_unwind(AssertUnwindSafe(|| (sort.try_out)(sources, seed, &mut mine)));
    mine.longest = thread_time().saturating_sub(started);
    if survived.is_err() {
        return Err(format!("mutant {seed} made the driver panic; {reproduce}"));
    }
    if mine.longest > LONGEST {
        return Err(format!("mutant {seed} took {:.1?}; {reproduce}", mine.longest));
    }
    tally.add(&mine);
    Ok(())
}

/// Processor time of this thread, which a busy computer does not lengthen: a case runs on the thread that makes its calls.
/// Where the system does not tell, it is the time on the wall.
fn thread_time() -> Duration {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    // Nanoseconds on a processor, those of waiting for one, and how often (proc(5)).
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|told| told.split_whitespace().next()?.parse().ok());
    ns.map_or_else(|| STARTED.get_or_init(Instant::now).elapsed(), Duration::from_nanos)
}

/// A committed file: whole, and cut into its kernels, each with the file's head.
struct Source {
    whole: Vec<u8>,
    kernels: Vec<Vec<u8>>,
}

impl Source {
    fn new(whole: Vec<u8>) -> Source {
        let text = String::from_utf8_lossy(&whole).into_owned();
        let starts: Vec<usize> = text.match_indices("\n.visible .entry").map(|(at, _)| at).collect();
        let head = &text[..starts.first().copied().unwrap_or(text.len())];
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let kernels = starts.iter().zip(ends).map(|(start, end)| format!("{head}{}", &text[*start..end]).into_bytes());
        Source { kernels: kernels.collect(), whole }
    }
}

/// Every `.ptx` file of the workspace, in the order of their paths.
fn sources(root: &Path) -> Result<Vec<Source>, String> {
    let mut folders = VecDeque::from([root.to_path_buf()]);
    let mut files = Vec::new();
    while let Some(folder) = folders.pop_front() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let (path, name) = (entry.path(), entry.file_name());
            let hidden = name.to_string_lossy().starts_with('.') || name == "target";
            if path.is_dir() && !hidden {
                folders.push_back(path);
            } else if path.extension().is_some_and(|extension| extension == "ptx") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).map(Source::new).map_err(|e| format!("{}: {e}", file.display())))
        .collect()
}

/// Choices from a seed.
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// A kernel or a file, changed in one to three places.
fn mutant(sources: &[Source], seed: u64) -> Vec<u8> {
    let mut choices = Choices(seed);
    let source = &sources[choices.below(sources.len())];
    let mut text = match choices.below(16) {
        0 => source.whole.clone(),
        _ => source.kernels.get(choices.below(source.kernels.len())).unwrap_or(&source.whole).clone(),
    };
    for _ in 0..1 + choices.below(3) {
        let other = &sources[choices.below(sources.len())].whole;
        change(&mut text, other, &mut choices);
    }
    text
}

fn change(text: &mut Vec<u8>, other: &[u8], choices: &mut Choices) {
    if text.len() < 2 {
        return;
    }
    let at = choices.below(text.len());
    match choices.below(14) {
        0 => text[at] ^= 1 << choices.below(8),
        1 => text[at] = choices.next() as u8,
        2 => text.truncate(at),
        3 => {
            let (from, to) = (choices.below(other.len()), choices.below(other.len()));
            let piece = other[from.min(to)..from.max(to).min(from.min(to) + 2000)].to_vec();
            text.splice(at..at, piece);
        }
        4..=7 => lines(text, choices),
        kind => tokens(text, kind, choices),
    }
}

/// The line around `at`, with its end.
fn line(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
    let end = text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |found| at + found + 1);
    start..end
}

/// Drops, doubles or moves a line: most of the text stays PTX.
fn lines(text: &mut Vec<u8>, choices: &mut Choices) {
    let a = line(text, choices.below(text.len()));
    let piece = text[a.clone()].to_vec();
    let kind = choices.below(3);
    if kind != 1 {
        text.drain(a);
    }
    if kind != 0 && !text.is_empty() {
        let b = line(text, choices.below(text.len())).start;
        text.splice(b..b, piece);
    }
}

/// The token around `at`: a word, a number, a register, or a single sign.
fn token(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'%';
    if !is_word(&text[at]) {
        return at..at + 1;
    }
    let start = text[..at].iter().rposition(|byte| !is_word(byte)).map_or(0, |found| found + 1);
    let end = text[at..].iter().position(|byte| !is_word(byte)).map_or(text.len(), |found| at + found);
    start..end
}

/// Changes tokens: one for another of the text, or a number for one that means trouble.
fn tokens(text: &mut Vec<u8>, kind: usize, choices: &mut Choices) {
    const NUMBERS: [&str; 10] = [
        "0",
        "-1",
        "4294967295",
        "18446744073709551615",
        "0x7fffffff",
        "1e9",
        "0f7FC00000",
        "99999999999999999999",
        "64",
        "3",
    ];
    const WORDS: [&str; 24] = [
        "u8", "u16", "u32", "u64", "s32", "s64", "b8", "b128", "f16", "f32", "f64", "pred", "global", "shared",
        "local", "const", "param", "v2", "v4", "wide", "hi", "sat", "ftz", "rn",
    ];
    let a = token(text, choices.below(text.len()));
    let b = token(text, choices.below(text.len()));
    let digits = text[a.clone()].first().is_some_and(u8::is_ascii_digit);
    match kind {
        8 | 9 => {
            let new = text[b].to_vec();
            text.splice(a, new);
        }
        10 => drop(text.drain(a)),
        11 => {
            let new = text[b].to_vec();
            text.splice(a.start..a.start, new);
        }
        // A modifier for another one, where one stands; a number for another one, likewise.
        12 if a.start > 0 && text[a.start - 1] == b'.' => {
            let new = WORDS[choices.below(WORDS.len())].as_bytes().to_vec();
            text.splice(a, new);
        }
        _ if digits => {
            let new = NUMBERS[choices.below(NUMBERS.len())].as_bytes().to_vec();
            text.splice(a, new);
        }
        _ => {
            // The first number behind it.
            let from = a.end.min(text.len());
            if let Some(at) = text[from..].iter().position(u8::is_ascii_digit) {
                let number = token(text, from + at);
                let new = NUMBERS[choices.below(NUMBERS.len())].as_bytes().to_vec();
                text.splice(number, new);
            }
        }
    }
}

/// Loads the text, and launches what loads.
fn try_out(text: &[u8], seed: u64, tally: &mut Tally) {
    // A program hands over a C string: it ends at the first NUL.
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let Ok(image) = CString::new(&text[..end]) else { return };
    let options = Options { seed, budget: BUDGET, polls_max: POLLS, capacity: CAPACITY, ..Default::default() };
    let machine = Machine::new(options);
    let (mut context, mut module, mut buffer) = (CUcontext::NULL, CUmodule::NULL, 0);
    // SAFETY: every out pointer is valid and the image ends with a NUL.
    let loaded = unsafe {
        machine.cuInit(0);
        machine.cuDevicePrimaryCtxRetain(&mut context, 0);
        machine.cuCtxSetCurrent(context);
        machine.cuMemAlloc_v2(&mut buffer, 1 << 16);
        machine.cuModuleLoadData(&mut module, image.as_ptr().cast())
    };
    if loaded != CUresult::CUDA_SUCCESS {
        tally.refused += 1;
        return;
    }
    tally.loaded += 1;
    let names: Vec<CString> = kernel_names(&text[..end]);
    for name in names {
        launch(&machine, module, &name, buffer, tally);
    }
    tally.findings += machine.findings().len() as u64;
    let broken = machine.check();
    assert!(broken.is_empty(), "the machine is broken: {}", broken[0]);
}

/// What stands behind `.entry` in the text; most of these are kernels.
fn kernel_names(text: &[u8]) -> Vec<CString> {
    let text = String::from_utf8_lossy(text).into_owned();
    let after = text.split(".entry").skip(1);
    let names = after.filter_map(|rest| rest.trim_start().split(|c: char| c.is_whitespace() || c == '(').next());
    names.filter_map(|name| CString::new(name).ok()).take(4).collect()
}

fn launch(machine: &Machine, module: CUmodule, name: &CString, buffer: CUdeviceptr, tally: &mut Tally) {
    let mut function = CUfunction::NULL;
    // SAFETY: a live module, a NUL-terminated name, a valid out pointer.
    if unsafe { machine.cuModuleGetFunction(&mut function, module, name.as_ptr()) } != CUresult::CUDA_SUCCESS {
        return;
    }
    // Every parameter reads as the buffer's address: a good pointer, a wild number, or a small struct of both.
    let values: Vec<u64> = vec![buffer; 4096 / 8];
    let mut params: Vec<*mut c_void> = Vec::new();
    for index in 0.. {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: a live function and valid out pointers.
        if unsafe { machine.cuFuncGetParamInfo(function, index, &mut offset, &mut size) } != CUresult::CUDA_SUCCESS {
            break;
        }
        if size > 4096 {
            return;
        }
        params.push(values.as_ptr().cast_mut().cast());
    }
    let none = std::ptr::null_mut();
    // SAFETY: there is a pointer for each parameter, to at least as many bytes as any of them has.
    unsafe {
        machine.cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 1024, CUstream::NULL, params.as_mut_ptr(), none);
        machine.cuCtxSynchronize();
    }
    tally.launches += 1;
}
