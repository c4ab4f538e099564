//! Modules, their globals and functions; launches; occupancy where it does not depend on registers.

use super::super::case::Case;
use super::super::verbs::Arg::*;
use dacapo_driver::types::*;

const PTX: &str = include_str!("../kernels.ptx");

super::list! { "module";
    globals_read_and_written, global_used_by_a_kernel, constants, two_loads_have_their_own_globals, not_found, function_count, names_and_parameters,
    function_attributes, static_shared_bytes, dynamic_shared_opt_in, dynamic_shared_too_much, cache_config, loaded_state, module_of_a_function,
    logs_of_good_ptx, logs_of_bad_ptx, jit_options, library_and_kernel, library_kernel_in_a_graph,
    load_refused, loading_mode, global_of_a_library, blocks_per_multiprocessor, blocks_with_shared, shared_left, potential_block, carveout,
    max_threads_attribute, function_taken_twice,
}

fn globals_read_and_written(c: &mut Case<'_>) {
    let module = c.load("kernels.ptx", PTX);
    let (counter, table) = (c.global(module, "counter"), c.global(module, "table"));
    c.read(counter, 1);
    c.read(table, 16);
    c.write(counter, &[20]);
    c.read(counter, 1);
    c.attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, counter);
    c.attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, counter);
    c.attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, counter);
}

fn global_used_by_a_kernel(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let module = c.load("kernels.ptx", PTX);
    let counter = c.global(module, "counter");
    let mut kernel = c.kernel("globals", &[P(m), N(5)]);
    kernel.function = c.get_function(module, "globals");
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
    c.read(counter, 1);
    c.write(counter, &[100]);
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
}

fn constants(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let module = c.load("kernels.ptx", PTX);
    let scale = c.global(module, "scale");
    let mut kernel = c.kernel("globals", &[P(m), N(1)]);
    kernel.function = c.get_function(module, "globals");
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
    c.write(scale, &[10]);
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
    c.read(scale, 1);
}

fn two_loads_have_their_own_globals(c: &mut Case<'_>) {
    let (one, two) = (c.load("kernels.ptx", PTX), c.load("kernels.ptx", PTX));
    let (a, b) = (c.global(one, "counter"), c.global(two, "counter"));
    c.same("two globals", a, b);
    c.write(a, &[1]);
    c.read(b, 1);
}

fn not_found(c: &mut Case<'_>) {
    let module = c.load("kernels.ptx", PTX);
    c.get_function(module, "no_such");
    c.get_function(module, "counter");
    c.get_function(module, "");
    c.global(module, "no_such");
    c.global(module, "add");
}

fn function_count(c: &mut Case<'_>) {
    let module = c.load("kernels.ptx", PTX);
    c.function_count(module);
    let empty = c.load("an empty module", ".version 7.8\n.target sm_80\n.address_size 64\n");
    if !empty.is_null() {
        c.function_count(empty);
    }
}

fn names_and_parameters(c: &mut Case<'_>) {
    for name in ["add", "sizes", "nothing"] {
        let function = c.function(name);
        c.func_name(function);
        c.func_params(function);
    }
}

fn function_attributes(c: &mut Case<'_>) {
    for name in ["nothing", "most128", "just64", "shared_sum"] {
        let function = c.function(name);
        for attribute in [1, 2, 3, 5, 6, 7, 8] {
            c.func_attribute(function, attribute);
        }
    }
    let function = c.function("nothing");
    c.func_attribute(function, 99);
}

fn static_shared_bytes(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let function = c.function("static_shared");
    c.func_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    c.func_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    let kernel = c.kernel("static_shared", &[P(m)]).with_shared(48 * 1024 - 1024);
    c.launch(&kernel, s);
    let kernel = kernel.with_shared(48 * 1024 - 1023);
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
}

fn dynamic_shared_opt_in(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let kernel = c.kernel("shared_sum", &[P(m)]).shaped(1, 32).with_shared(100_000);
    c.launch(&kernel, s);
    c.set_func_attribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100_000);
    c.func_attribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    c.launch(&kernel, s);
    c.sync(s);
    c.read(m, 1);
    c.set_func_attribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 10);
    let kernel = kernel.with_shared(128);
    c.launch(&kernel, s);
    c.sync(s);
}

fn dynamic_shared_too_much(c: &mut Case<'_>) {
    let function = c.function("shared_sum");
    for bytes in [232_448, 232_449, -1, 0, 49_152] {
        c.set_func_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
        c.func_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    }
    c.set_func_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 4);
    c.set_func_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 64);
    c.set_func_attribute(function, 99, 1);
}

fn cache_config(c: &mut Case<'_>) {
    let function = c.function("nothing");
    for config in [0, 1, 2, 3, 4] {
        c.func_cache(function, config);
    }
}

fn loaded_state(c: &mut Case<'_>) {
    let module = c.load("kernels.ptx", PTX);
    let function = c.get_function(module, "count");
    c.func_load(function);
    c.is_loaded(function);
    c.func_load(function);
    c.is_loaded(function);
}

fn module_of_a_function(c: &mut Case<'_>) {
    let module = c.load("kernels.ptx", PTX);
    let function = c.get_function(module, "count");
    c.func_module(function);
}

fn logs_of_good_ptx(c: &mut Case<'_>) {
    c.load_with("kernels.ptx", PTX, &[]);
}

fn logs_of_bad_ptx(c: &mut Case<'_>) {
    let head = ".version 7.8\n.target sm_80\n.address_size 64\n";
    let broken = [
        ("an unknown instruction", format!("{head}.visible .entry k() {{ frobnicate; }}\n")),
        ("an undeclared register", format!("{head}.visible .entry k() {{ mov.u32 %r1, 0; ret; }}\n")),
        ("a missing brace", format!("{head}.visible .entry k() {{ ret;\n")),
        (
            "a type that does not fit",
            format!("{head}.visible .entry k() {{ .reg .f32 %f<2>; add.u32 %f1, %f1, %f1; ret; }}\n"),
        ),
        ("an unknown label", format!("{head}.visible .entry k() {{ bra NOWHERE; }}\n")),
        ("an unresolved function", format!("{head}.extern .func f();\n.visible .entry k() {{ call f; ret; }}\n")),
        ("no text", String::new()),
        ("words", "this is not PTX\n".into()),
    ];
    for (what, ptx) in &broken {
        c.load_with(what, ptx, &[]);
    }
}

fn jit_options(c: &mut Case<'_>) {
    for options in [
        [(CU_JIT_MAX_REGISTERS, 32)],
        [(CU_JIT_OPTIMIZATION_LEVEL, 0)],
        [(CU_JIT_OPTIMIZATION_LEVEL, 4)],
        [(CU_JIT_OPTIMIZATION_LEVEL, 9)],
        [(CU_JIT_GENERATE_LINE_INFO, 1)],
        [(CU_JIT_TARGET_FROM_CUCONTEXT, 0)],
        [(CU_JIT_LOG_VERBOSE, 0)],
    ] {
        c.load_with("kernels.ptx", PTX, &options);
    }
}

fn library_and_kernel(c: &mut Case<'_>) {
    let (s, m) = (c.stream(1), c.words(&[0]));
    let library = c.library("kernels.ptx", PTX);
    let kernel = c.library_kernel(library, "add");
    c.library_kernel(library, "no_such");
    c.kernel_name(kernel);
    let function = c.kernel_function(kernel);
    let mut add = c.kernel("add", &[P(m), N(3)]);
    add.function = function;
    c.launch(&add, s);
    // A kernel of a library stands where a function is asked for.
    add.function = CUfunction(kernel.0);
    c.launch(&add, s);
    c.sync(s);
    c.read(m, 1);
    c.library_module(library);
}

fn library_kernel_in_a_graph(c: &mut Case<'_>) {
    let (s, g, m) = (c.stream(1), c.graph(), c.words(&[0]));
    let library = c.library("kernels.ptx", PTX);
    let kernel = c.library_kernel(library, "add");
    let mut add = c.kernel("add", &[P(m), N(3)]);
    add.function = c.kernel_function(kernel);
    c.add_kernel(g, &[], &add);
    let x = c.instantiate(g, 0);
    c.run_once(x, s);
    c.read(m, 1);
}

fn load_refused(c: &mut Case<'_>) {
    c.load("a target of the future", ".version 7.8\n.target sm_999\n.address_size 64\n.visible .entry k() { ret; }\n");
    c.load("a version of the future", ".version 99.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
    c.load("32 bit addresses", ".version 7.8\n.target sm_80\n.address_size 32\n.visible .entry k() { ret; }\n");
    c.load(
        "two kernels of a name",
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n.visible .entry k() { ret; }\n",
    );
    c.load("no version", ".target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
    c.load("an old target", ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n");
}

fn loading_mode(c: &mut Case<'_>) {
    c.loading_mode();
}

fn global_of_a_library(c: &mut Case<'_>) {
    let library = c.library("kernels.ptx", PTX);
    let module = c.library_module(library);
    let counter = c.global(module, "counter");
    c.read(counter, 1);
}

fn blocks_per_multiprocessor(c: &mut Case<'_>) {
    let function = c.function("nothing");
    for block in [1, 32, 33, 64, 65, 128, 256, 512, 768, 1024, 1025, 0] {
        c.blocks_per_sm(function, block, 0);
    }
}

fn blocks_with_shared(c: &mut Case<'_>) {
    let function = c.function("shared_sum");
    for bytes in [0, 1000, 10_000, 24_576, 49_152, 49_153] {
        c.blocks_per_sm(function, 64, bytes);
    }
    c.set_func_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232_448);
    for bytes in [100_000, 116_000, 200_000, 232_448, 232_449] {
        c.blocks_per_sm(function, 64, bytes);
    }
    c.blocks_per_sm_with(function, 64, 1000, 0);
    c.blocks_per_sm_with(function, 64, 1000, 1);
    c.blocks_per_sm_with(function, 64, 1000, 2);
}

fn shared_left(c: &mut Case<'_>) {
    let function = c.function("nothing");
    for (blocks, block) in [(1, 32), (2, 64), (4, 128), (32, 64), (16, 128), (33, 32), (3, 1024), (0, 32)] {
        c.shared_left(function, blocks, block);
    }
}

fn potential_block(c: &mut Case<'_>) {
    let function = c.function("nothing");
    for (shared, limit) in [(0, 0), (0, 128), (0, 1000), (40_000, 0), (49_152, 0)] {
        c.potential_block(function, shared, limit);
    }
    let function = c.function("most128");
    c.potential_block(function, 0, 0);
}

fn carveout(c: &mut Case<'_>) {
    let function = c.function("nothing");
    c.func_attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    for value in [50, 100, 0, -1, 101, -2] {
        c.set_func_attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value);
        c.func_attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    }
}

fn max_threads_attribute(c: &mut Case<'_>) {
    for name in ["nothing", "most128", "just64"] {
        let function = c.function(name);
        c.func_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        c.blocks_per_sm(function, 64, 0);
        c.blocks_per_sm(function, 256, 0);
    }
}

fn function_taken_twice(c: &mut Case<'_>) {
    let module = c.load("kernels.ptx", PTX);
    let (one, two) = (c.get_function(module, "add"), c.get_function(module, "add"));
    c.say(format!("one handle: {}", one == two));
}
