//! What a collective should have written, and who is told that it has not.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use dacapo::collective::Reduce;
use dacapo::{ErrorKind, Result, copy, download};

use crate::kind;
use crate::kit::{Rank, ended};

const LONG: Duration = Duration::from_secs(20);

/// Rank 0 does what the body says while rank 1 comes to no collective, and aborts when the body calls `die`.
fn rank_0(seed: u64, body: impl Fn(Rank, &dyn Fn()) -> Result<()> + Send + Sync + 'static) {
    let (body, barrier) = (Arc::new(body), Arc::new(Barrier::new(2)));
    let said = ended(seed, 2, LONG, move |rank| {
        if rank.rank == 0 {
            return body(rank, &|| _ = barrier.wait());
        }
        barrier.wait();
        rank.comm.abort("it does not come");
        Ok(())
    });
    assert!(said.iter().all(Result::is_ok), "{said:?}");
}

#[test]
fn a_stream_that_reads_what_another_one_should_have_written_is_told() {
    for seed in 0..6 {
        rank_0(seed, |rank, die| {
            let other = rank.device.stream()?;
            let (mut x, mut elements) = (rank.buffer(1.0, 64), [0.0f32; 64]);
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            let later = other.read_later(&x)?;
            let asked = other.read_later(&x)?;
            die();
            kind!(other.read(&x), ErrorKind::RankFailed { .. });
            kind!(other.read_into(&x, &mut elements), ErrorKind::RankFailed { .. });
            kind!(later.wait(), ErrorKind::RankFailed { .. });
            kind!(block_on(asked), ErrorKind::RankFailed { .. });
            assert_eq!(elements, [0.0; 64], "nothing of it is shown");
            Ok(())
        });
    }
}

#[test]
fn the_host_is_told_where_its_memory_was_to_be_written_behind_it() {
    for seed in 0..6 {
        rank_0(seed, |rank, die| {
            let mut x = rank.buffer(1.0, 64);
            let mut host = rank.device.host(&[0.0f32; 64])?;
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            rank.stream.run(download(&x, &mut host))?;
            die();
            kind!(host.to_vec(), ErrorKind::RankFailed { .. });
            // What the host writes itself is there.
            host.set(&[5.0; 64])?;
            Ok(())
        });
    }
}

#[test]
fn what_was_written_before_is_there() {
    for seed in 0..6 {
        rank_0(seed, |rank, die| {
            let other = rank.device.stream()?;
            let (mut x, mut y, z) = (rank.buffer(1.0, 64), rank.buffer(0.0, 64), rank.buffer(3.0, 64));
            let mut host = rank.device.host(&[0.0f32; 64])?;
            rank.stream.run(copy(&z, &mut y))?;
            rank.stream.run(download(&z, &mut host))?;
            rank.stream.synchronize()?;
            rank.stream.run(rank.comm.all_reduce_in_place(&mut x, Reduce::Sum))?;
            die();
            kind!(other.read(&x), ErrorKind::RankFailed { .. });
            assert_eq!(other.read(&y)?, [3.0; 64]);
            assert_eq!(host.to_vec()?, [3.0; 64]);
            // Memory that is written again on a stream that goes on is whole.
            other.write(&mut x, &[4.0; 64])?;
            assert_eq!(other.read(&x)?, [4.0; 64]);
            kind!(rank.stream.synchronize(), ErrorKind::RankFailed { .. });
            Ok(())
        });
    }
}

fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        match std::pin::Pin::new(&mut future).poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
