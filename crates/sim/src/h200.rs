//! What an NVIDIA H200 (driver 580.159.04) answered about itself.

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

/// Registers of a multiprocessor, and of a block.
pub(crate) const REGISTERS: u32 = 65_536;
/// Shared memory of a block without asking for more.
pub(crate) const SHARED_PER_BLOCK: u32 = 49_152;
/// Shared memory of a block that asked for it.
pub(crate) const SHARED_PER_BLOCK_OPT_IN: u32 = 232_448;
/// Shared memory of a multiprocessor.
pub(crate) const SHARED_PER_SM: u32 = 233_472;
/// Shared memory that the system takes of each block.
pub(crate) const SHARED_RESERVED: u32 = 1_024;
/// Threads of a multiprocessor.
pub(crate) const THREADS_PER_SM: u32 = 2_048;
/// Blocks of a multiprocessor.
pub(crate) const BLOCKS_PER_SM: u32 = 32;
/// Largest grid in x, y, z.
pub(crate) const GRID_MAX: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];
/// Largest block in x, y, z.
pub(crate) const BLOCK_MAX: [u32; 3] = [1_024, 1_024, 64];
/// Limits of a context by number, with their first values; what they limit has no meaning here.
pub(crate) const LIMITS: &[(u32, usize)] =
    &[(0, 1_024), (1, 8_650_752), (2, 8_388_608), (4, 2_048), (5, 64), (6, 11_796_480), (7, 232_448), (8, 0)];
/// Largest stack of a thread.
const STACK_MAX: usize = 523_712;
/// Most launches of kernels by kernels that may be pending.
const PENDING_LAUNCHES_MAX: usize = 0x9_2492;
/// The persisting part of the cache comes in pieces of this size,
const PERSISTING_STEP: usize = 3_932_160;
/// and has ten of them at most.
const PERSISTING_MAX: usize = 39_321_600;
/// The first limit number that CUDA 13.0 does not know.
pub(crate) const LIMITS_END: u32 = 10;

/// Device attributes by number.
#[rustfmt::skip]
const ATTRIBUTES: &[(u32, i32)] = &[
    (1, 1024), (2, 1024), (3, 1024), (4, 64), (5, 2147483647), (6, 65535), (7, 65535), (8, 49152), (9, 65536),
    (10, 32), (11, 2147483647), (12, 65536), (13, 1980000), (14, 512), (15, 1), (16, 132), (17, 0), (18, 0),
    (19, 1), (20, 0), (21, 131072), (22, 131072), (23, 65536), (24, 16384), (25, 16384), (26, 16384), (27, 32768),
    (28, 32768), (29, 2048), (30, 512), (31, 1), (32, 1), (33, 0), (34, 6), (35, 0), (36, 3201000), (37, 6016),
    (38, 62914560), (39, 2048), (40, 3), (41, 1), (42, 32768), (43, 2048), (44, 1), (45, 32768), (46, 32768),
    (47, 8192), (48, 8192), (49, 32768), (50, 0), (51, 32), (52, 32768), (53, 32768), (54, 2046), (55, 32768),
    (56, 131072), (57, 65536), (58, 16384), (59, 16384), (60, 16384), (61, 32768), (62, 2048), (63, 32768),
    (64, 32768), (65, 2048), (66, 32768), (67, 32768), (68, 2046), (69, 268435456), (70, 131072), (71, 65000),
    (72, 2097120), (73, 32768), (74, 32768), (75, 9), (76, 0), (77, 32768), (78, 1), (79, 1), (80, 1),
    (81, 233472), (82, 65536), (83, 1), (84, 0), (85, 0), (86, 0), (87, 2), (88, 0), (89, 1), (90, 1), (91, 1),
    (92, 0), (93, 0), (94, 0), (95, 1), (96, 1), (97, 232448), (98, 0), (99, 1), (100, 0), (101, 0), (102, 1),
    (103, 1), (104, 0), (105, 0), (106, 32), (107, 1), (108, 39321600), (109, 134217728), (110, 1), (111, 1024),
    (112, 1), (113, 1), (114, 1), (115, 1), (116, 1), (117, 1), (118, 100), (119, 9), (120, 1), (121, 1), (122, 1),
    (123, 1), (124, 1), (125, 1), (126, 4), (127, 1), (128, 1), (129, 1), (130, 0), (131, -1), (132, 0), (133, 0),
    (134, 0), (135, 0), (136, 0), (137, 0), (138, 0), (139, 590680286), (140, 415174878), (141, 1), (142, 1),
    (143, 0), (144, 1), (145, 1), (146, 0), (147, 0),
];

/// What an H200 has and the software driver has not: clients ask before they use it, and skip what is not there.
///
/// Launches on several devices, handles for other processes (103, 119, 125, 128), compression, memory that network cards
/// reach (110, 116 to 118, 124), sparse arrays and such that are mapped later, semaphores of graphics (114), clusters, tensor
/// maps, functions with one address on both sides (129), virtual memory of the host (141, 145).
#[rustfmt::skip]
const NOT_HERE: &[u32] =
    &[96, 103, 107, 110, 112, 114, 116, 117, 118, 119, 120, 121, 124, 125, 127, 128, 129, 141, 145];

/// The value of an attribute; none for a number that CUDA 13.0 does not know.
pub(crate) fn attribute(number: u32) -> Option<i32> {
    let known = ATTRIBUTES.binary_search_by_key(&number, |(known, _)| *known).ok().map(|at| ATTRIBUTES[at].1);
    if NOT_HERE.contains(&number) { known.map(|_| 0) } else { known }
}

/// What a limit is when a program has asked for `value`.
pub(crate) fn settled_limit(limit: CUlimit, value: usize) -> Result<usize, CUresult> {
    match limit {
        CU_LIMIT_STACK_SIZE if value > STACK_MAX => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        CU_LIMIT_STACK_SIZE => Ok(value.next_multiple_of(16)),
        CU_LIMIT_PRINTF_FIFO_SIZE => Ok(value.max(512 << 10)),
        CU_LIMIT_MALLOC_HEAP_SIZE => Ok(value.max(4 << 20)),
        CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT => Ok(value.clamp(32, PENDING_LAUNCHES_MAX)),
        CU_LIMIT_MAX_L2_FETCH_GRANULARITY if value > 128 => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        CU_LIMIT_PERSISTING_L2_CACHE_SIZE => match value.checked_next_multiple_of(PERSISTING_STEP) {
            Some(rounded) if rounded <= PERSISTING_MAX => Ok(rounded),
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        },
        CU_LIMIT_SHMEM_SIZE | CU_LIMIT_CIG_ENABLED => Err(CUresult::CUDA_ERROR_NOT_PERMITTED),
        _ => Ok(value),
    }
}
