//! Runs a kernel on data: PTX text in, bytes out.

use std::panic::Location;
use std::sync::Arc;

use dacapo_driver::{Declared, DeclaredSlice};
use dacapo_sim::exec::{Clock, ExecOptions, Fault, Grid, Image, Launch, Outcome, Program};
use dacapo_sim::finding::Finding;
use dacapo_sim::memory::{Kind, Memory, MemoryOptions, Request};

/// A clock that moves by one at each look.
pub struct Ticks(pub u64);

impl Clock for Ticks {
    fn now_ns(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    fn cycles(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// A module in memory, ready to be launched.
pub struct Bench {
    pub memory: Memory,
    pub image: Arc<Image>,
    pub options: ExecOptions,
    pub findings: Vec<Finding>,
    pub executed: u64,
    pub quantum: u64,
    pub conditionals: Vec<(u64, u32)>,
    pub output: String,
    /// What launches are declared to touch; `None`: nobody says.
    pub declared: Option<Vec<DeclaredSlice<'static>>>,
}

/// Arguments of a kernel.
#[derive(Clone, Copy)]
pub enum Arg {
    U32(u32),
    U64(u64),
    F32(f32),
}

/// Reads `%tid.x` into `%t`, the output's element into `%o`.
pub const START: &str = "
    .reg .pred %p, %q; .reg .b32 %t, %i, %n, %v, %w; .reg .b64 %o, %x, %y;
    mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;";

/// What each of some threads of one block leaves in `%v`.
pub fn run(body: &str, threads: u32) -> Vec<u32> {
    let mut b = Bench::kernel(".param .u64 out", &format!("{START} {body} st.global.u32 [%o], %v; ret;"));
    let out = b.upload(&vec![0u32; threads as usize], "out");
    b.go("k", [1, 1, 1], [threads, 1, 1], 0, &[Arg::U64(out)]);
    b.download(out, threads as usize)
}

impl Bench {
    pub fn new(ptx: &str) -> Bench {
        let module = dacapo_ptx::parse(ptx).unwrap_or_else(|errors| panic!("{errors}"));
        let program = Arc::new(Program::new(module, "test.ptx"));
        let mut memory = Memory::new(MemoryOptions { capacity: 1 << 32, seed: 1 });
        let image = Arc::new(Image::place(program, &mut memory).expect("fits"));
        Bench {
            memory,
            image,
            options: ExecOptions { budget: 200_000_000, ..ExecOptions::default() },
            findings: Vec::new(),
            executed: 0,
            quantum: 1 << 40,
            conditionals: Vec::new(),
            output: String::new(),
            declared: None,
        }
    }

    /// The text of a header and one kernel body.
    pub fn kernel(params: &str, body: &str) -> Bench {
        Bench::new(&format!(
            ".version 8.4\n.target sm_80\n.address_size 64\n.visible .entry k({params}) {{\n{body}\n}}\n"
        ))
    }

    pub fn alloc(&mut self, bytes: u64, label: &str) -> u64 {
        self.memory.alloc(Request { bytes, align: 256, kind: Kind::Device, label }).expect("fits")
    }

    pub fn upload<T: Pod>(&mut self, data: &[T], label: &str) -> u64 {
        let address = self.alloc(size_of_val(data) as u64, label);
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.bytes()).collect();
        self.memory.write(address, &bytes).expect("inside");
        address
    }

    pub fn download<T: Pod>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.memory.read(address, &mut bytes).expect("inside");
        bytes.chunks_exact(size_of::<T>()).map(T::from).collect()
    }

    pub fn launch(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], shared: u32, args: &[Arg]) -> Launch {
        let program = self.image.program();
        let kernel = program.kernel(kernel).unwrap_or_else(|| panic!("no kernel `{kernel}`"));
        let info = program.info(kernel);
        let mut params = vec![0; info.param_bytes];
        for (arg, at) in args.iter().zip(&info.params) {
            let field = &mut params[at.offset..at.offset + at.size];
            match arg {
                Arg::U32(x) => field.copy_from_slice(&x.to_le_bytes()),
                Arg::U64(x) => field.copy_from_slice(&x.to_le_bytes()),
                Arg::F32(x) => field.copy_from_slice(&x.to_le_bytes()),
            }
        }
        Launch {
            image: Arc::clone(&self.image),
            kernel,
            grid,
            block,
            dynamic_shared: shared,
            params,
            cooperative: false,
            grid_id: 1,
            label: String::new(),
        }
    }

    /// Runs a launch to its end.
    pub fn run(&mut self, launch: Launch) -> Outcome {
        let mut grid = Grid::new(launch, &self.options);
        if let Some(slices) = &self.declared {
            grid.declare(&Declared { op: "op", label: "", at: Location::caller(), slices: Some(slices) });
        }
        let mut clock = Ticks(0);
        let mut waits = 0;
        loop {
            let outcome = grid.run(&mut self.memory, &mut clock, self.quantum);
            self.findings.extend(grid.take_findings());
            self.conditionals.extend(grid.take_conditionals());
            self.output += &String::from_utf8_lossy(&grid.take_output());
            self.executed += std::mem::take(&mut { grid.executed() });
            match outcome {
                Outcome::Yield => {}
                Outcome::Waits => {
                    waits += 1;
                    assert!(waits < 100_000, "the kernel waits for ever");
                }
                end => return end,
            }
        }
    }

    /// Runs a kernel that must succeed without findings.
    #[track_caller]
    pub fn go(&mut self, kernel: &str, grid: [u32; 3], block: [u32; 3], shared: u32, args: &[Arg]) {
        let launch = self.launch(kernel, grid, block, shared, args);
        match self.run(launch) {
            Outcome::Done => {}
            Outcome::Fault(fault, finding) => panic!("{fault:?}: {finding}"),
            Outcome::Unsupported(finding) => panic!("{finding}"),
            other => panic!("{other:?}"),
        }
        if let Some(finding) = self.findings.first() {
            panic!("{finding}");
        }
    }

    /// Runs a kernel that must fault; gives the fault and its whole text.
    #[track_caller]
    pub fn fault(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: &[Arg],
    ) -> (Fault, String) {
        let launch = self.launch(kernel, grid, block, shared, args);
        match self.run(launch) {
            Outcome::Fault(fault, finding) => (fault, finding.to_string()),
            Outcome::Unsupported(finding) => panic!("{finding}"),
            other => panic!("no fault but {other:?}"),
        }
    }
}

/// Plain numbers.
pub trait Pod: Sized + Copy {
    fn bytes(self) -> Vec<u8>;
    fn from(bytes: &[u8]) -> Self;
}

macro_rules! pod {
    ($($t:ty),*) => { $(impl Pod for $t {
        fn bytes(self) -> Vec<u8> {
            self.to_le_bytes().to_vec()
        }
        fn from(bytes: &[u8]) -> $t {
            <$t>::from_le_bytes(bytes.try_into().expect("a chunk of its size"))
        }
    })* };
}
pod!(u8, u16, u32, u64, i32, i64, f32, f64);

/// Numbers that look random and are the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn f32(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}

/// Reads a kernel of the `kernels` folder.
pub fn kernel_file(name: &str) -> String {
    let path = format!("{}/tests/kernels/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
