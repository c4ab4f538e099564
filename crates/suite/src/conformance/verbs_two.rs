//! Verbs of two devices: who can reach whom, copies between contexts, pools by their device.

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::case::Case;
use super::names::Told;
use super::verbs::{acts, asks};

acts! {
    fn copy_peer(to: u64, to_context: CUcontext, from: u64, from_context: CUcontext, bytes: usize, stream: CUstream) = cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream);
    fn copy_peer_now(to: u64, to_context: CUcontext, from: u64, from_context: CUcontext, bytes: usize) = cuMemcpyPeer(to, to_context, from, from_context, bytes);
}

asks! {
    fn can_reach(device: i32, other: i32) -> can: i32 = cuDeviceCanAccessPeer(&mut can, device, other);
    fn default_pool_of(device: i32) -> pool: CUmemoryPool = cuDeviceGetDefaultMemPool(&mut pool, device);
    fn current_pool_of(device: i32) -> pool: CUmemoryPool = cuDeviceGetMemPool(&mut pool, device);
}
