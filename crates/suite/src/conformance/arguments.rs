//! What calls are given: kernels with their arguments, copies, sets; each with its text for a transcript.

use std::ffi::c_void;

use dacapo_driver::types::*;

use super::names::{Condition, Names, Told};

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    /// An address.
    P(u64),
    /// A number.
    N(u32),
    /// A conditional handle.
    C(Condition),
}

impl Told for Arg {
    fn told(&self, names: &mut Names) -> String {
        match self {
            Arg::P(address) => names.address(*address),
            Arg::N(number) => number.to_string(),
            Arg::C(condition) => condition.told(names),
        }
    }
}

/// A kernel with its shape and arguments.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub name: &'static str,
    pub function: CUfunction,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub arguments: Vec<Arg>,
}

impl Kernel {
    /// The same in this shape.
    pub fn shaped(mut self, grid: u32, block: u32) -> Kernel {
        (self.grid, self.block) = ([grid, 1, 1], [block, 1, 1]);
        self
    }

    /// The same with that much dynamic shared memory.
    pub fn with_shared(mut self, bytes: u32) -> Kernel {
        self.shared = bytes;
        self
    }

    /// The arguments' values, each in eight bytes.
    pub fn values(&self) -> Vec<u64> {
        let value = |argument: &Arg| match argument {
            Arg::P(address) => *address,
            Arg::N(number) => u64::from(*number),
            Arg::C(condition) => condition.0,
        };
        self.arguments.iter().map(value).collect()
    }

    /// The parameters of a node; `values` and `pointers` must outlive their use.
    pub fn node(&self, values: &mut [u64], pointers: &mut Vec<*mut c_void>) -> CUDA_KERNEL_NODE_PARAMS {
        *pointers = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        CUDA_KERNEL_NODE_PARAMS {
            func: self.function,
            gridDimX: self.grid[0],
            gridDimY: self.grid[1],
            gridDimZ: self.grid[2],
            blockDimX: self.block[0],
            blockDimY: self.block[1],
            blockDimZ: self.block[2],
            sharedMemBytes: self.shared,
            kernelParams: pointers.as_mut_ptr(),
            ..Default::default()
        }
    }
}

impl Told for Kernel {
    fn told(&self, names: &mut Names) -> String {
        let shape = |[x, y, z]: [u32; 3]| if (y, z) == (1, 1) { x.to_string() } else { format!("{x}x{y}x{z}") };
        let arguments: Vec<String> = self.arguments.iter().map(|argument| argument.told(names)).collect();
        let shared = if self.shared > 0 { format!(", {} shared", self.shared) } else { String::new() };
        format!("{}<{}, {}{shared}>({})", self.name, shape(self.grid), shape(self.block), arguments.join(", "))
    }
}

/// One side of a copy.
#[derive(Clone, Copy, Debug)]
pub(super) enum CopyEnd {
    /// Device memory.
    Dev(u64),
    /// Host memory.
    Host(u64),
    /// Wherever the address lies.
    Any(u64),
}

/// A copy of bytes, rows or layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy3 {
    pub source: CopyEnd,
    pub target: CopyEnd,
    /// Bytes of a row, and rows of a layer, on either side.
    pub source_pitch: [usize; 2],
    pub target_pitch: [usize; 2],
    /// Where to begin: bytes, rows, layers.
    pub source_at: [usize; 3],
    pub target_at: [usize; 3],
    /// Bytes, rows, layers.
    pub extent: [usize; 3],
}

impl Copy3 {
    /// A copy of bytes.
    pub fn flat(target: CopyEnd, source: CopyEnd, bytes: usize) -> Copy3 {
        Copy3 {
            source,
            target,
            source_pitch: [0, 0],
            target_pitch: [0, 0],
            source_at: [0; 3],
            target_at: [0; 3],
            extent: [bytes, 1, 1],
        }
    }

    /// A copy of rows.
    pub fn rows(
        target: CopyEnd,
        to_pitch: usize,
        source: CopyEnd,
        from_pitch: usize,
        width: usize,
        rows: usize,
    ) -> Copy3 {
        Copy3 {
            source_pitch: [from_pitch, rows],
            target_pitch: [to_pitch, rows],
            extent: [width, rows, 1],
            ..Copy3::flat(target, source, width)
        }
    }

    /// As the driver wants it.
    pub fn params(&self) -> CUDA_MEMCPY3D {
        let side = |place: CopyEnd| match place {
            CopyEnd::Dev(address) => (CU_MEMORYTYPE_DEVICE, std::ptr::null_mut(), address),
            CopyEnd::Host(address) => (CU_MEMORYTYPE_HOST, address as usize as *mut c_void, 0),
            CopyEnd::Any(address) => (CU_MEMORYTYPE_UNIFIED, std::ptr::null_mut(), address),
        };
        let (source, target) = (side(self.source), side(self.target));
        CUDA_MEMCPY3D {
            srcMemoryType: source.0,
            srcHost: source.1.cast_const(),
            srcDevice: source.2,
            dstMemoryType: target.0,
            dstHost: target.1,
            dstDevice: target.2,
            srcPitch: self.source_pitch[0],
            srcHeight: self.source_pitch[1],
            dstPitch: self.target_pitch[0],
            dstHeight: self.target_pitch[1],
            srcXInBytes: self.source_at[0],
            srcY: self.source_at[1],
            srcZ: self.source_at[2],
            dstXInBytes: self.target_at[0],
            dstY: self.target_at[1],
            dstZ: self.target_at[2],
            WidthInBytes: self.extent[0],
            Height: self.extent[1],
            Depth: self.extent[2],
            ..Default::default()
        }
    }

    /// The same as a copy of rows, for the 2D calls.
    pub fn params_2d(&self) -> CUDA_MEMCPY2D {
        let p = self.params();
        CUDA_MEMCPY2D {
            srcXInBytes: p.srcXInBytes,
            srcY: p.srcY,
            srcMemoryType: p.srcMemoryType,
            srcHost: p.srcHost,
            srcDevice: p.srcDevice,
            srcPitch: p.srcPitch,
            dstXInBytes: p.dstXInBytes,
            dstY: p.dstY,
            dstMemoryType: p.dstMemoryType,
            dstHost: p.dstHost,
            dstDevice: p.dstDevice,
            dstPitch: p.dstPitch,
            WidthInBytes: p.WidthInBytes,
            Height: p.Height,
            ..Default::default()
        }
    }
}

impl Told for Copy3 {
    fn told(&self, names: &mut Names) -> String {
        let side = |place: CopyEnd, at: [usize; 3], pitch: [usize; 2]| {
            let name = match place {
                CopyEnd::Dev(address) => names.address(address),
                CopyEnd::Host(address) => format!("host {}", names.address(address)),
                CopyEnd::Any(address) => format!("any {}", names.address(address)),
            };
            let at = if at == [0; 3] { String::new() } else { format!(" at {at:?}") };
            let pitch = if pitch == [0, 0] { String::new() } else { format!(" pitch {pitch:?}") };
            format!("{name}{at}{pitch}")
        };
        let target = side(self.target, self.target_at, self.target_pitch);
        let source = side(self.source, self.source_at, self.source_pitch);
        let [width, rows, layers] = self.extent;
        let extent =
            if (rows, layers) == (1, 1) { format!("{width} bytes") } else { format!("{width}x{rows}x{layers}") };
        format!("{target} <- {source}, {extent}")
    }
}

/// A set of elements, perhaps in rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub target: u64,
    pub value: u32,
    pub element: u32,
    pub width: usize,
    pub rows: usize,
    pub pitch: usize,
}

impl Fill {
    /// A set of elements in one row.
    pub fn flat(target: u64, value: u32, element: u32, width: usize) -> Fill {
        Fill { target, value, element, width, rows: 1, pitch: 0 }
    }

    /// As the driver wants it.
    pub fn params(&self) -> CUDA_MEMSET_NODE_PARAMS {
        CUDA_MEMSET_NODE_PARAMS {
            dst: self.target,
            pitch: self.pitch,
            value: self.value,
            elementSize: self.element,
            width: self.width,
            height: self.rows,
        }
    }
}

impl Told for Fill {
    fn told(&self, names: &mut Names) -> String {
        let rows = if self.rows == 1 { String::new() } else { format!(" x{} pitch {}", self.rows, self.pitch) };
        let target = names.address(self.target);
        format!("{target} <- {:#x}, {} of {} bytes{rows}", self.value, self.width, self.element)
    }
}

/// Edge data: port, port, type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge(pub u8, pub u8, pub u8);

impl Edge {
    /// As the driver wants it.
    pub fn params(self) -> CUgraphEdgeData {
        CUgraphEdgeData { from_port: self.0, to_port: self.1, r#type: self.2, reserved: [0; 5] }
    }
}

impl Told for Edge {
    fn told(&self, _: &mut Names) -> String {
        format!("type {} ports {}>{}", self.2, self.0, self.1)
    }
}
