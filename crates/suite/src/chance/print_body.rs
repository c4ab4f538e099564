//! Bodies of recordings, and parts of memory, as Rust.

use super::print_flow::flow;
use super::program::{Body, Eager, End, NamedMemory, Op, Part, Value};

/// What stands before the range of a part.
pub(super) fn base(place: NamedMemory, writable: bool) -> String {
    match place {
        NamedMemory::Buffer(name) => format!("b{name}"),
        NamedMemory::Scalar(name) if writable => format!("x{name}.as_mut_slice()"),
        NamedMemory::Scalar(name) => format!("x{name}.as_slice()"),
        NamedMemory::Result(name, output) => format!("g{name}.outputs()[{output}]"),
        NamedMemory::Temp(number) => format!("t{number}"),
        NamedMemory::Output(number) => format!("y{number}"),
        NamedMemory::In(number) => format!("i{number}"),
        NamedMemory::Out(number) => format!("o{number}"),
        NamedMemory::Rounds(number) => format!("rounds{number}"),
        NamedMemory::Round(number) => format!("round{number}.as_slice()"),
    }
}

/// A part as an argument.
pub(super) fn part(part: Part, writable: bool) -> String {
    if let NamedMemory::Rounds(_) = part.place {
        return format!("{}.as_slice()", element_of(part.place, part.start));
    }
    let amp = if writable { "&mut " } else { "&" };
    format!("{amp}{}[{}..{}]", base(part.place, writable), part.start, part.end())
}

/// One element of memory.
pub(super) fn element_of(place: NamedMemory, at: u8) -> String {
    match (place, at) {
        (NamedMemory::Rounds(_), 0) => format!("{}.count()", base(place, false)),
        (NamedMemory::Rounds(_), _) => format!("{}.hit_bound()", base(place, false)),
        _ => format!("{}.at({at})", base(place, false)),
    }
}

/// Arguments for parts that are read and parts that are written, with the lines that split what they share.
pub(super) fn split(reads: &[Part], writes: &[Part]) -> (Vec<String>, Vec<String>, Vec<String>) {
    let mut lines = Vec::new();
    let mut pieces: Vec<(NamedMemory, u8, u8, String)> = Vec::new();
    let mut write_names: Vec<Option<String>> = vec![None; writes.len()];
    for (number, write) in writes.iter().enumerate() {
        let is_first = writes[..number].iter().all(|other| other.place != write.place);
        let is_shared = reads.iter().any(|read| read.place == write.place)
            || writes.iter().filter(|other| other.place == write.place).count() > 1;
        if !is_first || !is_shared {
            continue;
        }
        let mut here: Vec<(usize, &Part)> = writes.iter().enumerate().filter(|(_, w)| w.place == write.place).collect();
        here.sort_by_key(|(_, part)| part.start);
        let (mut rest, mut at) = (base(write.place, true), 0);
        for (which, part) in here {
            let id = format!("{number}{which}");
            lines.push(format!("let (gap{id}, rest{id}) = {rest}.split_at_mut({});", part.start - at));
            lines.push(format!("let (piece{id}, rest{id}) = rest{id}.split_at_mut({});", part.len));
            pieces.push((write.place, at, part.start, format!("gap{id}")));
            write_names[which] = Some(format!("&mut piece{id}[..]"));
            (rest, at) = (format!("rest{id}"), part.end());
        }
        pieces.push((write.place, at, u8::MAX, rest));
    }
    let read_text = |read: &Part| {
        let piece =
            pieces.iter().find(|(place, from, to, _)| *place == read.place && *from <= read.start && read.end() <= *to);
        match piece {
            Some((_, from, _, name)) => format!("&{name}[{}..{}]", read.start - from, read.end() - from),
            None => part(*read, false),
        }
    };
    let reads = reads.iter().map(read_text).collect();
    let texts =
        writes.iter().zip(write_names).map(|(write, name)| name.unwrap_or_else(|| part(*write, true))).collect();
    (lines, reads, texts)
}

/// A closure's block. Of a graph with stand-ins it gives nothing, else its outputs.
pub(super) fn body(body: &Body, is_into: bool) -> String {
    let mut lines: Vec<String> = body.ops.iter().map(op).collect();
    let outputs: Vec<String> =
        body.ops.iter().filter_map(|op| if let Op::Output(y, _) = op { Some(format!("y{y}")) } else { None }).collect();
    let (good, of) = match is_into {
        true => ("Ok(())".to_string(), "()"),
        false if outputs.is_empty() => ("Ok(Vec::<Buffer<u32>>::new())".into(), "Vec<Buffer<u32>>"),
        false => (format!("Ok(vec![{}])", outputs.join(", ")), "Vec<Buffer<u32>>"),
    };
    lines.push(match body.end {
        End::Good => good,
        End::Error => format!("Err::<{of}, _>(Error::msg(\"on purpose\"))"),
        End::Panic => format!("if true {{ resume_unwind(Box::new(\"on purpose\")) }}\n{good}"),
    });
    block(&lines)
}

pub(super) fn block(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().flat_map(|line| line.lines()).map(|line| format!("    {line}")).collect();
    format!("{{\n{}\n}}", lines.join("\n"))
}

fn value(value: Value) -> String {
    match value {
        Value::Baked(number) => format!("baked({number})"),
        Value::Slot(name) => format!("&s{name}"),
    }
}

/// One element of an argument.
fn element(text: &str, writable: bool) -> String {
    let plain = text.trim_start_matches("&mut ").trim_start_matches('&');
    format!("{plain}.{}(0)", if writable { "at_mut" } else { "at" })
}

pub(super) fn op(op: &Op) -> String {
    let (reads, write) = op.parts();
    let writes: Vec<Part> = write.into_iter().collect();
    let (lines, x, y) = split(&reads, &writes);
    let run = |call: String| match lines.as_slice() {
        [] => format!("r.run({call})?;"),
        lines => {
            let mut all = lines.to_vec();
            all.push(format!("r.run({call})?;"));
            block(&all)
        }
    };
    match op {
        Op::Alloc(temp, len) => format!("let mut t{temp} = r.alloc::<u32>({len})?;"),
        Op::Output(output, len) => format!("let mut y{output} = r.output::<u32>({len})?;"),
        Op::Copy(..) => run(format!("copy({}, {})", x[0], y[0])),
        Op::Fill(number, _) => run(format!("fill({}, {})", y[0], value(*number))),
        Op::Upload(host, _) => run(format!("upload(&h{host}, {})", y[0])),
        Op::Download(_, host) => run(format!("download({}, &mut h{host})", x[0])),
        Op::Add(..) => run(format!("k.add({}, {}, {})", x[0], x[1], y[0])),
        Op::Mix(..) => run(format!("k.mix({}, {})", x[0], y[0])),
        Op::Scale(..) => run(format!("k.scale({}, {})", element(&x[0], false), y[0])),
        Op::Sum(..) => run(format!("k.sum({}, {})", x[0], element(&y[0], true))),
        Op::First(number, _) => run(format!("k.first({}, {})", value(*number), y[0])),
        Op::Window(number, ..) => run(format!("k.window({}, {}, {})", value(*number), x[0], y[0])),
        Op::Put(number, _) => run(format!("k.put({}, {})", value(*number), y[0])),
        Op::Bump(..) => run(format!("k.bump({})", element(&y[0], true))),
        Op::Words(generator, _) => run(format!("n{generator}.words({})", y[0])),
        Op::Replay(graph) => format!("r.run(g{graph}.as_op())?;"),
        Op::SetSlot(slot, number) => format!("s{slot}.set({number});"),
        Op::Keep => "r.keep(token.clone());".into(),
        Op::Eager(call, passed_on) => {
            let call = match call {
                Eager::Device => "device.synchronize()".to_string(),
                Eager::Stream(stream) => format!("q{stream}.synchronize()"),
                Eager::Read(stream, of) => format!("q{stream}.read({})", part(*of, false)),
                Eager::Host(host) => format!("h{host}.to_vec()"),
            };
            if *passed_on { format!("{call}?;") } else { format!("assert_eq!(kind({call}), \"EagerInRecording\");") }
        }
        Op::Loop(..) | Op::When(..) | Op::Switch(..) | Op::Leave(_) | Op::Round(_) | Op::SetNumber(..) => flow(op),
        Op::Attempt(ops, end) => {
            let mut lines: Vec<String> = ops.iter().map(self::op).collect();
            lines.push(match end {
                End::Panic => "if true { resume_unwind(Box::new(\"on purpose\")) }\nOk(())".into(),
                _ => "Err::<(), _>(Error::msg(\"on purpose\"))".into(),
            });
            format!("let _ = catch_unwind(AssertUnwindSafe(|| r.run(|r: &mut Recorder<'_>| {})));", block(&lines))
        }
    }
}
