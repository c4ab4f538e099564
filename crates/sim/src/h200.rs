//! What an NVIDIA H200 (driver 580.159.04) answered about itself.

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
/// The first attribute number that CUDA 13.0 does not know.
pub(crate) const ATTRIBUTES_END: u32 = 150;

/// Device attributes by number.
const ATTRIBUTES: &[(u32, i32)] = &[
    (1, 1_024),
    (2, 1_024),
    (3, 1_024),
    (4, 64),
    (5, 0x7fff_ffff),
    (6, 65_535),
    (7, 65_535),
    (8, 49_152),
    (9, 65_536),
    (10, 32),
    (12, 65_536),
    (16, 132),
    (75, 9),
    (76, 0),
    (81, 233_472),
    (82, 65_536),
    (95, 1),
    (97, 232_448),
    (106, 32),
    (111, 1_024),
];

/// The value of an attribute, if it was observed.
pub(crate) fn attribute(number: u32) -> Option<i32> {
    ATTRIBUTES.iter().find(|(known, _)| *known == number).map(|(_, value)| *value)
}
