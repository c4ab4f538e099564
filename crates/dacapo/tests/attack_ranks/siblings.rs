//! Ranks of one process on a library that tells nobody of another rank's end, as NCCL may not between GPUs of one machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use dacapo::collective::{Communicator, Join, Reduce, UniqueId};
use dacapo::{Device, ErrorKind};
use dacapo_nccl::types::ncclResult;
use dacapo_nccl::{HookedNccl, Nccl, NcclCall, NcclHook};

use crate::kit::{gone, group, in_time};

/// Nobody hears of an abort before this is open.
#[derive(Default)]
struct Gate(AtomicBool);

impl NcclHook for Gate {
    fn around(&self, call: NcclCall, run: &mut dyn FnMut() -> ncclResult) -> ncclResult {
        while call == NcclCall::ncclCommAbort && !self.0.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(1));
        }
        run()
    }
}

/// Both ranks of one communicator; the other ranks hear of rank 1's abort through the library only when the gate is open.
fn ranks(devices: &[Device], gate: &Arc<Gate>) -> [Communicator; 2] {
    let plain = Join::new().timeout(Duration::from_secs(600));
    let id = UniqueId::new(&devices[0]).unwrap();
    let join = |rank: usize| {
        let nccl = devices[rank].machine().unwrap().nccl();
        let nccl: Arc<dyn Nccl> =
            if rank == 0 { Arc::new(nccl) } else { Arc::new(HookedNccl::new(nccl, gate.clone())) };
        // SAFETY: it is the device's own; a call waits for a while before it is made.
        let join = unsafe { plain.clone().library(nccl) };
        let device = devices[rank].clone();
        std::thread::spawn(move || join.join(&device, &id, rank, 2).unwrap())
    };
    let joining = [join(0), join(1)];
    joining.map(|rank| rank.join().unwrap())
}

#[test]
fn who_waits_for_a_rank_of_the_same_process_is_told_of_its_end() {
    in_time(|| {
        let (devices, gate) = (group(4, 2), Arc::new(Gate::default()));
        let [here, there] = ranks(&devices, &gate);
        let (launched, is_launched) = mpsc::channel();
        let waits = {
            let device = devices[0].clone();
            std::thread::spawn(move || {
                let (stream, mut x) = (device.stream().unwrap(), device.buffer(&[1.0f32; 8]).unwrap());
                let mut graph = device.record(here.all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
                graph.launch(&stream).unwrap();
                launched.send(()).unwrap();
                let begun = Instant::now();
                let error = stream.read(&x).unwrap_err();
                (error, begun.elapsed(), here.death().map(ToString::to_string))
            })
        };
        let mut x = devices[1].buffer(&[1.0f32; 8]).unwrap();
        let graph = devices[1].record(there.all_reduce_in_place(&mut x, Reduce::Sum)).unwrap();
        is_launched.recv().unwrap();
        there.abort("its data are gone");
        let (error, took, death) = waits.join().unwrap();
        let ErrorKind::RankFailed { rank: 0, size: 2, why, in_flight } = error.kind() else { panic!("{error:?}") };
        assert_eq!(why, "rank 1, in the same process, is dead: it was aborted: its data are gone");
        assert!(in_flight.iter().any(|launch| launch.contains("all_reduce")), "{in_flight:?}");
        assert!(took < Duration::from_secs(20), "{took:?}");
        assert!(death.unwrap().contains("its data are gone"));
        gate.0.store(true, Ordering::Release);
        drop((graph, x, there));
        gone(&devices);
    });
}

#[test]
fn another_communicator_of_the_same_ranks_lives_on() {
    in_time(|| {
        let (devices, gate) = (group(5, 2), Arc::new(Gate::default()));
        let [here, there] = ranks(&devices, &gate);
        let others = Communicator::all(&devices).unwrap();
        there.abort("no more of this one");
        while here.death().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let running: Vec<_> = others
            .into_iter()
            .map(|comm| {
                std::thread::spawn(move || {
                    let (stream, mut x) = (comm.device().stream()?, comm.device().buffer(&[1.0f32; 8])?);
                    stream.run(comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
                    stream.read(&x)
                })
            })
            .collect();
        for rank in running {
            assert_eq!(rank.join().unwrap().unwrap(), [2.0; 8]);
        }
        gate.0.store(true, Ordering::Release);
        drop((here, there));
        gone(&devices);
    });
}
