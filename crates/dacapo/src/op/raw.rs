//! A kernel without a declaration: the unchecked door.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::device::Device;
use crate::element::{Pod, bytes_of};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Args, Function, Grid, ModuleSource, ToArg, sealed};
use crate::memory::{Access, Slice};
use crate::record::{KernelWork, Node, Op, Work};
use crate::value::{AnySlot, Snapshot, Value};

/// An entry point that is launched with any arguments, without a declaration.
///
/// What the driver knows is checked: the number of arguments, their sizes, and the limits of the geometry. The rest is
/// promised by the caller of [`launch`](RawKernel::launch). [`kernels!`](crate::kernels) is the safe way.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{baked, grid, raw::{RawArg, RawKernel}};
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let saxpy = RawKernel::load(&device, include_str!("../../kernels/saxpy.ptx"), "saxpy")?;
/// let (x, mut y) = (device.buffer(&[1.0f32, 2.0])?, device.zeros::<f32>(2)?);
/// let args = vec![
///     RawArg::value(baked(10f32)), RawArg::read(&x), RawArg::write(&mut y), RawArg::value(baked(2u32)),
/// ];
/// // SAFETY: `saxpy` takes (f32, const float*, float*, unsigned) and stays below the given length.
/// stream.run(unsafe { saxpy.launch(grid::linear(2, 256), args) })?;
/// assert_eq!(stream.read(&y)?, [10.0, 20.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "cuLaunchKernel")]
#[doc(alias = "cudaLaunchKernel")]
#[derive(Clone)]
pub struct RawKernel {
    function: Arc<Function>,
    /// Behind the function: the end of a device empties the queue that a module goes to.
    device: Device,
}

/// One argument of a [`RawKernel`]: memory that is read or written, or a value.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{Slot, baked, raw::RawArg};
/// # let device = dacapo::Device::software()?;
/// let (x, mut y, a) = (device.zeros::<f32>(2)?, device.zeros::<f32>(2)?, Slot::new(1f32));
/// let args = [RawArg::value(&a), RawArg::read(&x), RawArg::write(&mut y), RawArg::value(baked(2u32))];
/// assert_eq!(args.len(), 4); // in the order of the kernel's parameters
/// # Ok(()) }
/// ```
pub struct RawArg<'a> {
    access: Option<Access>,
    slot: Option<Arc<AnySlot>>,
    value: Option<ValueOf>,
    _borrowed: PhantomData<&'a ()>,
}

/// Gives the bytes of a value in this launch.
type ValueOf = Arc<dyn Fn(&Snapshot<'_>) -> SmallVec<[u8; 16]> + Send + Sync>;

impl<'a> RawArg<'a> {
    fn memory(access: Access) -> RawArg<'a> {
        RawArg { access: Some(access), slot: None, value: None, _borrowed: PhantomData }
    }

    /// Memory that the kernel reads: its address is passed.
    pub fn read<T: Pod>(slice: &'a Slice<T>) -> RawArg<'a> {
        RawArg::memory(Access::read("argument", slice))
    }

    /// Memory that the kernel writes, and may read: its address is passed.
    pub fn write<T: Pod>(slice: &'a mut Slice<T>) -> RawArg<'a> {
        RawArg::memory(Access::write("argument", slice))
    }

    /// A value: a slot or `baked(..)`.
    pub fn value<T: Pod>(value: impl Value<T>) -> RawArg<'a> {
        let value = value.into_val();
        let slot = value.slot();
        let value: ValueOf = Arc::new(move |snapshot| bytes_of(&[value.seen(snapshot)]).into());
        RawArg { access: None, slot, value: Some(value), _borrowed: PhantomData }
    }
}

/// An argument that is ready.
enum Ready {
    Pointer,
    Bytes(SmallVec<[u8; 16]>),
}

impl sealed::Sealed for Ready {}

impl ToArg for Ready {
    fn put(&self, into: &mut Args) {
        match self {
            Ready::Pointer => into.pointer(),
            Ready::Bytes(bytes) => into.bytes(bytes),
        }
    }

    fn show(&self, _: &str) -> Option<String> {
        None
    }

    fn text(&self) -> Option<String> {
        match self {
            Ready::Pointer => None,
            Ready::Bytes(bytes) => Some(format!("{bytes:02x?}")),
        }
    }
}

impl RawKernel {
    /// Loads PTX and finds one entry point in it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::BadModule`], [`ErrorKind::NoSuchKernel`].
    #[track_caller]
    pub fn load(device: &Device, source: &str, entry: &str) -> Result<RawKernel> {
        let at = Location::caller();
        let found = ModuleSource::load(device, source)
            .and_then(|(module, text)| Function::find(device, &module, &text, Cow::Owned(entry.to_string())));
        let function = Arc::new(found.map_err(|error| error.on_line(at))?);
        Ok(RawKernel { device: device.clone(), function })
    }

    /// The op that launches it.
    ///
    /// # Safety
    ///
    /// - The arguments match the kernel's parameters, in order.
    /// - For every value that its slots may have, the kernel with this geometry stays inside the slices it is given,
    ///   writes only those given with [`RawArg::write`], touches no other memory, and terminates.
    #[track_caller]
    pub unsafe fn launch<'a>(&self, grid: Grid, arguments: Vec<RawArg<'a>>) -> impl Op<Out = ()> + use<'a> {
        let (at, device, function) = (Location::caller(), self.device.clone(), self.function.clone());
        move |recorder| {
            let name = function.name.clone();
            let fail = |kind, label: &str| Err(Error::new(kind).of(&name, label, at));
            if !device.is(recorder.device()) {
                let stranger = recorder.device().stranger("the kernel's module", &device);
                return Err(stranger.of(&name, recorder.label(), at));
            }
            if arguments.len() != function.params.len() {
                let difference =
                    format!("it has {} parameters, {} arguments are given", function.params.len(), arguments.len());
                return fail(ErrorKind::Signature { kernel: name.to_string(), difference }, recorder.label());
            }
            let (mut access, mut slots, mut values) = (SmallVec::new(), Vec::new(), Vec::new());
            for argument in arguments {
                access.extend(argument.access);
                // As reports count them: of values alone.
                if argument.value.is_some() {
                    slots.push(argument.slot);
                }
                values.push(argument.value);
            }
            let limits = function.clone();
            let recipe = move |snapshot: &Snapshot<'_>, into: &mut Args| {
                let mut ready = Vec::with_capacity(values.len());
                for (number, (value, &(_, size))) in values.iter().zip(&limits.params).enumerate() {
                    let argument = match value {
                        Some(value) => Ready::Bytes(value(snapshot)),
                        None => Ready::Pointer,
                    };
                    let bytes = if let Ready::Bytes(bytes) = &argument { bytes.len() } else { 8 };
                    if bytes != size {
                        let difference = format!("parameter {number} has {size} bytes, the argument {bytes}");
                        return Err(Error::new(ErrorKind::Signature { kernel: limits.name.to_string(), difference }));
                    }
                    ready.push(argument);
                }
                if snapshot.wants_texts() {
                    snapshot.tell(&mut ready.iter().map(|argument| argument.text().into()));
                }
                ready.iter().for_each(|argument| argument.put(into));
                Ok(grid)
            };
            let work = Work::Kernel(KernelWork {
                function,
                decl: None,
                geometry: None,
                recipe: Arc::new(recipe),
                sets: None,
                guard: None,
            });
            recorder.push(Node::new(name, at, access, work), &slots)
        }
    }
}
