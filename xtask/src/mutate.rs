//! `cargo xtask mutate`: PTX that nobody wrote.
//!
//! Takes the committed PTX apart and puts it together wrongly: bytes flipped, tokens swapped, lines doubled, dropped
//! or moved, files cut short or spliced. Each result is loaded into a software driver, and whatever loads is launched
//! with a small budget. A panic, or a case that takes longer than it may, is a failure; the seed of the case
//! reproduces it.
//!
//! A few thousand cases by default; `--full` runs 100,000.

use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::{Machine, Options};
use dacapo_suite::corpus;

/// How many cases the full run has.
const FULL: u64 = 100_000;
/// How many a plain one has.
const SCALED: u64 = 2_000;
/// What a case may take; a launch's own budget is far below that.
const LONGEST: Duration = Duration::from_secs(5);
/// Warp instructions of a launch.
const BUDGET: u64 = 20_000;

/// What became of the cases.
#[derive(Default)]
struct Tally {
    refused: u64,
    loaded: u64,
    launches: u64,
    findings: u64,
    longest: Duration,
}

/// Runs the cases from `seed` on.
///
/// # Errors
///
/// - The first case that panicked or took too long, with its seed.
pub fn run(full: bool, seed: Option<u64>) -> Result<(), String> {
    let (first, count) = match seed {
        Some(seed) => (seed, 1),
        None => (0, if full { FULL } else { SCALED }),
    };
    let sources = corpus::MODULES;
    let mut tally = Tally::default();
    let started = Instant::now();
    for seed in first..first + count {
        let text = mutant(sources, seed);
        let case_started = Instant::now();
        let survived = catch_unwind(AssertUnwindSafe(|| try_out(&text, seed, &mut tally)));
        let took = case_started.elapsed();
        tally.longest = tally.longest.max(took);
        let reproduce = format!("reproduce: cargo xtask mutate --seed {seed}");
        if survived.is_err() {
            return Err(format!("mutant {seed} made the driver panic; {reproduce}"));
        }
        if took > LONGEST {
            return Err(format!("mutant {seed} took {took:.1?}; {reproduce}"));
        }
    }
    let scale = if count == FULL { "full".to_string() } else { format!("scaled down, {count} of {FULL}") };
    println!(
        "mutate: {count} files ({scale}), {} refused, {} loaded, {} launches, {} findings, longest {:.0?}, 0 panics, 0 hangs, {} s",
        tally.refused,
        tally.loaded,
        tally.launches,
        tally.findings,
        tally.longest,
        started.elapsed().as_secs()
    );
    Ok(())
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

/// A file of the corpus, changed in one to six places.
fn mutant(sources: &[(&str, &str)], seed: u64) -> Vec<u8> {
    let mut choices = Choices(seed);
    let mut text = sources[choices.below(sources.len())].1.as_bytes().to_vec();
    for _ in 0..1 + choices.below(6) {
        let other = sources[choices.below(sources.len())].1.as_bytes();
        change(&mut text, other, &mut choices);
    }
    text
}

fn change(text: &mut Vec<u8>, other: &[u8], choices: &mut Choices) {
    if text.len() < 2 {
        return;
    }
    let at = choices.below(text.len());
    match choices.below(9) {
        0 => text[at] ^= 1 << choices.below(8),
        1 => text[at] = choices.next() as u8,
        2 => text.truncate(at),
        3 => {
            let (from, to) = (choices.below(other.len()), choices.below(other.len()));
            let piece = other[from.min(to)..from.max(to).min(from.min(to) + 2000)].to_vec();
            text.splice(at..at, piece);
        }
        kind => lines(text, kind, choices),
    }
}

/// Changes whole lines or tokens, so that most of the text stays PTX.
fn lines(text: &mut Vec<u8>, kind: usize, choices: &mut Choices) {
    let whole = String::from_utf8_lossy(text).into_owned();
    let mut lines: Vec<String> = whole.split('\n').map(str::to_string).collect();
    let (a, b) = (choices.below(lines.len()), choices.below(lines.len()));
    match kind {
        4 => drop(lines.remove(a)),
        5 => lines.insert(b, lines[a].clone()),
        6 => lines.swap(a, b),
        // One number for another, or one modifier or register for another of the same text.
        7 => {
            let numbers = [
                "0",
                "-1",
                "4294967295",
                "18446744073709551615",
                "0x7fffffff",
                "1e9",
                "0f7FC00000",
                "99999999999999999999",
            ];
            lines[a] = lines[a].replacen(|c: char| c.is_ascii_digit(), numbers[choices.below(numbers.len())], 1);
        }
        _ => {
            let words: Vec<&str> =
                whole.split(|c: char| c.is_whitespace() || ",;.[]{}".contains(c)).filter(|w| !w.is_empty()).collect();
            let (old, new) =
                (words[choices.below(words.len())].to_string(), words[choices.below(words.len())].to_string());
            lines[a] = lines[a].replacen(&old, &new, 1);
        }
    }
    *text = lines.join("\n").into_bytes();
}

/// Loads the text, and launches what loads.
fn try_out(text: &[u8], seed: u64, tally: &mut Tally) {
    // A program hands over a C string: it ends at the first NUL.
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let Ok(image) = CString::new(&text[..end]) else { return };
    let machine = Machine::new(Options { seed, budget: BUDGET, capacity: 64 << 20, ..Default::default() });
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
