//! The op of a declared kernel.

use std::panic::Location;
use std::sync::Arc;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Args, Declared, Function, Given, Grid, KernelDecl, LoadedModule};
use crate::memory::{Access, Accesses, Extent, Mode};
use crate::record::{KernelRecipe, KernelWork, Node, Op, Recorder, Work};
use crate::value::Snapshot;

/// The op of a declared kernel.
///
/// # Safety
///
/// - `position` is that of the declaration which the rest is made of.
/// - `given` was given its arguments, in order, each as it is declared; `recipe` writes its arguments, in order, and
///   refuses whenever one of its conditions does not hold, before it writes the first of them.
#[doc(hidden)]
pub unsafe fn kernel_op<D: Declared>(
    module: &LoadedModule<D>,
    position: usize,
    at: &'static Location<'static>,
    given: Given,
    recipe: impl Fn(&Snapshot<'_>, &mut Args) -> Result<Grid> + Send + Sync + 'static,
) -> impl Op<Out = ()> {
    // What is not of one declaration is in the library, once for all kernels.
    move |recorder: &mut Recorder<'_>| {
        let mut given = given;
        recorder.push_kernel(
            &module.device,
            &D::KERNELS[position],
            &module.functions[position],
            at,
            &mut given,
            Arc::new(recipe),
        )
    }
}

impl Recorder<'_> {
    /// Takes in a declared kernel of a module that was loaded on `device`.
    fn push_kernel(
        &mut self,
        device: &Device,
        decl: &'static KernelDecl,
        function: &Arc<Function>,
        at: &'static Location<'static>,
        given: &mut Given,
        recipe: KernelRecipe,
    ) -> Result<()> {
        let geometry = self.grid();
        for (name, allocation) in &function.state {
            let place = Extent { allocation: allocation.clone(), start: 0, bytes: allocation.bytes() };
            given.access.push(Access { place, mode: Mode::Write, name, element: 1 });
        }
        if !device.is(self.device()) {
            let stranger = self.device().stranger("the kernel's module", device);
            return Err(self.blame(stranger, decl.name, at));
        }
        if geometry.is_some() && !decl.tunable {
            return Err(self.blame(Error::new(ErrorKind::GridFixed), decl.name, at));
        }
        let work = || {
            Work::Kernel(KernelWork {
                function: function.clone(),
                decl: Some(decl),
                geometry: geometry.map(Box::new),
                recipe,
                sets: None,
                guard: None,
            })
        };
        let node = || Node::new(decl.name.into(), at, Accesses::new(), work());
        self.push_here(node, &mut given.access, &given.slots)?;
        // Only now: a kernel that was refused leaves the geometry to the one that takes its place.
        self.take_grid();
        Ok(())
    }
}
