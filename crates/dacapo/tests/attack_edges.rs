//! A stranger's programs against edges, tunings, guarded branches and early launches, with every detector on.
#![cfg(feature = "software")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dacapo::flow::{above, below, nonzero, up_to, zero};
use dacapo::graph::{Edge, GraphBuilder, Tuning};
use dacapo::inspect::{Kind, Report};
use dacapo::{Buffer, Device, ErrorKind, Graph, Recorder, Result, Slot, Software, Stream, baked, copy, fill};
use dacapo_sim::Detectors;

const PTX: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.const .align 4 .u32 fixed = 17;
.extern .shared .align 16 .b8 room[];
.visible .entry mad(.param .u32 a, .param .u32 b, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    ld.param.u32 %r1, [a];
    ld.param.u32 %r2, [b];
    ld.param.u64 %rd1, [y];
    ld.param.u32 %r3, [n];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r6, %r4, %r5, %r6;
    setp.ge.u32 %p1, %r6, %r3;
    @%p1 ret;
    mov.u32 %r8, 0;
AGAIN:
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p2, %r8, 20;
    @%p2 bra AGAIN;
    mul.wide.u32 %rd2, %r6, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r7, [%rd3];
    mad.lo.u32 %r7, %r7, %r1, %r2;
    st.global.u32 [%rd3], %r7;
    ret;
}
.visible .entry mix(.param .u64 x, .param .u64 y, .param .u32 n) .maxntid 64, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r3, [n];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r6, %r4, %r5, %r6;
    setp.ge.u32 %p1, %r6, %r3;
    @%p1 ret;
    mul.wide.u32 %rd3, %r6, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [%rd2];
    mad.lo.u32 %r2, %r2, 3, %r1;
    st.global.u32 [%rd2], %r2;
    ret;
}
.visible .entry put(.param .u32 v, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u32 %r1, [v];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r3, [n];
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r6, %r4, %r5, %r6;
    setp.ge.u32 %p1, %r6, %r3;
    @%p1 ret;
    mul.wide.u32 %rd3, %r6, 4;
    add.u64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry turn(.param .u64 y)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ntid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1];
    mov.u32 %r4, room;
    shl.b32 %r5, %r1, 2;
    add.u32 %r5, %r4, %r5;
    st.shared.u32 [%r5], %r3;
    bar.sync 0;
    sub.u32 %r6, %r2, %r1;
    sub.u32 %r6, %r6, 1;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r4, %r6;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd1], %r7;
    ret;
}
.visible .entry flip(.param .u64 f)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [f];
    ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    selp.u32 %r2, 1, 0, %p1;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry count(.param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [y];
    ld.global.u32 %r1, [counter];
    add.u32 %r1, %r1, 1;
    st.global.u32 [counter], %r1;
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry add_constant(.param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [y];
    ld.const.u32 %r1, [fixed];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd1], %r2;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: threads from `n` on return, and those with a fixed geometry touch as much as they ask for. What
    /// `mad_far` says is false.
    unsafe struct Kernels(PTX) {
        /// y[i] = y[i] * a + b, slowly.
        fn mad(a: u32, b: u32, y: &mut [u32], n: u32 = y.len()) {
            grid: linear(y.len(), 32);
        }
        /// On the first `some` elements only.
        fn mad_some(a: u32, b: u32, y: &mut [u32], some: u32) {
            entry: "mad";
            requires: some as usize <= y.len();
            grid: linear(some as usize, 32);
        }
        /// y[i] = y[i] * a + blocks, in so many blocks, which is in bounds but for more than one no use.
        fn mad_blocks(a: u32, blocks: u32, y: &mut [u32], n: u32 = y.len()) {
            entry: "mad";
            grid: exact([1, blocks, 1], [64, 1, 1]);
        }
        /// With `a` bytes of shared memory.
        fn mad_room(a: u32, b: u32, y: &mut [u32], n: u32 = y.len()) {
            entry: "mad";
            grid: linear(y.len(), 32).shared(a);
        }
        /// On as many elements as somebody says: a false declaration.
        fn mad_far(a: u32, b: u32, y: &mut [u32], n: u32) {
            entry: "mad";
            grid: linear(n as usize, 32);
        }
        /// y[i] = y[i] * 3 + x[i], with at most 64 threads a block.
        fn mix(x: &[u32], y: &mut [u32], n: u32 = y.len()) {
            requires: x.len() == y.len();
            grid: linear(y.len(), 64);
        }
        /// y[i] = v
        fn put(v: u32, y: &out [u32], n: u32 = y.len()) {
            grid: linear(y.len(), 32);
        }
        /// The same for the first `some`: all of them, or none.
        fn put_some(v: u32, y: &out [u32], some: u32) {
            entry: "put";
            requires: some as usize == y.len() || some == 0;
            grid: linear(some as usize, 32);
        }
        /// y[i] = y[n - 1 - i] in one block, through dynamic shared memory.
        fn turn(y: &mut [u32]) {
            requires: y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]).shared(y.len() as u32 * 4);
        }
        /// The same, with more shared memory than a kernel may have unasked.
        fn turn_much(y: &mut [u32]) {
            entry: "turn";
            requires: y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]).shared(100_000);
        }
        /// f = 1 if it was 0, else 0.
        fn flip(f: &mut u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// Counts in a variable of the module, and adds what it counted to y.
        fn count(y: &mut u32) {
            state: counter;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// y += what stands in a constant variable.
        fn add_constant(y: &mut u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// Interleaves kernels every few instructions, with every detector.
fn software(seed: u64) -> Software {
    Software::new().seed(seed).options(|options| (options.quantum, options.detectors) = (5, Detectors::all()))
}

struct Bench {
    device: Device,
    stream: Stream,
    k: Kernels,
}

impl Bench {
    fn new(seed: u64) -> Bench {
        Bench::of(software(seed))
    }

    fn of(software: Software) -> Bench {
        let device = software.open().unwrap();
        Bench { stream: device.stream().unwrap(), k: Kernels::load(&device).unwrap(), device }
    }

    #[track_caller]
    fn expect_clean(&self) {
        self.device.synchronize().unwrap();
        assert_eq!(self.device.findings(), [""; 0]);
    }
}

// Random programs: a tree of statements, run as a graph of every kind, eagerly, and by a model on the host.

const LEN: usize = 40;
const BUFFERS: usize = 3;
const SLOTS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Num {
    Baked(u32),
    Slot(usize),
}

#[derive(Clone, Debug)]
enum Test {
    Flag(usize),
    NoFlag(usize),
    Below(usize, Num),
    Both(Box<Test>, Box<Test>),
}

#[derive(Clone, Debug)]
enum Statement {
    Mad {
        y: usize,
        a: Num,
        b: Num,
    },
    MadSome {
        y: usize,
        some: Num,
    },
    Mix {
        x: usize,
        y: usize,
    },
    Turn {
        y: usize,
        much: bool,
    },
    Count {
        y: usize,
    },
    Constant {
        y: usize,
    },
    Copy {
        x: usize,
        y: usize,
    },
    Fill {
        y: usize,
        v: Num,
    },
    Flip {
        f: usize,
    },
    /// A temp that one kernel writes and the next reads.
    Scratch {
        y: usize,
        v: Num,
    },
    /// A temp that is written on both sides and read behind them.
    Sides {
        test: Test,
        y: usize,
        v: Num,
        w: Num,
    },
    When {
        test: Test,
        then: Vec<Statement>,
        otherwise: Option<Vec<Statement>>,
    },
    /// With a way out behind its first statement.
    Times {
        n: Num,
        leave: Option<Test>,
        body: Vec<Statement>,
    },
    Until {
        most: Num,
        test: Test,
        body: Vec<Statement>,
    },
    Switch {
        f: usize,
        cases: Vec<Vec<Statement>>,
    },
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn buffer(&mut self) -> usize {
        self.below(BUFFERS as u64) as usize
    }

    fn two(&mut self) -> (usize, usize) {
        let (x, step) = (self.buffer(), 1 + self.below(BUFFERS as u64 - 1) as usize);
        (x, (x + step) % BUFFERS)
    }

    /// At most `LEN`, also when it is a slot's.
    fn num(&mut self) -> Num {
        match self.below(2) {
            0 => Num::Baked(self.below(9) as u32),
            _ => Num::Slot(self.below(SLOTS as u64) as usize),
        }
    }

    fn test(&mut self) -> Test {
        match self.below(5) {
            0 => Test::Both(Box::new(self.comparison()), Box::new(self.comparison())),
            _ => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Test {
        match self.below(4) {
            0 | 1 => Test::Flag(self.below(2) as usize),
            2 => Test::NoFlag(self.below(2) as usize),
            _ => Test::Below(self.buffer(), self.num()),
        }
    }

    fn body(&mut self, most: u64, depth: u32) -> Vec<Statement> {
        (0..1 + self.below(most)).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: u32) -> Statement {
        let (x, y) = self.two();
        match self.below(if depth == 0 { 14 } else { 24 }) {
            0..=3 => Statement::Mad { y, a: self.num(), b: self.num() },
            4 | 5 => Statement::MadSome { y, some: self.num() },
            6 | 7 => Statement::Mix { x, y },
            8 => Statement::Turn { y, much: self.below(2) == 0 },
            9 if depth > 0 => Statement::Count { y },
            9 => Statement::Constant { y },
            10 => Statement::Copy { x, y },
            11 => Statement::Fill { y, v: self.num() },
            12 => Statement::Flip { f: self.below(2) as usize },
            13 => Statement::Scratch { y, v: self.num() },
            14 => Statement::Sides { test: self.test(), y, v: self.num(), w: self.num() },
            15..=20 => {
                let then = self.body(3, depth - 1);
                let otherwise = (self.below(2) == 0).then(|| self.body(2, depth - 1));
                Statement::When { test: self.test(), then, otherwise }
            }
            21 => {
                let (n, leave) = (Num::Baked(self.below(4) as u32), (self.below(2) == 0).then(|| self.test()));
                Statement::Times { n, leave, body: self.body(3, depth - 1) }
            }
            22 => Statement::Until { most: Num::Baked(3), test: self.test(), body: self.body(3, depth - 1) },
            _ => Statement::Switch {
                f: self.below(2) as usize,
                cases: vec![self.body(2, depth - 1), self.body(2, depth - 1)],
            },
        }
    }
}

/// What a program works on.
struct Memory {
    buffers: Vec<Buffer<u32>>,
    flags: Buffer<u32>,
}

impl Memory {
    fn new(device: &Device) -> Memory {
        let buffer =
            |of: usize| device.buffer(&(0..LEN as u32).map(|i| i + 5 * of as u32).collect::<Vec<_>>()).unwrap();
        Memory { buffers: (0..BUFFERS).map(buffer).collect(), flags: device.buffer(&[1, 0]).unwrap() }
    }

    fn read(&self, stream: &Stream) -> Vec<Vec<u32>> {
        self.buffers.iter().chain([&self.flags]).map(|buffer| stream.read(buffer).unwrap()).collect()
    }

    fn two(&mut self, x: usize, y: usize) -> (&Buffer<u32>, &mut Buffer<u32>) {
        let [x, y] = self.buffers.get_disjoint_mut([x, y]).unwrap();
        (x, y)
    }
}

macro_rules! with_num {
    ($slots:expr, $num:expr, |$value:ident| $run:expr) => {
        match $num {
            Num::Baked(n) => {
                let $value = baked(n);
                $run
            }
            Num::Slot(at) => {
                let $value = &$slots[at];
                $run
            }
        }
    };
}

struct Program<'k> {
    k: &'k Kernels,
    slots: &'k [Slot<u32>],
    body: &'k [Statement],
}

impl Program<'_> {
    fn test(&self, memory: &Memory, test: &Test) -> dacapo::flow::Condition {
        match test {
            Test::Flag(f) => nonzero(memory.flags.at(*f)),
            Test::NoFlag(f) => zero(memory.flags.at(*f)),
            Test::Below(y, n) => with_num!(self.slots, *n, |n| below(memory.buffers[*y].at(3), n)),
            Test::Both(one, other) => self.test(memory, one) & self.test(memory, other),
        }
    }

    fn record(&self, r: &mut Recorder<'_>, memory: &mut Memory) -> Result<()> {
        self.all(r, memory, self.body)
    }

    fn all(&self, r: &mut Recorder<'_>, memory: &mut Memory, body: &[Statement]) -> Result<()> {
        body.iter().try_for_each(|statement| self.one(r, memory, statement))
    }

    fn one(&self, r: &mut Recorder<'_>, memory: &mut Memory, statement: &Statement) -> Result<()> {
        let (k, slots) = (self.k, self.slots);
        match statement {
            Statement::Mad { y, a, b } => {
                let y = &mut memory.buffers[*y];
                with_num!(slots, *a, |a| with_num!(slots, *b, |b| r.run(k.mad(a, b, y))))
            }
            Statement::MadSome { y, some } => {
                let y = &mut memory.buffers[*y];
                with_num!(slots, *some, |some| r.run(k.mad_some(baked(5), baked(7), y, some)))
            }
            Statement::Mix { x, y } => {
                let (x, y) = memory.two(*x, *y);
                r.run(k.mix(x, y))
            }
            Statement::Turn { y, much: false } => r.run(k.turn(&mut memory.buffers[*y])),
            Statement::Turn { y, much: true } => r.run(k.turn_much(&mut memory.buffers[*y])),
            Statement::Count { y } => r.run(k.count(memory.buffers[*y].at_mut(1))),
            Statement::Constant { y } => r.run(k.add_constant(memory.buffers[*y].at_mut(2))),
            Statement::Copy { x, y } => {
                let (x, y) = memory.two(*x, *y);
                r.run(copy(x, y))
            }
            Statement::Fill { y, v } => with_num!(slots, *v, |v| r.run(fill(&mut memory.buffers[*y], v))),
            Statement::Flip { f } => r.run(k.flip(memory.flags.at_mut(*f))),
            Statement::Scratch { y, v } => {
                let mut t = r.alloc::<u32>(LEN)?;
                with_num!(slots, *v, |v| r.run(k.put(v, &mut t)))?;
                r.run(k.mix(&t, &mut memory.buffers[*y]))
            }
            Statement::Sides { test, y, v, w } => {
                let mut t = r.alloc::<u32>(LEN)?;
                let test = self.test(memory, test);
                r.when(test, |r: &mut Recorder<'_>| with_num!(slots, *v, |v| r.run(k.put(v, &mut t))))?
                    .otherwise(|r: &mut Recorder<'_>| with_num!(slots, *w, |w| r.run(k.put(w, &mut t))))?;
                r.run(k.mix(&t, &mut memory.buffers[*y]))
            }
            Statement::When { test, then, otherwise } => {
                let test = self.test(memory, test);
                let when = r.when(test, |r: &mut Recorder<'_>| self.all(r, memory, then))?;
                match otherwise {
                    Some(body) => when.otherwise(|r: &mut Recorder<'_>| self.all(r, memory, body)),
                    None => Ok(()),
                }
            }
            Statement::Times { n, leave, body } => {
                let body = |r: &mut Recorder<'_>| {
                    self.all(r, memory, &body[..1])?;
                    if let Some(test) = leave {
                        r.leave_if(self.test(memory, test))?;
                    }
                    self.all(r, memory, &body[1..])
                };
                with_num!(slots, *n, |n| r.repeat_times(n, body)).map(drop)
            }
            Statement::Until { most, test, body } => {
                let body = |r: &mut Recorder<'_>| {
                    self.all(r, memory, body)?;
                    Ok(self.test(memory, test))
                };
                with_num!(slots, *most, |most| r.repeat(up_to(most), body)).map(drop)
            }
            Statement::Switch { f, cases } => {
                // What a `switch` looks at is read before its bodies are recorded.
                let mut index = r.alloc::<u32>(1)?;
                r.run(copy(&memory.flags[*f..*f + 1], &mut index))?;
                r.switch(index.at(0), cases.len() as u32, |r, case| self.all(r, memory, &cases[case as usize]))
            }
        }
    }
}

/// The same on the host.
struct Model {
    buffers: Vec<Vec<u32>>,
    flags: Vec<u32>,
    counter: u32,
    slots: [u32; SLOTS],
}

impl Model {
    fn num(&self, num: Num) -> u32 {
        match num {
            Num::Baked(n) => n,
            Num::Slot(at) => self.slots[at],
        }
    }

    fn test(&self, test: &Test) -> bool {
        match test {
            Test::Flag(f) => self.flags[*f] != 0,
            Test::NoFlag(f) => self.flags[*f] == 0,
            Test::Below(y, n) => self.buffers[*y][3] < self.num(*n),
            Test::Both(one, other) => self.test(one) && self.test(other),
        }
    }

    fn mix(&mut self, x: &[u32], y: usize) {
        self.buffers[y].iter_mut().zip(x).for_each(|(y, x)| *y = y.wrapping_mul(3).wrapping_add(*x));
    }

    fn all(&mut self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Mad { y, a, b } => {
                    let (a, b) = (self.num(*a), self.num(*b));
                    self.buffers[*y].iter_mut().for_each(|y| *y = y.wrapping_mul(a).wrapping_add(b));
                }
                Statement::MadSome { y, some } => {
                    let some = self.num(*some) as usize;
                    self.buffers[*y][..some].iter_mut().for_each(|y| *y = y.wrapping_mul(5).wrapping_add(7));
                }
                Statement::Mix { x, y } => {
                    let x = self.buffers[*x].clone();
                    self.mix(&x, *y);
                }
                Statement::Turn { y, .. } => self.buffers[*y].reverse(),
                Statement::Count { y } => {
                    self.counter += 1;
                    let y = &mut self.buffers[*y][1];
                    *y = y.wrapping_add(self.counter);
                }
                Statement::Constant { y } => {
                    let y = &mut self.buffers[*y][2];
                    *y = y.wrapping_add(17);
                }
                Statement::Copy { x, y } => self.buffers[*y] = self.buffers[*x].clone(),
                Statement::Fill { y, v } => {
                    let v = self.num(*v);
                    self.buffers[*y].fill(v);
                }
                Statement::Flip { f } => self.flags[*f] = u32::from(self.flags[*f] == 0),
                Statement::Scratch { y, v } => {
                    let v = self.num(*v);
                    self.mix(&[v; LEN], *y);
                }
                Statement::Sides { test, y, v, w } => {
                    let v = self.num(if self.test(test) { *v } else { *w });
                    self.mix(&[v; LEN], *y);
                }
                Statement::When { test, then, otherwise } => match (self.test(test), otherwise) {
                    (true, _) => self.all(then),
                    (false, Some(body)) => self.all(body),
                    (false, None) => {}
                },
                Statement::Times { n, leave, body } => {
                    for _ in 0..self.num(*n) {
                        self.all(&body[..1]);
                        if leave.as_ref().is_some_and(|test| self.test(test)) {
                            break;
                        }
                        self.all(&body[1..]);
                    }
                }
                Statement::Until { most, test, body } => {
                    for _ in 0..self.num(*most) {
                        self.all(body);
                        if !self.test(test) {
                            break;
                        }
                    }
                }
                Statement::Switch { f, cases } => {
                    if let Some(body) = cases.get(self.flags[*f] as usize) {
                        self.all(body);
                    }
                }
            }
        }
    }

    fn read(&self) -> Vec<Vec<u32>> {
        self.buffers.iter().chain([&self.flags]).cloned().collect()
    }
}

/// What the slots are in each launch: among others empty grids, and all elements.
const SLOT_VALUES: [[u32; SLOTS]; 4] = [[3, 0, 40], [0, 2, 33], [1, 40, 0], [7, 1, 5]];

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Graph { guarded: bool, edges: u8 },
    Embedded { guarded: bool },
    Rerecorded { from: bool, to: bool },
    Tuned,
    Profiled,
    Eager { plain: bool },
}

const WAYS: [Way; 14] = [
    Way::Graph { guarded: true, edges: 0 },
    Way::Graph { guarded: true, edges: 1 },
    Way::Graph { guarded: true, edges: 2 },
    Way::Graph { guarded: false, edges: 0 },
    Way::Graph { guarded: false, edges: 1 },
    Way::Embedded { guarded: true },
    Way::Embedded { guarded: false },
    Way::Rerecorded { from: true, to: true },
    Way::Rerecorded { from: false, to: true },
    Way::Rerecorded { from: true, to: false },
    Way::Tuned,
    Way::Profiled,
    Way::Eager { plain: false },
    Way::Eager { plain: true },
];

/// So many, or as many as `ATTACK_SEEDS` says, from `ATTACK_FROM` on.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let said = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (from, count) = (said("ATTACK_FROM").unwrap_or(0), said("ATTACK_SEEDS").unwrap_or(usual));
    from..from + count
}

/// A recording with the usual edges, with signals, or with kinds that the seed chooses.
fn with_edges(builder: GraphBuilder<'_>, edges: u8, seed: u64) -> GraphBuilder<'_> {
    match edges {
        0 => builder,
        1 => builder.edges_by(|_, _| Edge::Signals),
        _ => builder.edges_by(move |one, other| match (one * 31 + other * 7 + seed as usize) % 4 {
            0 => Edge::Full,
            1 => Edge::Waits,
            _ => Edge::Signals,
        }),
    }
}

fn has_guarded(graph: &Graph<()>) -> bool {
    graph.inspect().nodes.iter().any(|node| node.kind == Kind::Guarded)
}

/// A report of a recording is that of its graph, and can be printed in every way.
fn expect_reports(graph: &Graph<()>, before: Option<&Report>, said: &str) {
    let report = graph.inspect();
    let _ = (report.to_string(), report.to_dot(), graph.edges(), dacapo::inspect::diff(&report, &report).to_string());
    let shown = |report: &Report| report.nodes.iter().map(|node| (node.kind, node.name.clone())).collect::<Vec<_>>();
    if let Some(before) = before {
        assert_eq!((shown(before), &before.edges), (shown(&report), &report.edges), "{said}");
    }
}

/// Whether some branch was guarded.
fn run_way(software: Software, body: &[Statement], way: Way, seed: u64) -> bool {
    let b = Bench::of(software);
    let slots: Vec<Slot<u32>> = SLOT_VALUES[0].iter().map(|value| Slot::new(*value)).collect();
    let mut memory = Memory::new(&b.device);
    let (pool, arena, machine) =
        (b.device.pool(), b.device.arena(1 << 16).unwrap(), b.device.machine().unwrap().clone());
    let program = Program { k: &b.k, slots: &slots, body };
    let said = |what: &str| format!("{what} {way:?}, seed {seed}: {body:#?}");
    let flags = memory.read(&b.stream);
    let mut model =
        Model { buffers: flags[..BUFFERS].to_vec(), flags: flags[BUFFERS].clone(), counter: 0, slots: SLOT_VALUES[0] };
    let builder = |guarded: bool, edges: u8| {
        let builder = b.device.graph().guarded(guarded);
        // Where temps are, and whether ops may overlap, is as little to be seen.
        let builder = match seed % 7 {
            1 => builder.apart(),
            2 => builder.straight_line(),
            3 => builder.pool(&pool),
            4 => builder.arena(&arena),
            _ => builder,
        };
        with_edges(builder, edges, seed)
    };
    let mut graph: Option<Graph<()>> = match way {
        Way::Graph { guarded, edges } => {
            Some(builder(guarded, edges).record(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap())
        }
        Way::Embedded { guarded } => {
            let inner = builder(guarded, 0).record(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
            let outer = |r: &mut Recorder<'_>| r.run(inner.as_op());
            Some(builder(!guarded || seed.is_multiple_of(2), 1).record(outer).unwrap())
        }
        Way::Rerecorded { from, to } => {
            let mut graph = builder(from, 1).record(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
            let done =
                graph.rerecord_with(builder(to, 1), |r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
            assert!(done.is_updated() || from != to, "{}", said(&done.to_string()));
            Some(graph)
        }
        Way::Tuned | Way::Profiled => {
            Some(b.device.record(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap())
        }
        Way::Eager { .. } => None,
    };
    let plain = b.device.plain_stream().unwrap();
    for (launch, values) in SLOT_VALUES.into_iter().enumerate() {
        values.iter().zip(&slots).for_each(|(value, slot)| slot.set(*value));
        model.slots = values;
        model.all(body);
        match (&mut graph, way) {
            (Some(graph), Way::Tuned) => {
                if launch == 1 {
                    graph.tune(&b.stream).unwrap();
                }
                graph.launch(&b.stream).map(drop).unwrap();
            }
            (Some(graph), Way::Profiled) if launch % 2 == 0 => {
                let profile = graph.profile(&b.stream).unwrap();
                let _ = (profile.to_string(), profile.critical_ns(), profile.sum_ns(), profile.lanes());
            }
            (Some(graph), _) => graph.launch(&b.stream).map(drop).unwrap(),
            (None, Way::Eager { plain: true }) => {
                plain.run(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap()
            }
            (None, _) => b.stream.run(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap(),
        }
        assert_eq!(memory.read(&b.stream), model.read(), "{}", said(&format!("launch {launch}")));
    }
    assert_eq!(b.device.findings(), [""; 0], "{}", said("findings"));
    if let Some(graph) = &graph {
        let mut before = None;
        if let Way::Graph { guarded, edges } = way {
            before =
                Some(builder(guarded, edges).inspect(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap());
        }
        expect_reports(graph, before.as_ref(), &said("report"));
    }
    let is_guarded = graph.as_ref().is_some_and(has_guarded);
    drop((graph, memory, pool, arena, plain, b));
    assert_eq!(machine.census(), dacapo_sim::Census::default(), "{}", said("left behind"));
    is_guarded
}

#[test]
fn random_programs_give_the_same_to_the_bit_in_every_way_to_run_them() {
    let mut guarded = 0;
    for seed in seeds(12) {
        let body = Random(seed).body(7, 3);
        for way in WAYS {
            let software = match seed % 4 {
                3 => software(seed).options(|options| options.driver_version = 12_040),
                1 => software(seed).options(|options| options.quantum = 1),
                _ => software(seed),
            };
            guarded += usize::from(run_way(software, &body, way, seed));
        }
    }
    assert!(guarded > 0);
}

// Tunings.

/// Fails if it is not over in time: a hang is a finding, and not the end of a test run.
fn in_time<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(what));
        let _ = tell.send(());
        outcome
    });
    match told.recv_timeout(std::time::Duration::from_secs(60)) {
        Ok(()) => thread.join().unwrap().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => panic!("it hangs"),
    }
}

/// Variables of a module and the state of a generator are memory that others see.
#[test]
fn a_tuning_puts_back_variables_of_modules_and_generators() {
    let b = Bench::new(1);
    let mut random = dacapo::random::Generator::new(&b.device, 7).unwrap();
    let (mut y, mut words) = (b.device.zeros::<u32>(LEN).unwrap(), b.device.zeros::<u32>(9).unwrap());
    let mut graph = b
        .device
        .record(|r: &mut Recorder<'_>| {
            r.run(b.k.count(y.at_mut(0)))?;
            r.run(b.k.mad(baked(1), baked(0), &mut y))?;
            r.run(b.k.count(y.at_mut(0)))?;
            r.run(random.words(&mut words))
        })
        .unwrap();
    graph.launch(&b.stream).unwrap();
    let state = random.save(&b.stream).unwrap();
    graph.tune(&b.stream).unwrap();
    assert_eq!(random.save(&b.stream).unwrap(), state);
    b.stream.run(b.k.count(y.at_mut(1))).unwrap();
    assert_eq!(b.stream.read(&y[..2]).unwrap(), [1 + 2, 3]);
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y[..1]).unwrap(), [3 + 4 + 5]);
    b.expect_clean();
}

/// Graphs that share memory are tuned at once, on one stream and on several, while somebody counts in the same memory.
#[test]
fn tunings_beside_each_other_and_beside_a_writer_leave_what_the_writer_wrote() {
    for seed in 0..4 {
        in_time(move || {
            let b = Bench::new(seed);
            let mut y = b.device.zeros::<u32>(LEN).unwrap();
            let other = b.device.stream().unwrap();
            let mut graphs: Vec<Graph<()>> = (0..3)
                .map(|_| {
                    let body = |r: &mut Recorder<'_>| {
                        (0..3).try_for_each(|by| r.run(b.k.mad(baked(3), baked(by), &mut y)))?;
                        r.when(nonzero(y.at(0)), |r: &mut Recorder<'_>| r.run(b.k.turn(&mut y))).map(drop)
                    };
                    b.device.record(body).unwrap()
                })
                .collect();
            let going = AtomicBool::new(true);
            let wrote = std::thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    let (stream, mut wrote) = (b.device.stream().unwrap(), 0);
                    while going.load(Ordering::Relaxed) || wrote < 3 {
                        stream.run(b.k.mad(baked(1), baked(1), &mut y)).unwrap();
                        wrote += 1;
                    }
                    wrote
                });
                let streams = [&b.stream, &b.stream, &other];
                let tuners: Vec<_> = graphs
                    .iter_mut()
                    .zip(streams)
                    .map(|(graph, stream)| scope.spawn(move || drop(graph.tune(stream).unwrap())))
                    .collect();
                tuners.into_iter().for_each(|tuner| tuner.join().unwrap());
                going.store(false, Ordering::Relaxed);
                writer.join().unwrap()
            });
            assert_eq!(b.stream.read(&y).unwrap(), [wrote; LEN]);
            b.expect_clean();
        });
    }
}

/// Somebody sets a slot all the time while a graph is tuned: behind it, a launch uses what the slot says.
#[test]
fn a_slot_that_changes_during_a_tuning_is_not_lost() {
    for seed in 0..6 {
        let b = Bench::new(seed);
        let (mut y, some) = (b.device.zeros::<u32>(LEN).unwrap(), Slot::new(4u32));
        let body = |r: &mut Recorder<'_>| {
            r.run(b.k.mad_some(baked(0), baked(1), &mut y, &some))?;
            r.when(zero(y.at(39)), |r: &mut Recorder<'_>| r.run(b.k.mad_some(baked(2), baked(0), &mut y, &some)))?;
            r.run(b.k.mad_some(baked(5), baked(1), &mut y, &some))
        };
        let mut graph = b.device.record(body).unwrap();
        let last = std::thread::scope(|scope| {
            let tuned = scope.spawn(|| drop(graph.tune(&b.stream).unwrap()));
            let mut last = 4;
            while !tuned.is_finished() {
                // Also to nothing at all.
                last = (last + 7) % 39;
                some.set(last);
            }
            tuned.join().unwrap();
            last as usize
        });
        graph.launch(&b.stream).unwrap();
        let want: Vec<u32> = (0..LEN).map(|at| if at < last { 11 } else { 0 }).collect();
        assert_eq!(b.stream.read(&y).unwrap(), want, "seed {seed}");
        b.expect_clean();
    }
}

/// Recorded again as it is, a tuned graph is the same: what was found is what is asked for.
#[test]
fn a_tuned_graph_that_is_recorded_again_is_updated_in_place() {
    for seed in seeds(40) {
        let b = Bench::new(seed);
        let slots: Vec<Slot<u32>> = SLOT_VALUES[seed as usize % 4].iter().map(|value| Slot::new(*value)).collect();
        let body = Random(seed + 1000).body(9, 2);
        let (mut memory, program) = (Memory::new(&b.device), Program { k: &b.k, slots: &slots, body: &body });
        let mut graph = b.device.record(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
        let before = memory.read(&b.stream);
        let tuned = graph.tune(&b.stream).unwrap();
        assert_eq!(memory.read(&b.stream), before, "seed {seed}");
        let edges = graph.edges();
        let done = graph.rerecord(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
        assert!(done.is_updated(), "seed {seed}: {done}\n{tuned}");
        assert_eq!(graph.edges(), edges, "seed {seed}");
        // In another process the text gives the same edges.
        let again: Tuning = tuned.tuning.to_string().parse().unwrap();
        assert_eq!(again, tuned.tuning);
        let other =
            b.device.graph().tuned(&again).record(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
        assert_eq!(other.edges(), edges, "seed {seed}");
        b.expect_clean();
    }
}

/// Texts that somebody broke are refused, or are tunings that go there and back and change no result.
#[test]
fn a_broken_text_of_a_tuning_is_refused_or_harmless() {
    let b = Bench::new(2);
    let mut y = b.device.zeros::<u32>(LEN).unwrap();
    let body = |r: &mut Recorder<'_>, y: &mut Buffer<u32>| {
        r.run(b.k.put(baked(1), y))?;
        (0..2).try_for_each(|by| r.run(b.k.mad(baked(3), baked(by), y)))?;
        r.run(b.k.turn(y))
    };
    let text =
        b.device.record(|r: &mut Recorder<'_>| body(r, &mut y)).unwrap().tune(&b.stream).unwrap().tuning.to_string();
    let (mut random, mut taken, mut refused) = (Random(3), 0, 0);
    let pieces = [
        "\u{a0}",
        "\u{feff}",
        "\0",
        "\r",
        "\u{2028}",
        ">",
        "x",
        "-1",
        "99999999999999999999",
        "signals",
        "é",
        "+",
        "\n",
        " ",
    ];
    for round in 0..3000 {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..1 + random.below(3) {
            if chars.is_empty() {
                break;
            }
            let at = random.below(chars.len() as u64) as usize;
            match random.below(4) {
                0 => drop(chars.remove(at)),
                1 => chars.truncate(at.max(1)),
                2 => drop(chars.splice(at..at, pieces[random.below(pieces.len() as u64) as usize].chars())),
                _ => chars[at] = char::from(random.below(128) as u8),
            }
        }
        let broken: String = chars.into_iter().collect();
        match broken.parse::<Tuning>() {
            Err(error) => {
                refused += 1;
                assert!(matches!(error.kind(), ErrorKind::BadTuning { .. }), "{broken:?}: {error}");
            }
            Ok(tuning) => {
                taken += 1;
                assert_eq!(tuning.to_string().parse::<Tuning>().unwrap(), tuning, "{broken:?}");
                if round % 20 == 0 {
                    let mut graph =
                        b.device.graph().tuned(&tuning).record(|r: &mut Recorder<'_>| body(r, &mut y)).unwrap();
                    graph.launch(&b.stream).unwrap();
                    assert_eq!(b.stream.read(&y).unwrap(), [10; LEN]);
                }
            }
        }
    }
    assert!(taken > 0 && refused > 0, "{taken} {refused}");
    b.expect_clean();
}

/// The line of an error is the one in the file, also behind lines without anything.
#[test]
fn a_text_without_its_first_line_is_refused_by_the_line_that_stands_there() {
    let error = "\n\n\nnot a tuning\n".parse::<Tuning>().unwrap_err();
    assert!(error.to_string().contains("line 4 "), "{error}");
}

#[test]
fn a_huge_tuning_is_read_and_used_in_no_time() {
    let mut text = String::from("dacapo tuning 1 for some GPU\n");
    for at in 0..200_000 {
        text += &format!("signals a{at} 1x1x1 32x1x1 0 ff > b 2x1x1 32x1x1 0 ff\n");
    }
    let began = std::time::Instant::now();
    let tuning: Tuning = text.parse().unwrap();
    assert_eq!(tuning.len(), 200_000);
    let long = format!("dacapo tuning 1 for g\nsignals {}", "z".repeat(10_000_000));
    let error = long.parse::<Tuning>().unwrap_err().to_string();
    assert!(error.len() < 1000 && began.elapsed().as_secs() < 20, "{}", error.len());
}

/// A tuning says `signals` of kernels that may not: constants, variables of a module, a control of their own.
#[test]
fn a_tuning_of_signals_for_kernels_that_cannot_signal_changes_no_result() {
    for seed in 0..8 {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let (w, mut x, mut y) = (
            b.device.buffer(&[100u32; 32]).unwrap(),
            b.device.zeros::<u32>(32).unwrap(),
            b.device.zeros::<u32>(32).unwrap(),
        );
        let mut body = |r: &mut Recorder<'_>| {
            r.run(b.k.mad(baked(2), baked(1), &mut x))?;
            r.run(b.k.count(x.at_mut(0)))?;
            r.run(b.k.add_constant(x.at_mut(0)))?;
            r.run(b.k.mad(baked(2), baked(1), &mut x))?;
            r.run(own.late(&mut x))?;
            r.run(b.k.mad(baked(2), baked(1), &mut x))?;
            r.run(own.add_own(&w, &x, &mut y))?;
            r.run(b.k.mad(baked(2), baked(1), &mut y))
        };
        let report = b.device.graph().inspect(&mut body).unwrap();
        // Every kernel behind every other, of both texts.
        let mut tuned = b.device.record(&mut body).unwrap();
        let known = tuned.tune(&b.stream).unwrap().tuning;
        drop(tuned);
        let sums: std::collections::BTreeSet<u64> =
            known.iter().flat_map(|(one, other, _)| [one.text, other.text]).collect();
        let mut text = format!("dacapo tuning 1 for {}\n", known.gpu());
        for sum in &sums {
            for other in &sums {
                for one in &report.nodes {
                    for two in &report.nodes {
                        let geometry = |name: &str| {
                            if ["count", "add_constant"].contains(&name) { "1x1x1 1x1x1" } else { "1x1x1 32x1x1" }
                        };
                        let (a, b) = (&one.name, &two.name);
                        let line =
                            format!("signals {a} {} 0 {sum:016x} > {b} {} 0 {other:016x}\n", geometry(a), geometry(b));
                        if !text.contains(&line) {
                            text += &line;
                        }
                    }
                }
            }
        }
        let mut graph = b.device.graph().tuned(&text.parse().unwrap()).record(&mut body).unwrap();
        // In front of the one with a constant, and of the one that says nothing of what it does before its wait.
        let kinds = graph.edges();
        assert!(kinds.iter().all(|(_, to, kind)| ![2, 4].contains(to) || *kind == Edge::Full), "{kinds:?}");
        assert!(kinds.iter().any(|(.., kind)| *kind == Edge::Signals), "{kinds:?}");
        let (mut model, mut second) = ([0u32; 2], 0);
        for launch in 1..4 {
            graph.launch(&b.stream).unwrap();
            model = model.map(|x| x * 2 + 1);
            model[0] += launch + 17;
            model = model.map(|x| ((x * 2 + 1) + 1) * 2 + 1);
            second = (model[1] + 100) * 2 + 1;
            assert_eq!(b.stream.read(&x[..2]).unwrap(), model, "seed {seed}");
        }
        assert_eq!(b.stream.read(&y[1..2]).unwrap(), [second]);
        b.expect_clean();
    }
}

/// `Edge::Signals` says that the first kernel signals. One that touches variables of its module has no copy that does.
#[test]
fn edges_out_of_a_kernel_that_cannot_signal_are_not_called_signalling() {
    let b = Bench::new(0);
    let mut y = b.device.zeros::<u32>(LEN).unwrap();
    let body = |r: &mut Recorder<'_>| {
        r.run(b.k.count(y.at_mut(0)))?;
        r.run(b.k.mad(baked(1), baked(1), &mut y))
    };
    let graph = b.device.graph().edges_by(|_, _| Edge::Signals).record(body).unwrap();
    assert_eq!(graph.edges(), [(0, 1, Edge::Waits)]);
}

/// y[i] = w[i] + x[i], with `w` read before a wait of its own; and x[i] += 1 long after others may begin.
const OWN: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 seen;
.visible .entry add_own(.param .u64 w, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [w];
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    ld.param.u64 %rd3, [x];
    add.u64 %rd3, %rd3, %rd1;
    griddepcontrol.wait;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r2;
    ld.param.u64 %rd4, [y];
    add.u64 %rd4, %rd4, %rd1;
    st.global.u32 [%rd4], %r3;
    ret;
}
// The same with `x` read before the wait, too.
.visible .entry add_too_early(.param .u64 w, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [w];
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    ld.param.u64 %rd3, [x];
    add.u64 %rd3, %rd3, %rd1;
    ld.global.u32 %r3, [%rd3];
    griddepcontrol.wait;
    add.u32 %r3, %r3, %r2;
    ld.param.u64 %rd4, [y];
    add.u64 %rd4, %rd4, %rd1;
    st.global.u32 [%rd4], %r3;
    ret;
}
// Reads a variable of the module before its wait, and writes it behind it.
.visible .entry add_seen(.param .u64 w, .param .u64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd2, [w];
    ld.global.u32 %r2, [%rd2];
    ld.global.u32 %r3, [seen];
    add.u32 %r3, %r3, %r2;
    griddepcontrol.wait;
    st.global.u32 [seen], %r3;
    ld.param.u64 %rd4, [y];
    st.global.u32 [%rd4], %r3;
    ret;
}
// Half of the threads return before the wait; those that stay read `w` before it.
.visible .entry add_half(.param .u64 w, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p ret;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [w];
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    griddepcontrol.wait;
    ld.param.u64 %rd3, [x];
    add.u64 %rd3, %rd3, %rd1;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r2;
    ld.param.u64 %rd4, [y];
    add.u64 %rd4, %rd4, %rd1;
    st.global.u32 [%rd4], %r3;
    ret;
}
// Puts `w` into shared memory before its wait, and uses a neighbour's part of it behind a barrier.
.visible .entry add_staged(.param .u64 w, .param .u64 x, .param .u64 y)
{
    .shared .align 4 .b8 stage[256];
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [w];
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u32 %r2, [%rd2];
    mov.u32 %r4, stage;
    shl.b32 %r5, %r1, 2;
    add.u32 %r5, %r4, %r5;
    st.shared.u32 [%r5], %r2;
    griddepcontrol.wait;
    bar.sync 0;
    xor.b32 %r6, %r1, 1;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r4, %r6;
    ld.shared.u32 %r7, [%r6];
    ld.param.u64 %rd3, [x];
    add.u64 %rd3, %rd3, %rd1;
    ld.global.u32 %r3, [%rd3];
    add.u32 %r3, %r3, %r7;
    ld.param.u64 %rd4, [y];
    add.u64 %rd4, %rd4, %rd1;
    st.global.u32 [%rd4], %r3;
    ret;
}
.visible .entry late(.param .u64 x)
{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    griddepcontrol.wait;
    griddepcontrol.launch_dependents;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [x];
    add.u64 %rd2, %rd2, %rd1;
    mov.u32 %r2, 0;
AGAIN:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 400;
    @%p bra AGAIN;
    ld.global.u32 %r3, [%rd2];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd2], %r3;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: one block of as many threads as the slices have elements. What `add_seen` and
    /// `add_too_early` say is false: they touch a variable, and `x`.
    unsafe struct Own(OWN) {
        fn add_own(w: &[u32], x: &[u32], y: &out [u32]) {
            early: w;
            requires: w.len() == y.len(), x.len() == y.len(), y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
        fn add_too_early(w: &[u32], x: &[u32], y: &out [u32]) {
            early: w;
            requires: w.len() == y.len(), x.len() == y.len(), y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
        fn add_seen(w: &u32, y: &out u32) {
            state: seen;
            early: w;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        fn add_staged(w: &[u32], x: &[u32], y: &out [u32]) {
            early: w;
            requires: w.len() == y.len(), x.len() == y.len(), y.len() <= 64, y.len() % 2 == 0;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
        fn add_half(w: &[u32], x: &[u32], y: &mut [u32], n: u32) {
            early: w;
            requires: w.len() == y.len(), x.len() == y.len(), n as usize <= y.len(), y.len() <= 64;
            grid: exact([1, 1, 1], [y.len() as u32, 1, 1]);
        }
        fn late(x: &mut [u32]) {
            requires: x.len() <= 64;
            grid: exact([1, 1, 1], [x.len() as u32, 1, 1]);
        }
    }
}

// What a kernel says that it touches early.

/// The findings of some seeds of a graph in which the second kernel begins while the first runs.
fn found_early(
    edge: Option<Edge>,
    body: impl Fn(&Bench, &Own, &mut Recorder<'_>, &mut [Buffer<u32>; 3]) -> Result<()>,
) -> String {
    let mut findings = String::new();
    for seed in 0..40 {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let mut memory = [(); 3].map(|()| b.device.buffer(&[1u32; 32]).unwrap());
        let builder = match edge {
            Some(edge) => b.device.graph().edges_by(move |_, _| edge),
            None => b.device.graph(),
        };
        let mut graph = builder.record(|r: &mut Recorder<'_>| body(&b, &own, r, &mut memory)).unwrap();
        assert!(graph.edges().iter().any(|(.., kind)| *kind != Edge::Full));
        graph.launch(&b.stream).unwrap();
        b.stream.synchronize().unwrap();
        findings += &b.device.findings().join("\n");
    }
    findings
}

/// A variable of the module is memory like any other.
#[test]
fn a_variable_that_is_touched_before_the_wait_is_found() {
    let findings = found_early(Some(Edge::Signals), |b, own, r, [w, x, y]| {
        r.run(b.k.mad(baked(3), baked(1), x))?;
        r.run(b.k.mix(x, y))?;
        r.run(own.add_seen(w.at(0), y.at_mut(0)))
    });
    assert!(findings.contains("seen"), "{findings}");
}

/// Most graphs have the edges that they get by themselves: there, too, a kernel begins before what is before it is visible.
#[test]
fn a_false_claim_of_what_is_touched_early_is_found_with_the_usual_edges() {
    let findings = found_early(None, |b, own, r, [w, x, y]| {
        (0..3).try_for_each(|_| r.run(b.k.mad(baked(3), baked(1), x)))?;
        r.run(own.add_too_early(w, x, y))?;
        r.run(b.k.mix(y, x))
    });
    assert!(findings.contains("before its `griddepcontrol.wait`"), "{findings}");
}

/// The same claim, with kernels that signal.
#[test]
fn a_false_claim_of_what_is_touched_early_is_found_behind_a_kernel_that_signals() {
    for own_signal in [false, true] {
        let findings = found_early(Some(Edge::Signals), |b, own, r, [w, x, y]| {
            match own_signal {
                true => r.run(own.late(x))?,
                false => r.run(b.k.mad(baked(3), baked(1), x))?,
            }
            r.run(own.add_too_early(w, x, y))
        });
        assert!(findings.contains("before its `griddepcontrol.wait`"), "{findings}");
    }
}

/// Threads that return before the wait, also all of them: what comes behind such a kernel still sees what came before it.
#[test]
fn threads_that_return_before_their_wait_let_nothing_overtake() {
    for seed in 0..40 {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let [w, mut x, mut y] = [(); 3].map(|()| b.device.buffer(&[1u32; 32]).unwrap());
        let some = Slot::new(16u32);
        let body = |r: &mut Recorder<'_>| {
            r.run(b.k.mad(baked(3), baked(1), &mut x))?;
            r.run(own.add_half(&w, &x, &mut y, &some))?;
            r.run(b.k.mix(&y, &mut x))
        };
        let mut graph = b.device.graph().edges_by(|_, _| Edge::Signals).record(body).unwrap();
        let (mut xs, mut ys) = ([1u32; 32], [1u32; 32]);
        for n in [16, 0, 32, 0] {
            some.set(n as u32);
            graph.launch(&b.stream).unwrap();
            for at in 0..32 {
                xs[at] = xs[at] * 3 + 1;
                ys[at] = if at < n { xs[at] + 1 } else { ys[at] };
                xs[at] = xs[at] * 3 + ys[at];
            }
            assert_eq!(
                (b.stream.read(&x).unwrap(), b.stream.read(&y).unwrap()),
                (xs.to_vec(), ys.to_vec()),
                "seed {seed}"
            );
        }
        b.expect_clean();
    }
}

/// What is touched early is written before, by something that is no kernel, inside a branch, or of overlapping memory: edges are
/// full, and nothing is reported.
#[test]
fn whoever_writes_what_is_touched_early_comes_before_it() {
    for seed in 0..20 {
        for case in 0..6 {
            let b = Bench::new(seed);
            let own = Own::load(&b.device).unwrap();
            let mut w = b.device.buffer(&[1u32; 48]).unwrap();
            let [mut x, mut y] = [(); 2].map(|()| b.device.buffer(&[1u32; 32]).unwrap());
            let flag = b.device.scalar(1u32).unwrap();
            let inner = b.device.record(b.k.mad(baked(0), baked(9), &mut w)).unwrap();
            let body = |r: &mut Recorder<'_>| {
                match case {
                    0 => r.run(fill(&mut w, baked(9)))?,
                    1 => r
                        .when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.mad(baked(0), baked(9), &mut w)))
                        .map(drop)?,
                    2 => r
                        .repeat_times(baked(2), |r: &mut Recorder<'_>| r.run(b.k.mad(baked(0), baked(9), &mut w)))
                        .map(drop)?,
                    3 => r.run(inner.as_op())?,
                    4 => (0..2).try_for_each(|half| r.run(b.k.mad(baked(0), baked(9), &mut w[half * 24..][..24])))?,
                    _ => r.run(own.late(&mut w))?,
                }
                r.run(b.k.mad(baked(3), baked(1), &mut x))?;
                r.run(own.add_own(&w[8..40], &x, &mut y))?;
                // Behind it, what it has read is written again.
                r.run(b.k.mad(baked(0), baked(1), &mut w))
            };
            let mut graph = b.device.graph().straight_line().edges_by(|_, _| Edge::Signals).record(body).unwrap();
            for launch in 0..2u32 {
                graph.launch(&b.stream).unwrap();
                let want = if case == 5 { 2 } else { 9 } + if launch == 0 { 4 } else { 13 };
                assert_eq!(b.stream.read(&y).unwrap(), [want; 32], "case {case}, seed {seed}");
            }
            b.expect_clean();
        }
    }
}

/// In a loop, what a later op of the round writes is there in the next.
#[test]
fn an_early_kernel_in_a_loop_sees_what_the_round_before_wrote() {
    for seed in 0..20 {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let [mut w, mut x, mut y] = [(); 3].map(|()| b.device.buffer(&[1u32; 32]).unwrap());
        let body = |r: &mut Recorder<'_>| {
            r.repeat_times(baked(4), |r: &mut Recorder<'_>| {
                r.run(b.k.mad(baked(3), baked(1), &mut x))?;
                r.run(own.add_own(&w, &x, &mut y))?;
                r.run(own.late(&mut w))?;
                r.when(nonzero(y.at(0)), |r: &mut Recorder<'_>| r.run(b.k.mix(&y, &mut w))).map(drop)
            })
            .map(drop)
        };
        let mut graph = b.device.graph().edges_by(|_, _| Edge::Signals).record(body).unwrap();
        graph.launch(&b.stream).unwrap();
        let (mut ws, mut xs, mut ys) = (1u32, 1u32, 1);
        for _ in 0..4 {
            xs = xs * 3 + 1;
            ys = ws + xs;
            ws = (ws + 1) * 3 + ys;
        }
        assert_eq!((b.stream.read(&w).unwrap()[5], b.stream.read(&y).unwrap()[5]), (ws, ys), "seed {seed}");
        b.expect_clean();
    }
}

/// `early` is for kernels that wait by themselves: one whose text only lets others begin never does.
#[test]
fn a_kernel_that_never_waits_cannot_be_declared_early() {
    const NEVER: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry never(.param .u64 w, .param .u64 y)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    griddepcontrol.launch_dependents;
    ld.param.u64 %rd1, [w];
    ld.param.u64 %rd2, [y];
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd2], %r1;
    ret;
}
";
    dacapo::kernels! {
        /// Safe by: it does not load.
        unsafe struct Never(NEVER) {
            #[allow(dead_code, reason = "it does not load")]
            fn never(w: &u32, y: &out u32) {
                early: w;
                grid: exact([1, 1, 1], [1, 1, 1]);
            }
        }
    }
    let b = Bench::new(0);
    let error = Never::load(&b.device).map(drop).expect_err("its text has no wait").to_string();
    assert!(error.contains("its text has no `griddepcontrol.wait`"), "{error}");
}

// Launches one by one.

/// The statements of a program, each run by itself on one of several streams, and read by the host now and then.
#[test]
fn statements_on_several_streams_are_ordered_as_they_were_called() {
    for seed in seeds(60) {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let streams = [b.device.stream().unwrap(), b.device.plain_stream().unwrap(), b.device.stream().unwrap()];
        let slots: Vec<Slot<u32>> = SLOT_VALUES[seed as usize % 4].iter().map(|value| Slot::new(*value)).collect();
        let (mut random, mut memory) = (Random(seed + 500), Memory::new(&b.device));
        let body: Vec<Statement> = (0..30).map(|_| random.statement(u32::from(seed % 3 == 0))).collect();
        let first = memory.read(&b.stream);
        let (buffers, flags) = (first[..BUFFERS].to_vec(), first[BUFFERS].clone());
        let mut model = Model { buffers, flags, counter: 0, slots: SLOT_VALUES[seed as usize % 4] };
        for statement in &body {
            let stream = &streams[random.below(3) as usize];
            let one = std::slice::from_ref(statement);
            let program = Program { k: &b.k, slots: &slots, body: one };
            if random.below(3) == 0 {
                // It lets those behind it begin long before it is over.
                stream.run(own.late(&mut memory.buffers[0])).unwrap();
                model.buffers[0].iter_mut().for_each(|y| *y = y.wrapping_add(1));
            }
            stream.run(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
            model.all(one);
            if random.below(4) == 0 {
                assert_eq!(memory.read(&streams[random.below(3) as usize]), model.read(), "seed {seed}: {body:?}");
            }
        }
        assert_eq!(memory.read(&b.stream), model.read(), "seed {seed}");
        b.expect_clean();
    }
}

// Guarded branches.

/// Refuses one call, with a code that such a call may answer with, and remembers which.
struct Nth {
    nth: usize,
    seen: AtomicUsize,
    struck: std::sync::Mutex<Option<dacapo_driver::Call>>,
}

impl dacapo_driver::Hook for Nth {
    fn around(
        &self,
        call: dacapo_driver::Call,
        _: &[dacapo_driver::Argument],
        run: &mut dyn FnMut() -> dacapo_driver::CUresult,
    ) -> dacapo_driver::CUresult {
        let undone = |fault: &&dacapo_driver::Lawful| fault.effect == dacapo_driver::Effect::NotDone;
        let mut faults = dacapo_driver::lawful(call).iter().filter(undone);
        match faults.next() {
            Some(fault) if self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.nth => {
                *self.struck.lock().unwrap() = Some(call);
                fault.code
            }
            _ => run(),
        }
    }
}

/// Twenty of the first, and the rest of the second.
fn twenty(first: u32, rest: u32) -> [u32; LEN] {
    std::array::from_fn(|at| if at < 20 { first } else { rest })
}

/// Any one call of the driver is refused while a guarded graph is recorded, launched, tuned, profiled and recorded again: that is an
/// error, and then it works, and nothing is left behind.
#[test]
fn whatever_call_is_refused_a_guarded_graph_is_as_it_was_or_is_not() {
    let (mut refused, mut done) = (0, false);
    for nth in 1..5000 {
        if done {
            break;
        }
        let fault = Arc::new(Nth { nth, seen: AtomicUsize::new(0), struck: std::sync::Mutex::new(None) });
        let kept = fault.clone();
        // SAFETY: the hook passes calls on, or refuses them without having made them.
        let opened = unsafe {
            software(nth as u64).open_hooked(move |machine| Arc::new(dacapo_driver::Hooked::new(machine, kept)))
        };
        let Ok(device) = opened else { continue };
        let struck = || *fault.struck.lock().unwrap();
        let machine = device.machine().unwrap().clone();
        let (Ok(stream), Ok(k)) = (device.stream(), Kernels::load(&device)) else { continue };
        let (Ok(flag), Ok(mut y)) = (device.scalar(1u32), device.zeros::<u32>(LEN)) else { continue };
        let shown = y.share();
        if struck().is_some() {
            continue;
        }
        let (some, first) = (Slot::new(40u32), std::cell::Cell::new(1));
        let mut body = |r: &mut Recorder<'_>| {
            r.run(k.put(baked(first.get()), &mut y))?;
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| {
                r.run(k.mad_some(baked(3), baked(1), &mut y, &some))?;
                r.run(k.turn_much(&mut y))
            })?
            .otherwise(|r: &mut Recorder<'_>| r.run(k.mad(baked(0), baked(first.get()), &mut y)))?;
            r.run(k.mad(baked(2), baked(1), &mut y))
        };
        let steps = |graph: &mut Graph<()>, step: usize| -> Result<()> {
            match step {
                0 => graph.launch(&stream).map(drop),
                1 => graph.tune(&stream).map(drop),
                2 => {
                    some.set(20);
                    graph.launch(&stream).map(drop)
                }
                3 => graph.profile(&stream).map(drop),
                _ => stream.synchronize(),
            }
        };
        let mut graph = match device.record(&mut body) {
            Ok(graph) => graph,
            Err(_) => {
                refused += 1;
                device.record(&mut body).unwrap()
            }
        };
        for step in 0..5 {
            if let Err(error) = steps(&mut graph, step) {
                refused += 1;
                assert!(!error.to_string().is_empty());
                steps(&mut graph, step)
                    .unwrap_or_else(|error| panic!("call {nth}, {:?}, step {step}: {error}", struck()));
            }
        }
        first.set(2);
        if graph.rerecord(&mut body).is_err() {
            refused += 1;
            // It is what it was, or says that it is not yet.
            let mut was = graph.launch(&stream).map(drop);
            was = was.or_else(|_| graph.launch(&stream).map(drop));
            was.unwrap_or_else(|error| panic!("call {nth}, {:?}: {error}", struck()));
            assert_eq!(stream.read(&shown).unwrap(), twenty(3, 9), "call {nth}, {:?}", struck());
            graph.rerecord(&mut body).unwrap();
        }
        let again = |outcome: Result<Vec<u32>>| outcome.or_else(|_| stream.read(&y));
        let launched = graph.launch(&stream).map(drop);
        if launched.is_err() {
            graph.launch(&stream).unwrap();
        }
        assert_eq!(again(stream.read(&y)).unwrap(), twenty(5, 15), "call {nth}, {:?}", struck());
        assert_eq!(device.findings(), [""; 0], "call {nth}, {:?}", struck());
        done = struck().is_none();
        drop((graph, stream, k, flag, y, shown, device));
        assert_eq!(machine.census(), dacapo_sim::Census::default(), "call {nth}, {:?}", struck());
    }
    assert!(done && refused > 50, "{refused}");
}

/// A slot empties the grid that a temp is written by, on one side: refused guarded or not, with the same words.
#[test]
fn a_temp_that_a_side_leaves_unwritten_is_refused_guarded_or_not() {
    let mut said = Vec::new();
    for guarded in [true, false] {
        let b = Bench::new(0);
        let (flag, mut y, some) =
            (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap(), Slot::new(40u32));
        let body = |r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(LEN)?;
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.put(baked(4), &mut t)))?
                .otherwise(|r: &mut Recorder<'_>| r.run(b.k.put_some(baked(5), &mut t, &some)))?;
            r.run(b.k.mix(&t, &mut y))
        };
        let mut graph = b.device.graph().guarded(guarded).record(body).unwrap();
        graph.launch(&b.stream).unwrap();
        some.set(0);
        let refused = graph.launch(&b.stream).map(drop).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::UninitTemp { .. }), "{refused}");
        assert!(graph.tune(&b.stream).is_err() && graph.profile(&b.stream).is_err());
        some.set(40);
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [16; LEN]);
        said.push(refused.to_string().lines().next().unwrap().to_string());
        b.expect_clean();
    }
    assert_eq!(said[0], said[1]);
}

/// Memory that each launch is given, also where memory that is gone was.
#[test]
fn guarded_kernels_of_a_graph_into_memory_follow_what_they_are_given() {
    for seed in 0..10 {
        let b = Bench::new(seed);
        let some = Slot::new(3u32);
        let (x, mut y) = (b.device.buffer(&[2u32; LEN]).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
        let mut flag = b.device.buffer(&[1u32]).unwrap();
        let builder = b.device.graph().guarded(true).edges_by(|_, _| Edge::Signals);
        let mut graph = builder
            .record_into((&x[..], &flag[..]), &mut y[..], |r, (x, flag), y| {
                r.run(b.k.mad(baked(1), baked(1), y))?;
                r.when(nonzero(flag.at(0)), |r: &mut Recorder<'_>| {
                    r.run(b.k.mix(x, y))?;
                    r.run(b.k.mad_some(baked(2), baked(0), y, &some))
                })?
                .otherwise(|r: &mut Recorder<'_>| r.run(b.k.turn(y)))?;
                r.run(b.k.mad(baked(1), baked(1), y))
            })
            .unwrap();
        drop((x, y));
        for launch in 0..8u32 {
            // Of the same sizes: their addresses are given out again.
            let (x, mut y) = (b.device.buffer(&[launch; LEN]).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
            some.set(launch % 3);
            b.stream.write(&mut flag, &[launch % 2]).unwrap();
            if launch == 5 {
                graph.profile(&b.stream, (&x[..], &flag[..]), &mut y[..]).unwrap();
            } else {
                graph.launch(&b.stream, (&x[..], &flag[..]), &mut y[..]).unwrap();
            }
            let mut want = [2u32; LEN];
            if launch % 2 == 1 {
                want = [3 + launch + 1; LEN];
                want[..launch as usize % 3].fill((3 + launch) * 2 + 1);
            }
            assert_eq!(b.stream.read(&y).unwrap(), want, "launch {launch}, seed {seed}");
        }
        b.expect_clean();
    }
}

/// Kernels of several modules on both sides, one of which has the other's names and another text; the modules' owners are gone.
#[test]
fn kernels_of_modules_that_nobody_holds_any_more_are_guarded_as_well() {
    let b = Bench::new(0);
    let machine = b.device.machine().unwrap().clone();
    let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
    // In the second text, `mad` adds 100 more.
    let second = PTX.replace("mad.lo.u32 %r7, %r7, %r1, %r2;", "mad.lo.u32 %r7, %r7, %r1, %r2; add.u32 %r7, %r7, 100;");
    // SAFETY: as the first text: it stays inside its slices.
    let (one, two) = (Kernels::load(&b.device).unwrap(), unsafe { Kernels::load_ptx(&b.device, &second) }.unwrap());
    let body = |r: &mut Recorder<'_>| {
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| {
            r.run(one.mad(baked(1), baked(1), &mut y))?;
            r.run(two.mad(baked(1), baked(1), &mut y))
        })?
        .otherwise(|r: &mut Recorder<'_>| r.run(two.mad(baked(1), baked(2), &mut y)))
    };
    let mut graph = b.device.record(body).unwrap();
    assert!(graph.inspect().nodes.iter().any(|node| node.kind == Kind::Guarded));
    let inner = b.device.record(graph.as_op()).unwrap();
    drop((one, two));
    b.device.synchronize().unwrap();
    graph.launch(&b.stream).unwrap();
    drop(graph);
    let mut outer = b.device.record(inner.as_op()).unwrap();
    drop(inner);
    outer.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y).unwrap(), [204; LEN]);
    b.expect_clean();
    drop((outer, flag, y, b));
    assert_eq!(machine.census(), dacapo_sim::Census::default());
}

/// A `when` that is forgotten, an `otherwise` that panics or fails and is swallowed: what was recorded before counts.
#[test]
fn sides_that_come_to_nothing_leave_the_other_side() {
    for seed in 0..6 {
        let b = Bench::of(match seed % 2 {
            0 => software(seed),
            _ => software(seed).options(|options| options.driver_version = 12_040),
        });
        let (flag, mut y) = (b.device.scalar(0u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
        let body = |r: &mut Recorder<'_>| {
            std::mem::forget(
                r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.mad(baked(1), baked(1), &mut y)))?,
            );
            let when = r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.mad(baked(1), baked(10), &mut y)))?;
            let failed = when.otherwise(|r: &mut Recorder<'_>| {
                r.run(b.k.mad(baked(1), baked(1000), &mut y))?;
                Err(dacapo::Error::msg("no"))
            });
            assert!(failed.is_err());
            let when = r.when(zero(&flag), |r: &mut Recorder<'_>| r.run(b.k.mad(baked(1), baked(100), &mut y)))?;
            let caught = catch_unwind(AssertUnwindSafe(|| {
                when.otherwise(|r: &mut Recorder<'_>| {
                    r.run(b.k.mad(baked(1), baked(5000), &mut y))?;
                    panic!("on purpose")
                })
            }));
            assert!(caught.is_err());
            r.run(b.k.mad(baked(2), baked(0), &mut y))
        };
        let mut graph = b.device.record(body).unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [200; LEN], "seed {seed}");
        b.stream.write(&mut y, &[0; LEN]).unwrap();
        b.expect_clean();
    }
}

// Code of the user's that is called in the middle.

/// Who chooses edges records, launches, tunes and drops graphs of his own, and changes slots.
#[test]
fn a_chooser_of_edges_may_use_the_device() {
    in_time(|| {
        let b = Bench::new(0);
        let mut y = b.device.zeros::<u32>(LEN).unwrap();
        let mut z = b.device.zeros::<u32>(LEN).unwrap();
        let inner = b
            .device
            .record(|r: &mut Recorder<'_>| (0..3).try_for_each(|by| r.run(b.k.mad(baked(1), baked(by), &mut z))));
        let (inner, stream, device) =
            (std::sync::Mutex::new(inner.unwrap()), b.device.stream().unwrap(), b.device.clone());
        let (pool, calls) = (b.device.pool(), Arc::new(AtomicUsize::new(0)));
        let (kept, counted) = (pool.clone(), calls.clone());
        let chooser = move |_: usize, _: usize| {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut inner = inner.lock().unwrap();
            let _ = inner.launch(&stream).map(drop);
            let _ = inner.tune(&stream);
            let _ = device.graph().pool(&kept).record(inner.as_op()).map(drop);
            let _ = kept.clear();
            let _ = device.synchronize();
            let _ = device.zeros::<u32>(7);
            Edge::Signals
        };
        let body = |r: &mut Recorder<'_>, y: &mut Buffer<u32>| {
            let mut t = r.alloc::<u32>(LEN)?;
            r.run(b.k.put(baked(0), &mut t))?;
            r.run(b.k.mix(&t, y))?;
            (0..3).try_for_each(|by| r.run(b.k.mad(baked(2), baked(by), y)))
        };
        let builder = b.device.graph().pool(&pool).edges_by(chooser);
        builder.clone().inspect(|r: &mut Recorder<'_>| body(r, &mut y)).unwrap();
        let mut graph = builder.record(|r: &mut Recorder<'_>| body(r, &mut y)).unwrap();
        graph.rerecord(|r: &mut Recorder<'_>| body(r, &mut y)).unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [4; LEN]);
        assert!(calls.load(Ordering::Relaxed) > 0);
        b.expect_clean();
    });
}

/// Foreign work that tunes, profiles or records is refused, by every way to come there.
#[test]
fn foreign_work_that_tunes_is_refused_and_nothing_hangs() {
    in_time(|| {
        let b = Bench::new(0);
        let (mut y, mut z) = (b.device.zeros::<u32>(LEN).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
        let other = b
            .device
            .record(|r: &mut Recorder<'_>| (0..2).try_for_each(|by| r.run(b.k.mad(baked(1), baked(by), &mut y))));
        let (other, refusals) = (Arc::new(std::sync::Mutex::new(other.unwrap())), Arc::new(AtomicUsize::new(0)));
        let (streams, counted) = (Arc::new([b.device.stream().unwrap(), b.device.stream().unwrap()]), refusals.clone());
        let (kept, used) = (other.clone(), streams.clone());
        let mut body = |r: &mut Recorder<'_>| {
            r.run(b.k.mad(baked(1), baked(1), &mut z))?;
            let (kept, used, counted) = (kept.clone(), used.clone(), counted.clone());
            // SAFETY: it enqueues nothing.
            let asks = unsafe {
                dacapo::raw::foreign((), &mut z[..], move |_, _, _| {
                    let mut other = kept.lock().unwrap();
                    for stream in used.iter() {
                        let outcomes = [
                            other.tune(stream).map(drop),
                            other.profile(stream).map(drop),
                            other.launch(stream).map(drop),
                        ];
                        counted
                            .fetch_add(outcomes.iter().filter(|outcome| outcome.is_err()).count(), Ordering::Relaxed);
                    }
                    Ok(())
                })
            };
            r.run(asks)?;
            r.run(b.k.mad(baked(1), baked(1), &mut z))
        };
        streams[0].run(&mut body).unwrap();
        assert_eq!(refusals.load(Ordering::Relaxed), 6);
        let mut graph = b.device.record(&mut body).unwrap();
        graph.tune(&streams[0]).unwrap();
        graph.launch(&streams[1]).unwrap();
        assert_eq!(b.stream.read(&z).unwrap(), [4; LEN]);
        assert_eq!(refusals.load(Ordering::Relaxed) % 6, 0);
        assert_eq!(b.stream.read(&y).unwrap(), [0; LEN]);
        b.expect_clean();
    });
}

/// Handles on launches that are forgotten, and work in flight on other streams, while caches are tuned.
#[test]
fn a_cache_is_tuned_while_what_it_launched_is_in_flight() {
    use dacapo::shapes::GraphCache;
    for seed in 0..6 {
        let b = Bench::new(seed);
        let other = b.device.stream().unwrap();
        let mut total = b.device.zeros::<u32>(LEN).unwrap();
        let mut cache: GraphCache<usize, Buffer<u32>> = GraphCache::new(&b.device);
        let mut want = 0;
        for round in 0..4u32 {
            for times in [2usize, 3] {
                let y = cache.run(&other, &times, |r| {
                    let mut y = r.output::<u32>(LEN)?;
                    r.run(b.k.put(baked(1), &mut y))?;
                    (0..times).try_for_each(|_| r.run(b.k.mad(baked(2), baked(0), &mut y)))?;
                    let yes = above(y.at(0), baked(0));
                    r.when(yes, |r: &mut Recorder<'_>| r.run(b.k.mad(baked(1), baked(1), &mut y)))?;
                    Ok(y)
                });
                b.stream.run(b.k.mix(y.unwrap(), &mut total)).unwrap();
                want = want * 3 + (1 << times) + 1;
            }
            if round == 1 {
                let tuning = cache.tune(&b.stream).unwrap();
                assert!(!tuning.is_empty());
            }
        }
        assert_eq!(b.stream.read(&total).unwrap(), [want; LEN]);
        b.expect_clean();
    }
}

/// Another program of the same shape in place of the first: other memory, numbers, conditions and sides.
fn mutated(random: &mut Random, body: &[Statement]) -> Vec<Statement> {
    let one = |random: &mut Random, statement: &Statement| {
        let (other, target) = random.two();
        match statement.clone() {
            Statement::Mad { .. } => Statement::Mad { y: target, a: random.num(), b: random.num() },
            Statement::MadSome { .. } => Statement::MadSome { y: target, some: random.num() },
            Statement::Mix { .. } => Statement::Mix { x: other, y: target },
            // As much shared memory as before: what becomes of more is asked below.
            Statement::Turn { much, .. } => Statement::Turn { y: target, much },
            Statement::Copy { .. } => Statement::Copy { x: other, y: target },
            Statement::Fill { .. } => Statement::Fill { y: target, v: random.num() },
            Statement::Flip { f } => Statement::Flip { f: 1 - f },
            Statement::Scratch { .. } => Statement::Scratch { y: target, v: random.num() },
            Statement::Sides { test, v, w, .. } => Statement::Sides { test, y: target, v: w, w: v },
            Statement::When { then, otherwise, test } => {
                let test = if random.below(2) == 0 { random.test() } else { test };
                let then = mutated(random, &then);
                let otherwise = otherwise.map(|body| mutated(random, &body));
                match otherwise {
                    Some(body) if random.below(2) == 0 => Statement::When { test, then: body, otherwise: Some(then) },
                    otherwise => Statement::When { test, then, otherwise },
                }
            }
            Statement::Times { leave, body, .. } => {
                Statement::Times { n: Num::Baked(random.below(4) as u32), leave, body: mutated(random, &body) }
            }
            Statement::Until { most, body, .. } => {
                Statement::Until { most, test: random.test(), body: mutated(random, &body) }
            }
            Statement::Switch { f, cases } => {
                Statement::Switch { f: 1 - f, cases: cases.iter().rev().map(|body| mutated(random, body)).collect() }
            }
            same @ (Statement::Count { .. } | Statement::Constant { .. }) => same,
        }
    };
    body.iter().map(|statement| if random.below(3) == 0 { statement.clone() } else { one(random, statement) }).collect()
}

#[test]
fn programs_recorded_in_place_of_each_other_give_what_the_last_one_says() {
    let (mut updated, mut rebuilt) = (0, 0);
    for seed in seeds(60) {
        let b = Bench::of(match seed % 4 {
            3 => software(seed).options(|options| options.driver_version = 12_040),
            _ => software(seed),
        });
        let slots: Vec<Slot<u32>> = SLOT_VALUES[0].iter().map(|value| Slot::new(*value)).collect();
        let (mut random, mut memory) = (Random(seed + 9000), Memory::new(&b.device));
        let mut body = random.body(5, 2);
        let mut program = Program { k: &b.k, slots: &slots, body: &body };
        let edges =
            move |one: usize, other: usize| [Edge::Full, Edge::Waits, Edge::Signals][(one + other + seed as usize) % 3];
        let builder = || b.device.graph().guarded(true).edges_by(edges);
        let mut graph = builder().record(|r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
        let first = memory.read(&b.stream);
        let (buffers, flags) = (first[..BUFFERS].to_vec(), first[BUFFERS].clone());
        let mut model = Model { buffers, flags, counter: 0, slots: SLOT_VALUES[0] };
        for round in 0..6usize {
            let values = SLOT_VALUES[round % 4];
            values.iter().zip(&slots).for_each(|(value, slot)| slot.set(*value));
            model.slots = values;
            graph.launch(&b.stream).unwrap();
            model.all(&body);
            assert_eq!(memory.read(&b.stream), model.read(), "round {round}, seed {seed}: {body:#?}");
            // One that cannot be launched in between is refused, and changes nothing.
            slots[round % 3].set(41);
            let refused = graph.launch(&b.stream).map(drop).err();
            if refused.is_none() {
                model.slots[round % 3] = 41;
                model.all(&body);
            }
            slots[round % 3].set(values[round % 3]);
            model.slots = values;
            body = mutated(&mut random, &body);
            program = Program { k: &b.k, slots: &slots, body: &body };
            let options = builder().guarded(random.below(6) != 0);
            let done = graph.rerecord_with(options, |r: &mut Recorder<'_>| program.record(r, &mut memory)).unwrap();
            *(if done.is_updated() { &mut updated } else { &mut rebuilt }) += 1;
            if round == 3 {
                graph.tune(&b.stream).unwrap();
            }
        }
        assert_eq!(memory.read(&b.stream), model.read(), "seed {seed}");
        b.expect_clean();
    }
    assert!(updated > 20 && rebuilt > 20, "{updated} {rebuilt}");
}

/// Several threads want guarded and signalling copies of one module at once.
#[test]
fn copies_of_a_module_that_several_threads_want_at_once_are_made_once_or_go() {
    for seed in 0..6 {
        let b = Bench::new(seed);
        let machine = b.device.machine().unwrap().clone();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let stream = b.device.stream().unwrap();
                    let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
                    let body = |r: &mut Recorder<'_>| {
                        (0..2).try_for_each(|_| r.run(b.k.mad(baked(1), baked(1), &mut y)))?;
                        r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.mad(baked(2), baked(1), &mut y)))
                            .map(drop)
                    };
                    let mut graph = b.device.graph().edges_by(|_, _| Edge::Signals).record(body).unwrap();
                    graph.launch(&stream).unwrap();
                    assert_eq!(stream.read(&y).unwrap(), [5; LEN]);
                });
            }
        });
        b.expect_clean();
        drop(b);
        assert_eq!(machine.census(), dacapo_sim::Census::default());
    }
}

/// More than a tuning can put back: the error names the line that asked, and is not about warm-ups, whose options do not help here.
#[test]
fn a_tuning_of_too_much_memory_is_refused_by_its_line_and_in_its_own_words() {
    let b = Bench::new(0);
    let mut much = b.device.zeros::<u8>((1 << 30) + 8).unwrap();
    let mut large = b.device.record(fill(&mut much, baked(1u8))).unwrap();
    let error = format!("{:#}", large.tune(&b.stream).map(drop).unwrap_err());
    assert!(error.contains("attack_edges.rs") && !error.contains("warmup_cap"), "{error}");
}

#[test]
fn a_tuning_of_a_captured_graph_is_refused_by_its_line() {
    use dacapo::capture::{self, CaptureStream, Mode};
    let b = Bench::new(0);
    let (line, mut y) = (CaptureStream::new(&b.device).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
    // SAFETY: only ops of the library are captured.
    let mut guard = unsafe { capture::begin(&line, Mode::default()) }.unwrap();
    guard.run(b.k.mad(baked(1), baked(1), &mut y)).unwrap();
    let mut graph = guard.finish().unwrap();
    let error = graph.tune(&b.stream).map(drop).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
    assert!(format!("{error:#}").contains("attack_edges.rs"), "{error:#}");
}

/// "It takes up to three seconds": also of a graph whose replays take long.
#[test]
fn a_tuning_of_slow_replays_takes_up_to_three_seconds() {
    let b = Bench::of(Software::new());
    let mut y = b.device.zeros::<u32>(2_000_000).unwrap();
    let body = |r: &mut Recorder<'_>| (0..2).try_for_each(|_| r.run(b.k.mad(baked(1), baked(1), &mut y)));
    let mut graph = b.device.record(body).unwrap();
    let began = std::time::Instant::now();
    graph.launch(&b.stream).unwrap();
    b.stream.synchronize().unwrap();
    let one = began.elapsed();
    let tuned = graph.tune(&b.stream).unwrap();
    // A few replays more are no matter.
    assert!(tuned.took < std::time::Duration::from_secs(3) + 5 * one, "{:?}, a replay {one:?}", tuned.took);
}

/// Counts in a variable that is declared inside the entry.
const INSIDE: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .entry tally(.param .u64 y)
{
    .global .align 4 .u32 tallies;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [y];
    ld.global.u32 %r1, [tallies];
    add.u32 %r1, %r1, 1;
    st.global.u32 [tallies], %r1;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: one thread.
    unsafe struct Inside(INSIDE) {
        fn tally(y: &out u32) {
            state: tallies;
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// Variables are the module's wherever they are declared: a guarded kernel counts in the same one.
#[test]
fn a_variable_that_is_declared_inside_an_entry_is_one_guarded_or_not() {
    let b = Bench::new(0);
    let inside = Inside::load(&b.device).unwrap();
    let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(1).unwrap());
    b.stream.run(inside.tally(y.at_mut(0))).unwrap();
    b.stream.run(inside.tally(y.at_mut(0))).unwrap();
    let body = |r: &mut Recorder<'_>| {
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(inside.tally(y.at_mut(0)))).map(drop)
    };
    let mut graph = b.device.record(body).unwrap();
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y).unwrap(), [3]);
}

/// The same of a kernel that signals.
#[test]
fn a_variable_that_is_declared_inside_an_entry_is_one_with_any_edges() {
    let mut counted = Vec::new();
    for edge in [Edge::Full, Edge::Waits, Edge::Signals] {
        let b = Bench::new(0);
        let inside = Inside::load(&b.device).unwrap();
        let mut y = b.device.zeros::<u32>(1).unwrap();
        let body = |r: &mut Recorder<'_>| (0..3).try_for_each(|_| r.run(inside.tally(y.at_mut(0))));
        let mut graph = b.device.graph().edges_by(move |_, _| edge).record(body).unwrap();
        graph.launch(&b.stream).unwrap();
        graph.launch(&b.stream).unwrap();
        counted.push(b.stream.read(&y).unwrap()[0]);
    }
    assert_eq!(counted, [6; 3]);
}

/// PTX may declare many variables in short (`g<3>` are `g0`, `g1` and `g2`), in any space. A copy of the module has others.
#[test]
fn a_kernel_that_touches_one_of_many_variables_declared_in_short_is_not_copied() {
    let text = INSIDE.replace("    .global .align 4 .u32 tallies;\n", "").replace("[tallies]", "[tallies1]");
    let text = text.replace(".visible .entry", ".global .align 4 .u32 tallies<2>;\n.visible .entry");
    for opening in
        [dacapo_ptx::Opening::Guarded, dacapo_ptx::Opening::WaitsGuarded, dacapo_ptx::Opening::WaitsAndSignals]
    {
        assert_eq!(dacapo_ptx::variant(&text, opening), None, "{opening:?}");
    }
}

/// A grid that the device does not take is refused where it is guarded too, and the next launch is right.
#[test]
fn a_guarded_grid_that_is_too_large_is_refused_and_forgotten() {
    for guarded in [true, false] {
        let b = Bench::new(0);
        let (flag, mut y, blocks) =
            (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap(), Slot::new(1u32));
        let body = |r: &mut Recorder<'_>| {
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.mad_blocks(baked(1), &blocks, &mut y))).map(drop)
        };
        let mut graph = b.device.graph().guarded(guarded).record(body).unwrap();
        let mut want = 0;
        for count in [1, 70_000, 1, 0, 70_000, 0, 1, 70_000, 1] {
            blocks.set(count);
            let launched = graph.launch(&b.stream).map(drop);
            assert_eq!(launched.is_ok(), count != 70_000, "{launched:?}");
            want += count % 70_000;
            assert_eq!(b.stream.read(&y).unwrap(), [want; LEN], "{count}");
        }
        b.expect_clean();
    }
}

/// Kernels without a declaration are guarded as others are, by their text.
#[test]
fn raw_kernels_are_guarded_as_well() {
    use dacapo::raw::{RawArg, RawKernel};
    let b = Bench::new(0);
    let raw = RawKernel::load(&b.device, PTX, "mad").unwrap();
    let (mut flag, mut y, by) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(32).unwrap(), Slot::new(5u32));
    let body = |r: &mut Recorder<'_>| {
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| {
            let arguments = vec![
                RawArg::value(baked(1u32)),
                RawArg::value(&by),
                RawArg::write(&mut y[..]),
                RawArg::value(baked(32u32)),
            ];
            // SAFETY: 32 threads for 32 elements, by a kernel that takes these.
            r.run(unsafe { raw.launch(dacapo::grid::exact([1, 1, 1], [32, 1, 1]), arguments) })
        })
        .map(drop)
    };
    let mut graph = b.device.record(body).unwrap();
    assert!(graph.inspect().nodes.iter().any(|node| node.kind == Kind::Guarded), "{}", graph.inspect());
    let mut want = 0;
    for (on, n) in [(1, 5), (0, 5), (0, 9), (1, 9), (1, 2)] {
        flag.set(&b.stream, on).unwrap();
        by.set(n);
        graph.launch(&b.stream).unwrap();
        want += on * n;
        assert_eq!(b.stream.read(&y).unwrap(), [want; 32]);
    }
    b.expect_clean();
}

/// Under every budget a tuning is done or refused, and then nothing is in the books that was not there before.
#[test]
fn a_tuning_that_is_over_budget_leaves_the_books_as_they_were() {
    let b = Bench::new(0);
    let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
    let body = |r: &mut Recorder<'_>| {
        (0..3).try_for_each(|by| r.run(b.k.mad(baked(3), baked(by), &mut y)))?;
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.turn(&mut y))).map(drop)
    };
    let mut graph = b.device.record(body).unwrap();
    // What stays is made by the first: staging memory for reads, copies of the module.
    graph.tune(&b.stream).unwrap();
    b.stream.read(&y).unwrap();
    b.device.synchronize().unwrap();
    let (held, mut refused, mut done) = (b.device.held(), 0, 0);
    for more in (0..400_000).step_by(4_000) {
        b.device.set_memory_budget(Some(held.total() + more));
        let edges = graph.edges();
        match graph.tune(&b.stream) {
            Ok(_) => done += 1,
            Err(error) => {
                refused += 1;
                assert!(matches!(error.kind(), ErrorKind::OverBudget { .. }), "{error}");
                assert_eq!(graph.edges(), edges);
            }
        }
        b.device.synchronize().unwrap();
        assert_eq!((b.device.held(), b.device.counters().graphs), (held, 1), "{more}");
        assert_eq!(b.stream.read(&y).unwrap(), [0; LEN]);
    }
    assert!(refused > 0 && done > 0, "{refused} {done}");
    b.expect_clean();
}

thread_local! {
    /// After so many questions the recipe below panics.
    static QUESTIONS: std::cell::Cell<usize> = const { std::cell::Cell::new(usize::MAX) };
}

fn one_block() -> u32 {
    QUESTIONS.set(QUESTIONS.get().checked_sub(1).expect("a recipe that panics"));
    1
}

dacapo::kernels! {
    /// Safe by: threads from `n` on return.
    unsafe struct Moody(PTX) {
        fn mad(a: u32, b: u32, y: &mut [u32], n: u32 = y.len()) {
            grid: exact([one_block(), 1, 1], [64, 1, 1]);
        }
    }
}

/// A recipe that panics in the middle of a tuning, a recording again or a profile leaves the graph and its memory as they were.
#[test]
fn a_recipe_that_panics_in_a_tuning_leaves_everything_as_it_was() {
    let mut panics = 0;
    for questions in 0..60 {
        QUESTIONS.set(usize::MAX);
        let b = Bench::new(questions);
        let (machine, moody) = (b.device.machine().unwrap().clone(), Moody::load(&b.device).unwrap());
        let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
        let mut body = |r: &mut Recorder<'_>| {
            (0..2).try_for_each(|by| r.run(moody.mad(baked(3), baked(by), &mut y)))?;
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(moody.mad(baked(2), baked(1), &mut y))).map(drop)
        };
        let mut graph = b.device.record(&mut body).unwrap();
        QUESTIONS.set(questions as usize);
        let tuned = catch_unwind(AssertUnwindSafe(|| {
            graph.tune(&b.stream).map(drop)?;
            graph.rerecord(&mut body).map(drop)
        }));
        panics += usize::from(tuned.is_err());
        QUESTIONS.set(usize::MAX);
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [3; LEN]);
        b.expect_clean();
        drop((graph, moody, flag, y, b));
        assert_eq!(machine.census(), dacapo_sim::Census::default());
    }
    assert!(panics > 5, "{panics}");
}

/// A tuning of nothing is one of the GPU that it was asked for on, and its text goes there and back, also where somebody trims it.
#[test]
fn a_cache_without_graphs_gives_a_tuning_of_its_gpu() {
    let b = Bench::new(0);
    let mut cache: dacapo::shapes::GraphCache<usize, ()> = dacapo::shapes::GraphCache::new(&b.device);
    let tuning = cache.tune(&b.stream).unwrap();
    let text = tuning.to_string();
    assert!(tuning.is_for(&b.device) && text.trim().parse::<Tuning>().is_ok(), "{text:?}");
}

/// While another thread captures in global mode, which forbids much to everybody, graphs are recorded, tuned and run: neither breaks
/// the other.
#[test]
fn a_capture_of_another_thread_stays_whole_beside_everything_here() {
    use dacapo::capture::{self, CaptureStream, Mode};
    let mut broken = Vec::new();
    for what in 0..6 {
        for mode in [Mode::Global, Mode::ThreadLocal, Mode::Relaxed] {
            let b = Bench::new(what);
            let line = CaptureStream::new(&b.device).unwrap();
            let (flag, mut y, mut z) = (
                b.device.scalar(1u32).unwrap(),
                b.device.zeros::<u32>(LEN).unwrap(),
                b.device.zeros::<u32>(LEN).unwrap(),
            );
            let mut body = |r: &mut Recorder<'_>| {
                (0..2).try_for_each(|_| r.run(b.k.mad(baked(1), baked(1), &mut y)))?;
                r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.mad(baked(2), baked(1), &mut y))).map(drop)
            };
            let mut plain = b.device.graph().guarded(false).record(&mut body).unwrap();
            // SAFETY: only ops of the library are captured.
            let mut guard = unsafe { capture::begin(&line, mode) }.unwrap();
            guard.run(b.k.mad(baked(1), baked(7), &mut z)).unwrap();
            let (device, stream) = (&b.device, &b.stream);
            let outcome = std::thread::scope(|scope| {
                let other = scope.spawn(|| match what {
                    0 => device.graph().guarded(false).record(&mut body).map(drop),
                    1 => device.graph().guarded(true).record(&mut body).map(drop),
                    2 => device.graph().guarded(false).edges_by(|_, _| Edge::Signals).record(&mut body).map(drop),
                    3 => plain.tune(stream).map(drop),
                    4 => plain.profile(stream).map(drop),
                    _ => device
                        .plain_stream()
                        .and_then(|plain| plain.run(&mut body).and_then(|()| stream.run(&mut body))),
                });
                other.join().unwrap()
            });
            let finished = guard.finish().map(drop);
            if outcome.is_err() || finished.is_err() {
                broken.push((what, mode, outcome.map_err(|e| e.to_string()), finished.map_err(|e| e.to_string())));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A kernel that leaves its slice is told of in the same words, with the same line of its text, guarded or not, whatever its edges.
#[test]
fn a_fault_in_a_guarded_kernel_is_told_as_of_any_kernel() {
    let mut said = Vec::new();
    for (guarded, edge) in [(false, Edge::Full), (true, Edge::Full), (true, Edge::Signals)] {
        let b = Bench::new(0);
        let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap().named("y"));
        let body = |r: &mut Recorder<'_>| {
            r.run(b.k.mad(baked(1), baked(1), &mut y))?;
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| {
                r.run(b.k.mad(baked(1), baked(1), &mut y))?;
                r.run(b.k.mad_far(baked(1), baked(1), &mut y, baked(100_000_000)))
            })
            .map(drop)
        };
        let mut graph = b.device.graph().guarded(guarded).edges_by(move |_, _| edge).record(body).unwrap();
        let lost = graph.launch_sync(&b.stream).map(drop).unwrap_err();
        assert!(matches!(lost.kind(), ErrorKind::Lost { .. }), "{lost:#}");
        let found = b.device.findings();
        let lines: Vec<String> = found
            .iter()
            .flat_map(|finding| finding.lines())
            .filter(|line| line.contains("-->") || line.contains("error["))
            .map(str::to_string)
            .collect();
        assert!(!lines.is_empty(), "{found:?}");
        said.push((format!("{lost:#}"), lines));
    }
    assert_eq!(said[0], said[1]);
    assert_eq!(said[1], said[2]);
}

/// On Volta and newer, a text for an older target runs with the threads of a warp in step, as it was written for; one for a newer
/// target does not. So a kernel that relies on it must keep its target: results are the same with any edges.
#[test]
fn a_text_for_a_target_before_volta_is_left_as_it_is() {
    for (target, may_be_raised) in
        [("sm_35", false), ("sm_52", false), ("sm_60", false), ("sm_62", false), ("sm_70", true)]
    {
        let text = INSIDE
            .replace("sm_75", target)
            .replace("    .global .align 4 .u32 tallies;\n", "")
            .replace("[tallies]", "[%rd1]");
        for opening in [dacapo_ptx::Opening::Waits, dacapo_ptx::Opening::WaitsGuarded] {
            let raised = dacapo_ptx::variant(&text, opening).is_some_and(|made| made.text.contains(".target sm_90"));
            assert_eq!(raised, may_be_raised, "{target} {opening:?}");
        }
    }
}

/// y = the sum of five numbers.
const FIVE: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .entry five(.param .align 4 .b8 all[20], .param .u64 y, .param .u32 more)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u32 %r1, [all];
    ld.param.u32 %r2, [all+4];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [all+8];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [all+12];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [all+16];
    add.u32 %r1, %r1, %r2;
    ld.param.u32 %r2, [more];
    add.u32 %r1, %r1, %r2;
    ld.param.u64 %rd1, [y];
    st.global.u32 [%rd1], %r1;
    ret;
}
";

dacapo::kernels! {
    /// Safe by: one thread.
    unsafe struct Five(FIVE) {
        fn five(all: [u32; 5], y: &out u32, more: u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// Arguments that are several words long, in front of the guard's own.
#[test]
fn large_arguments_of_guarded_kernels_follow_their_slots() {
    let b = Bench::new(0);
    let five = Five::load(&b.device).unwrap();
    let (mut flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(1).unwrap());
    let (all, more) = (Slot::new([1u32, 2, 3, 4, 5]), Slot::new(0u32));
    let body = |r: &mut Recorder<'_>| {
        r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(five.five(&all, y.at_mut(0), &more)))?
            .otherwise(|r: &mut Recorder<'_>| r.run(five.five(&all, y.at_mut(0), baked(1000))))
    };
    let mut graph = b.device.record(body).unwrap();
    assert!(graph.inspect().nodes.iter().any(|node| node.kind == Kind::Guarded));
    for launch in 0..12u32 {
        all.set([launch, 1, launch * 2, 0, 7]);
        if launch % 3 == 0 {
            more.set(launch);
        }
        flag.set(&b.stream, launch % 2).unwrap();
        graph.launch(&b.stream).unwrap();
        let by = if launch % 2 == 1 { launch / 3 * 3 } else { 1000 };
        assert_eq!(b.stream.read(&y).unwrap(), [launch * 3 + 8 + by], "launch {launch}");
        if launch == 6 {
            graph.tune(&b.stream).unwrap();
        }
    }
    b.expect_clean();
}

/// A sort, three buffers, a length, three places to begin, and a number.
type RangeOp = (u64, [usize; 3], usize, [usize; 3], u32);

/// What such an op does.
fn one_op(op: &RangeOp, model: &mut [Vec<u32>; 3], flag_model: &mut [u32; 2]) {
    let &(sort, [one, two, three], len, [i, j, k], by) = op;
    let mad = |model: &mut [Vec<u32>; 3]| {
        model[one][i..i + len].iter_mut().for_each(|y| *y = y.wrapping_mul(3).wrapping_add(by))
    };
    let mix = |model: &mut [Vec<u32>; 3], (x, i): (usize, usize), (y, j): (usize, usize)| {
        (0..len).for_each(|at| model[y][j + at] = model[y][j + at].wrapping_mul(3).wrapping_add(model[x][i + at]));
    };
    match sort {
        0 | 1 => mad(model),
        2 => mix(model, (one, i), (two, j)),
        3 | 4 => (0..len).for_each(|at| model[three][k + at] = model[one][i + at].wrapping_add(model[two][j + at])),
        5 => model[one][i..i + len].iter_mut().for_each(|y| *y = y.wrapping_add(1)),
        6 => (0..len).for_each(|at| model[two][j + at] = model[one][i + at]),
        7 => flag_model[by as usize % 2] = u32::from(flag_model[by as usize % 2] == 0),
        _ if flag_model[by as usize % 2] != 0 => {
            mad(model);
            mix(model, (one, i), (two, j));
        }
        _ => mix(model, (two, j), (one, i)),
    }
}

/// Ops on ranges that overlap in part, with kernels of every sort side by side: any edges give the same.
#[test]
fn ops_on_ranges_that_overlap_in_part_give_the_same_with_any_edges() {
    const LONG: usize = 96;
    let mut early = 0;
    for seed in seeds(60) {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let mut random = Random(seed + 77_000);
        let mut buffers: [Buffer<u32>; 3] =
            [0, 1, 2].map(|of| b.device.buffer(&(0..LONG as u32).map(|at| at + of).collect::<Vec<_>>()).unwrap());
        let mut flags = b.device.buffer(&[1u32, 0]).unwrap();
        let ops: Vec<RangeOp> = (0..24)
            .map(|_| {
                let len = 1 + random.below(60) as usize;
                let starts = [(); 3].map(|()| random.below((LONG - len) as u64) as usize);
                let first = random.buffer();
                let second = (first + 1 + random.below(2) as usize) % 3;
                (random.below(9), [first, second, 3 - first - second], len, starts, random.below(5) as u32)
            })
            .collect();
        let mut model: [Vec<u32>; 3] = [0, 1, 2].map(|of| (0..LONG as u32).map(|at| at + of).collect());
        let mut flag_model = [1u32, 0];
        let mut body = |r: &mut Recorder<'_>| {
            for &(sort, order, len, [i, j, k], by) in &ops {
                let [one, two, three] = buffers.get_disjoint_mut(order).unwrap();
                let (one, two, three) = (&mut one[i..i + len], &mut two[j..j + len], &mut three[k..k + len]);
                match sort {
                    0 | 1 => r.run(b.k.mad(baked(3), baked(by), one))?,
                    2 => r.run(b.k.mix(one, two))?,
                    3 | 4 => r.run(own.add_own(one, two, three))?,
                    5 => r.run(own.late(one))?,
                    6 => r.run(copy(one, two))?,
                    7 => r.run(b.k.flip(flags.at_mut(by as usize % 2)))?,
                    _ => r
                        .when(nonzero(flags.at(by as usize % 2)), |r: &mut Recorder<'_>| {
                            r.run(b.k.mad(baked(3), baked(by), one))?;
                            r.run(b.k.mix(one, two))
                        })?
                        .otherwise(|r: &mut Recorder<'_>| r.run(b.k.mix(two, one)))?,
                }
            }
            Ok(())
        };
        let mut step = || {
            ops.iter().for_each(|op| one_op(op, &mut model, &mut flag_model));
            model.to_vec()
        };
        let mut graphs: Vec<Graph<()>> = Vec::new();
        for chosen in 0..4 {
            let builder = b.device.graph();
            let builder = match chosen {
                0 => builder.edges_by(|_, _| Edge::Signals),
                1 => builder.edges_by(move |one, other| {
                    [Edge::Full, Edge::Waits, Edge::Signals][(one * 5 + other + seed as usize) % 3]
                }),
                2 => builder.guarded(false).edges_by(|_, _| Edge::Waits),
                _ => builder.straight_line().edges_by(|_, _| Edge::Signals),
            };
            graphs.push(builder.record(&mut body).unwrap());
        }
        let is_own = |(_, to, kind): &(usize, usize, Edge)| {
            *kind != Edge::Full && ops.get(*to).is_some_and(|op| op.0 == 3 || op.0 == 4)
        };
        // Where no branch comes before it, an op has its number.
        early += graphs[0].edges().iter().filter(|edge| is_own(edge)).count();
        let mut wanted = Vec::new();
        for graph in &mut graphs {
            graph.launch(&b.stream).unwrap();
            wanted.push(step());
        }
        b.stream.run(&mut body).unwrap();
        wanted.push(step());
        let got: Vec<Vec<u32>> = buffers.iter().map(|buffer| b.stream.read(buffer).unwrap()).collect();
        assert_eq!(&got, wanted.last().unwrap(), "seed {seed}: {ops:?}");
        b.expect_clean();
    }
    assert!(early > 0);
}

/// Two declarations of one entry point want different amounts of shared memory: the one that is set in place of the other tells the
/// driver of the function that the node has, also where that is the copy which signals.
#[test]
fn a_kernel_of_more_shared_memory_is_set_in_place_of_one_that_signals() {
    for edge in [Edge::Full, Edge::Waits, Edge::Signals] {
        let b = Bench::new(0);
        let mut y = b.device.buffer(&(0..LEN as u32).collect::<Vec<_>>()).unwrap();
        let builder = || b.device.graph().edges_by(move |_, _| edge);
        let mut graph = builder()
            .record(|r: &mut Recorder<'_>| {
                r.run(b.k.turn(&mut y))?;
                r.run(b.k.mad(baked(1), baked(1), &mut y))
            })
            .unwrap();
        let done = graph
            .rerecord_with(builder(), |r: &mut Recorder<'_>| {
                r.run(b.k.turn_much(&mut y))?;
                r.run(b.k.mad(baked(1), baked(1), &mut y))
            })
            .unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y[..2]).unwrap(), [40, 39]);
        assert_eq!(b.device.findings(), [""; 0], "{edge}");
        assert!(done.is_updated(), "{edge}: {done}");
    }
}

/// The same where the amount is a slot's, which grows later: the launch is as good as without edges.
#[test]
fn shared_memory_that_grows_behind_a_recording_in_place_is_launched_with() {
    for edge in [Edge::Full, Edge::Waits, Edge::Signals] {
        let b = Bench::new(0);
        let (mut y, a) = (b.device.buffer(&[1u32; LEN]).unwrap(), Slot::new(8u32));
        let builder = || b.device.graph().edges_by(move |_, _| edge);
        let record =
            |r: &mut Recorder<'_>, y: &mut Buffer<u32>| (0..2).try_for_each(|_| r.run(b.k.mad(baked(1), baked(1), y)));
        let mut graph = builder().record(|r: &mut Recorder<'_>| record(r, &mut y)).unwrap();
        let done = graph
            .rerecord_with(builder(), |r: &mut Recorder<'_>| {
                r.run(b.k.mad_room(&a, baked(1), &mut y))?;
                r.run(b.k.mad(baked(1), baked(1), &mut y))
            })
            .unwrap();
        assert!(done.is_updated(), "{edge}: {done}");
        graph.launch(&b.stream).unwrap();
        a.set(100_000);
        graph.launch(&b.stream).map(drop).unwrap_or_else(|error| panic!("{edge}: {error:#}"));
        assert_eq!(b.stream.read(&y).unwrap(), [10 * 100_000 + 2; LEN]);
        b.expect_clean();
    }
}

/// What an early kernel does in shared memory is its own affair; the same kernel in memory that each launch is given, inside
/// another graph, and tuned.
#[test]
fn right_claims_of_what_is_touched_early_are_never_reported() {
    for seed in 0..20 {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let w = b.device.buffer(&(0..32u32).collect::<Vec<_>>()).unwrap();
        let (mut x, mut y) = (b.device.zeros::<u32>(32).unwrap(), b.device.zeros::<u32>(32).unwrap());
        let want = |x: u32| (0..32u32).map(|at| (at ^ 1) + x).collect::<Vec<_>>();
        let body = |r: &mut Recorder<'_>| {
            r.run(own.late(&mut x))?;
            r.run(own.add_staged(&w, &x, &mut y))?;
            r.run(b.k.mad(baked(1), baked(1), &mut x))
        };
        let mut graph = b.device.graph().edges_by(|_, _| Edge::Signals).record(body).unwrap();
        assert!(graph.edges().iter().any(|(_, to, kind)| *to == 1 && *kind != Edge::Full));
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), want(1), "seed {seed}");
        graph.tune(&b.stream).unwrap();
        let mut outer = b.device.graph().edges_by(|_, _| Edge::Signals).record(graph.as_op()).unwrap();
        outer.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), want(3), "seed {seed}");
        let builder = b.device.graph().edges_by(|_, _| Edge::Signals);
        let mut into = builder
            .record_into(&w[..], (&mut x[..], &mut y[..]), |r, w, (x, y)| {
                r.run(own.late(x))?;
                r.run(own.add_staged(w, x, y))
            })
            .unwrap();
        for _ in 0..3 {
            let w = b.device.buffer(&(0..32u32).collect::<Vec<_>>()).unwrap();
            into.launch(&b.stream, &w[..], (&mut x[..], &mut y[..])).unwrap();
        }
        assert_eq!(b.stream.read(&y).unwrap(), want(7), "seed {seed}");
        b.expect_clean();
    }
}

/// Graphs of one pool are tuned, launched, recorded again and dropped by several threads, and so are eager runs in one arena.
#[test]
fn graphs_of_one_pool_are_tuned_and_launched_by_several_threads() {
    for seed in 0..4 {
        in_time(move || {
            let b = Bench::new(seed);
            let (pool, arena) = (b.device.pool(), b.device.arena(4096).unwrap());
            let machine = b.device.machine().unwrap().clone();
            std::thread::scope(|scope| {
                for thread in 0..4u32 {
                    let (b, pool, arena) = (&b, &pool, &arena);
                    scope.spawn(move || {
                        let stream = b.device.stream().unwrap();
                        let mut y = b.device.zeros::<u32>(LEN).unwrap();
                        let mut want = 0;
                        let mut body = |r: &mut Recorder<'_>| {
                            let (mut t, mut u) = (r.alloc::<u32>(LEN)?, r.alloc::<u32>(LEN)?);
                            r.run(b.k.put(baked(thread), &mut t))?;
                            r.run(b.k.mad(baked(2), baked(1), &mut t))?;
                            r.when(nonzero(t.at(0)), |r: &mut Recorder<'_>| r.run(b.k.put(baked(3), &mut u)))?
                                .otherwise(|r: &mut Recorder<'_>| r.run(b.k.put(baked(4), &mut u)))?;
                            r.run(b.k.mix(&u, &mut t))?;
                            r.run(b.k.mix(&t, &mut y))
                        };
                        let mut step = || {
                            want = u32::wrapping_add(u32::wrapping_mul(want, 3), (thread * 2 + 1) * 3 + 3);
                            want
                        };
                        for round in 0..3 {
                            let builder =
                                if thread == 3 { b.device.graph().arena(arena) } else { b.device.graph().pool(pool) };
                            let mut graph = builder.record(&mut body).unwrap();
                            graph.launch(&stream).unwrap();
                            step();
                            if (round + thread) % 2 == 0 {
                                graph.tune(&stream).unwrap();
                            } else {
                                graph.rerecord(&mut body).unwrap();
                            }
                            graph.launch(&stream).unwrap();
                            step();
                            drop(graph);
                            stream.run_in(arena, &mut body).unwrap();
                            step();
                        }
                        let last = want;
                        assert_eq!(stream.read(&y).unwrap(), [last; LEN], "thread {thread}, seed {seed}");
                    });
                }
            });
            b.expect_clean();
            drop((pool, arena, b));
            assert_eq!(machine.census(), dacapo_sim::Census::default());
        });
    }
}

/// Where there is no memory for it, a recording again and a tuning say who asked, as a recording does.
#[test]
fn what_is_over_budget_is_refused_by_the_line_that_asked() {
    let b = Bench::new(0);
    let mut y = b.device.zeros::<u32>(LEN).unwrap();
    let mut body = |r: &mut Recorder<'_>| (0..3).try_for_each(|by| r.run(b.k.mad(baked(3), baked(by), &mut y)));
    let mut graph = b.device.record(&mut body).unwrap();
    b.device.synchronize().unwrap();
    b.device.set_memory_budget(Some(b.device.held().total()));
    let mut nameless = Vec::new();
    let more = |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(100_000)?;
        r.run(fill(&mut t, baked(1)))
    };
    for (call, refused) in [
        ("record", b.device.record(&mut body).map(drop)),
        ("rerecord", graph.rerecord(more).map(drop)),
        ("profile", graph.profile(&b.stream).map(drop)),
        ("tune", graph.tune(&b.stream).map(drop)),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OverBudget { .. }), "{error}");
        if !format!("{error:#}").contains("attack_edges.rs") {
            nameless.push(format!("{call}: {error:#}"));
        }
    }
    assert!(nameless.is_empty(), "{nameless:#?}");
}

/// An error names a line of the program, never one of the library.
#[test]
fn errors_of_calls_that_call_others_name_the_line_of_the_program() {
    let b = Bench::new(0);
    let mut random = dacapo::random::Generator::new(&b.device, 1).unwrap();
    let state = random.save(&b.stream).unwrap();
    let mut cache: dacapo::shapes::GraphCache<usize, ()> = dacapo::shapes::GraphCache::new(&b.device);
    let mut refused = Vec::new();
    b.device
        .record(|_: &mut Recorder<'_>| {
            refused.push(("save", random.save(&b.stream).err()));
            refused.push(("restore", random.restore(&b.stream, &state).err()));
            refused.push(("seed", random.seed(&b.stream, 3).err()));
            refused.push(("prepare", cache.prepare([1], |_, _| Ok(())).err()));
            refused.push(("tune", cache.tune(&b.stream).err()));
            refused.push(("stream", b.device.stream().err()));
            refused.push(("plain_stream", b.device.plain_stream().err()));
            Ok(())
        })
        .unwrap();
    let told = refused.into_iter().filter_map(|(call, error)| Some(format!("{call}: {:#}", error?)));
    let wrong: Vec<String> = told.filter(|text| text.contains("dacapo/src/")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Texts that somebody broke: no opening of them panics, every line keeps its place, and a second opening finds what the first put in.
#[test]
fn openings_of_broken_texts_do_not_panic_and_keep_lines() {
    use dacapo_ptx::{Opening, variant};
    let texts = [PTX, OWN, INSIDE, FIVE];
    let pieces = [
        "{",
        "}",
        "(",
        ")",
        ";",
        ",",
        "é",
        "/*",
        "*/",
        "//",
        "\"",
        ".entry",
        ".func",
        " call ",
        "griddepcontrol",
        ".const",
        ".pragma",
        "\r\n",
        "dacapo_guard",
        "@",
        "<3>",
    ];
    let mut random = Random(11);
    for _ in 0..seeds(4000).count() {
        let mut chars: Vec<char> = texts[random.below(4) as usize].chars().collect();
        for _ in 0..random.below(5) {
            let at = random.below(chars.len() as u64) as usize;
            match random.below(3) {
                0 => drop(chars.drain(at..(at + random.below(40) as usize).min(chars.len()))),
                1 => drop(chars.splice(at..at, pieces[random.below(pieces.len() as u64) as usize].chars())),
                _ => chars[at] = char::from(random.below(128) as u8),
            }
            if chars.is_empty() {
                chars.push(' ');
            }
        }
        let text: String = chars.into_iter().collect();
        for opening in [Opening::Waits, Opening::WaitsAndSignals, Opening::Guarded, Opening::WaitsGuarded] {
            let Some(made) = variant(&text, opening) else { continue };
            assert_eq!(made.text.lines().count(), text.lines().count(), "{text}");
            if opening == Opening::Waits && !made.changed.is_empty() {
                let again = variant(&made.text, Opening::Waits).unwrap();
                assert!(again.changed.iter().all(|name| !made.changed.contains(name)), "{text}");
            }
        }
    }
}

/// Random numbers that are only drawn sometimes are the next ones, guarded or not, and a guarded kernel's shared memory may grow.
#[test]
fn draws_and_shared_memory_of_a_branch_are_the_same_guarded_or_not() {
    let mut drawn = Vec::new();
    for guarded in [true, false] {
        let b = Bench::new(0);
        let mut random = dacapo::random::Generator::new(&b.device, 5).unwrap();
        let (mut flag, mut words, a) =
            (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap(), Slot::new(8u32));
        let record =
            |r: &mut Recorder<'_>, words: &mut Buffer<u32>, random: &mut dacapo::random::Generator, room: bool| {
                r.when(nonzero(&flag), |r: &mut Recorder<'_>| {
                    r.run(random.words(words))?;
                    if room { r.run(b.k.mad_room(&a, baked(1), words)) } else { r.run(b.k.mad(&a, baked(1), words)) }
                })
                .map(drop)
            };
        let builder = || b.device.graph().guarded(guarded);
        let mut graph = builder().record(|r: &mut Recorder<'_>| record(r, &mut words, &mut random, false)).unwrap();
        assert_eq!(graph.inspect().nodes.iter().any(|node| node.kind == Kind::Guarded), guarded);
        let done =
            graph.rerecord_with(builder(), |r: &mut Recorder<'_>| record(r, &mut words, &mut random, true)).unwrap();
        assert!(done.is_updated(), "{done}");
        for (on, bytes) in [(1, 8), (0, 8), (1, 100_000), (0, 100_000), (1, 60_000)] {
            flag.set(&b.stream, on).unwrap();
            a.set(bytes);
            graph.launch(&b.stream).unwrap();
            drawn.push(b.stream.read(&words).unwrap());
        }
        b.expect_clean();
    }
    assert_eq!(drawn[..5], drawn[5..]);
}

/// Who chooses edges panics while a graph is recorded again, in a pool: the graph is what it was, and the pool counts one.
#[test]
fn a_chooser_that_panics_in_a_recording_again_leaves_the_graph_and_its_pool() {
    let b = Bench::new(0);
    let (pool, mut y, asked) = (b.device.pool(), b.device.zeros::<u32>(LEN).unwrap(), Arc::new(AtomicBool::new(false)));
    let panics = asked.clone();
    let builder = b.device.graph().pool(&pool).edges_by(move |_, _| {
        assert!(!panics.load(Ordering::Relaxed), "on purpose");
        Edge::Signals
    });
    let mut body = |r: &mut Recorder<'_>| {
        let mut t = r.alloc::<u32>(LEN)?;
        r.run(b.k.put(baked(2), &mut t))?;
        r.run(b.k.mix(&t, &mut y))?;
        r.run(b.k.mad(baked(1), baked(1), &mut y))
    };
    let mut graph = builder.record(&mut body).unwrap();
    graph.launch(&b.stream).unwrap();
    b.device.synchronize().unwrap();
    // Executables count with the most that were alive.
    let (pools, counters) = (b.device.held().pools, b.device.counters());
    asked.store(true, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| graph.rerecord(&mut body).map(drop))).is_err());
    // A tuning asks nobody.
    graph.tune(&b.stream).unwrap();
    b.device.synchronize().unwrap();
    let now = b.device.counters();
    assert_eq!((pool.graphs(), b.device.held().pools), (1, pools));
    assert_eq!((now.allocations, now.graphs, now.waiting), (counters.allocations, counters.graphs, 0));
    graph.launch(&b.stream).unwrap();
    assert_eq!(b.stream.read(&y).unwrap(), [12; LEN]);
    drop(graph);
    b.device.synchronize().unwrap();
    pool.clear().unwrap();
    b.expect_clean();
}

/// The driver keeps what executable graphs once took, so those that were tried go before others are made: it is about the graph's own,
/// the best so far, and one that is tried.
#[test]
fn a_tuning_of_many_pairs_has_few_executable_graphs_at_a_time() {
    let b = Bench::of(Software::new());
    let mut y = b.device.zeros::<u32>(32 * 12).unwrap();
    // Each has another geometry, so that each pair is another.
    let body = |r: &mut Recorder<'_>| {
        (1..=12).try_for_each(|blocks| r.run(b.k.mad(baked(1), baked(1), &mut y[..32 * blocks])))
    };
    let mut graph = b.device.record(body).unwrap();
    let one = b.device.held().executables;
    let tuned = graph.tune(&b.stream).unwrap();
    assert_eq!(tuned.pairs.len(), 11);
    let most = b.device.held().executables / one;
    assert!(most <= 6, "{most} executable graphs were alive at a time");
}

/// Sets every word to 5, as another library would.
fn five<'y>(machine: &dacapo_sim::Machine, y: &'y mut dacapo::Slice<u32>) -> impl dacapo::Op<Out = ()> + use<'y> {
    use dacapo_driver::{CUresult, Driver};
    let machine = machine.clone();
    // SAFETY: it sets the memory that it was declared to write, on the stream that it is given.
    unsafe {
        dacapo::raw::foreign((), y, move |stream, (), y: dacapo::raw::RawSlice<u32>| {
            match machine.cuMemsetD32Async(y.ptr, 5, y.len, stream.0) {
                CUresult::CUDA_SUCCESS => Ok(()),
                code => Err(dacapo::Error::msg(format!("{code:?}"))),
            }
        })
    }
}

/// Another library's work between kernels that begin early, on one stream and in one run: before what comes behind it, and behind
/// what comes before.
#[test]
fn foreign_work_between_kernels_that_begin_early_is_in_order() {
    for seed in 0..20 {
        let b = Bench::new(seed);
        let own = Own::load(&b.device).unwrap();
        let machine = b.device.machine().unwrap().clone();
        let mut y = b.device.zeros::<u32>(LEN).unwrap();
        for round in 0..3u32 {
            b.stream.run(own.late(&mut y)).unwrap();
            b.stream.run(b.k.mad(baked(2), baked(1), &mut y)).unwrap();
            b.stream.run(five(&machine, &mut y)).unwrap();
            b.stream.run(b.k.mad(baked(3), baked(round), &mut y)).unwrap();
            b.stream
                .run(|r: &mut Recorder<'_>| {
                    r.run(own.late(&mut y))?;
                    r.run(b.k.mad(baked(2), baked(0), &mut y))?;
                    r.run(five(&machine, &mut y[..20]))?;
                    r.run(b.k.mad(baked(2), baked(1), &mut y))
                })
                .unwrap();
            let got = b.stream.read(&y).unwrap();
            assert_eq!((&got[..20], &got[20..]), (&[11; 20][..], &[(15 + round + 1) * 4 + 1; 20][..]), "seed {seed}");
        }
        b.expect_clean();
    }
}

/// A graph whose replay ends the context: a tuning says so, as a launch does, and everything can be dropped.
#[test]
fn a_tuning_of_a_graph_that_faults_is_an_error_and_nothing_hangs() {
    in_time(|| {
        for again in [false, true] {
            let b = Bench::new(0);
            let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
            let body = |r: &mut Recorder<'_>| {
                r.run(b.k.mad(baked(1), baked(1), &mut y))?;
                r.when(nonzero(&flag), |r: &mut Recorder<'_>| {
                    r.run(b.k.mad_far(baked(1), baked(1), &mut y, baked(100_000_000)))
                })
                .map(drop)
            };
            let mut graph = b.device.record(body).unwrap();
            let error = graph.tune(&b.stream).map(drop).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Lost { .. }), "{error:#}");
            assert!(format!("{error:#}").contains("graph"), "{error:#}");
            if again {
                assert!(graph.tune(&b.stream).is_err() && graph.launch(&b.stream).is_err());
            }
        }
    });
}

/// A graph that is recorded inside another recording, guarded, run as a part of it and dropped before it is over.
#[test]
fn a_guarded_graph_may_come_and_go_inside_another_recording() {
    for seed in 0..6 {
        let b = Bench::new(seed);
        let machine = b.device.machine().unwrap().clone();
        let (flag, mut y) = (b.device.scalar(1u32).unwrap(), b.device.zeros::<u32>(LEN).unwrap());
        let body = |r: &mut Recorder<'_>| {
            r.run(b.k.mad(baked(1), baked(1), &mut y))?;
            let inner = b.device.record(|r: &mut Recorder<'_>| {
                let mut t = r.alloc::<u32>(LEN)?;
                r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(b.k.put(baked(2), &mut t)))?
                    .otherwise(|r: &mut Recorder<'_>| r.run(b.k.put(baked(3), &mut t)))?;
                r.run(b.k.mix(&t, &mut y))
            })?;
            assert!(inner.inspect().nodes.iter().any(|node| node.kind == Kind::Guarded));
            r.repeat_times(baked(2), |r: &mut Recorder<'_>| r.run(inner.as_op()))?;
            r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.run(inner.as_op())).map(drop)
        };
        let mut graph = b.device.graph().edges_by(|_, _| Edge::Signals).record(body).unwrap();
        graph.launch(&b.stream).unwrap();
        assert_eq!(b.stream.read(&y).unwrap(), [((3 + 2) * 3 + 2) * 3 + 2; LEN], "seed {seed}");
        b.expect_clean();
        drop((graph, flag, y, b));
        assert_eq!(machine.census(), dacapo_sim::Census::default());
    }
}
