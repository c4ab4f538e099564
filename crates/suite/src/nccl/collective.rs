//! The collectives, each as one value, with one rank: what comes out is what went in, whatever the reduction.

use dacapo::half::{bf16, f16};
use dacapo_driver::types::{CUdeviceptr, CUstream};
use dacapo_nccl::Nccl;
use dacapo_nccl::types::*;

/// A collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collective {
    AllReduce(ncclRedOp),
    AllGather,
    ReduceScatter(ncclRedOp),
    Broadcast,
    Reduce(ncclRedOp),
    /// To itself, in a group.
    SendRecv,
}

/// One of each, and those with an average, which a rank alone may do another way than a sum.
pub(super) const ALL: &[Collective] = &[
    Collective::AllReduce(ncclSum),
    Collective::AllReduce(ncclAvg),
    Collective::AllGather,
    Collective::ReduceScatter(ncclSum),
    Collective::ReduceScatter(ncclAvg),
    Collective::Broadcast,
    Collective::Reduce(ncclSum),
    Collective::Reduce(ncclAvg),
    Collective::SendRecv,
];

pub(super) const REDUCTIONS: &[(&str, ncclRedOp)] =
    &[("sum", ncclSum), ("prod", ncclProd), ("max", ncclMax), ("min", ncclMin), ("avg", ncclAvg)];

/// A type of number: its name, its code, and a small number as its bytes.
type Kind = (&'static str, ncclDataType, fn(u8) -> Vec<u8>);

pub(super) const TYPES: &[Kind] = &[
    ("int8", ncclInt8, |number| vec![number]),
    ("uint8", ncclUint8, |number| vec![number]),
    ("int32", ncclInt32, |number| i32::from(number).to_le_bytes().to_vec()),
    ("uint32", ncclUint32, |number| u32::from(number).to_le_bytes().to_vec()),
    ("int64", ncclInt64, |number| i64::from(number).to_le_bytes().to_vec()),
    ("uint64", ncclUint64, |number| u64::from(number).to_le_bytes().to_vec()),
    ("float16", ncclFloat16, |number| f16::from_f32(number.into()).to_le_bytes().to_vec()),
    ("float32", ncclFloat32, |number| f32::from(number).to_le_bytes().to_vec()),
    ("float64", ncclFloat64, |number| f64::from(number).to_le_bytes().to_vec()),
    ("bfloat16", ncclBfloat16, |number| bf16::from_f32(number.into()).to_le_bytes().to_vec()),
];

/// What a collective is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) source: CUdeviceptr,
    pub(super) target: CUdeviceptr,
    pub(super) count: usize,
    pub(super) datatype: ncclDataType,
}

impl Collective {
    pub(super) fn name(self) -> String {
        let of = |op: ncclRedOp| REDUCTIONS.iter().find(|(_, known)| *known == op).map_or("other", |(name, _)| name);
        match self {
            Collective::AllReduce(op) => format!("all_reduce {}", of(op)),
            Collective::AllGather => "all_gather".to_string(),
            Collective::ReduceScatter(op) => format!("reduce_scatter {}", of(op)),
            Collective::Broadcast => "broadcast".to_string(),
            Collective::Reduce(op) => format!("reduce {}", of(op)),
            Collective::SendRecv => "send+recv".to_string(),
        }
    }

    /// Puts it on the stream. The first code that is no success; the group is closed all the same.
    pub(super) fn enqueue(self, nccl: &dyn Nccl, comm: ncclComm, stream: CUstream, given: Given) -> ncclResult {
        let Given { source, target, count, datatype } = given;
        let (from, to) = (source as *const c_void, target as *mut c_void);
        // SAFETY: the memory is the device's, long enough, and never given back; the handles are as in `desk`.
        unsafe {
            match self {
                Collective::AllReduce(op) => nccl.ncclAllReduce(from, to, count, datatype, op, comm, stream),
                Collective::AllGather => nccl.ncclAllGather(from, to, count, datatype, comm, stream),
                Collective::ReduceScatter(op) => nccl.ncclReduceScatter(from, to, count, datatype, op, comm, stream),
                Collective::Broadcast => nccl.ncclBroadcast(from, to, count, datatype, 0, comm, stream),
                Collective::Reduce(op) => nccl.ncclReduce(from, to, count, datatype, op, 0, comm, stream),
                Collective::SendRecv => {
                    let codes = [
                        nccl.ncclGroupStart(),
                        nccl.ncclSend(from, count, datatype, 0, comm, stream),
                        nccl.ncclRecv(to, count, datatype, 0, comm, stream),
                        nccl.ncclGroupEnd(),
                    ];
                    codes.into_iter().find(|code| !code.is_success()).unwrap_or_default()
                }
            }
        }
    }
}

/// Numbers that every type has, as bytes; another `seed` gives others. Empty for a type that is not one.
pub(super) fn pattern(datatype: ncclDataType, count: usize, seed: usize) -> Vec<u8> {
    let of = TYPES.iter().find(|kind| kind.1 == datatype).map(|kind| kind.2);
    let number = |at: usize| ((at * 7 + seed * 3) % 11) as u8 + 1;
    of.map(|of| (0..count).flat_map(|at| of(number(at))).collect()).unwrap_or_default()
}
