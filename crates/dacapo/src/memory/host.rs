//! Page-locked host memory that a graph copies from or to at every replay.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeBounds};
use std::sync::{Arc, Mutex, PoisonError};

use dacapo_ledger::Touching;

use crate::device::{Counted, Device};
use crate::element::{Pod, bytes_of};
use crate::error::Result;
use crate::memory::host_slice::within;
use crate::memory::{Access, Allocation, Extent, HostSlice, HostSliceMut, Mode};

/// Page-locked host memory, read and written by copying.
///
/// There is no `&[T]` into it: a graph may be writing it at that moment. [`set`](HostBuffer::set) and
/// [`to_vec`](HostBuffer::to_vec) wait for the launches in flight that use it, and no launch begins while they copy.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let stream = device.stream()?;
/// let mut next = device.host(&[1.0f32, 2.0])?;
/// let mut x = device.zeros::<f32>(2)?;
/// let mut graph = device.record(dacapo::upload(&next, &mut x))?;
/// graph.launch(&stream)?;
/// next.set(&[3.0, 4.0])?; // waits for the launch, then copies
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&x)?, [3.0, 4.0]);
/// # Ok(()) }
/// ```
#[doc(alias = "pinned")]
#[doc(alias = "page-locked")]
#[doc(alias = "cudaHostAlloc")]
#[doc(alias = "cudaMallocHost")]
#[doc(alias = "unified")]
pub struct HostBuffer<T: Pod> {
    allocation: Arc<Allocation>,
    gate: Arc<Gate>,
    len: usize,
    _elements: PhantomData<T>,
}

/// Held over a host copy, and over the enqueueing of work that touches the same host memory: so that neither begins
/// in the middle of the other. Never held while waiting for the device.
#[derive(Default)]
pub(crate) struct Gate(Mutex<()>);

impl Gate {
    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Pod> HostBuffer<T> {
    pub(crate) fn new(device: &Device, elements: &[T]) -> Result<HostBuffer<T>> {
        const { assert!(size_of::<T>() > 0, "elements without size cannot be in a buffer") }
        let allocation = device.allocate_host(size_of_val(elements))?;
        allocation.add_handle();
        let buffer =
            HostBuffer { allocation, gate: Arc::new(Gate::default()), len: elements.len(), _elements: PhantomData };
        buffer.copy_in(0, elements);
        Ok(buffer)
    }

    /// Names it: [`Buffer::named`](crate::Buffer::named).
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> HostBuffer<T> {
        self.allocation.set_name(name.into());
        self
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part to read: on the host, or as the source of [`upload`](crate::upload).
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut host = device.host(&[1u32, 2, 3, 4])?;
    /// let mut x = device.zeros::<u32>(2)?;
    /// stream.run(dacapo::upload(host.slice(2..), &mut x))?;
    /// stream.run(dacapo::download(&x, host.slice_mut(..2)))?;
    /// assert_eq!(host.to_vec()?, [3, 4, 3, 4]);
    /// assert_eq!(host.slice(1..3).to_vec()?, [4, 3]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    ///
    /// - The range is out of bounds.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> HostSlice<'_, T> {
        HostSlice::new(self, within(range, self.len))
    }

    /// A part to write: on the host, or as the target of [`download`](crate::download).
    ///
    /// # Panics
    ///
    /// - The range is out of bounds.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> HostSliceMut<'_, T> {
        let range = within(range, self.len);
        HostSliceMut::new(self, range)
    }

    /// Replaces the contents. Waits for launches in flight that use it, then copies; later launches see the new
    /// contents.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Length`](crate::ErrorKind::Length): `elements` has a different length.
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording.
    /// - Any error from earlier work.
    #[track_caller]
    pub fn set(&mut self, elements: &[T]) -> Result<()> {
        self.slice_mut(..).set(elements)
    }

    /// Waits for everything enqueued before this call that uses it, then returns the contents.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::EagerInRecording`](crate::ErrorKind::EagerInRecording): inside a recording.
    /// - Any error from earlier work.
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.slice(..).to_vec()
    }

    /// [`to_vec`](HostBuffer::to_vec) into your own slice: nothing is allocated.
    ///
    /// # Errors
    ///
    /// - As [`to_vec`](HostBuffer::to_vec), and [`ErrorKind::Length`](crate::ErrorKind::Length).
    #[track_caller]
    pub fn read_into(&self, elements: &mut [T]) -> Result<()> {
        self.slice(..).read_into(elements)
    }

    /// Runs `then` when nothing in flight conflicts, and keeps conflicting work from being enqueued meanwhile.
    pub(super) fn when_quiet<R>(&self, touching: Touching, mut then: impl FnMut(&Self) -> R) -> Result<R> {
        let device = self.allocation.device();
        device.enter()?;
        let memory = self.allocation.memory().expect("host memory is in the ledger");
        loop {
            for pending in device.ledger().wait_list(memory, touching) {
                device.wait_for(&pending)?;
            }
            let _held = self.gate.lock();
            // Between the wait and the lock another thread may have launched.
            if device.ledger().wait_list(memory, touching).is_empty() {
                if touching == Touching::Read {
                    device.writers(memory).expect_whole()?;
                    return Ok(then(self));
                }
                let done = then(self);
                if Counted::have_died() {
                    // What a dead launch should have written here is not asked for any more.
                    device.ledger().written_by_host(memory);
                }
                return Ok(done);
            }
        }
    }

    /// Copies elements to a position on; they must fit. Only while nobody else touches it: at first, or in `when_quiet`.
    pub(super) fn copy_in(&self, start: usize, elements: &[T]) {
        assert!(start <= self.len && elements.len() <= self.len - start, "within the buffer");
        let bytes = bytes_of(elements);
        if !bytes.is_empty() {
            // SAFETY: the allocation is page-locked host memory of `len` elements, held by `self`, and the range is inside;
            // at first nobody knows it, later `when_quiet` holds the gate and nothing in flight touches it.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.pointer(start), bytes.len()) }
        }
    }

    /// Copies elements out from a position on; there must be so many. Only in `when_quiet`.
    pub(super) fn copy_out(&self, start: usize, elements: &mut [T]) {
        assert!(start <= self.len && elements.len() <= self.len - start, "within the buffer");
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(elements);
        if !bytes.is_empty() {
            // SAFETY: as above; the gate is held and nothing in flight writes it, so nobody writes it now.
            unsafe { std::ptr::copy_nonoverlapping(self.pointer(start), bytes.as_mut_ptr(), bytes.len()) }
        }
    }

    fn pointer(&self, start: usize) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.allocation.address() as usize + start * size_of::<T>())
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    pub(super) fn access(&self, range: &Range<usize>, name: &'static str, mode: Mode) -> Access {
        let element = size_of::<T>();
        let (start, bytes) = (range.start * element, range.len() * element);
        Access {
            place: Extent { allocation: self.allocation.clone(), start, bytes },
            mode,
            name,
            element: element as u32,
        }
    }
}

impl<T: Pod> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        self.allocation.drop_handle();
    }
}

impl<T: Pod> fmt::Debug for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer<{}>[{}]", std::any::type_name::<T>(), self.len)?;
        self.allocation.name().map_or(Ok(()), |name| write!(f, " `{name}`"))
    }
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use dacapo_driver::{Argument, CUresult, Call, Hook, Hooked};

    use super::*;
    use crate::{Software, upload};

    /// Counts what is enqueued, and does something right after the first wait for an event.
    #[derive(Default)]
    struct Between {
        enqueued: AtomicU32,
        after_waiting: OnceLock<Box<dyn Fn() + Send + Sync>>,
        waits: AtomicU32,
    }

    impl Hook for Between {
        fn around(&self, call: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
            if matches!(call, Call::cuGraphLaunch | Call::cuMemcpyAsync) {
                self.enqueued.fetch_add(1, Ordering::SeqCst);
            }
            let code = run();
            if call == Call::cuEventSynchronize
                && let Some(then) = self.after_waiting.get()
                && self.waits.fetch_add(1, Ordering::SeqCst) == 0
            {
                then();
            }
            code
        }
    }

    fn open() -> (Device, Arc<Between>) {
        let hook = Arc::new(Between::default());
        let kept = hook.clone();
        // SAFETY: the hook passes every call on. What it does besides is done by another thread.
        let opened = unsafe { Software::new().open_hooked(move |machine| Arc::new(Hooked::new(machine, kept))) };
        (opened.unwrap(), hook)
    }

    /// While the host copies, nothing that uses the memory is enqueued: neither a replay nor an eager run.
    #[test]
    fn nothing_is_enqueued_in_the_middle_of_a_copy_of_the_host_s() {
        let (device, hook) = open();
        for eager in [false, true] {
            let (host, mut x) = (device.host(&[1u32; 4]).unwrap(), device.zeros::<u32>(4).unwrap());
            let stream = device.stream().unwrap();
            let mut graph = device.record(upload(&host, &mut x)).unwrap();
            let before = hook.enqueued.load(Ordering::SeqCst);
            std::thread::scope(|scope| {
                let mut once = Some((&mut x, &mut graph));
                let meanwhile = host.when_quiet(Touching::Write, |_| {
                    let ((x, graph), host, stream) = (once.take().expect("called once"), &host, &stream);
                    scope.spawn(move || match eager {
                        true => stream.run(upload(host, x)).unwrap(),
                        false => graph.launch(stream).map(drop).unwrap(),
                    });
                    std::thread::sleep(Duration::from_millis(100));
                    hook.enqueued.load(Ordering::SeqCst)
                });
                assert_eq!(meanwhile.unwrap(), before, "eager: {eager}");
            });
            assert_eq!(hook.enqueued.load(Ordering::SeqCst), before + 1);
            assert_eq!(stream.read(&x).unwrap(), [1; 4]);
        }
    }

    /// Who has waited for one launch looks again before copying: another may have been made since.
    #[test]
    fn a_launch_between_the_wait_and_the_copy_is_waited_for_too() {
        let (device, hook) = open();
        let (host, mut x) = (device.host(&[1u32; 4]).unwrap(), device.zeros::<u32>(4).unwrap());
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let mut graph = device.record(upload(&host, &mut x)).unwrap();
        graph.launch(&stream).unwrap();
        let again = Mutex::new(Some((graph, other)));
        let launch = move || {
            let (mut graph, other) = again.lock().unwrap().take().expect("once");
            std::thread::scope(|scope| {
                scope.spawn(|| graph.launch(&other).map(drop).unwrap());
            });
            *again.lock().unwrap() = Some((graph, other));
        };
        assert!(hook.after_waiting.set(Box::new(launch)).is_ok());
        let memory = host.allocation.memory().unwrap();
        let in_flight = host.when_quiet(Touching::Write, |_| device.ledger().wait_list(memory, Touching::Write).len());
        assert_eq!(in_flight.unwrap(), 0);
        assert_eq!(hook.waits.load(Ordering::SeqCst), 2);
    }
}
