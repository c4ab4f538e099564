use super::*;

fn memory() -> Memory {
    Memory::new(MemoryOptions { capacity: 1 << 30, seed: 7 })
}

fn request(bytes: u64, label: &str) -> Request<'_> {
    Request { bytes, align: 1, kind: Kind::Device, label }
}

#[test]
fn allocations_are_aligned_apart_and_exact() {
    let mut m = memory();
    let a = m.alloc(request(100, "a")).expect("fits");
    let b = m.alloc(request(100, "b")).expect("fits");
    assert_eq!(a % 512, 0);
    assert_eq!(b % 512, 0);
    assert!(b >= a + 100 + 256);
    assert!(m.check(a, 100).is_ok());
    let error = m.check(a, 101).expect_err("one byte too many");
    assert_eq!(error.to_string(), format!("{:#x} is right past the end of `a` (100 bytes at {a:#x})", a + 100));
    assert_eq!(m.used(), 200);
}

#[test]
fn addresses_follow_from_the_seed() {
    let first = |seed| Memory::new(MemoryOptions { capacity: 1 << 20, seed }).alloc(request(1, "x")).expect("fits");
    assert_eq!(first(3), first(3));
    assert_ne!(first(3), first(4));
}

#[test]
fn descriptions_name_the_nearest_allocation() {
    let mut m = memory();
    let a = m.alloc(request(100, "a")).expect("fits");
    assert_eq!(m.describe(a + 8), format!("byte 8 of `a` (100 bytes at {a:#x})"));
    assert_eq!(m.describe(a + 112), format!("12 bytes past the end of `a` (100 bytes at {a:#x})"));
    assert_eq!(m.describe(a - 1), format!("1 byte before `a` (100 bytes at {a:#x})"));
    assert_eq!(m.describe(0), "a null pointer");
    assert_eq!(m.describe(16), "a null pointer plus 16 bytes");
    let freed = m.free(a).expect("live");
    assert_eq!(freed.label, "a");
    assert_eq!(m.describe(a + 8), format!("inside `a` (100 bytes at {a:#x}), freed"));
    assert_eq!(m.check(a, 4).expect_err("freed").kind, AccessErrorKind::Freed);
    assert_eq!(m.free(a), None, "twice");
    assert_eq!(m.used(), 0);
}

#[test]
fn a_reused_address_has_a_new_generation() {
    let mut m = memory();
    let a = m.alloc(request(64, "old")).expect("fits");
    let old = m.containing(a).expect("live").generation;
    assert!(m.alloc_at(a, request(8, "clash")).is_err());
    assert!(m.alloc_at(a + 32, request(8, "clash")).is_err());
    m.write(a, &[1; 64]).expect("inside");
    m.free(a);
    m.alloc_at(a, request(64, "new")).expect("free again");
    assert!(m.containing(a).expect("live").generation > old);
    assert!(!m.initialised(a, 1), "what the old one held is gone");
}

#[test]
fn capacity_is_a_limit() {
    let mut m = Memory::new(MemoryOptions { capacity: 1000, seed: 0 });
    m.alloc(request(600, "a")).expect("fits");
    let error = m.alloc(request(600, "b")).expect_err("too much");
    assert_eq!(error, OutOfMemory { requested: 600, free: 400 });
    let error = Memory::new(MemoryOptions { capacity: u64::MAX, seed: 0 }).alloc(request(u64::MAX / 2, "huge"));
    assert!(error.is_err());
}

#[test]
fn initialised_bits_follow_writes_fills_and_copies() {
    let mut m = memory();
    let a = m.alloc(request(256, "a")).expect("fits");
    let b = m.alloc(request(256, "b")).expect("fits");
    assert!(!m.initialised(a, 1));
    m.write(a + 10, &[5; 20]).expect("inside");
    assert!(m.initialised(a + 10, 20));
    assert!(!m.initialised(a + 9, 2));
    m.copy(b + 1, a, 64).expect("inside");
    assert!(m.initialised(b + 11, 20));
    assert!(!m.initialised(b + 10, 1));
    assert!(!m.initialised(b + 31, 1));
    m.fill(b, &[1, 2], 128).expect("inside");
    assert!(m.initialised(b, 256));
    m.copy(b, a, 64).expect("inside");
    assert!(!m.initialised(b, 1), "copying uninitialised bytes takes the mark away");
    m.copy(b + 4, b, 100).expect("overlap is fine");
    let mut out = [0; 4];
    m.read(b + 254, &mut out[..2]).expect("inside");
    assert_eq!(out[..2], [1, 2]);
}

#[test]
fn overlapping_copies_behave_as_memmove() {
    let mut m = memory();
    let a = m.alloc(request(16, "a")).expect("fits");
    m.write(a, &(0..16).collect::<Vec<u8>>()).expect("inside");
    m.copy(a + 2, a, 8).expect("inside");
    let mut out = [0; 16];
    m.read(a, &mut out).expect("inside");
    assert_eq!(out, [0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15]);
}

#[test]
fn host_memory_is_seen_at_its_own_address() {
    let mut m = memory();
    let mut host = vec![1u8, 2, 3, 4, 5, 6, 7, 8];
    let address = host.as_mut_ptr() as u64;
    // SAFETY: `host` lives until the mapping is freed below.
    unsafe { m.map_host(host.as_mut_ptr(), 8, Kind::HostPinned, "flags") };
    let mut out = [0; 4];
    m.read(address + 2, &mut out).expect("mapped");
    assert_eq!(out, [3, 4, 5, 6]);
    m.write(address, &[9, 9]).expect("mapped");
    assert!(m.initialised(address, 8));
    assert_eq!(m.used(), 0, "host memory is not the device's");
    let device = m.alloc(request(8, "d")).expect("fits");
    m.copy(device, address, 8).expect("both mapped");
    m.free(address);
    assert!(m.check(address, 1).is_err());
    assert_eq!(host[..3], [9, 9, 3]);
    let mut copied = [0; 3];
    m.read(device, &mut copied).expect("inside");
    assert_eq!(copied, [9, 9, 3]);
}

#[test]
fn memory_can_move_between_threads() {
    fn send<T: Send>() {}
    send::<Memory>();
}
