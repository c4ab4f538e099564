//! Texts that a program prints: what a handle says of itself, what an error and a report say of arguments.

use dacapo::raw::{RawArg, RawKernel};
use dacapo::{ErrorKind, Graph, Op, Recorder, Slot, baked, copy, fill, grid, inspect};

use crate::kit::{Bench, kind, software};

dacapo::kernels! {
    /// The same entry points, with conditions that say what they were given.
    unsafe struct Picky(include_str!("kernels.ptx")) {
        /// y ← value
        fn put_some(value: u32, n: u32 = y.len(), y: &mut [u32]) {
            entry: "put";
            requires: !y.is_empty();
            grid: exact([1, 1, 1], [32, 1, 1]);
        }
        /// v ← value, which is small
        fn put_small(value: u32, n: u32 = 1, v: &mut u32) {
            entry: "put";
            requires: value < 10;
            grid: exact([1, 1, 1], [32, 1, 1]);
        }
    }
}

/// What stands in a log when a handle is printed with `{:?}`.
#[test]
fn a_handle_says_what_it_is() {
    let Bench { device, stream, .. } = Bench::seeded(0);
    let name = device.properties().name.clone();
    assert_eq!(format!("{device:?}"), format!("Device(0 {name:?})"));
    assert_eq!(format!("{stream:?}"), format!("Stream(stream {:#x} of {device:?})", stream.raw().0.bits()));
    let (mut x, v) = (device.zeros::<f32>(3).unwrap(), device.scalar(1u8).unwrap());
    let host = device.host(&[1u64; 2]).unwrap();
    assert_eq!(format!("{x:?} {:?} {:?}", &x[1..], x.at(0)), "Buffer<f32>[3] Slice<f32>[2] Element<f32>");
    assert_eq!(format!("{v:?} {host:?} {:?}", Slot::new(2.5f32)), "Scalar<u8> HostBuffer<u64>[2] Slot(2.5)");
    let shared = device.zeros::<u16>(4).unwrap().share();
    assert_eq!(format!("{shared:?}"), "Shared<u16>[4]");
    let (pool, arena) = (device.pool(), device.arena(1000).unwrap());
    pool.keep(1).unwrap();
    let recording = device.graph().label("two").pool(&pool).arena(&arena);
    let mut graph: Graph<()> = recording
        .record(|r: &mut Recorder<'_>| {
            let (mut t, one) = (r.alloc::<f32>(3)?, r.alloc_scalar::<f32>()?);
            assert_eq!(format!("{t:?} {one:?}"), "Temp<f32>[3] TempScalar<f32>");
            r.run(fill(&mut t, baked(1.0)))?;
            r.run(copy(&t, &mut x))
        })
        .unwrap();
    assert_eq!(format!("{pool:?}"), "Pool { values: 1, graphs: 1, sealed: false }");
    assert_eq!(format!("{arena:?}"), "Arena { bytes: 1000, used: 12, graphs: 1 }");
    assert_eq!(format!("{:?}", graph.launch(&stream).unwrap()), "Launched(1)");
    assert_eq!(format!("{:?}", graph.submit(&stream).unwrap()), "Ticket(2)");
    assert_eq!(
        format!("{graph:?}"),
        "Graph { label: \"two\", ops: 2, edges: 1, slots: 0, allocations: 2, temp_bytes: 12, replays: 2, \
         preloaded: true, pool: true }"
    );
    graph.reset();
    assert_eq!(format!("{graph:?}"), "Graph (reset)");
    let into = device.graph().record_into((), &mut x[..2], |r, (), x| r.run(fill(x, baked(1.0)))).unwrap();
    assert_eq!(format!("{into:?}"), "GraphInto { label: \"\", ops: 1, slices: 1, replays: 0 }");
}

/// A condition that fails shows the host what it knows: values and lengths, and nothing of memory on the device.
#[test]
fn a_condition_is_refused_with_its_text_and_what_the_host_knows_of_the_arguments() {
    let Bench { device, .. } = Bench::seeded(0);
    let picky = Picky::load(&device).unwrap();
    let (mut y, mut v) = (device.zeros::<u32>(2).unwrap(), device.scalar(0u32).unwrap());
    device.record(picky.put_some(baked(1), &mut y)).unwrap();
    assert_eq!(
        kind(device.record(picky.put_some(baked(1), &mut y[..0]))),
        ErrorKind::Requires { condition: "!y.is_empty()", values: "value = 1, n = 0, y.len() = 0".into() }
    );
    device.record(picky.put_small(baked(9), &mut v)).unwrap();
    assert_eq!(
        kind(device.record(picky.put_small(baked(10), &mut v))),
        ErrorKind::Requires { condition: "value < 10", values: "value = 10, n = 1".into() }
    );
}

/// Each limit, one above it and just at it.
#[test]
fn a_geometry_over_a_limit_is_refused_with_the_number_and_the_limit() {
    let Bench { device, k, .. } = Bench::seeded(0);
    let (properties, mut y) = (device.properties().clone(), device.zeros::<u32>(4).unwrap());
    let mut record = |geometry| device.record(k.put_any(baked(1), &mut y).with_grid(geometry)).map(drop);
    let mut expect = |geometry, asked: String, limit: String| {
        assert_eq!(kind(record(geometry)), ErrorKind::GridTooLarge { asked, limit });
    };
    let (blocks, threads, shared) = (properties.grid_max, properties.block_max, properties.shared_bytes_max);
    for (dimension, name) in ["x", "y", "z"].into_iter().enumerate() {
        let with = |all: u32, one: u32| {
            let mut dims = [all; 3];
            dims[dimension] = one;
            dims
        };
        if let Some(more) = blocks[dimension].checked_add(1) {
            let geometry = grid::exact(with(1, more), [1; 3]);
            expect(geometry, format!("{more} blocks in {name}"), blocks[dimension].to_string());
        }
        let more = threads[dimension] + 1;
        let geometry = grid::exact([1; 3], with(1, more));
        expect(geometry, format!("{more} threads in {name}"), threads[dimension].to_string());
        expect(grid::exact([1; 3], with(1, 0)), format!("no threads in {name}"), "at least one thread".into());
    }
    expect(grid::exact([1; 3], [1024, 2, 1]), "2048 threads a block".into(), "1024 for this kernel".into());
    let geometry = grid::exact([1; 3], [32, 1, 1]);
    for more in [shared + 1, shared + 100] {
        expect(geometry.shared(more), format!("{more} bytes of shared memory a block"), shared.to_string());
    }
    record(geometry.shared(shared)).unwrap();
    record(grid::exact([1; 3], [1024, 1, 1])).unwrap();
    record(grid::exact([blocks[0], 1, 1], [1; 3])).unwrap();
    record(grid::exact([1; 3], [1, 1, threads[2]])).unwrap();
}

/// What the driver's compiler wrote, and the code that came with it.
#[test]
fn ptx_that_is_not_accepted_is_refused_with_the_drivers_own_words() {
    let Bench { device, .. } = Bench::seeded(0);
    let refused = RawKernel::load(&device, ".version 8.4\n.target sm_80\n.address_size 64\nnonsense\n", "f");
    let error = refused.err().expect("it is not accepted");
    let ErrorKind::BadModule { log } = error.kind() else { panic!("{error:?}") };
    assert!(log.contains("nonsense"), "{log}");
    assert!(error.to_string().contains("expected a directive, found `nonsense`"), "{error}");
    assert!(format!("{error:#}").contains(log) && format!("{error:#}").contains("CUDA_ERROR_INVALID_PTX"), "{error:#}");
    let refused = RawKernel::load(&device, "a \0 b", "f");
    assert_eq!(kind(refused), ErrorKind::BadModule { log: "the PTX has a zero byte in it".into() });
}

/// A fill that froze a value says which, as the program would write it; also one that is no memset but a kernel of ours.
#[test]
fn a_value_that_a_fill_froze_is_shown_as_a_value() {
    fn froze<T: dacapo::Pod>(device: &dacapo::Device, values: [T; 2]) -> (String, String) {
        let (mut y, mut values) = (device.zeros::<T>(3).unwrap(), values.into_iter());
        let found = device.graph().verify(|r| r.run(fill(&mut y, baked(values.next().unwrap())))).unwrap();
        let [frozen] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*frozen.name, &*frozen.argument), ("fill", "value"));
        assert!(frozen.to_string().contains(&format!("is frozen as {}, and was {}", frozen.first, frozen.second)));
        (frozen.first.clone(), frozen.second.clone())
    }
    let Bench { device, .. } = Bench::seeded(0);
    assert_eq!(froze(&device, [0.5f32, 1.0]), ("0.5".into(), "1.0".into()));
    assert_eq!(froze(&device, [7u8, 8]), ("7".into(), "8".into()));
    assert_eq!(froze(&device, [-1.5f64, 2.0]), ("-1.5".into(), "2.0".into()));
    assert_eq!(froze(&device, [[1u32, 2, 3], [1, 2, 4]]), ("[1, 2, 3]".into(), "[1, 2, 4]".into()));
    // A slot is shown with what it has now.
    let (mut y, slot) = (device.zeros::<f64>(3).unwrap(), Slot::new(0.25f64));
    let report = device.record(fill(&mut y, &slot)).unwrap().inspect();
    let inspect::How::Slot { value } = &report.nodes[0].arguments[1].how else { panic!("{report}") };
    assert_eq!((&*value.text, value.number), ("0.25", Some(0.25)));
}

/// Of a kernel without a declaration nobody knows types or names: its values are shown as bytes.
#[test]
fn a_report_shows_what_a_raw_kernel_is_given() {
    let Bench { device, .. } = Bench::seeded(0);
    let put = RawKernel::load(&device, include_str!("kernels.ptx"), "put").unwrap();
    let (mut y, value) = (device.zeros::<u32>(3).unwrap(), Slot::new(0x0102_0304u32));
    let arguments = vec![RawArg::value(&value), RawArg::value::<u32>(baked(3)), RawArg::write(&mut y)];
    // SAFETY: the value, the length and the memory that `put` takes; each thread looks at the length first.
    let graph = device.record(unsafe { put.launch(grid::linear(3, 32), arguments) }).unwrap();
    let report = graph.inspect();
    let node = &report.nodes[0];
    let said: Vec<(&str, String)> = node.arguments.iter().map(|one| (&*one.name, format!("{:?}", one.how))).collect();
    let slice = "Slice { memory: 0, bytes: Bytes { start: 0, end: 12 }, access: ReadWrite }";
    let bytes = |how: &str, text: &str| format!("{how} {{ value: Value {{ text: \"{text}\", number: None }} }}");
    assert_eq!(
        said,
        [
            ("argument 0", bytes("Slot", "[04, 03, 02, 01]")),
            ("argument 1", bytes("Baked", "[03, 00, 00, 00]")),
            ("argument", slice.to_string()),
        ]
    );
    assert_eq!((node.kind, node.bytes_read, node.bytes_written), (inspect::Kind::Kernel, 12, 12));
}

/// An element that no memset knows takes a launch of the library's own for each 64 bytes of it.
#[test]
fn a_report_says_that_a_fill_reads_nothing_unless_it_keeps_what_another_part_wrote() {
    let device = software(0).open().unwrap();
    let report = |len: usize| {
        let mut wide = device.zeros::<[u32; 20]>(len).unwrap();
        let mut narrow = device.zeros::<u64>(len).unwrap();
        let op = |r: &mut Recorder<'_>| {
            r.run(fill(&mut narrow, baked(1)))?;
            r.run(fill(&mut wide, baked([2; 20])))
        };
        device.record(op).unwrap().inspect()
    };
    let told: Vec<_> =
        report(2).nodes.iter().map(|n| (n.name.clone(), n.kind, n.bytes_read, n.bytes_written)).collect();
    let fill = |read, written| ("fill".to_string(), inspect::Kind::Fill, read, written);
    assert_eq!(told, [fill(0, 16), fill(0, 160), fill(160, 160)]);
}

#[test]
fn a_graph_of_stand_ins_says_how_many_ops_it_has_and_how_often_it_was_launched() {
    let Bench { device, stream, k } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(4).unwrap();
    for ops in [0, 1, 3] {
        let body =
            |r: &mut Recorder<'_>, y: &mut dacapo::Slice<u32>| (0..ops).try_for_each(|_| r.run(k.bump(y.at_mut(0))));
        let mut graph = device.graph().record_into((), &mut y[..], |r, (), y| body(r, y)).unwrap();
        assert_eq!((graph.len(), graph.is_empty(), graph.inspect().nodes.len()), (ops, ops == 0, ops));
        for launches in 1..3 {
            graph.launch(&stream, (), &mut y).unwrap();
            assert_eq!(graph.num_replays(), launches);
        }
    }
    assert_eq!(stream.read(&y).unwrap(), [8, 0, 0, 0]);
}

/// By the declaration, and not by the length: a slice of one element is still a slice.
#[test]
fn a_report_tells_one_number_in_device_memory_from_a_slice_of_one() {
    let Bench { device, k, .. } = Bench::seeded(0);
    let mut y = device.zeros::<u32>(3).unwrap();
    let graph = device
        .record(|r: &mut Recorder<'_>| {
            r.run(k.put(baked(7), &mut y[2..]))?;
            r.run(k.bump(y.at_mut(1)))?;
            r.run(k.store_at(&Slot::new(1), &mut y))
        })
        .unwrap();
    let report = graph.inspect();
    let said: Vec<Vec<String>> =
        report.nodes.iter().map(|node| node.arguments.iter().map(|one| format!("{one:?}")).collect()).collect();
    let value = |name: &str, how: &str, text: u32| {
        let value = format!("Value {{ text: \"{text}\", number: Some({text}.0) }}");
        format!("Argument {{ name: \"{name}\", how: {how} {{ value: {value} }} }}")
    };
    let memory = |name: &str, how: &str, (start, end): (u32, u32), access: &str| {
        let bytes = format!("Bytes {{ start: {start}, end: {end} }}");
        format!("Argument {{ name: \"{name}\", how: {how} {{ memory: 0, bytes: {bytes}, access: {access} }} }}")
    };
    assert_eq!(
        said,
        [
            vec![value("value", "Baked", 7), value("n", "Derived", 1), memory("y", "Slice", (8, 12), "Write")],
            vec![memory("v", "Scalar", (4, 8), "ReadWrite")],
            vec![value("index", "Slot", 1), memory("y", "Slice", (0, 12), "ReadWrite")],
        ]
    );
}
