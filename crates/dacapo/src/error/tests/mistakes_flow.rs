//! Mistakes with control flow on the device.

use std::ffi::c_void;

use dacapo_driver::Call;

use super::mistakes::{Mistake, bench, refused};
use crate::flow::{nonzero, unbounded};
use crate::raw::foreign;
use crate::{Recorder, baked, copy, fill};

pub(super) const MISTAKES: &[Mistake] = &[
    ("a temp that only one branch writes", || {
        let (device, _, _) = bench();
        let (flag, mut y) = (device.scalar(1u32).unwrap(), device.zeros::<u32>(4).unwrap());
        refused(device.record(|r: &mut Recorder<'_>| {
            let mut t = r.alloc::<u32>(4)?;
            r.when(nonzero(&flag), |r| r.run(fill(&mut t, baked(1))))?;
            r.run(copy(&t, &mut y))
        }))
    }),
    ("a condition that looks at a temp of a body, behind the body", || {
        let (device, _, _) = bench();
        refused(device.record(|r: &mut Recorder<'_>| {
            let mut found = None;
            r.repeat_times(baked(3), |r: &mut Recorder<'_>| {
                let mut t = r.alloc_scalar::<u32>()?;
                r.run(fill(t.as_mut_slice(), baked(1)))?;
                found = Some(nonzero(&t));
                Ok(())
            })?;
            r.when(found.expect("set above"), |_| Ok(())).map(drop)
        }))
    }),
    ("a way out of a loop, inside a branch of it", || {
        let (device, _, _) = bench();
        let flag = device.scalar(1u32).unwrap();
        refused(device.record(|r: &mut Recorder<'_>| {
            r.repeat_times(baked(3), |r: &mut Recorder<'_>| {
                r.when(nonzero(&flag), |r: &mut Recorder<'_>| r.leave_if(nonzero(&flag))).map(drop)
            })
            .map(drop)
        }))
    }),
    ("a loop whose body never changes what its condition looks at, in an eager run", || {
        let device = crate::Software::new().options(|options| options.rounds_max = 50).open().unwrap();
        let (stream, flag) = (device.stream().unwrap(), device.scalar(1u32).unwrap());
        refused(stream.run(|r: &mut Recorder<'_>| r.repeat(unbounded(), |_| Ok(nonzero(&flag))).map(drop)))
    }),
    ("more ways out of a round than bodies may be deep", || {
        let (device, _, _) = bench();
        let flag = device.scalar(1u32).unwrap();
        refused(device.record(|r: &mut Recorder<'_>| {
            let body = |r: &mut Recorder<'_>| (0..64).try_for_each(|_| r.leave_if(nonzero(&flag)));
            r.repeat_times(baked(3), body).map(drop)
        }))
    }),
    ("a host function inside a loop, by foreign work", || {
        let (device, _, _) = bench();
        let mut y = device.zeros::<u32>(4).unwrap();
        let inside = device.clone();
        // SAFETY: it touches nothing.
        let call = unsafe {
            foreign((), &mut y[..], move |stream, (), _| {
                // SAFETY: a function that takes anything, and does nothing.
                let code = inside.driver().cuLaunchHostFunc(stream.0, Some(nothing), std::ptr::null_mut());
                inside.check(code, Call::cuLaunchHostFunc)
            })
        };
        refused(device.record(|r: &mut Recorder<'_>| r.repeat_times(baked(3), call).map(drop)))
    }),
];

unsafe extern "C" fn nothing(_: *mut c_void) {}
