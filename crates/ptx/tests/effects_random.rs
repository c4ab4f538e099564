//! Random kernels of address arithmetic whose truth is known by construction, against what `effects` tells of them.
//!
//! The generator keeps, for every register, which parameters the address in it may count from. Registers are used again
//! and again, values go through local memory and functions, moves are guarded, branches meet. Every access that the
//! generator makes must be told, with just the parameters that it may go through. More of it:
//! `DACAPO_EFFECTS=100000 cargo test -p dacapo-ptx --test effects_random`.

use std::collections::BTreeSet;
use std::fmt::Write;

use dacapo_ptx::effects::{AccessKind, Base, effects};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        ((z ^ z >> 31) % limit as u64) as usize
    }
}

/// The parameters that an address may count from.
type Truth = BTreeSet<u32>;

const POINTERS: usize = 4;
const REGISTERS: usize = 6;
const SLOTS: usize = 3;

/// A kernel that is being written: `p0` to `p3` are pointers, `n` is a number of 64 bits.
struct Writer {
    random: Random,
    text: String,
    registers: [Truth; REGISTERS],
    slots: [Truth; SLOTS],
    labels: usize,
    /// Whether addresses go through local memory.
    local: bool,
    accesses: Vec<(AccessKind, Truth)>,
}

impl Writer {
    fn line(&mut self, text: String) {
        writeln!(self.text, "    {text}").expect("a string takes everything");
    }

    /// One step, which may be a branch with steps inside.
    fn step(&mut self, depth: usize) {
        let (d, a, b) = (self.random.below(REGISTERS), self.random.below(REGISTERS), self.random.below(REGISTERS));
        let slot = self.random.below(SLOTS);
        match self.random.below(14) {
            0 => {
                let param = self.random.below(POINTERS);
                self.line(format!("ld.param.u64 %a{d}, [p{param}];"));
                self.registers[d] = Truth::from([param as u32]);
            }
            1 => {
                self.line(format!("mov.b64 %a{d}, %a{a};"));
                self.registers[d] = self.registers[a].clone();
            }
            2 => {
                let offset = [4, 8, -16, 4096][self.random.below(4)];
                self.line(format!("add.s64 %a{d}, %a{a}, {offset};"));
                self.registers[d] = self.registers[a].clone();
            }
            3 => {
                self.line(format!("add.s64 %a{d}, %n, %a{a};"));
                self.registers[d] = self.registers[a].clone();
            }
            4 => {
                self.line(format!("mad.lo.s64 %a{d}, %n, 24, %a{a};"));
                self.registers[d] = self.registers[a].clone();
            }
            5 => {
                self.line(format!("selp.b64 %a{d}, %a{a}, %a{b}, %p;"));
                self.registers[d] = &self.registers[a] | &self.registers[b];
            }
            6 => {
                self.line(format!("@%p mov.b64 %a{d}, %a{a};"));
                self.registers[d] = &self.registers[d] | &self.registers[a];
            }
            // The distance between two, added to the first: the second. Only of single ones, so that the truth is one;
            // local memory may give more than was last stored.
            7 if !self.local && self.registers[a].len() == 1 && self.registers[b].len() == 1 => {
                self.line(format!("sub.s64 %t, %a{b}, %a{a};"));
                self.line(format!("add.s64 %a{d}, %a{a}, %t;"));
                self.registers[d] = self.registers[b].clone();
            }
            // Nothing is forgotten in local memory, whatever is stored over it.
            8 if self.local => {
                self.line(format!("st.local.u64 [%l+{}], %a{a};", 8 * slot));
                self.slots[slot] = &self.slots[slot] | &self.registers[a];
            }
            9 if !self.slots[slot].is_empty() => {
                let space = [".local.u64", ".u64"][self.random.below(2)];
                let base = if space == ".u64" { "%g" } else { "%l" };
                self.line(format!("ld{space} %a{d}, [{base}+{}];", 8 * slot));
                self.registers[d] = self.slots[slot].clone();
            }
            10 => {
                self.line(format!("{{ .param .b64 from; .param .b64 to; st.param.b64 [from], %a{a};"));
                self.line(format!("call.uni (to), onward, (from); ld.param.b64 %a{d}, [to]; }}"));
                self.registers[d] = self.registers[a].clone();
                self.accesses.push((AccessKind::Read, self.registers[a].clone()));
            }
            11 if depth < 3 => {
                let label = self.labels;
                self.labels += 1;
                self.line(format!("@%p bra L{label};"));
                let before = self.registers.clone();
                for _ in 0..1 + self.random.below(4) {
                    self.step(depth + 1);
                }
                writeln!(self.text, "L{label}:").expect("a string takes everything");
                for (now, before) in self.registers.iter_mut().zip(&before) {
                    *now = &*now | before;
                }
            }
            _ => self.access(a),
        }
    }

    fn access(&mut self, a: usize) {
        let (kind, text) = match self.random.below(4) {
            0 => (AccessKind::Read, format!("ld.global.f32 %f, [%a{a}];")),
            1 => (AccessKind::Read, format!("ld.v2.u32 {{%r, %s}}, [%a{a}+8];")),
            2 => (AccessKind::Write, format!("@%p st.global.f32 [%a{a}], %f;")),
            _ => (AccessKind::Atomic, format!("red.global.add.u32 [%a{a}+4], 1;")),
        };
        self.line(text);
        self.accesses.push((kind, self.registers[a].clone()));
    }
}

fn kernel(seed: u64) -> Writer {
    let mut writer = Writer {
        random: Random(seed),
        text: String::new(),
        registers: std::array::from_fn(|at| Truth::from([(at % POINTERS) as u32])),
        slots: Default::default(),
        labels: 0,
        local: seed.is_multiple_of(2),
        accesses: Vec::new(),
    };
    writer.text = ".version 8.4\n.target sm_80\n.address_size 64\n\
        .func (.param .b64 r) onward(.param .b64 f) {\n    .reg .b64 %x<3>; .reg .b32 %y;\n    \
        ld.param.u64 %x1, [f];\n    \
        ld.u32 %y, [%x1];\n    add.s64 %x2, %x1, 4;\n    st.param.b64 [r], %x2;\n    ret;\n}\n\
        .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 n) {\n    \
        .local .align 8 .b8 kept[24];\n    .reg .b64 %a<6>; .reg .b64 %n, %t, %l, %g; .reg .b32 %r, %s;\n    \
        .reg .f32 %f; .reg .pred %p;\n    \
        ld.param.u64 %n, [n];\n    shl.b64 %n, %n, 2;\n    setp.gt.u64 %p, %n, 64;\n    mov.b64 %l, kept;\n    \
        cvta.local.u64 %g, %l;\n"
        .to_string();
    for at in 0..REGISTERS {
        writer.line(format!("ld.param.u64 %a{at}, [p{}];", at % POINTERS));
    }
    for _ in 0..30 {
        writer.step(0);
    }
    writer.line("ret;".into());
    writer.text.push('}');
    writer
}

fn check(seed: u64) {
    let writer = kernel(seed);
    let module =
        dacapo_ptx::parse(&writer.text).unwrap_or_else(|errors| panic!("seed {seed}: {errors}\n{}", writer.text));
    let found = effects(&module, module.function("k").expect("it is there"));
    assert!(found.opaque.is_none(), "seed {seed}: {:?}", found.opaque);
    // Accesses in the function stand at its lines, once for each call; the kernel's in their order.
    let inside = |line: u32| line < 12;
    let mut told: Vec<(AccessKind, Truth)> = Vec::new();
    let mut called: Vec<(AccessKind, Truth)> = Vec::new();
    for access in &found.accesses {
        let mut truth = Truth::new();
        for route in &access.routes {
            let pointers: Vec<u32> = route.bases.iter().filter_map(pointer).collect();
            let [index] = pointers[..] else {
                panic!("seed {seed}: line {}: {:?}\n{}", access.place.line, access.routes, writer.text)
            };
            assert!(route.mixed.iter().all(|base| pointer(base).is_none()), "seed {seed}: {route:?}\n{}", writer.text);
            truth.insert(index);
        }
        if inside(access.place.line) { &mut called } else { &mut told }.push((access.kind, truth));
    }
    let mut expected = writer.accesses.clone();
    // Calls are told at the function's lines, in the order in which they are met.
    let all = told.len() + called.len();
    assert_eq!(all, expected.len(), "seed {seed}: an access is missing or too much\n{}", writer.text);
    told.extend(called);
    let order = |one: &(AccessKind, Truth)| (one.0, one.1.iter().copied().collect::<Vec<_>>());
    told.sort_by_key(order);
    expected.sort_by_key(order);
    if writer.local {
        // A store that comes later in the text is told of an earlier load too, because nothing is forgotten: more
        // routes are no mistake there, fewer are.
        for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Atomic] {
            let count = |all: &[(AccessKind, Truth)], param: u32| {
                all.iter().filter(|(of, truth)| *of == kind && truth.contains(&param)).count()
            };
            for param in 0..POINTERS as u32 {
                assert!(
                    count(&told, param) >= count(&expected, param),
                    "seed {seed}: {kind:?} of p{param}\n{}",
                    writer.text
                );
            }
        }
    } else {
        assert_eq!(told, expected, "seed {seed}\n{}", writer.text);
    }
    let escaped: Vec<usize> = (0..POINTERS).filter(|at| found.params[*at].escapes.is_some()).collect();
    assert_eq!(escaped, [] as [usize; 0], "seed {seed}\n{}", writer.text);
}

fn pointer(base: &Base) -> Option<u32> {
    match base {
        Base::Param { index, .. } if (*index as usize) < POINTERS => Some(*index),
        _ => None,
    }
}

#[test]
fn every_access_of_a_random_kernel_is_told_with_the_parameters_it_goes_through() {
    let count = std::env::var("DACAPO_EFFECTS").ok().and_then(|count| count.parse().ok()).unwrap_or(2000);
    (0..count).for_each(check);
}
