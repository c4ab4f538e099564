//! Every way to run a copy between devices.

use dacapo::inspect::{Across, Route};
use dacapo::{Device, Recorder, Scalar, Slot, baked, copy, fill};

use crate::kit::{Kernels, SEEDS, group, pair, settled};

#[test]
fn a_copy_runs_eagerly_and_in_a_graph_on_either_device() {
    for seed in SEEDS {
        let p = pair(seed);
        for (from, to) in [(0, 1), (1, 0)] {
            for on in [0, 1] {
                let x = p.d[from].buffer(&[1u32, 2, 3]).unwrap();
                let mut y = p.d[to].zeros::<u32>(3).unwrap();
                p.s[on].run(copy(&x[1..], &mut y[..2])).unwrap();
                assert_eq!(p.s[to].read(&y).unwrap(), [2, 3, 0], "seed {seed}");
                let mut graph = p.d[on].record(copy(&x, &mut y)).unwrap();
                for _ in 0..3 {
                    p.s[to].run(fill(&mut y, baked(0))).unwrap();
                    graph.launch(&p.s[on]).unwrap();
                    assert_eq!(p.s[to].read(&y).unwrap(), [1, 2, 3], "seed {seed}");
                }
            }
        }
        p.settle();
    }
}

#[test]
fn graphs_of_two_devices_share_memory_and_have_an_order_without_being_told() {
    for seed in SEEDS {
        let p = pair(seed);
        let k = [Kernels::load(&p.d[0]).unwrap(), Kernels::load(&p.d[1]).unwrap()];
        let (mut here, mut there) = (p.d[0].scalar(0u32).unwrap(), p.d[1].scalar(0u32).unwrap());
        let mut go = p.d[0]
            .record(|r: &mut Recorder<'_>| {
                r.run(k[0].bump(&mut here))?;
                r.run(copy(here.as_slice(), there.as_mut_slice()))
            })
            .unwrap();
        let mut back = p.d[1]
            .record(|r: &mut Recorder<'_>| {
                r.run(k[1].bump(&mut there))?;
                r.run(copy(there.as_slice(), here.as_mut_slice()))
            })
            .unwrap();
        for round in 0..10u32 {
            go.launch(&p.s[0]).unwrap();
            back.launch(&p.s[1]).unwrap();
            if round % 4 == 3 {
                // The host asks in between, on either.
                let seen = if round % 8 == 3 { here.get(&p.s[0]) } else { there.get(&p.s[1]) };
                assert_eq!(seen.unwrap(), 2 * round + 2);
            }
        }
        assert_eq!((here.get(&p.s[0]).unwrap(), there.get(&p.s[1]).unwrap()), (20, 20), "seed {seed}");
        drop((go, back, here, there, k));
        p.settle();
    }
}

#[test]
fn temps_outputs_and_slots_go_to_another_device() {
    for seed in SEEDS {
        let p = pair(seed);
        let value = Slot::new(5u32);
        let mut far = p.d[1].zeros::<u32>(4).unwrap();
        let mut graph = p.d[0]
            .record(|r: &mut Recorder<'_>| {
                let (mut temp, mut out) = (r.alloc::<u32>(4)?, r.output::<u32>(4)?);
                r.run(fill(&mut temp, &value))?;
                r.run(copy(&temp, &mut far))?;
                r.run(fill(&mut temp, baked(0)))?;
                r.run(copy(&far, &mut out))?;
                Ok(out)
            })
            .unwrap();
        for number in [5, 6, 7] {
            value.set(number);
            let out = graph.launch_sync(&p.s[0]).unwrap();
            assert_eq!(p.s[0].read(out).unwrap(), [number; 4], "seed {seed}");
        }
        drop((graph, far));
        p.settle();
    }
}

#[test]
fn a_report_says_from_where_to_where_and_how() {
    for (seed, route) in [(0, Route::Direct), (1, Route::Staged)] {
        let p = pair(seed);
        let x = p.d[1].buffer(&[1u32; 4]).unwrap().named("weights");
        let mut y = p.d[0].zeros::<u32>(4).unwrap();
        let graph = p.d[0].record(copy(&x, &mut y)).unwrap();
        let report = graph.inspect();
        assert_eq!(report.nodes[0].across, Some(Across::new(1, 0, route)));
        assert_eq!(report.memories.iter().map(|memory| memory.device).collect::<Vec<_>>(), [Some(1), None]);
        let text = report.to_string();
        assert!(text.contains(&format!("from device 1 to device 0, {route}")), "{text}");
        assert!(text.contains("weights") && text.contains("on device 1"), "{text}");
        #[cfg(feature = "json")]
        assert_eq!(dacapo::inspect::Report::from_json(&report.to_json()), Ok(report));
    }
}

#[test]
fn a_copy_in_a_loop_goes_where_devices_are_peers() {
    for seed in SEEDS {
        let p = pair(seed);
        let k = Kernels::load(&p.d[0]).unwrap();
        let (mut here, mut there) = (p.d[0].scalar(0u32).unwrap(), p.d[1].scalar(0u32).unwrap());
        let thrice = |r: &mut Recorder<'_>, here: &mut Scalar<u32>, there: &mut Scalar<u32>| {
            r.repeat_times(baked(3), |r| {
                r.run(k.bump(here))?;
                r.run(copy(here.as_slice(), there.as_mut_slice()))
            })
            .map(drop)
        };
        let recorded = p.d[0].record(|r: &mut Recorder<'_>| thrice(r, &mut here, &mut there));
        match recorded {
            Ok(mut graph) => {
                assert_eq!(seed % 2, 0);
                graph.launch(&p.s[0]).unwrap();
            }
            Err(error) => {
                assert_eq!(seed % 2, 1, "{error:?}");
                assert!(matches!(error.kind(), dacapo::ErrorKind::NotInBody { .. }), "{error:?}");
                assert!(error.to_string().contains("a copy between devices that are no peers"), "{error}");
            }
        }
        // Eagerly the host goes from round to round.
        p.s[0].run(|r: &mut Recorder<'_>| thrice(r, &mut here, &mut there)).unwrap();
        assert_eq!(there.get(&p.s[1]).unwrap(), if seed % 2 == 0 { 6 } else { 3 }, "seed {seed}");
        drop((here, there, k));
        p.settle();
    }
}

#[test]
fn a_graph_that_is_recorded_again_may_copy_between_other_devices() {
    for seed in SEEDS {
        let d = group(seed, 3);
        let s = d[0].stream().unwrap();
        let x: Vec<_> = d.iter().zip(1u32..).map(|(device, n)| device.buffer(&[n; 4]).unwrap()).collect();
        let mut y = d[0].zeros::<u32>(4).unwrap();
        let mut graph = d[0].record(copy(&x[0], &mut y)).unwrap();
        for (from, x) in x.iter().enumerate().cycle().skip(1).take(5) {
            let done = graph.rerecord(copy(x, &mut y)).unwrap();
            assert!(done.to_string().contains("other devices"), "{done}");
            graph.launch(&s).unwrap();
            assert_eq!(s.read(&y).unwrap(), [from as u32 + 1; 4], "seed {seed}");
        }
        drop((graph, x, y, s));
        settled(&d, 0);
    }
}

#[test]
fn threads_of_all_devices_fill_their_part_of_one_buffer() {
    for seed in SEEDS {
        let d = group(seed, 4);
        let whole = std::sync::Mutex::new(d[0].zeros::<u32>(16).unwrap());
        std::thread::scope(|scope| {
            for (number, device) in d.iter().enumerate() {
                let whole = &whole;
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    let mut part = device.zeros::<u32>(4).unwrap();
                    for round in 0..5 {
                        stream.run(fill(&mut part, baked((round * 10 + number) as u32))).unwrap();
                        let mut whole = whole.lock().unwrap();
                        let mut graph = device.record(copy(&part, &mut whole[4 * number..4 * number + 4])).unwrap();
                        graph.launch(&stream).unwrap();
                    }
                });
            }
        });
        let whole = whole.into_inner().unwrap();
        let s = d[0].stream().unwrap();
        let want: Vec<u32> = (0..16).map(|at| 40 + at / 4).collect();
        assert_eq!(s.read(&whole).unwrap(), want, "seed {seed}");
        drop((whole, s));
        settled(&d, 0);
    }
}

#[test]
fn one_software_device_opened_by_itself_launches_without_events_as_before() {
    // Two devices with a stream each are not two streams: nobody waits for anybody until they share memory.
    let d: Vec<Device> = group(0, 2);
    let events = || d[0].machine().unwrap().census().events;
    let before = events();
    for device in &d {
        let stream = device.stream().unwrap();
        let mut x = device.zeros::<u32>(4).unwrap();
        let mut graph = device.record(fill(&mut x, baked(1))).unwrap();
        (0..10).for_each(|_| drop(graph.launch(&stream).unwrap()));
        stream.synchronize().unwrap();
    }
    assert_eq!(events(), before);
}
