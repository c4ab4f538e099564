//! The op of a declared kernel.

use std::panic::Location;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Args, Declared, Given, Grid, LoadedModule};
use crate::memory::{Access, Extent, Mode};
use crate::record::{KernelWork, Node, Op, Work};
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
    move |recorder| {
        let geometry = recorder.grid();
        let (decl, function) = (&D::KERNELS[position], module.functions[position].clone());
        let Given { mut access, slots } = given;
        for (name, allocation) in &function.state {
            let place = Extent { allocation: allocation.clone(), start: 0, bytes: allocation.bytes() };
            access.push(Access { place, mode: Mode::Write, name, element: 1 });
        }
        if !module.device.is(recorder.device()) {
            let stranger = recorder.device().stranger("the kernel's module", &module.device);
            return Err(recorder.blame(stranger, decl.name, at));
        }
        if geometry.is_some() && !decl.tunable {
            return Err(recorder.blame(Error::new(ErrorKind::GridFixed), decl.name, at));
        }
        let work = Work::Kernel(KernelWork {
            function,
            decl: Some(decl),
            geometry: geometry.map(Box::new),
            recipe: Arc::new(recipe),
            prepared: None,
            sets: None,
            guard: None,
        });
        recorder.push(Node::new(decl.name.into(), at, access, work), &slots)?;
        // Only now: a kernel that was refused leaves the geometry to the one that takes its place.
        recorder.take_grid();
        Ok(())
    }
}
