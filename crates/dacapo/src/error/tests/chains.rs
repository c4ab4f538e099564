//! What an error came from can be found, and is printed once.

use std::error::Error as StdError;

use dacapo_driver::{CUresult, Call, DriverError};

use super::super::{Error, ErrorKind};
use super::mistakes::{bench, refused};
use super::mistakes_below::refusing;
use super::page::all;
use crate::raw::{RawKernel, foreign};
use crate::{Recorder, Slot, baked, fill};

/// The causes of an error, the nearest first.
fn causes(error: &Error) -> Vec<&(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source()).collect()
}

#[test]
fn an_error_is_a_pointer_that_may_go_to_another_thread() {
    fn takes<T: Send + Sync + Clone + 'static>() {}
    takes::<Error>();
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<crate::Result<()>>(), size_of::<usize>());
}

#[test]
fn one_line_is_one_line() {
    for (mistake, error) in all() {
        let text = error.to_string();
        assert!(text.lines().count() == 1 && !text.ends_with(char::is_whitespace), "{mistake}: {text:?}");
    }
}

/// What `main` and `unwrap` print is what a person who asks for all of it gets.
#[test]
fn debug_is_the_whole_report() {
    for (mistake, error) in all() {
        let report = format!("{error:#}");
        assert_eq!(report, format!("{error:?}"), "{mistake}");
        assert!(report.starts_with(&format!("error[{}]: ", error.kind().word())), "{mistake}: {report}");
        let help = error.help().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        assert!(report.ends_with(&help), "{mistake}: {report}");
        for cause in causes(&error) {
            assert_eq!(report.matches(&cause.to_string()).count(), 1, "{mistake}: {report}");
        }
    }
}

/// As anyhow and its like print: each error of the chain by `{}`.
#[test]
fn a_printed_chain_says_nothing_twice() {
    let mut with_causes = 0;
    for (mistake, error) in all() {
        let lines: Vec<String> =
            std::iter::once(error.to_string()).chain(causes(&error).iter().map(ToString::to_string)).collect();
        with_causes += usize::from(lines.len() > 1);
        for (number, line) in lines.iter().enumerate() {
            for (other, earlier) in lines.iter().enumerate() {
                assert!(number == other || !earlier.contains(line.as_str()), "{mistake}: {lines:#?}");
            }
        }
    }
    assert!(with_causes > 8, "{with_causes} of them have a cause: nothing was tested");
}

#[test]
fn the_code_of_a_refused_call_is_the_source() {
    let code = CUresult::CUDA_ERROR_NOT_PERMITTED;
    let device = refusing(Call::cuGraphLaunch, 1, code);
    let (stream, mut y) = (device.stream().unwrap(), device.zeros::<u32>(4).unwrap());
    let error = refused(device.record(fill(&mut y, baked(1))).unwrap().launch(&stream));
    assert_eq!(*error.kind(), ErrorKind::Driver(DriverError { code, call: Call::cuGraphLaunch }));
    assert_eq!(error.source().and_then(|source| source.downcast_ref()), Some(&code));
    assert!(error.to_string().contains("cuGraphLaunch") && error.to_string().contains("800"), "{error}");
    assert!(format!("{error:#}").contains("CUDA_ERROR_NOT_PERMITTED"), "{error:#}");
}

#[test]
fn what_kept_a_graph_from_being_changed_is_below_it_with_its_code() {
    let code = CUresult::CUDA_ERROR_NOT_PERMITTED;
    let call = Call::cuGraphExecMemsetNodeSetParams;
    let device = refusing(call, 1, code);
    let (stream, value, mut y) = (device.stream().unwrap(), Slot::new(1u32), device.zeros::<u32>(4).unwrap());
    let mut graph = device.record(fill(&mut y, &value)).unwrap();
    value.set(2);
    let error = refused(graph.launch(&stream));
    assert_eq!(*error.kind(), ErrorKind::Unpatched { nodes: 1 });
    let [ours, below] = causes(&error)[..] else { panic!("{error:?}") };
    let ours = ours.downcast_ref::<Error>().expect("an error of the library");
    assert_eq!(*ours.kind(), ErrorKind::Driver(DriverError { code, call }));
    assert_eq!(below.downcast_ref(), Some(&code));
}

#[test]
fn memory_that_the_driver_has_not_and_ptx_that_it_refuses_keep_its_answer() {
    let (device, _, _) = bench();
    let none = refused(device.zeros::<u8>(1 << 30));
    let refusal = none.source().and_then(|source| source.downcast_ref::<DriverError>());
    assert_eq!(refusal.map(|refusal| refusal.code), Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    let bad = refused(RawKernel::load(&device, ".version 8.4\n.target sm_80\n.address_size 64\nnonsense\n", "f"));
    let refusal = bad.source().and_then(|source| source.downcast_ref::<DriverError>());
    assert_eq!(refusal.map(|refusal| refusal.code), Some(CUresult::CUDA_ERROR_INVALID_PTX));
    let zero = refused(RawKernel::load(&device, "a \0 b", "f"));
    assert!(zero.source().is_some_and(|source| source.is::<std::ffi::NulError>()), "{zero:?}");
}

/// A type that only the program knows comes back as that type, from a recording's closure and from foreign work.
#[test]
fn an_error_of_the_programs_own_comes_back_as_its_own_type() {
    #[derive(Debug, PartialEq)]
    struct Mine(u32);
    impl std::fmt::Display for Mine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "mine is {}", self.0)
        }
    }
    impl StdError for Mine {}
    let boxed = |number| Error::from(Box::<dyn StdError + Send + Sync>::from(Mine(number)));
    let (device, _, _) = bench();
    let recorded = refused(device.record(|_: &mut Recorder<'_>| Err::<(), _>(boxed(1))));
    assert_eq!(recorded.source().and_then(|source| source.downcast_ref()), Some(&Mine(1)));
    let mut y = device.zeros::<u32>(4).unwrap();
    // SAFETY: it enqueues nothing.
    let work = unsafe { foreign((), &mut y[..], move |_, (), _| Err(boxed(2))) };
    let foreign = refused(device.record(work));
    assert_eq!(foreign.source().and_then(|source| source.downcast_ref()), Some(&Mine(2)));
    assert!(format!("{foreign:#}").contains("\ncaused by: mine is 2"), "{foreign:#}");
    assert_eq!(foreign.clone().source().map(ToString::to_string), Some("mine is 2".into()));
    // One of the library's own stays what it is, box or no box.
    let ours = Error::from(Box::<dyn StdError + Send + Sync>::from(Error::msg("as it was")));
    assert_eq!((ours.kind(), ours.source().is_none()), (&ErrorKind::Msg("as it was".into()), true));
}

/// For texts of one line that must lose nothing: a refusal that a rebuild has mended, the notice that there is no GPU.
#[test]
fn a_chain_in_a_line_has_all_causes_and_no_line_end() {
    let error =
        Error::msg("first\nof two").with_source(Error::msg("then").with_source(std::io::Error::other("last\n")));
    assert_eq!(error.chain(), "first; of two: then: last");
}
