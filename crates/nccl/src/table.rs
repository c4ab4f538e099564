//! The table: one row for each symbol of NCCL that Dacapo uses.
//!
//! A row reads
//!
//! ```text
//! symbol [role] (arguments);
//! ```
//!
//! - *symbol*: what the library exports.
//! - *role*: what the call does, and so what may go wrong with it: [`NcclRole`](crate::NcclRole).

/// Hands every row of the table to the macro `$consume`.
#[macro_export]
macro_rules! for_each_nccl_call {
    ($consume:path) => {
        $consume! {
            // The library
            ncclGetVersion [Ask] (version: *mut c_int);
            // Communicators
            ncclGetUniqueId [Make] (uniqueId: *mut ncclUniqueId);
            ncclCommInitRankConfig [Make] (comm: *mut ncclComm, nranks: c_int, commId: ncclUniqueId, rank: c_int, config: *mut ncclConfig);
            ncclCommFinalize [Release] (comm: ncclComm);
            ncclCommDestroy [Release] (comm: ncclComm);
            ncclCommAbort [Release] (comm: ncclComm);
            ncclCommGetAsyncError [Ask] (comm: ncclComm, asyncError: *mut ncclResult);
            ncclCommCount [Ask] (comm: ncclComm, count: *mut c_int);
            ncclCommCuDevice [Ask] (comm: ncclComm, device: *mut c_int);
            ncclCommUserRank [Ask] (comm: ncclComm, rank: *mut c_int);
            // Collectives
            ncclReduce [Enqueue] (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType, op: ncclRedOp, root: c_int, comm: ncclComm, stream: CUstream);
            ncclBroadcast [Enqueue] (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType, root: c_int, comm: ncclComm, stream: CUstream);
            ncclAllReduce [Enqueue] (sendbuff: *const c_void, recvbuff: *mut c_void, count: usize, datatype: ncclDataType, op: ncclRedOp, comm: ncclComm, stream: CUstream);
            ncclReduceScatter [Enqueue] (sendbuff: *const c_void, recvbuff: *mut c_void, recvcount: usize, datatype: ncclDataType, op: ncclRedOp, comm: ncclComm, stream: CUstream);
            ncclAllGather [Enqueue] (sendbuff: *const c_void, recvbuff: *mut c_void, sendcount: usize, datatype: ncclDataType, comm: ncclComm, stream: CUstream);
            ncclSend [Enqueue] (sendbuff: *const c_void, count: usize, datatype: ncclDataType, peer: c_int, comm: ncclComm, stream: CUstream);
            ncclRecv [Enqueue] (recvbuff: *mut c_void, count: usize, datatype: ncclDataType, peer: c_int, comm: ncclComm, stream: CUstream);
            // Groups
            ncclGroupStart [Group] ();
            ncclGroupEnd [Group] ();
        }
    };
}
