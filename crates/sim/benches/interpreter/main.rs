//! How fast kernels run: lane instructions a second, and the ratio to plain scalar Rust that does the same work; with no
//! detectors (on one core and on two), with those that are on by default, and with all. Then what a detector adds to those
//! that are on by default, both ways of each kernel in turns.
//!
//! `cargo bench -p dacapo-sim` measures for about two seconds each (`-- 'matmul_naive none'`: only what has that in its
//! name; `-- cost`: only what detectors cost); under `cargo test` every kernel runs once on small data, and its results are
//! compared with the scalar code's. `-- --against FILE` holds this build against another one (`against.rs`).

mod against;

use std::panic::Location;
use std::sync::Arc;
use std::time::Instant;

use dacapo_driver::{Declared, DeclaredMode, DeclaredSlice};
use dacapo_sim::Detectors;
use dacapo_sim::exec::{Clock, ExecOptions, Grid, Image, Launch, Outcome, Program};
use dacapo_sim::memory::{Kind, Memory, MemoryOptions, Request};

fn main() {
    let full = std::env::args().any(|a| a == "--bench");
    let behind = |flag: &str| std::env::args().skip_while(|a| a != flag).nth(1);
    if let Some(kernel) = behind("--serve") {
        return against::serve(&kernel);
    }
    let mut wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if let Some(other) = behind("--against") {
        wanted.retain(|part| *part != other);
        return against::against(other.as_ref(), &wanted);
    }
    println!("lane instructions in G a second, median and range; time of the interpreter over that of scalar Rust");
    println!(
        "{:<20}{:<9}{:>13}{:>10}{:>15}{:>12}{:>8}{:>7}",
        "kernel", "detect", "instructions", "G/s", "range", "scalar ms", "ratio", "turns"
    );
    let n = if full { 1 << 20 } else { 1 << 12 };
    let size = if full { 256 } else { 32 };
    for (word, detectors, cores) in [
        ("none", Detectors::none(), 1),
        ("none 2c", Detectors::none(), 2),
        ("default", Detectors::default(), 1),
        ("all", Detectors::all(), 1),
    ] {
        let how = How { word, detectors, cores, full };
        let rows: [(&str, &dyn Fn()); 6] = [
            ("saxpy", &|| saxpy(n, how)),
            ("matmul_tiled", &|| matmul("matmul_tiled_f32", size, how)),
            ("matmul_naive", &|| matmul("matmul_naive_f32", size, how)),
            ("matmul_reg4x4", &|| matmul("matmul_reg4x4_f32", size.max(64), how)),
            ("softmax", &|| softmax(if full { 256 } else { 4 }, 1000, how)),
            ("philox", &|| philox(n, how)),
        ];
        for (name, row) in rows {
            if wanted.is_empty() || wanted.iter().any(|part| format!("{name} {word}").contains(part)) {
                row();
            }
        }
    }
    println!(
        "what a detector costs: time with the default ones and it over time with the default ones less it, in turns"
    );
    println!("{:<20}{:<14}{:>10}{:>10}{:>10}{:>7}", "kernel", "detector", "ratio", "p10", "p90", "turns");
    for detector in ["undeclared", "global_races"] {
        let ways = [format!("default,-{detector}"), format!("default,{detector}")];
        let ways = ways.map(|words| words.parse::<Detectors>().expect("known"));
        for kernel in KERNELS {
            if wanted.is_empty() || wanted.iter().any(|part| format!("cost {kernel} {detector}").contains(part)) {
                let mut two = ways.map(|detectors| prepared(kernel, full, How { word: "", detectors, cores: 1, full }));
                cost(kernel, detector, full, &mut two);
            }
        }
    }
}

/// What is measured in turns.
const KERNELS: [&str; 6] = [
    "saxpy_f32",
    "matmul_tiled_f32",
    "matmul_naive_f32",
    "matmul_reg4x4_f32",
    "softmax_block_f32",
    "philox_uniform_f32",
];

/// A kernel with its memory, ready to be launched any number of times.
struct Prepared {
    bench: Bench,
    kernel: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<Param>,
}

fn prepared(kernel: &'static str, full: bool, how: How) -> Prepared {
    let (n, size) = if full { (1 << 20, 256) } else { (1 << 12, 64) };
    let launch = |bench, grid, block, params| Prepared { bench, kernel, grid, block, params };
    match kernel {
        "saxpy_f32" => {
            let mut b = Bench::new("saxpy.ptx", how);
            let (x, y) = (b.upload(&numbers(n), "x"), b.upload(&numbers(n), "y"));
            let params = vec![Param::Int(n as u32), Param::Float(0.5), Param::Pointer(x), Param::Pointer(y)];
            launch(b, [n.div_ceil(256) as u32, 1, 1], [256, 1, 1], params)
        }
        "softmax_block_f32" => {
            let (rows, cols) = if full { (256, 1000) } else { (4, 1000) };
            let mut b = Bench::new("softmax.ptx", how);
            let (x, y) = (b.upload(&numbers(rows * cols), "x"), b.upload(&vec![0.0; rows * cols], "y"));
            launch(
                b,
                [rows as u32, 1, 1],
                [256, 1, 1],
                vec![Param::Int(cols as u32), Param::Pointer(x), Param::Pointer(y)],
            )
        }
        "philox_uniform_f32" => {
            let mut b = Bench::new("philox.ptx", how);
            let (offset, out) = (b.upload(&[0.0, 0.0], "offset"), b.upload(&vec![0.0; n], "out"));
            let threads = n / 4;
            let params = vec![Param::Int(threads as u32), Param::Long(7), Param::Pointer(offset), Param::Pointer(out)];
            launch(b, [threads.div_ceil(256) as u32, 1, 1], [256, 1, 1], params)
        }
        _ => {
            let mut b = Bench::new("matmul.ptx", how);
            let square = size * size;
            let (x, y) = (b.upload(&numbers(square), "a"), b.upload(&numbers(square), "b"));
            let z = b.upload(&vec![0.0; square], "c");
            let (n, tile) = (size as u32, if kernel.contains("reg4x4") { 64 } else { 16 });
            let mut params = vec![Param::Int(n), Param::Int(n), Param::Int(n)];
            params.extend([x, y, z].map(Param::Pointer));
            launch(b, [n.div_ceil(tile), n.div_ceil(tile), 1], [16, 16, 1], params)
        }
    }
}

/// Both ways in turns; the ratio of each pair.
fn cost(kernel: &str, detector: &str, full: bool, two: &mut [Prepared; 2]) {
    let mut ratios = Vec::new();
    let begin = Instant::now();
    while ratios.is_empty() || (full && (begin.elapsed().as_secs_f64() < 4.0 || ratios.len() < 11)) {
        let mut seconds = [0.0; 2];
        // Which one goes first changes from pair to pair.
        let first = ratios.len() % 2;
        for way in [first, 1 - first] {
            let Prepared { bench, kernel, grid, block, params } = &mut two[way];
            let start = Instant::now();
            bench.launch(kernel, *grid, *block, params);
            seconds[way] = start.elapsed().as_secs_f64();
        }
        ratios.push(seconds[1] / seconds[0]);
    }
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize];
    println!("{kernel:<20}{detector:<14}{:>10.3}{:>10.3}{:>10.3}{:>7}", at(0.5), at(0.1), at(0.9), ratios.len());
}

/// What is looked for meanwhile, and whether time is measured.
#[derive(Clone, Copy)]
struct How {
    word: &'static str,
    detectors: Detectors,
    cores: usize,
    full: bool,
}

struct NoClock;

impl Clock for NoClock {
    fn now_ns(&mut self) -> u64 {
        0
    }

    fn cycles(&mut self) -> u64 {
        0
    }
}

struct Bench {
    detectors: Detectors,
    cores: usize,
    memory: Memory,
    image: Arc<Image>,
}

impl Bench {
    fn new(file: &str, how: How) -> Bench {
        let path = format!("{}/tests/kernels/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let module = dacapo_ptx::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        let mut memory = Memory::new(MemoryOptions { capacity: 1 << 32, seed: 1 });
        let image = Image::place(Arc::new(Program::new(module, file)), &mut memory).expect("fits");
        Bench { detectors: how.detectors, cores: how.cores, memory, image: Arc::new(image) }
    }

    fn upload(&mut self, data: &[f32], label: &str) -> u64 {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        let request = Request { bytes: bytes.len() as u64, align: 256, kind: Kind::Device, label };
        let address = self.memory.alloc(request).expect("fits");
        self.memory.write(address, &bytes).expect("inside");
        address
    }

    fn download(&self, address: u64, count: usize) -> Vec<f32> {
        let mut bytes = vec![0; 4 * count];
        self.memory.read(address, &mut bytes).expect("inside");
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four"))).collect()
    }

    fn launch(&mut self, kernel: &str, grid: [u32; 3], block: [u32; 3], params: &[Param]) -> u64 {
        let program = self.image.program();
        let kernel = program.kernel(kernel).expect("the kernel is in the file");
        let info = program.info(kernel);
        let mut bytes = vec![0; info.param_bytes];
        for (param, at) in params.iter().zip(&info.params) {
            let field = &mut bytes[at.offset..at.offset + at.size];
            match param {
                Param::Int(x) => field.copy_from_slice(&x.to_le_bytes()),
                Param::Float(x) => field.copy_from_slice(&x.to_le_bytes()),
                Param::Pointer(x) | Param::Long(x) => field.copy_from_slice(&x.to_le_bytes()),
            }
        }
        let launch = Launch {
            image: Arc::clone(&self.image),
            kernel,
            grid,
            block,
            dynamic_shared: 0,
            params: bytes,
            cooperative: false,
            grid_id: 0,
            label: String::new(),
        };
        if self.detectors.unordered {
            self.memory.watch_alone();
        }
        let options = ExecOptions { detectors: self.detectors, cores: self.cores, ..Default::default() };
        let mut run = Grid::new(launch, &options);
        let slice = |param: &Param| match param {
            Param::Pointer(address) => {
                let bytes = self.memory.containing(*address).expect("uploaded").bytes;
                Some(DeclaredSlice {
                    name: "argument",
                    address: *address,
                    bytes,
                    mode: DeclaredMode::Write,
                    early: true,
                })
            }
            _ => None,
        };
        let slices: Vec<DeclaredSlice<'_>> = params.iter().filter_map(slice).collect();
        run.declare(&Declared { op: "bench", label: "", at: Location::caller(), slices: Some(&slices) });
        loop {
            match run.run(&mut self.memory, &mut NoClock, u64::MAX) {
                Outcome::Yield => {}
                Outcome::Done => break,
                other => panic!("{other:?}"),
            }
        }
        if let Some(finding) = run.take_findings().first() {
            panic!("{finding}");
        }
        run.executed()
    }
}

enum Param {
    Int(u32),
    Float(f32),
    Long(u64),
    Pointer(u64),
}

/// Measures both and prints a line.
fn compare(name: &str, how: How, mut simulated: impl FnMut() -> u64, mut scalar: impl FnMut()) {
    let mut instructions = 0;
    let begin = Instant::now();
    let (mut simulated_s, mut scalar_s) = (Vec::new(), Vec::new());
    // In turns, so that whatever else the machine does strikes both alike.
    while simulated_s.is_empty() || (how.full && (begin.elapsed().as_secs_f64() < 2.0 || simulated_s.len() < 11)) {
        let start = Instant::now();
        instructions = simulated();
        simulated_s.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        scalar();
        scalar_s.push(start.elapsed().as_secs_f64());
    }
    simulated_s.sort_by(f64::total_cmp);
    scalar_s.sort_by(f64::total_cmp);
    let middle = |sorted: &[f64]| sorted[sorted.len() / 2];
    let rate = |seconds: f64| instructions as f64 / seconds / 1e9;
    let (slow, fast) = (rate(simulated_s[simulated_s.len() - 1]), rate(simulated_s[0]));
    println!(
        "{name:<20}{:<9}{instructions:>13}{:>10.2}{:>15}{:>12.3}{:>8.1}{:>7}",
        how.word,
        rate(middle(&simulated_s)),
        format!("{slow:.2} to {fast:.2}"),
        middle(&scalar_s) * 1e3,
        middle(&simulated_s) / middle(&scalar_s),
        simulated_s.len()
    );
}

fn numbers(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

fn saxpy(n: usize, how: How) {
    let mut b = Bench::new("saxpy.ptx", how);
    let (x, y) = (numbers(n), numbers(n));
    let (dx, dy) = (b.upload(&x, "x"), b.upload(&y, "y"));
    let params = [Param::Int(n as u32), Param::Float(0.5), Param::Pointer(dx), Param::Pointer(dy)];
    let mut expected = y.clone();
    let mut target = y.clone();
    let mut turns = 0;
    compare(
        "saxpy_f32",
        how,
        || {
            turns += 1;
            b.launch("saxpy_f32", [n.div_ceil(256) as u32, 1, 1], [256, 1, 1], &params)
        },
        || {
            for (y, x) in std::hint::black_box(&mut target).iter_mut().zip(&x) {
                *y += 0.5 * x;
            }
        },
    );
    for _ in 0..turns {
        expected.iter_mut().zip(&x).for_each(|(y, x)| *y = 0.5f32.mul_add(*x, *y));
    }
    assert!(b.download(dy, n) == expected, "saxpy gives other results after {turns} turns");
}

fn matmul(kernel: &str, size: usize, how: How) {
    let mut b = Bench::new("matmul.ptx", how);
    let (x, y) = (numbers(size * size), numbers(size * size));
    let (dx, dy, dz) = (b.upload(&x, "a"), b.upload(&y, "b"), b.upload(&vec![0.0; size * size], "c"));
    let n = size as u32;
    let params =
        [Param::Int(n), Param::Int(n), Param::Int(n), Param::Pointer(dx), Param::Pointer(dy), Param::Pointer(dz)];
    let tile = if kernel.contains("reg4x4") { 64 } else { 16 };
    let mut target = vec![0f32; size * size];
    compare(
        kernel,
        how,
        || b.launch(kernel, [n.div_ceil(tile), n.div_ceil(tile), 1], [16, 16, 1], &params),
        || {
            let target = std::hint::black_box(&mut target);
            for i in 0..size {
                for j in 0..size {
                    let mut sum = 0f32;
                    for p in 0..size {
                        sum += x[i * size + p] * y[p * size + j];
                    }
                    target[i * size + j] = sum;
                }
            }
        },
    );
    let mut expected = vec![0f32; size * size];
    for i in 0..size {
        for j in 0..size {
            let terms = (0..size).map(|p| (x[i * size + p], y[p * size + j]));
            expected[i * size + j] = terms.fold(0f32, |sum, (a, b)| a.mul_add(b, sum));
        }
    }
    assert!(b.download(dz, size * size) == expected, "{kernel} gives other results");
}

fn softmax(rows: usize, cols: usize, how: How) {
    let mut b = Bench::new("softmax.ptx", how);
    let x = numbers(rows * cols);
    let (dx, dy) = (b.upload(&x, "x"), b.upload(&vec![0.0; rows * cols], "y"));
    let params = [Param::Int(cols as u32), Param::Pointer(dx), Param::Pointer(dy)];
    let mut expected = vec![0f32; rows * cols];
    compare(
        "softmax_block_f32",
        how,
        || b.launch("softmax_block_f32", [rows as u32, 1, 1], [256, 1, 1], &params),
        || {
            let expected = std::hint::black_box(&mut expected);
            for (source, target) in x.chunks(cols).zip(expected.chunks_mut(cols)) {
                let most = source.iter().fold(f32::NEG_INFINITY, |m, &x| m.max(x));
                let sum: f32 = source.iter().map(|x| (x - most).exp()).sum();
                target.iter_mut().zip(source).for_each(|(y, x)| *y = (x - most).exp() / sum);
            }
        },
    );
    for (got, want) in b.download(dy, rows * cols).iter().zip(&expected) {
        assert!((got - want).abs() <= 1e-5 * want.abs(), "softmax gives {got}, where {want} is right");
    }
}

fn philox(n: usize, how: How) {
    let mut b = Bench::new("philox.ptx", how);
    // Four numbers a thread, in one store.
    let threads = n / 4;
    let offset = b.upload(&[0.0, 0.0], "offset");
    let out = b.upload(&vec![0.0; n], "out");
    let mut target = vec![0f32; n];
    let params = [Param::Int(threads as u32), Param::Long(7), Param::Pointer(offset), Param::Pointer(out)];
    compare(
        "philox_uniform_f32",
        how,
        || b.launch("philox_uniform_f32", [threads.div_ceil(256) as u32, 1, 1], [256, 1, 1], &params),
        || {
            for (i, four) in std::hint::black_box(&mut target).chunks_exact_mut(4).enumerate() {
                let mut x = [i as u32, 0, 0, 0];
                let mut key = [7u32, 0];
                for _ in 0..10 {
                    let (a, b) = (0xd251_1f53 * u64::from(x[0]), 0xcd9e_8d57 * u64::from(x[2]));
                    x = [(b >> 32) as u32 ^ x[1] ^ key[0], b as u32, (a >> 32) as u32 ^ x[3] ^ key[1], a as u32];
                    key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
                }
                four.iter_mut().zip(x).for_each(|(y, x)| *y = (x >> 8) as f32 / (1 << 24) as f32);
            }
        },
    );
    let numbers = b.download(out, n);
    assert!(numbers.iter().all(|x| (0.0..=1.0).contains(x)), "uniform numbers lie between 0 and 1");
    assert!(numbers.windows(2).any(|pair| pair[0] != pair[1]), "they differ");
}
