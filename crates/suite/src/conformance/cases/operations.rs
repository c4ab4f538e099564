//! Words that streams write and wait for: single calls, batches, and nodes of them.

use super::super::case::Case;
use super::super::verbs::{Arg::*, MemOp};

super::list! { "operation";
    write_then_read, wait_holds_a_stream, waits_of_every_kind, sixty_four_bits, batch_in_order, batch_refused, batch_node, batch_node_set, wait_released_by_another_stream,
    write_to_pinned, wait_on_pinned, misaligned, empty_batch, node_in_a_chain,
}

fn write_then_read(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[1, 2]));
    c.write32(s, m + 4, 77, 0);
    let add = c.kernel("add", &[P(m + 4), N(1)]);
    c.launch(&add, s);
    c.write32(s, m, 5, 1);
    c.sync(s);
    c.read(m, 2);
}

fn wait_holds_a_stream(c: &mut Case<'_>) {
    let (s, m, host) = (c.stream(1), c.words(&[0]), c.pinned(8, 0));
    let add = c.kernel("add", &[P(m), N(1)]);
    c.wait32(s, host, 1, 1);
    c.launch(&add, s);
    c.query(s);
    c.poke(host, &[1]);
    c.sync(s);
    c.read(m, 1);
}

fn waits_of_every_kind(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(8, 0));
    for (how, held, freed) in [(0, 4, 5), (1, 6, 5), (2, 0x10, 0x12), (3, 0xffff_ffff, 0)] {
        c.poke(host, &[held]);
        c.wait32(
            s,
            host,
            if how == 2 {
                2
            } else if how == 3 {
                0xffff_fff0
            } else {
                5
            },
            how,
        );
        c.query(s);
        c.poke(host, &[freed]);
        c.sync(s);
    }
}

fn sixty_four_bits(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 4]));
    c.write64(s, m, 0x1_0000_0002, 0);
    c.wait64(s, m, 0x1_0000_0000, 0);
    c.write64(s, m + 8, 7, 0);
    c.sync(s);
    c.read(m, 4);
}

fn batch_in_order(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 4]));
    c.batch(
        s,
        &[
            MemOp::Write32(m, 1),
            MemOp::Wait32(m, 1, 1),
            MemOp::Write32(m + 4, 2),
            MemOp::Write64(m + 8, 3),
            MemOp::Wait64(m + 8, 2, 0),
            MemOp::Barrier,
        ],
    );
    c.sync(s);
    c.read(m, 4);
}

fn batch_refused(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 4]));
    c.batch(s, &[MemOp::Write32(m, 1), MemOp::Wrong(77)]);
    c.batch(s, &[MemOp::Write32(m + 2, 1)]);
    c.batch(s, &[MemOp::Write32(0, 1)]);
    c.batch(s, &[MemOp::Wait32(m, 0, 9)]);
    c.sync(s);
    c.read(m, 4);
}

fn batch_node(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 4]));
    let a = c.node(g, &[], "add", &[P(m), N(1)]);
    let b = c.add_batch(g, &[a], &[MemOp::Write32(m + 4, 5), MemOp::Write32(m + 8, 6)]);
    c.node(g, &[b], "carry", &[P(m + 12), P(m + 4), N(100)]);
    c.shape(g);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 4);
}

fn batch_node_set(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0; 4]));
    let a = c.add_batch(g, &[], &[MemOp::Write32(m, 5)]);
    let x = c.instantiate(g, 0);
    c.exec_batch(x, a, &[MemOp::Write32(m + 4, 6)]);
    c.run_once(x, s);
    c.read(m, 4);
    c.exec_batch(x, a, &[MemOp::Write32(m + 8, 7), MemOp::Write32(m + 12, 8)]);
    c.run_once(x, s);
    c.read(m, 4);
}

fn wait_released_by_another_stream(c: &mut Case<'_>) {
    let (s, t, m) = (c.stream(1), c.stream(1), c.words(&[0, 0]));
    c.wait32(s, m, 3, 0);
    c.write32(s, m + 4, 9, 0);
    c.query(s);
    c.write32(t, m, 3, 0);
    c.sync(t);
    c.sync(s);
    c.read(m, 2);
}

fn write_to_pinned(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(16, 0));
    c.write32(s, host, 5, 0);
    c.write64(s, host + 8, 6, 0);
    c.sync(s);
    c.peek(host, 4);
}

fn wait_on_pinned(c: &mut Case<'_>) {
    let (s, host) = (c.stream(1), c.pinned(16, 0));
    c.wait64(s, host, 5, 1);
    c.query(s);
    c.poke(host, &[5, 0]);
    c.sync(s);
}

fn misaligned(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0; 4]));
    c.write32(s, m + 1, 1, 0);
    c.write64(s, m + 4, 1, 0);
    c.wait32(s, m + 2, 0, 0);
    c.write32(s, 0, 1, 0);
    c.write32(s, m + 16, 1, 0);
    c.write32(s, m, 1, 8);
    c.wait32(s, m, 0, 4);
    c.sync(s);
    c.read(m, 4);
}

fn empty_batch(c: &mut Case<'_>) {
    let (s, g) = (c.stream(1), c.graph());
    c.batch(s, &[]);
    c.add_batch(g, &[], &[]);
    c.shape(g);
    c.sync(s);
}

fn node_in_a_chain(c: &mut Case<'_>) {
    let (s, t, g, m) = (c.stream(1), c.stream(1), c.graph(), c.words(&[0, 0, 0]));
    let a = c.add_batch(g, &[], &[MemOp::Wait32(m, 1, 1)]);
    c.node(g, &[a], "carry", &[P(m + 8), P(m + 4), N(1)]);
    let x = c.instantiate(g, 0);
    c.run(x, s);
    c.query(s);
    c.batch(t, &[MemOp::Write32(m + 4, 40), MemOp::Write32(m, 1)]);
    c.sync(t);
    c.sync(s);
    c.read(m, 3);
}
