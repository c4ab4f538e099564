//! Errors as a user of cudarc sees them: names, texts, the state that a context keeps, and calls out of place.

use cudarc::driver::{CudaContext, DriverError, result, sys};

use crate::kernels::kernel;
use crate::transcript::{Outcome, Transcript, code, raw, scenarios};

scenarios!("errors",
    right: [names, kept_by_the_context, without_a_context],
    mistaken: [before_init, null_handles, of_a_drop]);

fn names(t: &mut Transcript) -> Outcome {
    let _context = CudaContext::new(0)?;
    for code in [
        sys::CUresult::CUDA_SUCCESS,
        sys::CUresult::CUDA_ERROR_INVALID_VALUE,
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        sys::CUresult::CUDA_ERROR_NOT_READY,
        sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        sys::CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
        sys::CUresult::CUDA_ERROR_UNKNOWN,
    ] {
        let error = DriverError(code);
        t.value("name", error.error_name());
        t.value("there is a text", error.error_string().map(|text| !text.is_empty()));
    }
    let mut text = std::ptr::null();
    let ask = |text: &mut *const std::ffi::c_char, number: i32| -> sys::CUresult {
        type Ask = unsafe extern "C" fn(i32, *mut *const std::ffi::c_char) -> sys::CUresult;
        // SAFETY: the symbol has this signature in C; the number is no code, which is what is asked about.
        unsafe {
            match sys::culib().get::<Ask>(b"cuGetErrorName\0") {
                Ok(function) => function(number, &raw mut *text),
                Err(_) => sys::CUresult::CUDA_ERROR_NOT_FOUND,
            }
        }
    };
    t.note("a number that is no code", ask(&mut text, 12_345));
    t.note("its name is null", text.is_null());
    Ok(())
}

/// cudarc keeps the error of a drop, and the next call of the context answers with it.
fn kept_by_the_context(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    context.record_err(Err::<(), _>(DriverError(sys::CUresult::CUDA_ERROR_INVALID_HANDLE)));
    t.code("the next call", context.bind_to_thread());
    t.code("the one after", context.bind_to_thread());
    t.code("and a stream", context.new_stream());
    Ok(())
}

fn without_a_context(t: &mut Transcript) -> Outcome {
    result::init()?;
    t.note("current", result::ctx::get_current()?.is_some());
    t.code("synchronize", result::ctx::synchronize());
    t.code("allocate", raw!(result::malloc_sync(16)));
    t.code("a stream", result::stream::create(result::stream::StreamKind::Default));
    t.code("an event", result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT));
    t.code("memory", result::mem_get_info());
    t.code("the profiler", cudarc::driver::safe::profiler_start());
    t.code("a module", raw!(result::module::load_data(c".version 7.0".as_ptr().cast())));
    Ok(())
}

fn before_init(t: &mut Transcript) -> Outcome {
    t.code("count", result::device::get_count());
    t.code("device", result::device::get(0));
    t.code("current", result::ctx::get_current());
    t.code("allocate", raw!(result::malloc_sync(16)));
    let mut version = 0;
    t.code("version", raw!(code(sys::cuDriverGetVersion(&raw mut version))));
    t.note("version", version);
    t.code("flags that mean nothing", raw!(code(sys::cuInit(1))));
    t.code("init", result::init());
    t.value("count", result::device::get_count());
    Ok(())
}

fn null_handles(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    t.code("event", raw!(result::event::record(std::ptr::null_mut(), stream.cu_stream())));
    t.code("event destroy", raw!(result::event::destroy(std::ptr::null_mut())));
    t.code("wait", raw!(code(sys::cuStreamWaitEvent(stream.cu_stream(), std::ptr::null_mut(), 0))));
    t.code("stream destroy", raw!(result::stream::destroy(std::ptr::null_mut())));
    t.code("module unload", raw!(result::module::unload(std::ptr::null_mut())));
    t.code("context destroy", raw!(code(sys::cuCtxDestroy_v2(std::ptr::null_mut()))));
    t.code("no context is an answer", raw!(result::ctx::set_current(std::ptr::null_mut())));
    t.code("the old one still works", context.synchronize());
    Ok(())
}

/// A function whose module is unloaded behind cudarc's back: the drop fails, and the context says so later.
fn of_a_drop(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let add = kernel(&context, "add_one")?;
    let mut module = std::ptr::null_mut();
    raw!(code(sys::cuFuncGetModule(&raw mut module, add.cu_function())))?;
    t.code("unload", raw!(result::module::unload(module)));
    drop(add);
    t.code("the context knows", context.check_err());
    t.code("once", context.check_err());
    Ok(())
}
