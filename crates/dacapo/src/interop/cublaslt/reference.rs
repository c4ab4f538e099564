//! Kernels of our own that do what cuBLASLt does: on the software device, and where they are asked for.

use std::borrow::Cow;
use std::sync::Arc;

use crate::device::Device;
use crate::error::Result;
use crate::interop::cublaslt::Activation;
use crate::interop::cublaslt::matmul::Format;
use crate::kernel::{Args, Function, ModuleSource, grid};
use crate::record::{KernelWork, Work};
use crate::value::Snapshot;

/// One kernel for each format.
pub(super) struct Reference {
    functions: [(Format, Arc<Function>); 4],
}

/// What a launch is told beside its pointers. These are d, a, b and those of the others that are there, in this order.
#[derive(Clone, Copy)]
pub(super) struct Launch {
    pub(super) format: Format,
    pub(super) m: u32,
    pub(super) n: u32,
    pub(super) k: u32,
    pub(super) batch: u64,
    pub(super) a_transposed: bool,
    pub(super) b_transposed: bool,
    pub(super) activation: Activation,
    pub(super) accumulate: bool,
    pub(super) has_addend: bool,
    pub(super) has_bias: bool,
    /// The values, and whether each is on the device instead.
    pub(super) alpha: (f32, bool),
    pub(super) beta: (f32, bool),
}

impl Reference {
    pub(super) fn load(device: &Device) -> Result<Reference> {
        let (module, text) = ModuleSource::load(device, include_str!("../../../kernels/matmul.ptx"))?;
        let find = |format, entry| -> Result<_> {
            Ok((format, Arc::new(Function::find(device, &module, &text, Cow::Borrowed(entry))?)))
        };
        Ok(Reference {
            functions: [
                find(Format::F32, "matmul_f32")?,
                find(Format::Tf32, "matmul_tf32")?,
                find(Format::F16, "matmul_f16")?,
                find(Format::Bf16, "matmul_bf16")?,
            ],
        })
    }

    /// The work of one launch.
    pub(super) fn work(&self, launch: Launch) -> Work {
        let found = self.functions.iter().find(|(format, _)| *format == launch.format);
        let (_, function) = found.expect("one for each format");
        let recipe = move |_: &Snapshot<'_>, into: &mut Args| {
            let pointer = |into: &mut Args, there: bool| if there { into.pointer() } else { into.value(&0u64) };
            for there in [true, true, true, launch.has_addend, launch.has_bias, launch.alpha.1, launch.beta.1] {
                pointer(into, there);
            }
            let elements = launch.batch * u64::from(launch.m) * u64::from(launch.n);
            into.value(&launch.alpha.0);
            into.value(&launch.beta.0);
            into.value(&elements);
            into.value(&launch.m);
            into.value(&launch.n);
            into.value(&launch.k);
            into.value(&launch.flags());
            Ok(grid::linear(elements as usize, 128))
        };
        Work::Kernel(KernelWork {
            function: function.clone(),
            decl: None,
            geometry: None,
            recipe: Arc::new(recipe),
            sets: None,
            guard: None,
        })
    }
}

impl Launch {
    /// As kernels/matmul.cu numbers them.
    fn flags(&self) -> u32 {
        let activation = match self.activation {
            Activation::None => 0,
            Activation::Relu => 4,
            Activation::Gelu => 8,
        };
        u32::from(self.a_transposed) | u32::from(self.b_transposed) << 1 | activation | u32::from(self.accumulate) << 4
    }
}
