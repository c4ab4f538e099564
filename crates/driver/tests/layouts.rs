//! Our structs and constants are those of cuda.h: checked against cudarc's bindings, which bindgen made from CUDA 13.0's.
//!
//! - Every struct: size, alignment, and the offset and size of every field.
//! - Every constant of an enumeration and every result code: its number.
//!
//! The lists come from the definitions themselves, so nothing can be left out. What cudarc has not, or calls otherwise, is
//! said in [`theirs`].

use cudarc::driver::sys;
use dacapo_driver::types as ours;

/// cudarc's names, and what it calls otherwise than we do.
#[allow(non_camel_case_types, reason = "C's names")]
mod theirs {
    pub use cudarc::driver::sys::*;

    /// Recording and waiting for an event take the same parameters; the test below holds both.
    pub type CUDA_EVENT_NODE_PARAMS = CUDA_EVENT_RECORD_NODE_PARAMS;
}

/// One field, or a whole struct, or one constant: what it is called, and its numbers on both sides.
struct Pair {
    what: String,
    ours: Vec<usize>,
    theirs: Vec<usize>,
}

fn assert_equal(pairs: &[Pair]) {
    let different: Vec<_> = pairs
        .iter()
        .filter(|pair| pair.ours != pair.theirs)
        .map(|pair| format!("{}: ours {:?}, theirs {:?}", pair.what, pair.ours, pair.theirs))
        .collect();
    assert_eq!(different, Vec::<String>::new());
}

/// The size of a field, from a function that would project to it.
const fn size_of_field<S, T>(_: fn(*const S) -> *const T) -> usize {
    size_of::<T>()
}

macro_rules! field {
    // Rust's keywords: cudarc appends an underscore.
    ($name:ident r#type) => { field!($name r#type, type_) };
    ($name:ident r#fn) => { field!($name r#fn, fn_) };
    // What we keep as plain words, C has as a union.
    (CUgraphNodeParams params) => { field!(CUgraphNodeParams params, __bindgen_anon_1) };
    (CUstreamBatchMemOpParams words) => { whole!(CUstreamBatchMemOpParams) };
    (CUlaunchAttributeValue words) => { whole!(CUlaunchAttributeValue) };
    ($name:ident $field:ident) => { field!($name $field, $field) };
    ($name:ident $ours:ident, $theirs:ident) => {
        Pair {
            what: format!("{}.{}: offset, size", stringify!($name), stringify!($ours)),
            ours: vec![
                std::mem::offset_of!(ours::$name, $ours),
                // SAFETY: never run; only its type is used.
                size_of_field(|at: *const ours::$name| unsafe { &raw const (*at).$ours }),
            ],
            theirs: vec![
                std::mem::offset_of!(theirs::$name, $theirs),
                // SAFETY: never run; only its type is used.
                size_of_field(|at: *const theirs::$name| unsafe { &raw const (*at).$theirs }),
            ],
        }
    };
}

macro_rules! whole {
    ($name:ident) => {
        Pair {
            what: format!("{}: size, alignment", stringify!($name)),
            ours: vec![size_of::<ours::$name>(), align_of::<ours::$name>()],
            theirs: vec![size_of::<theirs::$name>(), align_of::<theirs::$name>()],
        }
    };
}

macro_rules! define_structs {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        fn structs() -> Vec<Pair> {
            vec![$(whole!($name), $(field!($name $field),)*)*]
        }
    };
}

dacapo_driver::for_each_struct!(define_structs);

macro_rules! constant {
    // Not an enumeration in C, but macros.
    (CUmemHost_flags $constant:ident) => { constant!(= $constant, sys::$constant) };
    (CUarray3D_flags $constant:ident) => { constant!(= $constant, sys::$constant) };
    (CUtexture_flags $constant:ident) => { constant!(= $constant, sys::$constant) };
    // Flags, for which bindgen makes a struct.
    (CUgraphInstantiate_flags $constant:ident) => { constant!(= $constant, sys::CUgraphInstantiate_flags::$constant.0) };
    // Ours is named after the field that holds it.
    (CUgraphEdgeType $constant:ident) => { constant!(= $constant, sys::CUgraphDependencyType::$constant) };
    ($name:ident $constant:ident) => { constant!(= $constant, sys::$name::$constant) };
    (= $constant:ident, $theirs:expr) => {
        Pair { what: stringify!($constant).to_string(), ours: vec![ours::$constant as usize], theirs: vec![$theirs as usize] }
    };
}

macro_rules! define_constants {
    ($($name:ident { $($constant:ident = $value:expr),* $(,)? })*) => {
        fn constants() -> Vec<Pair> {
            vec![$($(constant!($name $constant),)*)*]
        }
    };
}

dacapo_driver::for_each_enumeration!(define_constants);

macro_rules! define_codes {
    ($($name:ident = $number:literal;)*) => {
        fn codes() -> Vec<Pair> {
            vec![$(Pair {
                what: stringify!($name).to_string(),
                ours: vec![$number],
                theirs: vec![sys::CUresult::$name as usize],
            },)*]
        }
    };
}

dacapo_driver::for_each_code!(define_codes);

#[test]
fn structs_are_laid_out_as_cuda_h_does() {
    let pairs = structs();
    assert!(pairs.len() > 150, "{}", pairs.len());
    assert_equal(&pairs);
}

#[test]
fn one_struct_serves_both_kinds_of_event_nodes() {
    assert_eq!(size_of::<sys::CUDA_EVENT_WAIT_NODE_PARAMS>(), size_of::<ours::CUDA_EVENT_NODE_PARAMS>());
    assert_eq!(std::mem::offset_of!(sys::CUDA_EVENT_WAIT_NODE_PARAMS, event), 0);
}

/// `cuGraphAddNode` takes newer versions of some structs than `cuGraphAddKernelNode` and its kind; where we have one for both,
/// the older is the beginning of the newer.
#[test]
fn node_parameters_inside_the_union_begin_as_ours_do() {
    use std::mem::offset_of;
    assert_eq!(offset_of!(sys::CUDA_KERNEL_NODE_PARAMS_v3, kern), offset_of!(ours::CUDA_KERNEL_NODE_PARAMS, kern));
    assert_eq!(offset_of!(sys::CUDA_KERNEL_NODE_PARAMS_v3, ctx), offset_of!(ours::CUDA_KERNEL_NODE_PARAMS, ctx));
    assert_eq!(offset_of!(sys::CUDA_HOST_NODE_PARAMS_v2, userData), offset_of!(ours::CUDA_HOST_NODE_PARAMS, userData));
    assert_eq!(
        offset_of!(sys::CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, flags),
        offset_of!(ours::CUDA_BATCH_MEM_OP_NODE_PARAMS, flags)
    );
    assert_eq!(
        offset_of!(sys::CUDA_MEM_ALLOC_NODE_PARAMS_v2, dptr),
        offset_of!(ours::CUDA_MEM_ALLOC_NODE_PARAMS, dptr)
    );
}

#[test]
fn constants_have_the_numbers_of_cuda_h() {
    let pairs = constants();
    assert!(pairs.len() > 100, "{}", pairs.len());
    assert_equal(&pairs);
}

#[test]
fn result_codes_have_the_numbers_of_cuda_h() {
    let pairs = codes();
    assert_eq!(pairs.len(), dacapo_driver::CUresult::NAMED.len());
    assert_equal(&pairs);
}
