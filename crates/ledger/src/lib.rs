//! Who waits for whom: the order of GPU work across streams, graphs and drops.
#![forbid(unsafe_code)]
