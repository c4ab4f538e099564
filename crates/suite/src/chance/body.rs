//! Taking a body down with a recorder.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use dacapo::{Buffer, Device, Error, Recorder, Result, baked, copy, download, fill, upload};

use super::kernels::Kernels;
use super::program::{Body, Eager, End, Name, Op, Part, Value};
use super::things::{Local, Thing, Things, lend};

/// What a panic that is meant carries.
pub(super) struct Meant;

/// What steps and bodies work with.
pub(super) struct Env<'s> {
    pub(super) device: Device,
    pub(super) kernels: Arc<Kernels>,
    /// Kept by graphs and pools; must be free in the end.
    pub(super) token: Arc<()>,
    pub(super) things: Things,
    /// What threads have together.
    pub(super) shared: Option<&'s Things>,
}

impl Env<'_> {
    /// An object that is not changed.
    pub(super) fn see(&self, name: Name) -> &Thing {
        let here = self.things.get(&name);
        here.or_else(|| self.shared?.get(&name)).expect("the model knows what there is")
    }

    /// A slot.
    pub(super) fn slot(&self, name: Name) -> dacapo::Slot<u32> {
        match self.see(name) {
            Thing::Slot(slot) => slot.clone(),
            _ => unreachable!("the model knows that it is a slot"),
        }
    }

    /// A stream.
    pub(super) fn stream(&self, name: Name) -> dacapo::Stream {
        match self.see(name) {
            Thing::Stream(stream) => stream.clone(),
            _ => unreachable!("the model knows that it is a stream"),
        }
    }

    /// Takes a body down, and gives its outputs.
    pub(super) fn record<'r>(
        &mut self,
        r: &mut Recorder<'r>,
        body: &Body,
        mut local: Local<'r, '_>,
    ) -> Result<Vec<Buffer<u32>>> {
        for op in &body.ops {
            self.op(r, op, &mut local)?;
        }
        end(body.end)?;
        Ok(local.outputs.into_iter().map(|(_, output)| output).collect())
    }

    fn op<'r>(&mut self, r: &mut Recorder<'r>, op: &Op, local: &mut Local<'r, '_>) -> Result<()> {
        match op {
            Op::Alloc(temp, len) => local.temps.push((*temp, r.alloc((*len).into())?)),
            Op::Output(output, len) => local.outputs.push((*output, r.output((*len).into())?)),
            Op::Replay(graph) => match self.see(*graph) {
                Thing::Graph(graph) => r.run(graph.as_op())?,
                _ => unreachable!("the model knows that it is a graph"),
            },
            Op::SetSlot(slot, value) => self.slot(*slot).set(*value),
            Op::Keep => r.keep(self.token.clone()),
            Op::Eager(call, passed_on) => {
                let refused = self.eager(*call);
                if *passed_on {
                    refused?;
                } else if word(&refused) != "EagerInRecording" {
                    return Err(Error::msg(format!("WRONG: an eager call inside a recording: {refused:?}")));
                }
            }
            Op::Attempt(ops, how) => {
                let around = local.all();
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    r.run(|r: &mut Recorder<'_>| {
                        self.lines(r, ops, &mut Local::inside(around))?;
                        end(*how)
                    })
                }));
                match caught {
                    Ok(outcome) => drop(outcome),
                    Err(panic) if panic.is::<Meant>() => {}
                    Err(panic) => resume_unwind(panic),
                }
            }
            Op::SetNumber(number, _, side) => self.set_number(r, *number, *side)?,
            Op::Loop(..) | Op::When(..) | Op::Switch(..) | Op::Leave(_) | Op::Round(_) => self.flow(r, op, local)?,
            _ => self.line(r, op, local)?,
        }
        Ok(())
    }

    /// The lines of a body inside others.
    pub(super) fn lines<'r>(&mut self, r: &mut Recorder<'r>, ops: &[Op], local: &mut Local<'r, '_>) -> Result<()> {
        ops.iter().try_for_each(|op| self.op(r, op, local))
    }

    fn eager(&mut self, call: Eager) -> Result<()> {
        match call {
            Eager::Device => self.device.synchronize(),
            Eager::Stream(stream) => self.stream(stream).synchronize(),
            Eager::Read(stream, part) => {
                let stream = self.stream(stream);
                let mut local = Local::default();
                let lent = lend(&mut self.things, self.shared, &mut local, &[part], &[], None);
                stream.read(lent.reads[0]).map(drop)
            }
            Eager::Host(host) => match self.see(host) {
                Thing::Host(host) => host.to_vec().map(drop),
                _ => unreachable!("the model knows that it is a host buffer"),
            },
        }
    }

    fn line(&mut self, r: &mut Recorder<'_>, op: &Op, local: &mut Local<'_, '_>) -> Result<()> {
        let kernels = self.kernels.clone();
        let slot = |value: &Value| match value {
            Value::Slot(name) => Some(self.slot(*name)),
            Value::Baked(_) => None,
        };
        let slot = match op {
            Op::Fill(value, _) | Op::First(value, _) | Op::Window(value, ..) | Op::Put(value, _) => slot(value),
            _ => None,
        };
        let beside = match op {
            Op::Upload(host, _) | Op::Download(_, host) => Some(*host),
            Op::Words(generator, _) => Some(*generator),
            _ => None,
        };
        let (reads, write) = op.parts();
        let writes: Vec<Part> = write.into_iter().collect();
        let mut lent = lend(&mut self.things, self.shared, local, &reads, &writes, beside);
        let (x, y) = (lent.reads, lent.writes.pop());
        let y = || y.expect("the op writes");
        // A value is a slot or baked: two types, so that each op that takes one is written twice.
        macro_rules! valued {
            ($value:expr, |$v:ident| $op:expr) => {
                match ($value, &slot) {
                    (Value::Baked(value), _) => {
                        let $v = baked(*value);
                        r.run($op)
                    }
                    (Value::Slot(_), Some(slot)) => {
                        let $v = slot;
                        r.run($op)
                    }
                    (Value::Slot(_), None) => unreachable!("looked up above"),
                }
            };
        }
        match op {
            Op::Copy(..) => r.run(copy(x[0], y())),
            Op::Fill(value, _) => {
                let y = y();
                valued!(value, |v| fill(y, v))
            }
            Op::Upload(..) => r.run(upload(lent.host.expect("a host buffer"), y())),
            Op::Download(..) => r.run(download(x[0], lent.host.expect("a host buffer"))),
            Op::Add(..) => r.run(kernels.add(x[0], x[1], y())),
            Op::Mix(..) => r.run(kernels.mix(x[0], y())),
            Op::Scale(..) => r.run(kernels.scale(x[0].at(0), y())),
            Op::Sum(..) => r.run(kernels.sum(x[0], y().at_mut(0))),
            Op::First(value, _) => {
                let y = y();
                valued!(value, |v| kernels.first(v, y))
            }
            Op::Window(value, ..) => {
                let y = y();
                valued!(value, |v| kernels.window(v, x[0], y))
            }
            Op::Put(value, _) => {
                let y = y();
                valued!(value, |v| kernels.put(v, y))
            }
            Op::Bump(..) => r.run(kernels.bump(y().at_mut(0))),
            Op::Words(..) => r.run(lent.generator.expect("a generator").words(y())),
            _ => unreachable!("not one line of work: {op:?}"),
        }
    }
}

/// How a closure ends.
fn end(end: End) -> Result<()> {
    match end {
        End::Good => Ok(()),
        End::Error => Err(Error::msg("on purpose")),
        // Without the hook's noise.
        End::Panic => resume_unwind(Box::new(Meant)),
    }
}

/// The variant of an error's kind, or `Ok`.
pub(super) fn word<T>(outcome: &Result<T>) -> String {
    match outcome {
        Ok(_) => "Ok".into(),
        Err(error) => kind_of(error),
    }
}

/// The variant of an error's kind.
pub(super) fn kind_of(error: &Error) -> String {
    let text = format!("{:?}", error.kind());
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_string()
}
