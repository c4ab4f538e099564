//! Modules: PTX from text and from a file, globals, and what cannot be loaded.

use cudarc::driver::{CudaContext, DriverError, sys};
use cudarc::nvrtc::Ptx;

use crate::kernels::{PTX, kernel, module, one_block};
use crate::transcript::{Outcome, Transcript, code, launch, raw, scenarios};

scenarios!("modules",
    right: [from_text, from_a_file, globals, two_of_one_text, outlived_by_its_functions, counted, names_and_parameters,
        in_another_context, with_a_log, loading_mode],
    mistaken: [no_such_function, no_such_global, not_ptx, empty_text, newer_version, newer_target, unknown_instruction,
        no_such_file, undefined_symbol]);

const TINY: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry tiny() { ret; }\n";

fn from_text(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let module = t.code("load", context.load_module(Ptx::from_src(TINY)));
    if let Some(function) = module.and_then(|module| t.code("function", module.load_function("tiny"))) {
        let stream = context.default_stream();
        t.code("launch", launch!(stream, &function, one_block(1)));
        t.code("synchronize", context.synchronize());
    }
    Ok(())
}

fn from_a_file(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let path = std::env::temp_dir().join(format!("dacapo-client-{}.ptx", std::process::id()));
    if std::fs::write(&path, PTX).is_err() {
        t.note("the file", "could not be written");
        return Ok(());
    }
    let module = t.code("load", context.load_module(Ptx::from_file(&path)));
    let _ = std::fs::remove_file(&path);
    if let Some(module) = module {
        t.code("function", module.load_function("place"));
    }
    Ok(())
}

fn globals(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let module = module(&context)?;
    let count = module.load_function("count")?;
    let words = |name: &str| -> Result<Vec<u8>, DriverError> { stream.clone_dtoh(&module.get_global(name, &stream)?) };
    t.value("counter", words("counter"));
    t.value("table", words("table"));
    t.value("factors", words("factors"));
    launch!(stream, &count, one_block(5))?;
    t.value("counter after five", words("counter"));
    stream.memcpy_htod(&[1_u8, 1, 0, 0], &mut module.get_global("counter", &stream)?)?;
    launch!(stream, &count, one_block(1))?;
    t.value("counter set and counted", words("counter"));
    let mut factors = module.get_global("factors", &stream)?;
    t.note("bytes of constant memory", factors.len());
    stream.memset_zeros(&mut factors.slice_mut(4..8))?;
    let scale = module.load_function("scale")?;
    let mut data = stream.clone_htod(&[1.5_f32; 5])?;
    launch!(stream, &scale, one_block(5), &mut data)?;
    t.value("scaled", stream.clone_dtoh(&data));
    Ok(())
}

fn two_of_one_text(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let (one, two) = (module(&context)?, module(&context)?);
    let count = one.load_function("count")?;
    launch!(stream, &count, one_block(3))?;
    t.value("the first counted", stream.clone_dtoh(&one.get_global("counter", &stream)?));
    t.value("the second did not", stream.clone_dtoh(&two.get_global("counter", &stream)?));
    Ok(())
}

fn outlived_by_its_functions(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    // `kernel` drops the module; the function keeps it.
    let add = kernel(&context, "add_one")?;
    let again = add.clone();
    drop(add);
    let mut data = stream.alloc_zeros::<u32>(4)?;
    t.code("launch", launch!(stream, &again, one_block(4), &mut data, &3_u32));
    t.value("data", stream.clone_dtoh(&data));
    drop(again);
    t.code("left over", context.check_err());
    Ok(())
}

fn raw_module(text: &str) -> Result<sys::CUmodule, DriverError> {
    let Ok(text) = std::ffi::CString::new(text) else {
        return Err(DriverError(sys::CUresult::CUDA_ERROR_INVALID_VALUE));
    };
    raw!(cudarc::driver::result::module::load_data(text.as_ptr().cast()))
}

fn counted(t: &mut Transcript) -> Outcome {
    let _context = CudaContext::new(0)?;
    let module = raw_module(PTX)?;
    let mut count = 0;
    t.code("count", raw!(code(sys::cuModuleGetFunctionCount(&raw mut count, module))));
    t.note("functions", count);
    t.code("unload", raw!(cudarc::driver::result::module::unload(module)));
    Ok(())
}

fn names_and_parameters(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    for name in ["widths", "shape", "count"] {
        let function = kernel(&context, name)?;
        let mut text = std::ptr::null();
        raw!(code(sys::cuFuncGetName(&raw mut text, function.cu_function())))?;
        // SAFETY: the driver's own text, which lives as long as the function.
        t.note("name", unsafe { std::ffi::CStr::from_ptr(text) });
        for index in 0..8 {
            let (mut offset, mut size) = (0, 0);
            let asked =
                raw!(code(sys::cuFuncGetParamInfo(function.cu_function(), index, &raw mut offset, &raw mut size)));
            t.value(&format!("{name} {index}"), asked.map(|()| (offset, size)));
        }
    }
    Ok(())
}

fn in_another_context(t: &mut Transcript) -> Outcome {
    let (primary, other) = (CudaContext::new(0)?, CudaContext::new_non_primary(0, 0)?);
    let (here, there) = (kernel(&primary, "add_one")?, kernel(&other, "add_one")?);
    for (context, add) in [(&primary, &here), (&other, &there)] {
        let stream = context.new_stream()?;
        let mut data = stream.alloc_zeros::<u32>(2)?;
        t.code("launch", launch!(stream, add, one_block(2), &mut data, &2_u32));
        t.value("data", stream.clone_dtoh(&data));
    }
    Ok(())
}

/// Loads a text with room for both logs: the code, and whether the log of errors says anything.
fn with_logs(text: &str) -> (sys::CUresult, bool) {
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        sys::CUjit_option::CU_JIT_INFO_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    ];
    let (mut errors, mut infos) = ([0_u8; 2048], [0_u8; 2048]);
    let size = std::ptr::without_provenance_mut(2048);
    let mut values = [errors.as_mut_ptr().cast(), size, infos.as_mut_ptr().cast(), size];
    let text = std::ffi::CString::new(text).unwrap_or_default();
    let mut module = std::ptr::null_mut();
    let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
    let code = raw!(sys::cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), 4, options, values));
    (code, errors[0] != 0)
}

fn with_a_log(t: &mut Transcript) -> Outcome {
    let _context = CudaContext::new(0)?;
    t.note("good text: code, log", with_logs(TINY));
    Ok(())
}

fn loading_mode(t: &mut Transcript) -> Outcome {
    let _context = CudaContext::new(0)?;
    let mut mode = sys::CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING;
    t.code("ask", raw!(code(sys::cuModuleGetLoadingMode(&raw mut mode))));
    t.note("mode", mode);
    Ok(())
}

fn no_such_function(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let module = module(&context)?;
    t.code("missing", module.load_function("missing"));
    t.code("no name", module.load_function(""));
    t.code("a global", module.load_function("counter"));
    t.code("another case", module.load_function("Add_one"));
    t.code("one that is there", module.load_function("add_one"));
    Ok(())
}

fn no_such_global(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let module = module(&context)?;
    t.code("missing", module.get_global("missing", &stream));
    t.code("a function", module.get_global("add_one", &stream));
    t.code("a name that no C text holds", module.get_global("a\0b", &stream));
    Ok(())
}

fn not_ptx(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.code("words", context.load_module(Ptx::from_src("this is not PTX")));
    t.code("a broken line", context.load_module(Ptx::from_src(TINY.replace("ret;", "ret"))));
    let (code, says) = with_logs(&TINY.replace("ret;", "ret"));
    t.note("with a log: code, log", (code, says));
    t.code("the context lives", context.load_module(Ptx::from_src(TINY)));
    Ok(())
}

fn empty_text(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.code("nothing", context.load_module(Ptx::from_src("")));
    t.code("a head without functions", context.load_module(Ptx::from_src(TINY.split(".visible").next().unwrap_or(""))));
    Ok(())
}

fn newer_version(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.code("99.0", context.load_module(Ptx::from_src(TINY.replace("7.0", "99.0"))));
    t.code("no version", context.load_module(Ptx::from_src(TINY.replace(".version 7.0\n", ""))));
    Ok(())
}

fn newer_target(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let newer = TINY.replace("7.0", "8.7").replace("sm_70", "sm_100");
    t.code("sm_100", context.load_module(Ptx::from_src(newer)));
    t.code("no target", context.load_module(Ptx::from_src(TINY.replace(".target sm_70\n", ""))));
    Ok(())
}

fn unknown_instruction(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.code("frobnicate", context.load_module(Ptx::from_src(TINY.replace("ret;", "frobnicate.u32; ret;"))));
    t.code(
        "a register that is not there",
        context.load_module(Ptx::from_src(TINY.replace("ret;", "mov.u32 %r1, 1; ret;"))),
    );
    Ok(())
}

fn no_such_file(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    t.code("load", context.load_module(Ptx::from_file("/nowhere/at/all.ptx")));
    t.code("a folder", context.load_module(Ptx::from_file("/")));
    Ok(())
}

fn undefined_symbol(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let text = TINY.replace(".visible", ".extern .func elsewhere();\n.visible").replace("ret;", "call elsewhere; ret;");
    t.code("a function from elsewhere", context.load_module(Ptx::from_src(text)));
    Ok(())
}
