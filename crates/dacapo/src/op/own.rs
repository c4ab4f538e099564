//! Kernels of the library's own.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::device::{Device, Guest};
use crate::error::Result;
use crate::kernel::{Args, Function, ModuleSource, grid};
use crate::memory::{Accesses, Mode};
use crate::record::{KernelWork, Node, Recorder, Work};
use crate::value::{AnySlot, Snapshot};

/// Kernels that ops of the library need, loaded when the first of those is recorded.
pub(crate) struct OwnKernels {
    fill_part: Arc<Function>,
}

impl Guest for OwnKernels {}

/// The most bytes of an element that one launch of `fill_part` writes.
const PART_MAX: usize = 64;

impl OwnKernels {
    fn load(device: &Device) -> Result<OwnKernels> {
        let (module, text) = ModuleSource::load(device, include_str!("../../kernels/fill.ptx"))?;
        let fill_part = Function::find(device, &module, &text, Cow::Borrowed("fill_part"))?;
        Ok(OwnKernels { fill_part: Arc::new(fill_part) })
    }

    /// Sets every element of the one access to the bytes that `pattern` gives.
    pub(crate) fn fill(
        &self,
        recorder: &mut Recorder<'_>,
        at: &'static Location<'static>,
        access: Accesses,
        slot: Option<Arc<AnySlot>>,
        element: usize,
        pattern: impl Fn(&Snapshot<'_>) -> SmallVec<[u8; 16]> + Send + Sync + 'static,
    ) -> Result<()> {
        let pattern = Arc::new(pattern);
        let n = access[0].len();
        for offset in (0..element).step_by(PART_MAX) {
            let bytes = PART_MAX.min(element - offset);
            let mut access = access.clone();
            if offset > 0 {
                // The bytes before are kept.
                access[0].mode = Mode::Write;
            }
            let pattern = pattern.clone();
            let recipe = move |snapshot: &Snapshot<'_>, into: &mut Args| {
                let mut part = [0u8; PART_MAX];
                part[..bytes].copy_from_slice(&pattern(snapshot)[offset..offset + bytes]);
                into.pointer();
                into.value(&(n as u64));
                into.value(&(element as u32));
                into.value(&(offset as u32));
                into.value(&(bytes as u32));
                into.value(&part);
                Ok(grid::linear(n, 256))
            };
            let function = self.fill_part.clone();
            let work = Work::Kernel(KernelWork {
                function,
                decl: None,
                geometry: None,
                recipe: Arc::new(recipe),
                sets: None,
                guard: None,
            });
            recorder.push(Node::new("fill".into(), at, access, work), std::slice::from_ref(&slot))?;
        }
        Ok(())
    }
}

impl Device {
    /// The library's own kernels.
    pub(crate) fn own_kernels(&self) -> Result<Arc<OwnKernels>> {
        match self.guest() {
            Some(kernels) => Ok(kernels),
            None => Ok(self.take_in(OwnKernels::load(self)?)),
        }
    }
}
