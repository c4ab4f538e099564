//! Arguments from a seed, by their types: what the table's rows and the C structs are made of.
//!
//! A type says how to draw it, its name in the table says which of the things of that type is meant (`CUdeviceptr` and a flag
//! are both numbers), and the argument's name says what a polite program would pass. So a new row of the table, or a new field
//! of a struct, is drawn without being listed here, as long as its types are known.
//!
//! **What is never drawn**, because no implementation of the API could survive it; it is the caller's promise:
//! - a pointer that is neither null nor valid for what the call's page says it reads or writes;
//! - a count larger than the array beside it, up to a count that no array can have (2^25 and more are drawn);
//! - a host address and a size, pitch or offset that lead out of the host memory that the address lies in;
//! - an address that is neither the device's nor valid host memory, where the call may follow it as host memory
//!   (`cuMemcpy`, copies with `CU_MEMORYTYPE_UNIFIED`);
//! - host memory of `cuMemAllocHost` as a copy's host end: it may be gone by then;
//! - node parameters of one type under the number of another, text without its NUL, functions that are not functions.

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call};

use super::case::Case;
use super::images;

/// Elements behind a pointer to something small.
pub(super) const ELEMENTS: usize = 16;

/// An argument or a field: its name and its type as the table spells them.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) name: &'static str,
    pub(super) ty: &'static str,
    /// It lies behind a pointer.
    inside: bool,
}

impl Slot {
    /// The slot of what this one, a pointer, points to.
    fn behind(self) -> Slot {
        let plain = self.ty.trim_start_matches('*').trim_start();
        let ty = plain.strip_prefix("mut").or_else(|| plain.strip_prefix("const")).unwrap_or(plain).trim_start();
        Slot { name: self.name, ty, inside: true }
    }

    /// An argument or a field.
    pub(super) fn new(name: &'static str, ty: &'static str) -> Slot {
        Slot { name, ty, inside: false }
    }

    /// Whether it counts the elements of an array.
    fn is_count(self) -> bool {
        let words = self.name.ends_with("Count") && self.name != "ByteCount";
        self.name.starts_with("num") || self.name == "count" || words
    }
}

/// What can be drawn.
pub(super) trait Draw: Copy {
    /// One of these.
    fn draw(case: &mut Case, slot: Slot) -> Self;

    /// The argument as a number, for the log.
    fn bits(self) -> u64;

    /// The call has succeeded: remember what it has handed out here.
    fn harvest(self, _case: &mut Case, _slot: Slot) {}

    /// The value as it lies in memory that a call may have written.
    fn keep(self, _case: &mut Case, _slot: Slot) {}
}

/// What pointers point to.
pub(super) trait Pointee: Sized {
    /// Memory with some of these.
    fn place(case: &mut Case, slot: Slot) -> *mut Self;

    /// As [`Draw::harvest`], for a pointer that is not null.
    fn look(_at: *mut Self, _case: &mut Case, _slot: Slot) {}
}

macro_rules! draw_pointer {
    ($($pointer:ident)*) => { $(
        impl<T: Pointee> Draw for *$pointer T {
            fn draw(case: &mut Case, slot: Slot) -> Self {
                // Outputs and inputs may be null; a polite program leaves a few away too.
                if ["extra", "pResViewDesc"].contains(&slot.name) && !case.one_in(6) || case.leaves_out(6, 60) {
                    return std::ptr::null_mut();
                }
                T::place(case, slot.behind())
            }

            fn bits(self) -> u64 {
                self as usize as u64
            }

            fn harvest(self, case: &mut Case, slot: Slot) {
                if !self.is_null() {
                    T::look(self.cast_mut(), case, slot.behind());
                }
            }
        }
    )* };
}
/// `cast_mut` for both kinds of pointer.
trait CastMut<T> {
    fn cast_mut(self) -> *mut T;
}
impl<T> CastMut<T> for *mut T {
    fn cast_mut(self) -> *mut T {
        self
    }
}
draw_pointer!(mut const);

macro_rules! pointees {
    ($($ty:ty: $count:expr),* $(,)?) => { $(
        impl Pointee for $ty {
            fn place(case: &mut Case, slot: Slot) -> *mut $ty {
                let at = case.room::<$ty>(ELEMENTS);
                for index in 0..$count {
                    let value = <$ty as Draw>::draw(case, slot);
                    // SAFETY: `room` gives memory for that many.
                    unsafe { at.add(index).write(value) };
                }
                at
            }

            fn look(at: *mut $ty, case: &mut Case, slot: Slot) {
                // SAFETY: `place` made it, and the call has left a value there.
                unsafe { at.read() }.keep(case, slot);
            }
        }
    )* };
}

impl Pointee for c_void {
    fn place(case: &mut Case, slot: Slot) -> *mut c_void {
        match slot.name {
            "image" | "code" | "fatCubin" => {
                let choice = if case.is_rude() { case.below(8) } else { 9 };
                let text = images::image(choice, case.below(4096) as usize);
                case.text(&text).cast()
            }
            "data" if matches!(case.call, Call::cuLinkAddData | Call::cuLinkAddData_v2) => {
                let choice = if case.is_rude() { case.below(8) } else { [9, 10][case.below(2) as usize] };
                let text = images::image(choice, case.below(4096) as usize);
                case.text_bytes = text.len() as u64;
                case.text(&text).cast()
            }
            "p" if !super::case::registers(case.call) => case.pinned() as *mut c_void,
            "addr" => case.device_pointer(true) as *mut c_void,
            // The program's own business: never followed by a driver.
            "userData" | "ptr" => case.below(1 << 20) as *mut c_void,
            _ => case.host().cast(),
        }
    }
}

/// Text: a name, a path, or room for an answer.
impl Pointee for c_char {
    fn place(case: &mut Case, slot: Slot) -> *mut c_char {
        match slot.name {
            "path" | "fname" | "fileName" => {
                let path = case.path();
                case.text(path.as_bytes()).cast()
            }
            "name" | "symbol" if case.call != Call::cuDeviceGetName => {
                let name = images::NAMES[case.below(images::NAMES.len() as u64) as usize];
                case.text(name.as_bytes()).cast()
            }
            "pciBusId" if case.call == Call::cuDeviceGetByPCIBusId => case.text(b"0000:da:00.0").cast(),
            _ => case.host().cast(),
        }
    }
}

/// Arrays of pointers: kernel arguments, option values, places for answers.
impl Pointee for *mut c_void {
    fn place(case: &mut Case, slot: Slot) -> *mut *mut c_void {
        let at = case.room::<*mut c_void>(ELEMENTS);
        let mut fill = [std::ptr::null_mut(); ELEMENTS];
        if slot.name == "extra" {
            // CU_LAUNCH_PARAM_BUFFER_POINTER, its buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, its size, the end.
            let size = case.room::<usize>(1);
            let bytes = [0, 4, 12, 16, 4000][case.below(5) as usize];
            // SAFETY: room for one.
            unsafe { size.write(bytes) };
            fill[..4].copy_from_slice(&[
                std::ptr::without_provenance_mut(1),
                case.parameters(),
                std::ptr::without_provenance_mut(2),
                size.cast(),
            ]);
        } else {
            for each in &mut fill {
                *each = case.parameters();
            }
        }
        // SAFETY: room for that many.
        unsafe { at.cast::<[*mut c_void; ELEMENTS]>().write(fill) };
        at
    }

    fn look(at: *mut *mut c_void, case: &mut Case, slot: Slot) {
        if slot.name == "pp" {
            // SAFETY: the call has succeeded, and its page says that it has left a pointer there.
            let block = unsafe { at.read() } as u64;
            case.keep("pinned", block);
        }
    }
}

macro_rules! places_for_pointers {
    ($($ty:ty),*) => { $(
        impl Pointee for $ty {
            fn place(case: &mut Case, _: Slot) -> *mut $ty {
                case.room::<$ty>(ELEMENTS)
            }
        }
    )* };
}
places_for_pointers!(*const c_void, *const c_char, *const CUgraphNode, *const CUgraphEdgeData);

macro_rules! draw_handles {
    ($($ty:ident)*) => { $(
        impl Draw for $ty {
            fn draw(case: &mut Case, slot: Slot) -> Self {
                let drawn = match slot.name {
                    "childGraph" if !case.is_rude() => case.other_graph(),
                    _ => case.handle(stringify!($ty)),
                };
                if !slot.inside {
                    case.is_about(stringify!($ty), drawn);
                }
                $ty::from_bits(drawn)
            }

            fn bits(self) -> u64 {
                $ty::bits(self)
            }

            fn keep(self, case: &mut Case, _: Slot) {
                case.keep(stringify!($ty), $ty::bits(self));
            }

            fn harvest(self, case: &mut Case, _: Slot) {
                case.ended(stringify!($ty), $ty::bits(self));
            }
        }
    )* pointees!($($ty: ELEMENTS),*); };
}
draw_handles! {
    CUcontext CUmodule CUfunction CUlibrary CUkernel CUlinkState CUstream CUevent CUgraph CUgraphNode CUgraphExec CUmemoryPool
    CUuserObject CUarray CUgreenCtx
}

impl Draw for u64 {
    fn draw(case: &mut Case, slot: Slot) -> u64 {
        match (slot.ty, slot.name) {
            ("CUdeviceptr", "addr") if case.call == Call::cuMemAddressReserve => 0,
            ("CUdeviceptr", _) => case.device_pointer(case.may_be_wild()),
            ("CUgraphConditionalHandle" | "CUmemGenericAllocationHandle" | "CUtexObject" | "CUsurfObject", _) => {
                case.handle(slot.ty)
            }
            _ if case.is_rude() => case.wild(),
            (_, "words" | "params") => [0, 0, 0, 1, 2][case.below(5) as usize],
            _ => [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 8][case.below(12) as usize],
        }
    }

    fn bits(self) -> u64 {
        self
    }

    fn keep(self, case: &mut Case, slot: Slot) {
        let kinds =
            ["CUdeviceptr", "CUgraphConditionalHandle", "CUmemGenericAllocationHandle", "CUtexObject", "CUsurfObject"];
        if kinds.contains(&slot.ty) {
            case.keep(slot.ty, self);
        }
    }

    fn harvest(self, case: &mut Case, slot: Slot) {
        case.ended(slot.ty, self);
    }
}

impl Draw for usize {
    fn draw(case: &mut Case, slot: Slot) -> usize {
        if slot.inside && !case.is_rude() {
            match slot.name {
                "dataSizes" => return 4,
                "prefetchLocIdxs" => return 0,
                _ => {}
            }
        }
        if slot.inside {
            // How much room there is for an answer: the truth, or less.
            return case.below(ELEMENTS as u64 + 1) as usize;
        }
        if slot.is_count() {
            return case.count() as usize;
        }
        case.size(slot.name) as usize
    }

    fn bits(self) -> u64 {
        self as u64
    }
}

impl Draw for c_uint {
    fn draw(case: &mut Case, slot: Slot) -> c_uint {
        if slot.inside && slot.ty == "c_uint" {
            return case.below(ELEMENTS as u64 + 1) as c_uint;
        }
        if slot.is_count() && slot.ty == "c_uint" {
            return case.count() as c_uint;
        }
        if let Some(known) = enumeration(slot.ty) {
            return match case.is_rude() && case.one_in(3) {
                true => [known.len() as u32, 99, u32::MAX, 1 << 31][case.below(4) as usize],
                // Memory is the device's own, for reading and writing, as nearly all of it is.
                false if slot.ty == "CUmemLocationType" && !case.one_in(8) => CU_MEM_LOCATION_TYPE_DEVICE,
                false if slot.ty == "CUjitInputType" && !case.one_in(4) => CU_JIT_INPUT_PTX,
                false if slot.ty == "CUfilter_mode" && !case.one_in(4) => CU_TR_FILTER_MODE_POINT,
                false if slot.ty == "CUmemAccess_flags" && !case.one_in(4) => CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                false => known[case.below(known.len() as u64) as usize],
            };
        }
        let rude = case.is_rude();
        let from: &[u32] = match (slot.name, rude) {
            (name, false) if name.starts_with("gridDim") => &[1, 1, 1, 2, 3],
            (name, true) if name.starts_with("gridDim") => &[0, 1, 65_535, 65_536, i32::MAX as u32, u32::MAX],
            (name, false) if name.starts_with("blockDim") => &[1, 1, 1, 2, 32, 33],
            (name, true) if name.starts_with("blockDim") => &[0, 1, 64, 1024, 1025, u32::MAX],
            ("sharedMemBytes", false) => &[0, 0, 0, 16, 1024],
            ("sharedMemBytes", true) => &[0, 49_152, 49_153, 232_448, 232_449, u32::MAX],
            ("initialRefcount", false) => &[1, 1, 2, 3],
            ("allocType" | "r#type", false) => &[1, 1, 1, 0, 2],
            ("handleTypes" | "requestedHandleTypes" | "reserved", false) => &[0],
            ("size", false) => &[1, 1, 2, 3],
            ("elementSize", false) => &[1, 2, 4],
            ("ElementSizeBytes", false) => &[4, 8, 16],
            ("flags" | "Flags", false) => &[0, 0, 0, 0, 0, 0, 1, 2],
            (_, false) => &[0, 1, 2, 7],
            (_, true) => &[0, 1, 2, 3, 4, 5, 8, 15, 16, 255, 1 << 16, 1 << 31, u32::MAX],
        };
        from[case.below(from.len() as u64) as usize]
    }

    fn bits(self) -> u64 {
        self.into()
    }
}

impl Draw for c_int {
    fn draw(case: &mut Case, slot: Slot) -> c_int {
        let from: &[c_int] = match (slot.ty, slot.name) {
            // Those that there are, and now and then the next.
            ("CUdevice", _) | (_, "ordinal" | "id") if !case.is_rude() => match case.devices {
                1 => &[0],
                2 => &[0, 0, 0, 1, 1, 1, 2],
                _ => &[0, 0, 0, 1, 1, 2, 2, 3],
            },
            (_, "reserved" | "reserved0" | "flags") if !case.is_rude() => &[0],
            // The buffer beside it has room for the larger of these.
            (_, "len") => &[-1, 0, 1, 5, 64, 4096],
            _ if case.is_rude() => &[0, 1, -1, 32, 4096, c_int::MAX, c_int::MIN],
            _ => &[0, 1, 32, 64, 128, 1024],
        };
        from[case.below(from.len() as u64) as usize]
    }

    fn bits(self) -> u64 {
        self as u32 as u64
    }
}

macro_rules! draw_small_numbers {
    ($($ty:ty)*) => { $(
        impl Draw for $ty {
            fn draw(case: &mut Case, _: Slot) -> $ty {
                if case.is_rude() { case.wild() as $ty } else { [0, 0, 0, 1][case.below(4) as usize] }
            }

            fn bits(self) -> u64 {
                self as u64
            }
        }
    )* };
}
draw_small_numbers!(u8 u16 i64);

impl Draw for f32 {
    fn draw(_: &mut Case, _: Slot) -> f32 {
        0.0
    }

    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Draw for CUresult {
    fn draw(case: &mut Case, _: Slot) -> CUresult {
        CUresult(if case.is_rude() { case.wild() as u32 } else { case.below(1000) as u32 })
    }

    fn bits(self) -> u64 {
        self.0.into()
    }
}

impl<T: Draw + Default, const N: usize> Draw for [T; N] {
    fn draw(case: &mut Case, slot: Slot) -> [T; N] {
        // What is reserved is zero, and an attribute is mostly a small number.
        let zero = slot.name != "words" && !case.is_rude();
        std::array::from_fn(|_| if zero { T::default() } else { T::draw(case, slot) })
    }

    fn bits(self) -> u64 {
        self.first().map_or(0, |first| first.bits())
    }
}

macro_rules! draw_functions {
    ($($ty:ty: $($function:path),*;)*) => { $(
        impl Draw for $ty {
            fn draw(case: &mut Case, _: Slot) -> $ty {
                let some: &[$ty] = &[$(Some($function)),*];
                if case.leaves_out(4, 30) { None } else { some[case.below(some.len() as u64) as usize] }
            }

            fn bits(self) -> u64 {
                self.map_or(0, |function| function as usize as u64)
            }
        }
    )* };
}
draw_functions! {
    CUhostFn: super::callbacks::nothing, super::callbacks::asks;
    CUstreamCallback: super::callbacks::notes;
    CUoccupancyB2DSize: super::callbacks::no_bytes, super::callbacks::some_bytes, super::callbacks::all_bytes;
}

pointees!(c_int: ELEMENTS, c_uint: ELEMENTS, u64: ELEMENTS, usize: ELEMENTS, f32: 1);

macro_rules! draw_structs {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => { $(
        impl Draw for $name {
            fn draw(case: &mut Case, _: Slot) -> $name {
                let mut drawn = $name::default();
                $(drawn.$field = <$type as Draw>::draw(case, Slot::new(stringify!($field), stringify!($type)));)*
                drawn.mend(case);
                drawn
            }

            fn bits(self) -> u64 {
                0
            }

            fn keep(self, case: &mut Case, _: Slot) {
                self.handed_out(case);
            }
        }
    )* pointees!($($name: if size_of::<$name>() <= 80 { ELEMENTS } else { 1 }),*); };
}
dacapo_driver::for_each_struct!(draw_structs);

/// What fields of one struct have to do with each other.
pub(super) trait Mend {
    /// Keeps the caller's promises.
    fn mend(&mut self, _case: &mut Case) {}

    /// Remembers what a call has written into it.
    fn handed_out(&self, _case: &mut Case) {}
}

macro_rules! nothing_to_mend { ($($ty:ty),* $(,)?) => { $(impl Mend for $ty {})* }; }
nothing_to_mend!(
    CUuuid,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_HOST_NODE_PARAMS,
    CUDA_MEMCPY_NODE_PARAMS,
    CUDA_CHILD_GRAPH_NODE_PARAMS,
    CUDA_EVENT_NODE_PARAMS,
    CUmemLocation,
    CUmemAccessDesc,
    CUmemPoolProps,
    CUmemAllocationProp,
    CUDA_MEM_FREE_NODE_PARAMS,
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUgraphEdgeData,
    CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUgraphExecUpdateResultInfo,
    CUlaunchAttributeValue,
    CUlaunchAttribute,
    CUlaunchConfig,
    CUctxCreateParams,
    CUdevprop,
    CUexecAffinityParam,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_TEXTURE_DESC,
    CUDA_RESOURCE_VIEW_DESC,
);

macro_rules! mend_sets {
    ($($ty:ty),*) => { $(
        /// Mostly one row, because the others need a pitch that fits them.
        impl Mend for $ty {
            fn mend(&mut self, case: &mut Case) {
                if !case.is_rude() && !case.one_in(4) {
                    self.height = 1;
                    self.width %= 128;
                    self.elementSize = 1;
                }
            }
        }
    )* };
}
mend_sets!(CUDA_MEMSET_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2);

/// What a texture is over: an array, or memory of some format; garbage is fine in the rest.
impl Mend for CUDA_RESOURCE_DESC {
    fn mend(&mut self, case: &mut Case) {
        let polite = !case.is_rude();
        let formats = [1, 2, 3, 8, 9, 10, 16, 32, 0, 0x91];
        let format = formats[case.below(if polite { 8 } else { 10 }) as usize];
        if polite && case.call == Call::cuSurfObjectCreate {
            self.resType = CU_RESOURCE_TYPE_ARRAY;
        }
        self.res[0] = match self.resType {
            CU_RESOURCE_TYPE_ARRAY => CUarray::draw(case, Slot::new("hArray", "CUarray")).bits(),
            _ => case.device_pointer(true) & !511,
        };
        self.res[1] = format | [1, 2, 4, 3][case.below(if polite { 3 } else { 4 }) as usize] << 32;
        for word in 2..5 {
            self.res[word] = if case.is_rude() { case.wild() } else { 32 * case.below(9) };
        }
    }
}

impl Mend for CUDA_MEM_ALLOC_NODE_PARAMS {
    fn handed_out(&self, case: &mut Case) {
        case.keep("graph memory", self.dptr);
    }
}

impl Mend for CUDA_CONDITIONAL_NODE_PARAMS {
    fn handed_out(&self, case: &mut Case) {
        if !self.phGraph_out.is_null() && (1..=ELEMENTS as u32).contains(&self.size) {
            // SAFETY: the driver has lent an array with a graph for each body, or it is ours, with `ELEMENTS`.
            unsafe { self.phGraph_out.read_unaligned() }.keep(case, Slot::new("", ""));
        }
    }
}

/// An operation that waits may wait for ever; in live time nothing ends it.
impl Mend for CUstreamBatchMemOpParams {
    fn mend(&mut self, case: &mut Case) {
        let kinds: &[u64] = if case.is_live() { &[2, 3, 5, 6, 9] } else { &[1, 2, 3, 4, 5, 6, 9] };
        self.words[0] = kinds[case.below(kinds.len() as u64) as usize];
        self.words[1] = case.device_pointer(true);
        self.words[2] = case.below(3);
        self.words[3] = case.below(4);
    }
}

macro_rules! mend_copies {
    ($($ty:ty: [$($extent:ident),*], [$($source:ident),*] $from:ident $from_device:ident, [$($target:ident),*] $to:ident $to_device:ident;)*) => { $(
        impl Mend for $ty {
            fn mend(&mut self, case: &mut Case) {
                let polite = !case.is_rude();
                for kind in [&mut self.$from, &mut self.$to] {
                    if polite && *kind == CU_MEMORYTYPE_ARRAY {
                        *kind = CU_MEMORYTYPE_DEVICE;
                    }
                }
                // Only an end that is the device's and nothing else may lead anywhere.
                if self.$from != CU_MEMORYTYPE_DEVICE || polite {
                    $(self.$source %= 24;)*
                    self.$from_device = case.device_pointer(false);
                }
                if self.$to != CU_MEMORYTYPE_DEVICE || polite {
                    $(self.$target %= 24;)*
                    self.$to_device = case.device_pointer(false);
                }
                let on_device = self.$from == CU_MEMORYTYPE_DEVICE && self.$to == CU_MEMORYTYPE_DEVICE;
                let no_device = self.$from != CU_MEMORYTYPE_DEVICE && self.$to != CU_MEMORYTYPE_DEVICE;
                $(
                    // Beside the host's end, an extent is small, or larger than any device: that end refuses it.
                    if polite || no_device || !on_device && self.$extent < 1 << 33 {
                        self.$extent %= 9;
                    }
                )*
            }
        }
    )* };
}
mend_copies! {
    CUDA_MEMCPY2D: [WidthInBytes, Height], [srcXInBytes, srcY, srcPitch] srcMemoryType srcDevice, [dstXInBytes, dstY, dstPitch] dstMemoryType dstDevice;
    CUDA_MEMCPY3D: [WidthInBytes, Height, Depth], [srcXInBytes, srcY, srcZ, srcPitch, srcHeight] srcMemoryType srcDevice, [dstXInBytes, dstY, dstZ, dstPitch, dstHeight] dstMemoryType dstDevice;
    CUDA_MEMCPY3D_PEER: [WidthInBytes, Height, Depth], [srcXInBytes, srcY, srcZ, srcPitch, srcHeight] srcMemoryType srcDevice, [dstXInBytes, dstY, dstZ, dstPitch, dstHeight] dstMemoryType dstDevice;
}

/// Parameters of any node: those of its type.
impl Mend for CUgraphNodeParams {
    fn mend(&mut self, case: &mut Case) {
        let slot = Slot::new("", "");
        let kind = self.r#type;
        macro_rules! of {
            ($ty:ty) => {{
                let inner = <$ty as Draw>::draw(case, slot);
                // SAFETY: a struct of cuda.h, drawn field by field.
                unsafe { CUgraphNodeParams::write(kind, inner) }
            }};
        }
        *self = match kind {
            CU_GRAPH_NODE_TYPE_KERNEL => of!(CUDA_KERNEL_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_MEMCPY => of!(CUDA_MEMCPY_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_MEMSET => of!(CUDA_MEMSET_NODE_PARAMS_v2),
            CU_GRAPH_NODE_TYPE_HOST => of!(CUDA_HOST_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_GRAPH => of!(CUDA_CHILD_GRAPH_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_WAIT_EVENT | CU_GRAPH_NODE_TYPE_EVENT_RECORD => of!(CUDA_EVENT_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_MEM_ALLOC => of!(CUDA_MEM_ALLOC_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_MEM_FREE => of!(CUDA_MEM_FREE_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => of!(CUDA_BATCH_MEM_OP_NODE_PARAMS),
            CU_GRAPH_NODE_TYPE_CONDITIONAL => of!(CUDA_CONDITIONAL_NODE_PARAMS),
            _ => CUgraphNodeParams { r#type: kind, ..Default::default() },
        };
    }

    fn handed_out(&self, case: &mut Case) {
        match self.r#type {
            // SAFETY: `mend` wrote this struct under this number.
            CU_GRAPH_NODE_TYPE_MEM_ALLOC => unsafe { self.read::<CUDA_MEM_ALLOC_NODE_PARAMS>() }.handed_out(case),
            // SAFETY: as above.
            CU_GRAPH_NODE_TYPE_CONDITIONAL => unsafe { self.read::<CUDA_CONDITIONAL_NODE_PARAMS>() }.handed_out(case),
            _ => {}
        }
    }
}

macro_rules! list_enumerations {
    ($($name:ident { $($constant:ident = $value:expr),* $(,)? })*) => {
        /// The values that a header names for an enumeration.
        fn enumeration(name: &str) -> Option<&'static [u32]> {
            match name {
                $(stringify!($name) => Some(&[$($value),*]),)*
                "CUkernelNodeAttrID" | "CUstreamAttrID" => enumeration("CUlaunchAttributeID"),
                _ => None,
            }
        }
    };
}
dacapo_driver::for_each_enumeration!(list_enumerations);
