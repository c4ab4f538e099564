//! The CUDA driver API as one table.
