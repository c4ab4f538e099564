//! A PTX module, decoded once.

use std::sync::atomic::{AtomicU32, Ordering};

use dacapo_ptx::effects::{self, AccessKind, Base, Route};
use dacapo_ptx::ir;

use super::apart;
use super::decode;
use super::op::{Code, Op, Target};
use crate::finding::Finding;

/// Which kernel of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelId(pub u32);

/// Where a kernel parameter lies in the parameter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Bytes from the start.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

/// What a driver tells about a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// Its parameters in order.
    pub params: Vec<ParamInfo>,
    /// Size of the parameter block.
    pub param_bytes: usize,
    /// Bytes of static shared memory.
    pub static_shared: u32,
    /// Bytes of local memory of a thread.
    pub local_bytes: u32,
    /// Bytes of constant variables of its module.
    pub const_bytes: u32,
    /// 32-bit registers of a thread: an estimate, see exec/pressure.rs.
    pub registers: u32,
    /// `.maxntid`.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`; 0 where nothing is required.
    pub required_cluster: [u32; 3],
    /// `.explicitcluster`.
    pub explicit_cluster: bool,
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// `.version` of the module.
    pub ptx_version: (u32, u32),
    /// First word of the module's `.target`.
    pub target: String,
}

/// One PTX module, decoded; shared by all who run it.
pub struct Program {
    pub(super) module: ir::Module,
    pub(super) name: String,
    kernels: Vec<Kernel>,
}

/// A kernel of a program.
struct Kernel {
    info: KernelInfo,
    code: Code,
    /// Its blocks tell each other nothing, as far as its text shows.
    apart: bool,
    /// It may signal before it is over.
    signals: bool,
    /// How often running its blocks apart was tried in vain.
    gave_up: AtomicU32,
}

impl Program {
    /// Decodes `module`, which reports will call `name`.
    pub fn new(module: ir::Module, name: &str) -> Program {
        let kernels = module
            .functions
            .iter()
            .enumerate()
            .filter(|(_, f)| f.is_kernel && f.has_body)
            .map(|(i, f)| {
                let code = decode::decode(&module, ir::FunctionId(i as u32), name);
                let apart = apart::is_possible(&module, &code);
                let signals = code.ops.iter().any(|op| matches!(op, Op::LaunchDependents));
                Kernel { info: info(&module, f, &code), code, apart, signals, gave_up: AtomicU32::new(0) }
            })
            .collect();
        Program { module, name: name.to_string(), kernels }
    }

    /// Its kernels in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = (KernelId, &KernelInfo)> {
        self.kernels.iter().enumerate().map(|(i, k)| (KernelId(i as u32), &k.info))
    }

    /// The kernel called `name`.
    pub fn kernel(&self, name: &str) -> Option<KernelId> {
        self.kernels.iter().position(|k| k.info.name == name).map(|i| KernelId(i as u32))
    }

    /// Is the variable called `name` a managed one?
    pub(crate) fn is_managed(&self, name: &str) -> bool {
        self.module.variables.iter().any(|variable| variable.managed && variable.name == name)
    }

    /// What a driver tells about a kernel.
    ///
    /// # Panics
    ///
    /// When the id is another program's.
    pub fn info(&self, k: KernelId) -> &KernelInfo {
        &self.kernels[k.0 as usize].info
    }

    /// What a kernel needs and the interpreter does not know; empty for a kernel that can run.
    ///
    /// # Panics
    ///
    /// When the id is another program's.
    pub fn unsupported(&self, k: KernelId) -> Vec<Finding> {
        self.kernels[k.0 as usize].code.unsupported.clone()
    }

    /// Where a kernel calls `cudaGraphSetConditional` first, if it does.
    pub(crate) fn sets_condition(&self, k: KernelId) -> Option<u32> {
        let code = self.code(k);
        let sets = |op: &Op| matches!(op, Op::Call(index) if matches!(code.calls[*index as usize].target, Target::SetConditional));
        code.ops.iter().position(sets).map(|pc| pc as u32)
    }

    /// The parameters that a kernel touches memory through in a wanted way; all, where its text does not tell.
    pub(crate) fn touches_through(&self, k: KernelId, wanted: fn(AccessKind) -> bool) -> Vec<ParamInfo> {
        let info = self.info(k);
        let found = self.module.functions.iter().position(|f| f.is_kernel && f.has_body && f.name == info.name);
        let Some(function) = found else { return Vec::new() };
        let effects = effects::effects(&self.module, ir::FunctionId(function as u32));
        let is_of = |route: &Route, index: u32| {
            route.bases.iter().any(|base| matches!(base, Base::Param { index: i, .. } if *i == index))
        };
        let is_touched = |index: u32| {
            effects.opaque.is_some()
                || effects
                    .accesses
                    .iter()
                    .any(|access| wanted(access.kind) && access.routes.iter().any(|route| is_of(route, index)))
        };
        info.params.iter().zip(0..).filter(|(_, index)| is_touched(*index)).map(|(param, _)| *param).collect()
    }

    /// May a kernel signal before it is over?
    pub(crate) fn may_signal(&self, k: KernelId) -> bool {
        self.kernels[k.0 as usize].signals
    }

    /// May the blocks of a kernel run at the same time? After some attempts that came to nothing: no more.
    pub(super) fn may_run_apart(&self, k: KernelId) -> bool {
        let kernel = &self.kernels[k.0 as usize];
        kernel.apart && kernel.gave_up.load(Ordering::Relaxed) < apart::ATTEMPTS
    }

    /// An attempt to run a kernel's blocks at the same time came to nothing.
    pub(super) fn gave_up_apart(&self, k: KernelId) {
        self.kernels[k.0 as usize].gave_up.fetch_add(1, Ordering::Relaxed);
    }

    /// The records of a kernel.
    pub(super) fn code(&self, k: KernelId) -> &Code {
        &self.kernels[k.0 as usize].code
    }
}

fn info(module: &ir::Module, f: &ir::Function, code: &Code) -> KernelInfo {
    let params: Vec<ParamInfo> = f
        .params
        .iter()
        .map(|p| ParamInfo { offset: p.offset as usize, size: p.size as usize, align: p.align as usize })
        .collect();
    KernelInfo {
        name: f.name.clone(),
        param_bytes: params.last().map_or(0, |p| p.offset + p.size),
        params,
        static_shared: code.static_shared,
        local_bytes: code.local_bytes,
        const_bytes: module
            .variables
            .iter()
            .filter(|v| v.space == ir::Space::Const)
            .fold(0, |all: u32, v| all.saturating_add(u32::try_from(v.size).unwrap_or(u32::MAX))),
        registers: super::pressure::registers(f),
        max_threads: f.directives.max_threads,
        required_cluster: f.directives.required_cluster.unwrap_or_default(),
        explicit_cluster: f.directives.explicit_cluster,
        required_threads: f.directives.required_threads,
        ptx_version: module.version,
        target: module.target.first().cloned().unwrap_or_default(),
    }
}
