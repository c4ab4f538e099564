//! Small kernels, and what is told of them.

use super::{AccessKind, Base, Effects, effects};
use crate::ir::Module;

fn module(text: &str) -> Module {
    let head = ".version 8.4\n.target sm_80\n.address_size 64\n";
    crate::parse(&format!("{head}{text}")).unwrap_or_else(|errors| panic!("{errors}"))
}

fn of(module: &Module) -> Effects {
    effects(module, module.function("k").expect("the kernel is called k"))
}

/// `write 4 x` for each access and route; `+` between bases, `~` before what is mixed in; then `escapes x` and
/// `number n`.
fn told(text: &str) -> Vec<String> {
    let module = module(text);
    let found = of(&module);
    let params = &module.functions[module.function("k").unwrap().0 as usize].params;
    let name = |base: &Base| match *base {
        Base::Param { index, offset: Some(0) } => params[index as usize].name.clone(),
        Base::Param { index, offset: Some(offset) } => format!("{}.{offset}", params[index as usize].name),
        Base::Param { index, offset: None } => format!("{}.?", params[index as usize].name),
        Base::Global(index) => module.variables[index as usize].name.clone(),
        Base::Own => "own".into(),
        Base::Memory { through: Some(index) } => format!("memory of {}", params[index as usize].name),
        Base::Memory { through: None } => "memory".into(),
        Base::Unknown => "unknown".into(),
    };
    let mut lines: Vec<String> = found.opaque.iter().map(|opaque| format!("opaque: {}", opaque.why)).collect();
    for access in &found.accesses {
        let kind = match access.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic",
        };
        let route = |route: &super::Route| {
            let mut words: Vec<String> = route.bases.iter().map(name).collect();
            words.extend(route.mixed.iter().map(|base| format!("~{}", name(base))));
            words.join("+")
        };
        let routes: Vec<String> = access.routes.iter().map(route).collect();
        lines.push(format!("{kind} {} {}", access.bytes(), routes.join(" | ")));
    }
    for (facts, param) in found.params.iter().zip(params) {
        if facts.escapes.is_some() {
            lines.push(format!("escapes {}", param.name));
        }
        if facts.number.is_some() {
            lines.push(format!("number {}", param.name));
        }
        if facts.float {
            lines.push(format!("float {}", param.name));
        }
    }
    lines
}

const REGS: &str = ".reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .pred %p<5>;";

/// A kernel of these parameters and this body.
fn kernel(params: &str, body: &str) -> String {
    let params: Vec<String> = params.split_whitespace().map(param).collect();
    format!(".visible .entry k({}) {{ {REGS} {body} ret; }}", params.join(", "))
}

/// `x` is 64 bits, `n:u32` is what it says, `s:16` a struct.
fn param(text: &str) -> String {
    match text.split_once(':') {
        None => format!(".param .u64 {text}"),
        Some((name, bytes)) if bytes.parse::<u32>().is_ok() => format!(".param .align 8 .b8 {name}[{bytes}]"),
        Some((name, ty)) => format!(".param .{ty} {name}"),
    }
}

fn check(params: &str, body: &str, expected: &[&str]) {
    assert_eq!(told(&kernel(params, body)), expected, "{body}");
}

#[test]
fn loads_stores_and_atomics_go_through_the_parameter_their_address_counts_from() {
    let body = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
        cvta.to.global.u64 %rd3, %rd1; mul.wide.s32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4;
        ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5+16]; st.global.f32 [%rd2], %f1;
        atom.global.add.u32 %r2, [%rd2], 1; red.global.add.f32 [%rd2+8], %f1;";
    check("x y n:u32", body, &["read 16 x+~n", "write 4 y", "atomic 4 y", "atomic 4 y", "number n"]);
}

#[test]
fn a_choice_of_two_pointers_is_two_routes() {
    let load = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; setp.eq.s32 %p1, %r1, 0;";
    check("x y", &format!("{load} selp.b64 %rd3, %rd1, %rd2, %p1; ld.u32 %r2, [%rd3];"), &["read 4 x | y"]);
    let joined = "mov.b64 %rd3, %rd1; @%p1 bra L; mov.b64 %rd3, %rd2; L: st.global.u32 [%rd3], 0;";
    check("x y", &format!("{load} {joined}"), &["write 4 x | y"]);
    // A move under a guard may leave what was there.
    let guarded = "mov.b64 %rd3, %rd1; @%p1 mov.b64 %rd3, %rd2; st.global.u32 [%rd3], 0;";
    check("x y", &format!("{load} {guarded}"), &["write 4 x | y"]);
}

#[test]
fn a_choice_between_a_pointer_and_the_kernels_own_memory_tells_both() {
    let body = ".shared .u32 s[4]; ld.param.u64 %rd1, [x]; mov.b64 %rd2, s; cvta.shared.u64 %rd3, %rd2;
        setp.eq.s32 %p1, %r1, 0; selp.b64 %rd4, %rd1, %rd3, %p1; st.u32 [%rd4], 0;";
    check("x", body, &["write 4 x | own"]);
}

#[test]
fn the_distance_of_two_fields_that_are_not_known_is_not_nothing() {
    let body = "mov.b64 %rd1, s; ld.param.u64 %rd2, [n]; shl.b64 %rd2, %rd2, 3; add.s64 %rd3, %rd1, %rd2;
        ld.param.u64 %rd4, [%rd3]; ld.param.u64 %rd5, [%rd3+8]; sub.s64 %rd6, %rd4, %rd5; ld.param.u64 %rd7, [x];
        add.s64 %rd8, %rd7, %rd6; st.u32 [%rd8], 0;";
    check("s:32 n x", body, &["write 4 x+~s.?", "number n"]);
}

#[test]
fn who_has_the_address_of_a_parameter_has_the_parameter() {
    let body = ".shared .b64 s; mov.b64 %rd1, x; cvta.param.u64 %rd2, %rd1; st.shared.u64 [s], %rd2;";
    check("x", body, &["escapes x"]);
}

#[test]
fn a_register_that_is_used_again_holds_only_what_was_put_there_last() {
    let body = "ld.param.u64 %rd1, [x]; ld.u32 %r1, [%rd1]; ld.param.u64 %rd1, [y]; st.u32 [%rd1], %r1;";
    check("x y", body, &["read 4 x", "write 4 y"]);
}

#[test]
fn a_pointer_that_walks_stays_itself_and_a_difference_leads_to_the_other() {
    let walk = "ld.param.u64 %rd1, [x]; L: ld.u32 %r1, [%rd1]; add.s64 %rd1, %rd1, 4; setp.ne.s32 %p1, %r1, 0;
        @%p1 bra L;";
    check("x", walk, &["read 4 x"]);
    let difference = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; sub.s64 %rd3, %rd2, %rd1;
        L: add.s64 %rd1, %rd1, 4; add.s64 %rd4, %rd1, %rd3; st.u32 [%rd4], 0; setp.ne.s32 %p1, %r1, 0; @%p1 bra L;";
    check("x y", difference, &["write 4 y"]);
}

#[test]
fn a_64_bit_offset_is_told_beside_the_pointer() {
    let plain = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [o]; add.s64 %rd3, %rd1, %rd2; ld.u8 %r1, [%rd3];";
    check("x o", plain, &["read 1 x+o"]);
    let scaled = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [o]; shl.b64 %rd2, %rd2, 2; add.s64 %rd3, %rd1, %rd2;
        ld.u32 %r1, [%rd3];";
    check("x o", scaled, &["read 4 x+~o", "number o"]);
}

#[test]
fn bits_of_a_pointer_that_cannot_hold_it_are_numbers_and_rounding_it_keeps_it() {
    let tested = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; and.b64 %rd3, %rd2, 15; add.s64 %rd4, %rd1, %rd3;
        ld.u8 %r1, [%rd4];";
    check("x y", tested, &["read 1 x"]);
    let rounded = "ld.param.u64 %rd1, [x]; and.b64 %rd2, %rd1, -16; ld.u32 %r1, [%rd2]; or.b64 %rd3, %rd2, 4;
        st.u32 [%rd3], 0;";
    check("x", rounded, &["read 4 x", "write 4 x"]);
}

#[test]
fn a_pointer_in_two_halves_is_mixed_in() {
    let body = "ld.param.u64 %rd1, [x]; mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd2, {%r1, %r2}; st.u32 [%rd2], 0;";
    check("x", body, &["write 4 ~x"]);
    let loaded = "ld.param.u32 %r1, [x]; ld.param.u32 %r2, [x+4]; mov.b64 %rd2, {%r1, %r2}; st.u32 [%rd2], 0;";
    check("x", loaded, &["write 4 ~x"]);
}

#[test]
fn a_pointer_that_is_stored_escapes_and_one_that_is_loaded_came_out_of_memory() {
    check("x y", "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; st.u64 [%rd2], %rd1;", &["write 8 y", "escapes x"]);
    let table = "ld.param.u64 %rd1, [x]; ld.u64 %rd2, [%rd1]; ld.u32 %r1, [%rd2+4]; st.u32 [%rd2], %r1;";
    check("x", table, &["read 8 x", "read 4 memory of x", "write 4 memory of x"]);
    let index = "ld.param.u64 %rd1, [x]; ld.u32 %r1, [%rd1]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
        ld.u32 %r2, [%rd3];";
    check("x", index, &["read 4 x", "read 4 x+~memory of x"]);
}

#[test]
fn local_variables_give_back_what_was_put_into_them() {
    let head = ".local .align 8 .b8 l[16]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.b64 %rd3, l;
        cvta.local.u64 %rd4, %rd3; st.local.u64 [%rd3], %rd1; st.u64 [%rd4+8], %rd2;";
    check("x y", &format!("{head} ld.local.u64 %rd5, [%rd3+8]; st.u32 [%rd5], 0;"), &["write 4 y"]);
    // At an index that is not known, either.
    let index = "ld.param.u64 %rd6, [n]; shl.b64 %rd6, %rd6, 3; add.s64 %rd7, %rd4, %rd6; ld.u64 %rd8, [%rd7];";
    check("x y n", &format!("{head} {index} ld.u32 %r1, [%rd8];"), &["read 8 own+~n", "read 4 x | y", "number n"]);
    // In halves.
    let half = "ld.local.u32 %r1, [%rd3+8]; ld.local.u32 %r2, [%rd3+12]; mov.b64 %rd8, {%r1, %r2}; ld.u32 %r1, [%rd8];";
    check("x y", &format!("{head} {half}"), &["read 4 ~y"]);
    // Once its address is known elsewhere, so is what is in it, and what comes next.
    let shared = ".shared .b64 s; st.shared.u64 [s], %rd4; st.local.u64 [%rd3], %rd2;";
    check("x y", &format!("{head} {shared}"), &["escapes x", "escapes y"]);
    // With two numbers added, neither of which is the array.
    let both = "ld.param.u64 %rd6, [n]; add.s64 %rd7, %rd4, %rd6; ld.u64 %rd8, [%rd7]; ld.u32 %r1, [%rd8];";
    let found = told(&kernel("x y n", &format!("{head} {both}")));
    assert!(found.contains(&"read 4 x | y".to_string()), "{found:?}");
}

#[test]
fn a_function_is_followed_with_what_it_is_called_with() {
    let function = format!(
        ".func (.param .b64 r) pick(.param .b64 a, .param .b64 b) {{ {REGS}
            ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; st.u32 [%rd1], 0; st.param.b64 [r], %rd2; ret; }}\n"
    );
    let call = |first: &str, second: &str| {
        format!(
            "{{ .param .b64 a1; .param .b64 b1; .param .b64 r1; st.param.b64 [a1], {first}; st.param.b64 [b1], {second};
            call.uni (r1), pick, (a1, b1); ld.param.b64 %rd9, [r1]; }} ld.u32 %r1, [%rd9];"
        )
    };
    let body = format!("ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; {}", call("%rd1", "%rd2"));
    assert_eq!(told(&(function.clone() + &kernel("x y", &body))), ["write 4 x", "read 4 y"]);
    let twice = format!("{body} {}", call("%rd2", "%rd2"));
    assert_eq!(told(&(function + &kernel("x y", &twice))), ["write 4 x", "write 4 y", "read 4 y", "read 4 y"]);
}

#[test]
fn what_is_passed_to_a_call_that_is_not_followed_escapes() {
    let body = "ld.param.u64 %rd1, [x]; { .param .b64 a1; st.param.b64 [a1], %rd1; call.uni f, (a1); }";
    let recursive = format!(
        ".func f(.param .b64 a) {{ {REGS} ld.param.u64 %rd1, [a]; ld.u32 %r1, [%rd1];
            {{ .param .b64 a1; st.param.b64 [a1], %rd1; call.uni f, (a1); }} ret; }}\n"
    );
    assert_eq!(told(&(recursive + &kernel("x", body))), ["read 4 x", "escapes x"]);
    let unknown = ".extern .func f(.param .b64 a);\n";
    assert_eq!(told(&(unknown.to_string() + &kernel("x", body))), ["escapes x"]);
    let printed = body.replace("call.uni f, (a1)", "call.uni (r1), vprintf, (a1, b1)").replace(
        ".param .b64 a1;",
        ".param .b64 a1; .param .b64 b1; .param .b32 r1; .local .align 8 .b8 l[8]; cvta.local.u64 %rd3, %rd2;
         mov.b64 %rd2, l; st.local.u64 [%rd2], %rd1; st.param.b64 [b1], %rd3;",
    );
    let vprintf = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n";
    assert_eq!(told(&(vprintf.to_string() + &kernel("x", &printed))), [] as [&str; 0]);
    let indirect = format!(
        ".func f(.param .b64 a) {{ {REGS} ld.param.u64 %rd1, [a]; st.u32 [%rd1], 1; ret; }}\n{}",
        kernel(
            "x",
            "ld.param.u64 %rd1, [x]; mov.b64 %rd2, f; { .param .b64 a1; st.param.b64 [a1], %rd1;
             P: .callprototype _ (.param .b64 _); call %rd2, (a1), P; }"
        )
    );
    assert_eq!(told(&indirect), ["escapes x"]);
}

#[test]
fn a_pointer_inside_a_struct_is_told_with_its_place() {
    check("s:16", "ld.param.u64 %rd1, [s+8]; st.u32 [%rd1], 0;", &["write 4 s.8"]);
    check("s:16", "mov.b64 %rd2, s; ld.param.u64 %rd1, [%rd2+8]; st.u32 [%rd1], 0;", &["write 4 s.8"]);
    let index = "mov.b64 %rd2, s; ld.param.u64 %rd3, [n]; add.s64 %rd4, %rd2, %rd3; ld.param.u64 %rd1, [%rd4];
        st.u32 [%rd1], 0;";
    check("s:16 n", index, &["write 4 s.?"]);
}

#[test]
fn globals_are_told_and_the_kernels_own_memory_is_not() {
    let globals = ".global .u32 counter; .const .u32 table[4];\n";
    let body =
        ".shared .u32 s[4]; mov.b64 %rd1, counter; atom.global.add.u32 %r1, [counter], 1; st.global.u32 [%rd1], 0;
        cvta.shared.u64 %rd2, %rd3; mov.b64 %rd3, s; st.shared.u32 [s], 0; st.u32 [%rd2], 0;
        cvta.const.u64 %rd4, %rd5; mov.b64 %rd5, table; ld.u32 %r2, [%rd4];";
    assert_eq!(
        told(&(globals.to_string() + &kernel("x", body))),
        ["atomic 4 counter", "write 4 counter", "read 4 table"]
    );
}

#[test]
fn what_is_done_with_a_number_is_told() {
    let bound = "ld.param.u64 %rd1, [n]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; setp.ge.u64 %p1, %rd2, %rd1;";
    check("n", bound, &["number n"]);
    // A pointer is held against zero, or against another.
    let null = "ld.param.u64 %rd1, [n]; setp.eq.s64 %p1, %rd1, 0; ld.param.u64 %rd2, [m]; setp.lt.u64 %p2, %rd1, %rd2;";
    check("n m", null, &[]);
    check("a:u32", "ld.param.u32 %r1, [a]; mov.b32 %f1, %r1; add.f32 %f2, %f1, %f1;", &["number a", "float a"]);
    check("a:f32", "ld.param.f32 %f1, [a];", &["float a"]);
}

#[test]
fn code_that_is_never_reached_does_nothing_and_an_undefined_register_is_a_number() {
    check("x", "ld.param.u64 %rd1, [x]; ret; st.u32 [%rd1], 0;", &[]);
    check("x", "ld.param.u64 %rd1, [x]; add.s64 %rd2, %rd1, %rd3; st.u32 [%rd2], 0;", &["write 4 x"]);
}

#[test]
fn a_form_that_is_not_known_leaves_the_kernel_undecided() {
    let found = told(&kernel("x", "wgmma.fence.sync.aligned; ld.param.u64 %rd1, [x]; st.u32 [%rd1], 0;"));
    assert_eq!(found, ["opaque: `wgmma.fence.sync.aligned` is not a form that is known"]);
}

#[test]
fn a_product_of_matrices_touches_registers_only_and_its_result_comes_from_all_of_them() {
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
    let product = format!("{mma} {{%f1,%f2,%f3,%f4}}, {{%r1,%r2,%r3,%r4}}, {{%r5,%r6}}, {{%f5,%f6,%f7,%f8}};");
    let load = "ld.param.u64 %rd1, [x]; ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1]; ld.param.u64 %rd2, [y];";
    check("x y", &format!("{load} {product} st.global.f32 [%rd2], %f4;"), &["read 16 x", "write 4 y"]);
    // What is added is used as a float. What is multiplied is two numbers in one register, and tells nothing.
    let scalar = "ld.param.u32 %r6, [n]; ld.param.f32 %f8, [s];";
    check("n:u32 s:f32", &format!("{scalar} {product}"), &["float s"]);
    // An address out of a product comes from memory that was multiplied, whatever sense that makes.
    let address = format!("{load} {product} mov.b32 %r7, %f1; cvt.u64.u32 %rd3, %r7; st.global.u32 [%rd3], 0;");
    check("x y", &address, &["read 16 x", "write 4 ~memory of x"]);
}

#[test]
fn places_name_the_line_of_the_ptx_and_of_the_source() {
    let text = ".file 1 \"k.cu\"\n.visible .entry k(.param .u64 x) {\n.reg .b64 %rd<3>;\n\
        .loc 1 7 5\nld.param.u64 %rd1, [x];\nst.u32 [%rd1], 0;\nret; }";
    let module = module(text);
    let place = of(&module).accesses[0].place;
    assert_eq!((place.line, place.source), (9, Some((1, 7))));
}
