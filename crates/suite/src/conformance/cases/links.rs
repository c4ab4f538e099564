//! Links: what goes together, what does not, and which call says so.

use super::super::case::Case;
use super::super::verbs_link::Link;
use super::texts::*;
use dacapo_driver::types::*;

super::list! { "link";
    extern_then_definition, definition_then_extern, one_text, nothing, variable, array_without_a_size, strong_and_weak, weak_and_strong, weak_twice, statics_of_one_name, static_variables_of_one_name,
    static_and_visible_variable, strong_and_weak_variable, common_twice, common_and_strong,
    common_of_two_sizes, text_that_does_not_compile, bad_then_good, another_prototype, targets_that_differ, target_too_new,
    version_too_new, printf_is_provided, dynamic_shared_in_two_texts, shared_variable, globals_by_name, image_as_a_library,
    complete_twice, add_after_complete, nulls, kinds_that_refuse, cubin_ends_it, nvvm_ends_it,
    file_that_is_not_there, fat_binaries, fat_binary_of_nothing, without_a_context, module_outlives_the_link, another_architecture,
}

/// Links texts, and runs `k`.
fn linked(c: &mut Case<'_>, texts: &[&str]) {
    let link = c.link(true);
    for (at, text) in texts.iter().enumerate() {
        c.add_text(link, &format!("text {at}"), text);
    }
    finish(c, link);
}

fn finish(c: &mut Case<'_>, link: Link) {
    let image = c.complete(link);
    c.link_log(link);
    if let Some(image) = image {
        let module = c.load_image("the image", image);
        c.stored_by(module, "k");
    }
    c.link_destroy(link);
}

fn extern_then_definition(c: &mut Case<'_>) {
    linked(c, &[&caller(), &function(".visible", "f", 42)]);
}

fn definition_then_extern(c: &mut Case<'_>) {
    linked(c, &[&function(".visible", "f", 42), &caller()]);
}

fn one_text(c: &mut Case<'_>) {
    linked(c, &[&alone(7)]);
}

fn nothing(c: &mut Case<'_>) {
    let link = c.link(true);
    let image = c.complete(link);
    if let Some(image) = image {
        let module = c.load_image("the image", image);
        c.function_count(module);
    }
}

fn variable(c: &mut Case<'_>) {
    linked(c, &[&reader(".extern .global .u32 v;"), &with(".visible .global .u32 v = 9;")]);
}

fn array_without_a_size(c: &mut Case<'_>) {
    linked(c, &[&reader(".extern .global .u32 v[];"), &with(".visible .global .u32 v[4] = {5, 2, 3, 4};")]);
}

fn strong_and_weak(c: &mut Case<'_>) {
    linked(c, &[&caller(), &function(".visible", "f", 1), &function(".weak", "f", 2)]);
}

fn weak_and_strong(c: &mut Case<'_>) {
    linked(c, &[&caller(), &function(".weak", "f", 2), &function(".visible", "f", 1)]);
}

fn weak_twice(c: &mut Case<'_>) {
    linked(c, &[&caller(), &function(".weak", "f", 3), &function(".weak", "f", 4)]);
}

fn statics_of_one_name(c: &mut Case<'_>) {
    let text = |name: &str, value| format!("{}{}", function("", "f", value), kernel(name, CALL));
    linked(c, &[&text("k", 1), &text("k2", 2)]);
}

fn static_variables_of_one_name(c: &mut Case<'_>) {
    let text = |name: &str, value| with(&format!(".global .u32 v = {value};\n{}", kernel(name, READ)));
    linked(c, &[&text("k", 1), &text("k2", 2)]);
}

fn static_and_visible_variable(c: &mut Case<'_>) {
    linked(c, &[&reader(".global .u32 v = 1;"), &with(".visible .global .u32 v = 2;")]);
}

fn strong_and_weak_variable(c: &mut Case<'_>) {
    linked(c, &[&reader(".visible .global .u32 v = 1;"), &with(".weak .global .u32 v = 2;")]);
}

fn common_twice(c: &mut Case<'_>) {
    linked(c, &[&reader(".common .global .u32 v;"), &with(".common .global .u32 v;")]);
}

fn common_and_strong(c: &mut Case<'_>) {
    linked(c, &[&reader(".common .global .u32 v;"), &with(".visible .global .u32 v = 5;")]);
}

fn common_of_two_sizes(c: &mut Case<'_>) {
    linked(c, &[&reader(".common .global .u32 v;"), &with(".common .global .u32 v[2];")]);
}

fn text_that_does_not_compile(c: &mut Case<'_>) {
    linked(c, &[&bad()]);
}

fn bad_then_good(c: &mut Case<'_>) {
    linked(c, &[&bad(), &alone(3)]);
}

fn another_prototype(c: &mut Case<'_>) {
    let other = with(".visible .func (.param .b32 r) f(.param .b32 a) { ret; }\n");
    linked(c, &[&caller(), &other]);
}

fn targets_that_differ(c: &mut Case<'_>) {
    linked(c, &[&alone(1).replace("sm_70", "sm_90"), &function(".visible", "f", 2)]);
}

fn target_too_new(c: &mut Case<'_>) {
    linked(c, &[&alone(1).replace("sm_70", "sm_100").replace(".version 8.0", ".version 8.6")]);
}

fn version_too_new(c: &mut Case<'_>) {
    linked(c, &[&alone(1).replace(".version 8.0", ".version 9.9")]);
}

fn printf_is_provided(c: &mut Case<'_>) {
    let declared = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n";
    linked(c, &[&with(&format!("{declared}{}", kernel("k", "mov.u32 %r1, 1;")))]);
}

fn dynamic_shared_in_two_texts(c: &mut Case<'_>) {
    let text = |name: &str| {
        let body = "mov.u32 %r1, pool; mov.u32 %r1, 3;";
        with(&format!(".extern .shared .align 16 .b8 pool[];\n{}", kernel(name, body)))
    };
    linked(c, &[&text("k"), &text("k2")]);
}

fn shared_variable(c: &mut Case<'_>) {
    let body = "mov.u32 %r2, 5; st.shared.u32 [s], %r2; ld.shared.u32 %r1, [s];";
    let other = with(&format!(".extern .shared .u32 s;\n{}", kernel("k2", "ld.shared.u32 %r1, [s];")));
    linked(c, &[&with(&format!(".visible .shared .u32 s;\n{}", kernel("k", body))), &other]);
}

fn globals_by_name(c: &mut Case<'_>) {
    let link = c.link(false);
    let names = ".visible .global .u32 seen = 1;\n.weak .global .u32 weak = 2;\n.global .u32 v = 3;\n";
    c.add_text(link, "text 0", &with(&format!("{names}{}", kernel("k", READ))));
    c.add_text(link, "text 1", &with(&format!(".visible .global .u32 other = 4;\n{}", kernel("k2", ZERO))));
    let Some(image) = c.complete(link) else { return };
    let module = c.load_image("the image", image);
    c.function_count(module);
    for name in ["seen", "weak", "v", "other", "none"] {
        let at = c.global(module, name);
        if at != 0 {
            c.read(at, 1);
        }
    }
}

fn image_as_a_library(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add_text(link, "text 0", &caller());
    c.add_text(link, "text 1", &function(".visible", "f", 8));
    let Some(image) = c.complete(link) else { return };
    let library = c.library_image("the image", image);
    let kernel = c.library_kernel(library, "k");
    c.stored(CUfunction::from_bits(kernel.bits()), "k");
}

fn complete_twice(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add_text(link, "text", &alone(1));
    c.complete(link);
    c.complete(link);
}

fn add_after_complete(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add_text(link, "text", &alone(1));
    c.complete(link);
    c.add_text(link, "another", &function(".visible", "f", 1));
    c.complete(link);
}

fn nulls(c: &mut Case<'_>) {
    let mut null = c.link(false);
    null.state = CUlinkState::NULL;
    c.add_text(null, "text", &alone(1));
    c.complete(null);
    c.link_destroy(null);
}

fn kinds_that_refuse(c: &mut Case<'_>) {
    let text = alone(1);
    for kind in [CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_LIBRARY, 6, 7, 99] {
        let link = c.link(false);
        c.add(link, kind, "text", format!("{text}\0").as_bytes());
        c.complete(link);
    }
}

fn cubin_ends_it(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add(link, CU_JIT_INPUT_CUBIN, "text", format!("{}\0", alone(1)).as_bytes());
    c.complete(link);
}

fn nvvm_ends_it(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add(link, 5, "text", format!("{}\0", alone(1)).as_bytes());
    c.complete(link);
}

fn file_that_is_not_there(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add_file(link, CU_JIT_INPUT_PTX, "/nowhere/a.ptx");
    c.complete(link);
}

fn fat_binaries(c: &mut Case<'_>) {
    for (what, image) in PACKED {
        let link = c.link(false);
        c.add(link, CU_JIT_INPUT_FATBINARY, what, image);
        finish(c, link);
    }
    let link = c.link(false);
    c.add(link, CU_JIT_INPUT_FATBINARY, "text", format!("{}\0", alone(2)).as_bytes());
    finish(c, link);
}

fn fat_binary_of_nothing(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add(link, CU_JIT_INPUT_FATBINARY, "an empty container", &container(&[]));
    c.add(link, CU_JIT_INPUT_FATBINARY, "PTX for sm_100", &container(&[(100, 0, &alone(1))]));
    c.add(link, CU_JIT_INPUT_FATBINARY, "a bad text", &container(&[(70, 0, &bad())]));
    c.complete(link);
}

fn without_a_context(c: &mut Case<'_>) {
    let context = c.context;
    c.set_current(CUcontext::NULL);
    c.link(false);
    c.set_current(context);
}

fn module_outlives_the_link(c: &mut Case<'_>) {
    let link = c.link(false);
    c.add_text(link, "text", &alone(4));
    let Some(image) = c.complete(link) else { return };
    let module = c.load_image("the image", image);
    c.link_destroy(link);
    c.stored_by(module, "k");
}

fn another_architecture(c: &mut Case<'_>) {
    linked(c, &[&alone(1).replace("sm_70", "sm_60").replace(".version 8.0", ".version 6.0")]);
}
