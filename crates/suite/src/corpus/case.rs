//! A case: one kernel, one shape, all its arguments.
//!
//! Cases are built with [`Case::new`] and the methods after it, arguments in the order of the kernel's parameters.

use super::Bound;
use crate::digest::sha256;
use crate::session::Geometry;

/// The type of the elements of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "Rust's own names")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Element {
    /// Size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
        }
    }

    /// Whether a bound other than exact makes sense.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F32 | Element::F64)
    }
}

/// A number that can be an argument or an element.
pub trait Plain: Copy {
    /// Its type.
    const ELEMENT: Element;
    /// Appends its bytes, little endian.
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! plain {
    ($($ty:ident $element:ident;)*) => { $(impl Plain for $ty {
        const ELEMENT: Element = Element::$element;
        fn append(self, bytes: &mut Vec<u8>) {
            bytes.extend_from_slice(&self.to_le_bytes());
        }
    })* };
}
plain! { u8 U8; i8 I8; u16 U16; i16 I16; u32 U32; i32 I32; u64 U64; i64 I64; f32 F32; f64 F64; }

/// How a buffer is compared after the launch: equal planes, one bound each.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Type of the elements.
    pub element: Element,
    /// The buffer is cut into as many equal parts; part k is held against bound k.
    pub planes: Vec<Bound>,
}

/// A buffer in device memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// What is in it before the launch.
    pub bytes: Vec<u8>,
    /// How it is compared; `None` for an input, which must then be unchanged.
    pub output: Option<Output>,
}

/// One argument of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// By value.
    Scalar(Vec<u8>),
    /// A pointer to a buffer.
    Buffer(Buffer),
    /// A null pointer.
    Null,
}

/// A kernel with a shape and all its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The module: a name in [`MODULES`](super::MODULES).
    pub module: &'static str,
    /// The entry in it.
    pub kernel: &'static str,
    /// The shape, as one reads it: `n=257`.
    pub shape: String,
    /// Grid, block, dynamic shared memory.
    pub geometry: Geometry,
    /// All blocks run at once.
    pub cooperative: bool,
    /// In the order of the parameters.
    pub arguments: Vec<Argument>,
}

/// What outputs hold before the launch: a byte that no kernel here writes everywhere by chance.
const UNTOUCHED: u8 = 0xc5;

impl Case {
    /// A case without arguments: one block of one thread until told otherwise.
    pub fn new(module: &'static str, kernel: &'static str, shape: impl Into<String>) -> Case {
        let geometry = Geometry { grid: [1; 3], block: [1; 3], shared_bytes: 0 };
        Case { module, kernel, shape: shape.into(), geometry, cooperative: false, arguments: Vec::new() }
    }

    /// A name that no other case has.
    pub fn name(&self) -> String {
        format!("{}/{} {}", self.module, self.kernel, self.shape)
    }

    /// One thread an element, in blocks of `block`; one block where there is nothing, since CUDA has no empty grid.
    pub fn over(self, elements: usize, block: u32) -> Case {
        let blocks = (elements as u32).div_ceil(block).max(1);
        self.blocks([blocks, 1, 1], [block, 1, 1])
    }

    /// Grid and block.
    pub fn blocks(mut self, grid: [u32; 3], block: [u32; 3]) -> Case {
        (self.geometry.grid, self.geometry.block) = (grid, block);
        self
    }

    /// A cooperative launch: all blocks run at once.
    pub fn cooperative(mut self) -> Case {
        self.cooperative = true;
        self
    }

    /// Dynamic shared memory.
    pub fn shared(mut self, bytes: usize) -> Case {
        self.geometry.shared_bytes = bytes as u32;
        self
    }

    /// A number by value.
    pub fn scalar(self, value: impl Plain) -> Case {
        self.scalars(&[value])
    }

    /// A struct of equal members by value.
    pub fn scalars<T: Plain>(mut self, values: &[T]) -> Case {
        self.arguments.push(Argument::Scalar(bytes_of(values)));
        self
    }

    /// A null pointer.
    pub fn null(mut self) -> Case {
        self.arguments.push(Argument::Null);
        self
    }

    /// A buffer that the kernel only reads.
    pub fn input<T: Plain>(mut self, values: &[T]) -> Case {
        self.arguments.push(Argument::Buffer(Buffer { bytes: bytes_of(values), output: None }));
        self
    }

    /// A buffer that the kernel reads and writes.
    pub fn in_out<T: Plain>(self, values: &[T], bound: Bound) -> Case {
        self.compared(bytes_of(values), T::ELEMENT, vec![bound])
    }

    /// A buffer that the kernel writes.
    pub fn output<T: Plain>(self, elements: usize, bound: Bound) -> Case {
        self.planes::<T>(elements, &[bound])
    }

    /// A buffer of as many planes of `elements` as there are bounds.
    pub fn planes<T: Plain>(self, elements: usize, planes: &[Bound]) -> Case {
        let bytes = vec![UNTOUCHED; elements * planes.len() * T::ELEMENT.bytes()];
        self.compared(bytes, T::ELEMENT, planes.to_vec())
    }

    fn compared(mut self, bytes: Vec<u8>, element: Element, planes: Vec<Bound>) -> Case {
        let output = Some(Output { element, planes });
        self.arguments.push(Argument::Buffer(Buffer { bytes, output }));
        self
    }

    /// The buffers that are compared, in order.
    pub fn outputs(&self) -> impl Iterator<Item = (&Buffer, &Output)> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Buffer(buffer) => buffer.output.as_ref().map(|output| (buffer, output)),
            _ => None,
        })
    }

    /// A hash of everything the kernel is handed: geometry and arguments.
    pub fn inputs_sha256(&self) -> String {
        let Geometry { grid, block, shared_bytes } = self.geometry;
        let mut bytes = bytes_of(&[grid, block].concat());
        shared_bytes.append(&mut bytes);
        if self.cooperative {
            bytes.push(1);
        }
        for argument in &self.arguments {
            let (kind, content): (u64, &[u8]) = match argument {
                Argument::Scalar(content) => (0, content),
                Argument::Buffer(Buffer { bytes, .. }) => (1, bytes),
                Argument::Null => (2, &[]),
            };
            // The length is part of it, so that no two lists of arguments read the same.
            (kind << 56 | content.len() as u64).append(&mut bytes);
            bytes.extend_from_slice(content);
        }
        sha256(&bytes)
    }
}

fn bytes_of<T: Plain>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * T::ELEMENT.bytes());
    values.iter().for_each(|value| value.append(&mut bytes));
    bytes
}
