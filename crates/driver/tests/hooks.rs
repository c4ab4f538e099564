//! What one can rely on in hooks, over a driver small enough to see through.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dacapo_driver::types::*;
use dacapo_driver::{
    Argument, CUresult, Call, Count, Declared, DeclaredOf, Driver, Family, Fault, Hook, Hooked, Notation, Trace, Which,
};

/// A driver that hands out addresses, keeps a list of the calls it saw and knows three of them.
#[derive(Default)]
struct Tiny {
    seen: Mutex<Vec<String>>,
}

/// A driver that wants to know what kernels may touch, and keeps it.
#[derive(Default)]
struct Curious {
    told: Mutex<Vec<String>>,
}

impl Driver for Curious {
    fn missing(&self, _: Call) -> CUresult {
        CUresult::CUDA_ERROR_NOT_SUPPORTED
    }

    fn wants_declared(&self) -> bool {
        true
    }

    fn declare(&self, of: DeclaredOf, declared: Option<&Declared<'_>>) {
        let op = declared.map_or("nothing", |declared| declared.op);
        let node = matches!(of, DeclaredOf::Node(..));
        self.told.lock().unwrap().push(format!("{op} {node}"));
    }
}

impl Driver for Tiny {
    fn missing(&self, call: Call) -> CUresult {
        self.seen.lock().unwrap().push(call.symbol().to_string());
        CUresult::CUDA_ERROR_NOT_SUPPORTED
    }

    unsafe fn cuInit(&self, flags: c_uint) -> CUresult {
        self.seen.lock().unwrap().push(format!("cuInit {flags}"));
        if flags == 0 { CUresult::CUDA_SUCCESS } else { CUresult::CUDA_ERROR_INVALID_VALUE }
    }

    unsafe fn cuMemAlloc_v2(&self, dptr: *mut CUdeviceptr, bytesize: usize) -> CUresult {
        self.seen.lock().unwrap().push(format!("cuMemAlloc_v2 {bytesize}"));
        if bytesize == 0 {
            return CUresult::CUDA_ERROR_INVALID_VALUE;
        }
        let address = 0x7000_0000 + 0x100 * self.seen.lock().unwrap().len() as u64;
        // SAFETY: the tests pass a pointer to a local.
        unsafe { dptr.write(address) };
        CUresult::CUDA_SUCCESS
    }

    unsafe fn cuMemFree_v2(&self, dptr: CUdeviceptr) -> CUresult {
        self.seen.lock().unwrap().push(format!("cuMemFree_v2 {dptr:#x}"));
        CUresult(4242)
    }
}

#[test]
fn what_is_no_call_of_the_table_goes_through_hooks_and_pointers() {
    let curious = Arc::new(Curious::default());
    let boxed: Box<dyn Driver> = Box::new(Hooked::new(curious.clone(), Count::new()));
    let driver = Hooked::new(&boxed, Fault::new());
    assert!(driver.wants_declared());
    let declared = Declared { op: "saxpy", label: "", at: std::panic::Location::caller(), slices: Some(&[]) };
    driver.declare(DeclaredOf::Next, Some(&declared));
    driver.declare(DeclaredOf::Node(CUgraphExec::NULL, CUgraphNode::NULL), Some(&declared));
    driver.declare(DeclaredOf::Next, None);
    assert_eq!(*curious.told.lock().unwrap(), ["saxpy false", "saxpy true", "nothing false"]);
    assert!(!Hooked::new(Tiny::default(), Count::new()).wants_declared(), "by default nobody asks");
}

/// A writer whose contents can be looked at.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    fn lines(&self) -> Vec<serde_json::Value> {
        let bytes = self.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_trace_is_one_line_of_json_for_each_call() {
    let page = Page::default();
    let driver = Hooked::new(Tiny::default(), Trace::to(page.clone()));
    let mut address = 0;
    // SAFETY: the pointer is to a local; the rest are numbers.
    unsafe {
        driver.cuInit(0);
        driver.cuMemAlloc_v2(&raw mut address, 1 << 60);
        driver.cuMemFree_v2(address);
        driver.cuDeviceGet(std::ptr::null_mut(), -1);
        driver.cuGraphNodeGetType(CUgraphNode::from_bits(0x99), std::ptr::null_mut());
    }
    let lines = page.lines();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines.iter().map(|line| line["n"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(lines[0]["call"], "cuInit");
    assert_eq!(lines[0]["arguments"], serde_json::json!({ "Flags": 0 }));
    assert_eq!((&lines[0]["result"], &lines[0]["code"]), (&"CUDA_SUCCESS".into(), &0.into()));
    assert!(lines[0]["ns"].is_u64() && lines[0]["thread"].is_u64());
    assert_eq!(lines[1]["arguments"]["bytesize"].as_u64(), Some(1 << 60));
    assert_eq!(lines[1]["arguments"]["dptr"], format!("{:#x}", &raw mut address as usize));
    // An unknown code has no name and survives as its number.
    assert_eq!((&lines[2]["result"], &lines[2]["code"]), (&serde_json::Value::Null, &4242.into()));
    assert_eq!(lines[2]["arguments"]["dptr"], format!("{address:#x}"));
    assert_eq!(lines[3]["arguments"]["ordinal"], -1);
    assert_eq!(lines[4]["arguments"], serde_json::json!({ "hNode": "0x99", "type": "0x0" }));
    assert_eq!(driver.hook().lost(), 0);
}

#[test]
fn a_trace_that_cannot_be_written_does_not_disturb_the_call() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let driver = Hooked::new(Tiny::default(), Trace::to(Full));
    // SAFETY: `cuInit` takes a number.
    assert_eq!(unsafe { driver.cuInit(0) }, CUresult::CUDA_SUCCESS);
    assert_eq!(driver.hook().lost(), 1);
}

#[test]
fn a_count_has_calls_failures_and_times_from_every_thread() {
    struct Slow;
    impl Hook for Slow {
        fn around(&self, _: Call, _: &[Argument], run: &mut dyn FnMut() -> CUresult) -> CUresult {
            std::thread::sleep(Duration::from_millis(2));
            run()
        }
    }
    let driver = Hooked::new(Hooked::new(Tiny::default(), Slow), Count::new());
    std::thread::scope(|scope| {
        for flags in 0..4 {
            let driver = &driver;
            // SAFETY: `cuInit` takes a number.
            scope.spawn(move || unsafe { (driver.cuInit(flags), driver.cuInit(0)) });
        }
    });
    let counts = driver.hook().snapshot();
    assert_eq!(counts.len(), 1);
    assert_eq!((counts[0].call, counts[0].calls, counts[0].failed), (Call::cuInit, 8, 3));
    assert!(counts[0].longest >= Duration::from_millis(2));
    assert!(counts[0].total >= Duration::from_millis(16) && counts[0].total >= counts[0].longest);
    assert_eq!(driver.hook().of(Call::cuMemAlloc_v2).calls, 0);
}

#[test]
fn the_nth_call_of_a_kind_fails_and_the_driver_does_not_hear_of_it() {
    let fault = Fault::new()
        .fail(Call::cuMemAlloc_v2, 2, CUresult::CUDA_ERROR_OUT_OF_MEMORY)
        .fail(Family::General, 2, CUresult(4242))
        .fail(Which::Any, 100, CUresult::CUDA_ERROR_UNKNOWN)
        .fail(Call::cuInit, 0, CUresult::CUDA_ERROR_UNKNOWN);
    let driver = Hooked::new(Tiny::default(), fault);
    let mut address = 7;
    // SAFETY: the pointer is to a local; the rest are numbers.
    let answers = unsafe {
        [
            driver.cuInit(0),
            driver.cuMemAlloc_v2(&raw mut address, 1),
            driver.cuMemAlloc_v2(&raw mut address, 2),
            driver.cuMemAlloc_v2(&raw mut address, 3),
            driver.cuInit(0),
        ]
    };
    let ok = CUresult::CUDA_SUCCESS;
    assert_eq!(answers, [ok, ok, CUresult::CUDA_ERROR_OUT_OF_MEMORY, ok, CUresult(4242)]);
    assert_eq!(*driver.inner().seen.lock().unwrap(), ["cuInit 0", "cuMemAlloc_v2 1", "cuMemAlloc_v2 3"]);
    let fired: Vec<_> = driver.hook().fired().iter().map(|(_, fired)| *fired).collect();
    assert_eq!(fired, [true, true, false, false]);
    assert!(!driver.hook().all_fired());
}

#[test]
fn an_argument_is_written_as_what_it_is() {
    let of = |type_name, bits| Argument { name: "x", type_name, bits };
    assert_eq!(of("c_int", u64::MAX).to_string(), "-1");
    assert_eq!(of("CUstream", 2).to_string(), "0x2");
    assert_eq!(of("CUstreamCaptureMode", 2).to_string(), "2");
    assert_eq!(of("*const c_char", 0).to_string(), "0x0");
    // No type of the table is taken for a number by mistake.
    for call in Call::ALL {
        for (name, type_name) in call.arguments() {
            let notation = Argument { name, type_name, bits: 0 }.notation();
            if type_name.contains('*') || type_name.ends_with("Fn") || type_name.ends_with("Callback") {
                assert_eq!(notation, Notation::Address, "{}: {type_name}", call.symbol());
            }
        }
    }
}

/// A stack of all three hooks in the order of `order` (the last is the outermost).
fn stack(order: [usize; 3], driver: Arc<Tiny>, faults: &[(Call, u64, CUresult)]) -> Box<dyn Driver> {
    let mut stack: Box<dyn Driver> = Box::new(driver);
    for which in order {
        stack = match which {
            0 => Box::new(Hooked::new(stack, Trace::to(Page::default()))),
            1 => Box::new(Hooked::new(stack, Count::new())),
            _ => {
                let fault = faults.iter().fold(Fault::new(), |fault, &(call, nth, code)| fault.fail(call, nth, code));
                Box::new(Hooked::new(stack, fault))
            }
        };
    }
    stack
}

/// Property: whatever the calls and the faults, the order of the hooks changes neither what the caller is answered nor
/// what the driver sees.
#[test]
fn any_order_of_hooks_gives_the_same_results() {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for seed in 0..200_u64 {
        let outcomes: Vec<_> = ORDERS
            .iter()
            .map(|&order| {
                let mut random = Random(seed);
                let faults: Vec<_> = (0..random.below(4))
                    .map(|_| {
                        let call = [Call::cuInit, Call::cuMemAlloc_v2, Call::cuMemFree_v2][random.below(3) as usize];
                        (call, 1 + random.below(6), CUresult(100 + random.below(3) as u32))
                    })
                    .collect();
                let tiny = Arc::new(Tiny::default());
                let driver = stack(order, tiny.clone(), &faults);
                let mut address = 0;
                let answers: Vec<_> = (0..20)
                    .map(|_| {
                        // SAFETY: the pointer is to a local; the rest are numbers.
                        let code = unsafe {
                            match random.below(4) {
                                0 => driver.cuInit(random.below(2) as c_uint),
                                1 => driver.cuMemAlloc_v2(&raw mut address, random.below(3) as usize),
                                2 => driver.cuMemFree_v2(address),
                                _ => driver.cuCtxSynchronize(),
                            }
                        };
                        (code, address)
                    })
                    .collect();
                let seen = tiny.seen.lock().unwrap().clone();
                (answers, seen)
            })
            .collect();
        for outcome in &outcomes {
            assert_eq!(outcome, &outcomes[0], "seed {seed}");
        }
    }
}

/// Numbers from a seed: the same ones for the same seed, which is all that is asked of them (a linear congruence).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
