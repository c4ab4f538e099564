//! Ranks, sizes, ids, times and lengths that make no sense.

use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Launcher, Reduce, UniqueId};
use dacapo::half::{bf16, f16};
use dacapo::{Device, ErrorKind, Recorder, Result, Software};

use crate::kind;
use crate::kit::{SHORT, all_well, ended, gone, group, group_with, in_time, is_failed, ranks_of};

#[test]
fn ranks_and_sizes_that_are_not_there() {
    in_time(|| {
        let d = group(0, 2);
        let id = UniqueId::new(&d[0]).unwrap();
        let join = Join::new().timeout(SHORT);
        for (rank, size) in
            [(0, 0), (1, 1), (2, 2), (usize::MAX, 2), (usize::MAX, usize::MAX), (5, 0), (1 << 40, 1 << 41)]
        {
            let begun = Instant::now();
            kind!(join.join(&d[0], &id, rank, size), ErrorKind::NotJoined { .. });
            assert!(begun.elapsed() < Duration::from_millis(400), "{rank} of {size}");
        }
        for size in [usize::MAX, 1 << 31, 1 << 32, (1 << 32) + 1] {
            let begun = Instant::now();
            kind!(join.join(&d[0], &id, 0, size), ErrorKind::NotJoined { .. });
            assert!(begun.elapsed() < Duration::from_secs(5), "of {size}");
        }
        kind!(Communicator::all(&[]), ErrorKind::NotJoined { .. });
        kind!(Communicator::all(&[d[0].clone(), d[0].clone()]), ErrorKind::NotJoined { .. });
        gone(&d);
    });
}

#[test]
fn software_groups_of_odd_sizes() {
    for count in [0, 65, usize::MAX] {
        let begun = Instant::now();
        let opened = Device::software_group(count);
        assert!(begun.elapsed() < Duration::from_secs(5));
        match opened {
            Ok(devices) => assert_eq!(devices.len(), count),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert_eq!(Software::new().devices(3).open_group(2).unwrap().len(), 2);
}

#[test]
fn roots_and_peers_that_are_not_there() {
    all_well(0, 2, |rank| {
        let (comm, stream) = (&rank.comm, &rank.stream);
        let (mut x, y) = (rank.buffer(1.0, 8), rank.buffer(1.0, 8));
        for wrong in [2, 3, 1 << 31, 1 << 32, usize::MAX] {
            kind!(stream.run(comm.broadcast(&mut x, wrong)), ErrorKind::Rank { .. });
            kind!(stream.run(comm.reduce(&y, &mut x, Reduce::Sum, wrong)), ErrorKind::Rank { .. });
            kind!(stream.run(comm.send(&y, wrong)), ErrorKind::Rank { .. });
            kind!(stream.run(comm.recv(&mut x, wrong)), ErrorKind::Rank { .. });
            kind!(stream.run(comm.group().send(&y, wrong).op()), ErrorKind::Rank { .. });
            kind!(rank.device.record(comm.broadcast(&mut x, wrong)), ErrorKind::Rank { .. });
        }
        // To itself, alone: it would wait for itself.
        kind!(stream.run(comm.send(&y, rank.rank)), ErrorKind::Msg(_));
        kind!(stream.run(comm.recv(&mut x, rank.rank)), ErrorKind::Msg(_));
        stream.run(comm.group().send(&y, rank.rank).recv(&mut x, rank.rank).op())?;
        stream.synchronize()
    });
}

#[test]
fn half_of_a_send_to_itself() {
    let begun = Instant::now();
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.buffer(1.0, 8);
        let sent = rank.stream.run(rank.comm.group().recv(&mut x, rank.rank).op());
        sent.and_then(|()| rank.stream.synchronize())
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(said.iter().all(Result::is_err), "{said:?}");
}

#[test]
fn ids_that_nobody_has_made() {
    in_time(|| {
        let d = group_with(0, 2, SHORT);
        let join = Join::new().timeout(SHORT);
        let mut bytes = [0; UniqueId::LEN];
        for fill in [0, 1, 0x7f, 0xff] {
            bytes.fill(fill);
            let begun = Instant::now();
            let joined = join.join(&d[0], &UniqueId::from_bytes(bytes), 0, 2);
            kind!(joined, ErrorKind::NotJoined { .. } | ErrorKind::Library { .. });
            assert!(begun.elapsed() < Duration::from_secs(5), "{fill}");
        }
        gone(&d);
    });
}

#[test]
fn an_id_is_good_once() {
    in_time(|| {
        let d = group_with(0, 2, SHORT);
        let join = Join::new().timeout(SHORT);
        let id = UniqueId::new(&d[0]).unwrap();
        let first = join.join(&d[0], &id, 0, 1).unwrap();
        // Again, alive and gone: refused, or a communicator of its own; never the old one.
        let again = join.join(&d[0], &id, 0, 1);
        drop(again);
        assert!(first.death().is_none());
        drop(first);
        drop(join.join(&d[1], &id, 0, 1));
        gone(&d);
    });
}

#[test]
fn ranks_that_do_not_agree_how_many_they_are() {
    in_time(|| {
        let d = group_with(0, 2, SHORT);
        let id = UniqueId::new(&d[0]).unwrap();
        let begun = Instant::now();
        let said: Vec<Result<Communicator>> = std::thread::scope(|scope| {
            let all: Vec<_> = [(0, 2), (1, 3)]
                .map(|(rank, size)| {
                    let device = &d[rank];
                    scope.spawn(move || Join::new().timeout(SHORT).join(device, &id, rank, size))
                })
                .into();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(begun.elapsed() < Duration::from_secs(5));
        for said in said {
            kind!(said, ErrorKind::NotJoined { .. });
        }
        gone(&d);
    });
}

#[test]
fn no_time_and_all_the_time() {
    in_time(|| {
        for timeout in [Duration::ZERO, Duration::from_nanos(1)] {
            let d = group(0, 2);
            let begun = Instant::now();
            match Join::new().timeout(timeout).all(&d) {
                // Whoever has no time may be told so, or be in time.
                Ok(ranks) => {
                    let (stream, mut x) = (d[0].stream().unwrap(), d[0].zeros::<f32>(4).unwrap());
                    let ran = stream
                        .run(ranks[0].all_reduce_in_place(&mut x, Reduce::Sum))
                        .and_then(|()| stream.synchronize());
                    assert!(is_failed(&ran.unwrap_err()));
                }
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::NotJoined { .. } | ErrorKind::RankFailed { .. }),
                    "{error:?}"
                ),
            }
            assert!(begun.elapsed() < Duration::from_secs(5));
        }
        let d = group(0, 2);
        for ended in ranks_of(&d, &Join::new().timeout(Duration::MAX), |rank| -> Result<()> {
            let mut x = rank.buffer(1.0, 4);
            let mut graph = rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            graph.launch_sync(&rank.stream)?;
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            assert_eq!(rank.stream.read(&x)?, [4.0; 4]);
            Ok(())
        }) {
            ended.unwrap().unwrap();
        }
        gone(&d);
    });
}

#[test]
fn lengths_that_do_not_fit() {
    all_well(0, 2, |rank| {
        let (comm, stream) = (&rank.comm, &rank.stream);
        let (x, mut y) = (rank.device.buffer(&[1.0f32; 7])?, rank.device.zeros::<f32>(13)?);
        kind!(stream.run(comm.all_reduce(&x, &mut y, Reduce::Sum)), ErrorKind::Length { .. });
        kind!(stream.run(comm.all_gather(&x, &mut y)), ErrorKind::Length { .. });
        kind!(stream.run(comm.reduce_scatter(&x, &mut y, Reduce::Sum)), ErrorKind::Length { .. });
        kind!(stream.run(comm.all_to_all(&x, &mut y[..7])), ErrorKind::Length { .. });
        kind!(stream.run(comm.reduce(&x, &mut y, Reduce::Sum, 0)), ErrorKind::Length { .. });
        // Nothing at all is a length like any other.
        let (none, mut empty) = (rank.device.zeros::<f32>(0)?, rank.device.zeros::<f32>(0)?);
        stream.run(comm.all_reduce(&none, &mut empty, Reduce::Average))?;
        stream.run(comm.all_gather(&none, &mut empty))?;
        stream.run(comm.reduce_scatter(&none, &mut empty, Reduce::Max))?;
        stream.run(comm.all_to_all(&none, &mut empty))?;
        stream.run(comm.broadcast(&mut empty, 1))?;
        rank.device.record(comm.all_reduce(&none, &mut empty, Reduce::Sum))?.launch_sync(stream)?;
        stream.synchronize()
    });
}

#[test]
fn nothing_on_one_rank_and_something_on_the_other() {
    let begun = Instant::now();
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.device.zeros::<f32>(rank.rank * 4)?;
        rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        rank.stream.synchronize()
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    for error in said {
        let error = error.unwrap_err();
        assert!(is_failed(&error), "{error:?}");
        assert!(error.to_string().contains("0 float32") || error.to_string().contains("do not agree"), "{error}");
    }
    let said = ended(0, 2, SHORT, |rank| {
        let mut x = rank.device.zeros::<f32>(rank.rank * 4)?;
        rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum)).map(drop)
    });
    said.into_iter().for_each(|said| kind!(said, ErrorKind::RanksDiffer { .. }));
}

#[test]
fn what_comes_after_nothing_does_not_meet_what_another_rank_does_now() {
    // As many calls, of the same lengths, in another order.
    let lens = |rank: usize| if rank == 0 { [0, 4] } else { [4, 0] };
    let said = ended(0, 2, SHORT, move |rank| {
        let [mut x, mut y] = lens(rank.rank).map(|len| rank.buffer(rank.mine(1.0), len));
        let recorded = rank.device.record(|r: &mut Recorder<'_>| {
            r.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            r.run(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))
        });
        kind!(recorded, ErrorKind::RanksDiffer { .. });
        rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        rank.stream.run(rank.comm.all_reduce_in_place(&mut y, Reduce::Sum))?;
        rank.stream.synchronize()
    });
    assert!(said.iter().all(|said| is_failed(said.as_ref().unwrap_err())), "{said:?}");
}

#[test]
fn odd_offsets_wide_elements_and_huge_slices() {
    for seed in 0..3 {
        all_well(seed, 2, |rank| {
            let mut bytes = rank.device.buffer(&[rank.rank as u8 + 1; 33])?;
            for start in [1, 3, 7] {
                rank.stream.run(rank.comm.all_reduce_in_place(&mut bytes[start..start + 5], Reduce::Max))?;
            }
            let mut wanted = [rank.rank as u8 + 1; 33];
            [1..6, 3..8, 7..12].into_iter().for_each(|range| wanted[range].fill(2));
            assert_eq!(rank.stream.read(&bytes)?, wanted);
            let wide = rank.device.buffer(&[[rank.rank as u16; 777]; 3])?;
            let mut all = rank.device.zeros::<[u16; 777]>(6)?;
            rank.stream.run(rank.comm.all_gather(&wide[..3], &mut all))?;
            let got = rank.stream.read(&all)?;
            assert!(got[..3].iter().flatten().all(|x| *x == 0) && got[3..].iter().flatten().all(|x| *x == 1));
            let odd = rank.device.buffer(&[[7u8; 3]; 5])?;
            let mut to = rank.device.zeros::<[u8; 3]>(10)?;
            rank.device.record(rank.comm.all_gather(&odd[1..5], &mut to[1..9]))?.launch_sync(&rank.stream)?;
            assert_eq!(rank.stream.read(&to[1..9])?, [[7u8; 3]; 8]);
            kind!(rank.device.zeros::<u64>(usize::MAX / 8), ErrorKind::OutOfMemory { .. });
            kind!(rank.device.zeros::<u64>(usize::MAX), ErrorKind::OutOfMemory { .. });
            Ok(())
        });
    }
}

#[test]
fn numbers_that_are_none() {
    all_well(0, 3, |rank| {
        let (comm, stream) = (&rank.comm, &rank.stream);
        let mut x = rank.device.buffer(&[f32::NAN, f32::INFINITY, -0.0, f32::MAX])?;
        stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
        let got = stream.read(&x)?;
        assert!(got[0].is_nan() && got[1] == f32::INFINITY && got[3] == f32::INFINITY, "{got:?}");
        let mut whole = rank.device.buffer(&[i8::MIN, i8::MAX, -7])?;
        stream.run(comm.all_reduce_in_place(&mut whole, Reduce::Sum))?;
        assert_eq!(stream.read(&whole)?, [i8::MIN.wrapping_mul(3), i8::MAX.wrapping_mul(3), -21]);
        // An average of whole numbers: the sum, divided, rounded to zero.
        let mut whole = rank.device.buffer(&[-1i32, 1, rank.rank as i32, i32::MAX])?;
        stream.run(comm.all_reduce_in_place(&mut whole, Reduce::Average))?;
        let sum = i32::MAX.wrapping_mul(3);
        assert_eq!(stream.read(&whole)?, [-1, 1, 1, sum / 3]);
        let mut half = rank.device.buffer(&[f16::MAX, f16::from_f32(1.0)])?;
        stream.run(comm.all_reduce_in_place(&mut half, Reduce::Product))?;
        assert!(stream.read(&half)?[0].is_infinite());
        let mut brain = rank.device.buffer(&[bf16::from_f32(rank.rank as f32), bf16::NAN])?;
        stream.run(comm.all_reduce_in_place(&mut brain, Reduce::Average))?;
        assert!((stream.read(&brain)?[0].to_f32() - 1.0).abs() < 0.01);
        Ok(())
    });
}

#[test]
fn strangers_on_the_port_cost_rank_0_no_time() {
    in_time(|| {
        let d = group_with(0, 1, SHORT);
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let place = Launcher { rank: 0, size: 2, local_rank: 0, host: "127.0.0.1".into(), port: free };
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            // They connect, and say nothing.
            scope.spawn(|| {
                let mut held = Vec::new();
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    held.extend(std::net::TcpStream::connect(("127.0.0.1", free)));
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let begun = Instant::now();
            kind!(place.join_with(&d[0], &Join::new().timeout(SHORT), SHORT), ErrorKind::NotJoined { .. });
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(begun.elapsed() < 4 * SHORT, "{:?}", begun.elapsed());
        });
        gone(&d);
    });
}

#[test]
fn a_launcher_that_says_nonsense() {
    in_time(|| {
        let d = group_with(0, 1, SHORT);
        let place = |rank, size, host: &str, port| Launcher { rank, size, local_rank: 0, host: host.to_string(), port };
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let all = [
            place(3, 2, "127.0.0.1", free),
            place(0, 0, "127.0.0.1", free),
            place(1, 2, "127.0.0.1", free),
            place(1, 2, "no such host.invalid", free),
            place(1, 2, "", 0),
            place(0, 2, "127.0.0.1", free),
            place(0, usize::MAX, "127.0.0.1", free),
            place(usize::MAX, usize::MAX, "127.0.0.1", free),
            place((1 << 32) + 1, 1 << 33, "127.0.0.1", free),
        ];
        for place in all {
            let begun = Instant::now();
            let joined = place.join_with(&d[0], &Join::new().timeout(SHORT), Duration::from_millis(300));
            kind!(joined, ErrorKind::NotJoined { .. });
            assert!(begun.elapsed() < Duration::from_secs(5), "{place:?}");
        }
        let alone = place(0, 1, "nowhere.invalid", 0).join_with(&d[0], &Join::new(), Duration::MAX).unwrap();
        assert_eq!((alone.rank(), alone.size()), (0, 1));
        drop(alone);
        gone(&d);
    });
}

#[test]
fn rank_0_tells_those_who_come_and_names_those_who_do_not() {
    in_time(|| {
        let d = group_with(0, 3, Duration::from_secs(10));
        let join = |size: usize, ranks: &[usize], patience| -> Vec<Result<Communicator>> {
            let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            std::thread::scope(|scope| {
                let one = |(device, &rank)| {
                    let place = Launcher { rank, size, local_rank: rank, host: "127.0.0.1".into(), port };
                    scope.spawn(move || place.join_with(device, &Join::new().timeout(patience), patience))
                };
                let all: Vec<_> = d.iter().zip(ranks).map(one).collect();
                all.into_iter().map(|one| one.join().unwrap()).collect()
            })
        };
        let joined = join(3, &[0, 1, 2], Duration::from_secs(10));
        assert!(joined.iter().all(Result::is_ok), "{joined:?}");
        // Rank 2 comes twice, and is one of four all the same.
        let error = join(4, &[0, 2, 2], 2 * SHORT).remove(0).unwrap_err();
        let why = "nothing was heard from rank 1, 3";
        assert!(
            matches!(error.kind(), ErrorKind::NotJoined { why: said, .. } if said.lines().next() == Some(why)),
            "{error:?}"
        );
        drop(joined);
        gone(&d);
    });
}

#[test]
fn a_launcher_of_more_ranks_than_memory_holds() {
    in_time(|| {
        let d = group_with(0, 1, SHORT);
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let size = i32::MAX as usize;
        let place = Launcher { rank: 0, size, local_rank: 0, host: "127.0.0.1".into(), port: free };
        let begun = Instant::now();
        let error = place.join_with(&d[0], &Join::new().timeout(SHORT), Duration::from_millis(1)).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
        let why = "nothing was heard from rank 1, 2, 3, 4, 5, 6, 7, 8 and 2147483638 more";
        assert!(
            matches!(error.kind(), ErrorKind::NotJoined { why: said, .. } if said.lines().next() == Some(why)),
            "{error:?}"
        );
        gone(&d);
    });
}

#[test]
fn patience_of_all_the_time_and_of_none() {
    for patience in [Duration::MAX, Duration::ZERO, Duration::from_secs(u64::MAX / 1000)] {
        in_time(move || {
            let open =
                |count| Software::new().options(|options| options.rank_patience = patience).open_group(count).unwrap();
            // Of one machine, and of two, which meet like processes.
            let (pair, mut apart) = (open(2), open(1));
            apart.extend(open(1));
            for devices in [pair, apart] {
                match Join::new().timeout(Duration::from_secs(5)).all(&devices) {
                    Ok(ranks) => std::thread::scope(|scope| {
                        for comm in &ranks {
                            scope.spawn(move || -> Result<()> {
                                let (stream, mut x) = (comm.device().stream()?, comm.device().buffer(&[1.0f32; 4])?);
                                let ran = stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum));
                                let got = ran.and_then(|()| stream.read(&x));
                                match got {
                                    Ok(got) => assert_eq!(got, [2.0; 4]),
                                    Err(error) => assert!(patience.is_zero() && is_failed(&error), "{error:?}"),
                                }
                                Ok(())
                            });
                        }
                    }),
                    Err(error) => {
                        assert!(patience.is_zero(), "{error:?}");
                        assert!(matches!(error.kind(), ErrorKind::NotJoined { .. }), "{error:?}");
                    }
                }
            }
        });
    }
}

#[test]
fn as_many_ranks_as_there_can_be() {
    all_well(1, 64, |rank| {
        let mut x = rank.device.buffer(&[rank.rank as u32])?;
        rank.device.record(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?.launch_sync(&rank.stream)?;
        assert_eq!(rank.stream.read(&x)?, [64 * 63 / 2]);
        Ok(())
    });
}

#[test]
fn a_send_that_nobody_receives_or_in_another_length() {
    for how in 0..3 {
        let begun = Instant::now();
        let said = ended(how, 2, SHORT, move |rank| {
            let (x, mut y) = (rank.buffer(1.0, 8), rank.buffer(0.0, 7));
            let ran = match (rank.rank, how) {
                (0, _) => rank.stream.run(rank.comm.send(&x, 1)),
                (_, 0) => rank.stream.run(rank.comm.recv(&mut y, 0)),
                // Both send.
                (_, 1) => rank.stream.run(rank.comm.send(&x, 0)),
                // And in a recording, which does not compare what only two do.
                _ => rank
                    .device
                    .record(rank.comm.recv(&mut y, 0))
                    .and_then(|mut graph| graph.launch(&rank.stream).map(drop)),
            };
            ran.and_then(|()| rank.stream.synchronize())
        });
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(said.iter().all(|said| is_failed(said.as_ref().unwrap_err())), "{how}: {said:?}");
    }
}

#[test]
fn strangers_at_the_port_of_an_id() {
    // Whoever knows an id can join; whoever guesses its port can connect, and say anything or nothing.
    for garbage in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 300], &[0; 48]] {
        in_time(move || {
            let mut devices = group(0, 1);
            devices.extend(group(1, 1));
            let id = UniqueId::new(&devices[0]).unwrap();
            let listens = |port: u16| std::net::TcpStream::connect(("127.0.0.1", port)).ok();
            // Every pair of bytes that could be a port.
            let bytes = id.to_bytes();
            let mut strangers: Vec<_> =
                bytes.windows(2).filter_map(|two| listens(u16::from_le_bytes([two[0], two[1]]).max(1))).collect();
            assert!(!strangers.is_empty());
            for stranger in &mut strangers {
                let _ = std::io::Write::write_all(stranger, garbage);
            }
            let begun = Instant::now();
            let said: Vec<Result<Communicator>> = std::thread::scope(|scope| {
                let join = |(rank, device)| {
                    scope.spawn(move || Join::new().timeout(Duration::from_secs(20)).join(device, &id, rank, 2))
                };
                let all: Vec<_> = devices.iter().enumerate().map(join).collect();
                all.into_iter().map(|one| one.join().unwrap()).collect()
            });
            assert!(said.iter().all(Result::is_ok), "{said:?}");
            assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
            drop((said, strangers));
            gone(&devices);
        });
    }
}
