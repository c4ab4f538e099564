//! Texts that are linked: what one declares `.extern` is what another defines, and who is to blame where it is not.

use dacapo_ptx::ir::{AddressBase, CallTarget, Init, Module, Operand, VariableRef};
use dacapo_ptx::link::{LinkErrorKind, Text, link};

const HEAD: &str = ".version 8.0\n.target sm_70\n.address_size 64\n";

fn text(name: &str, body: &str) -> Text {
    let module = dacapo_ptx::parse(&format!("{HEAD}{body}")).unwrap_or_else(|errors| panic!("{name}: {errors}"));
    Text { name: name.to_string(), module }
}

fn caller(of: &str) -> String {
    format!(
        ".extern .func (.param .b32 r) {of}();
         .visible .entry k() {{ .reg .b32 %r<2>; {{ .param .b32 r; call.uni (r), {of}, (); ld.param.b32 %r1, [r]; }} ret; }}"
    )
}

/// A function that gives `value`; `linkage` in front.
fn function(linkage: &str, name: &str, value: u32) -> String {
    format!(
        "{linkage} .func (.param .b32 r) {name}() {{
            .reg .b32 %r<2>; mov.u32 %r1, {value}; st.param.b32 [r], %r1; ret;
        }}"
    )
}

fn linked(bodies: &[&str]) -> Result<Module, Vec<String>> {
    let texts = bodies.iter().enumerate().map(|(i, body)| text(&format!("{i}.ptx"), body)).collect();
    link(texts, &["vprintf"]).map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// The number that the function which `k` calls moves first.
fn called_value(module: &Module) -> u64 {
    let kernel = &module.functions[module.function("k").expect("there").0 as usize];
    let called = kernel.body.iter().flat_map(|i| &i.operands).find_map(|o| match o {
        Operand::Call(call) => Some(call.target.clone()),
        _ => None,
    });
    let Some(CallTarget::Direct(id)) = called else { panic!("no call") };
    let body = &module.functions[id.0 as usize].body;
    let Operand::Imm(value) = body[0].operands[1] else { panic!("no number") };
    value
}

#[test]
fn a_function_of_another_text_is_found_in_either_order() {
    for bodies in [[caller("f"), function(".visible", "f", 42)], [function(".visible", "f", 42), caller("f")]] {
        let module = linked(&[&bodies[0], &bodies[1]]).expect("links");
        assert_eq!(called_value(&module), 42);
        assert_eq!(module.functions.len(), 2, "the declaration is gone");
    }
}

#[test]
fn weak_gives_way_and_of_two_weak_the_first_stays() {
    let [strong, weak, other] =
        [(".visible", 1), (".weak", 2), (".weak", 3)].map(|(linkage, value)| function(linkage, "f", value));
    for (definitions, value) in [([&strong, &weak], 1), ([&weak, &strong], 1), ([&weak, &other], 2)] {
        let module = linked(&[&caller("f"), definitions[0], definitions[1]]).expect("links");
        assert_eq!(called_value(&module), value);
        assert_eq!(module.functions.len(), 2);
    }
}

#[test]
fn what_has_no_linkage_belongs_to_its_text() {
    let two = |value, kernel: &str| {
        format!(
            "{} .global .u32 v = {value};
             .visible .entry {kernel}() {{
                .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.global.u32 %r1, [v];
                {{ .param .b32 r; call.uni (r), g, (); ld.param.b32 %r1, [r]; }} ret;
             }}",
            function("", "g", value)
        )
    };
    let module = linked(&[&two(5, "k"), &two(6, "other")]).expect("links");
    assert_eq!((module.functions.len(), module.variables.len()), (4, 2));
    assert_eq!(called_value(&module), 5);
    for (kernel, value) in [("k", 5), ("other", 6)] {
        let body = &module.functions[module.function(kernel).expect("there").0 as usize].body;
        let Operand::Address { base: AddressBase::Variable(VariableRef::Module(v)), .. } = body[0].operands[1] else {
            panic!("no variable")
        };
        assert_eq!(module.variables[v as usize].init, [Init::Bytes(vec![value, 0, 0, 0])]);
    }
    // Nor does it answer a declaration.
    let errors = linked(&[&caller("g"), &function("", "g", 1)]).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("error[unresolved-symbol]: `g` is used in 0.ptx"), "{}", errors[0]);
}

#[test]
fn variables_are_linked_also_in_initialisers() {
    let module = linked(&[
        ".extern .global .u32 v[]; .visible .global .u64 p[2] = {generic(v), v+8};",
        ".visible .global .u32 unused; .visible .global .u32 v[4] = {1, 2, 3, 4};",
    ])
    .expect("links");
    let at = |name: &str| module.variables.iter().position(|v| v.name == name).expect("there") as u32;
    assert_eq!(module.variables.len(), 3);
    let Init::Address { variable, .. } = module.variables[at("p") as usize].init[0] else { panic!("no address") };
    assert_eq!(variable, VariableRef::Module(at("v")));
    assert_eq!(module.variables[at("v") as usize].size, 16);
}

#[test]
fn of_common_variables_the_largest_stays_and_all_give_way() {
    let (small, large) = (".common .global .u32 v;", ".common .global .u32 v[2];");
    for bodies in [[small, large], [large, small]] {
        let module = linked(&bodies).expect("links");
        assert_eq!(module.variables.iter().map(|v| v.size).collect::<Vec<_>>(), [8]);
    }
    let module = linked(&[large, ".visible .global .u32 v = 5;"]).expect("links");
    assert_eq!(module.variables.iter().map(|v| v.size).collect::<Vec<_>>(), [4]);
}

#[test]
fn what_is_provided_or_only_declared_needs_no_definition() {
    let print = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
        .visible .entry NAME() { .reg .b64 %rd<2>; { .param .b64 a; .param .b64 b; .param .b32 r; mov.u64 %rd1, 0;
        st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; call.uni (r), vprintf, (a, b); } ret; }";
    let module = linked(&[&print.replace("NAME", "a"), &print.replace("NAME", "b")]).expect("links");
    assert_eq!(module.functions.iter().filter(|f| f.name == "vprintf").count(), 1, "declared once");
    linked(&[".extern .func unused(); .extern .global .u32 also; .visible .entry k() { ret; }"]).expect("links");
}

#[test]
fn dynamic_shared_memory_is_no_symbol_and_shared_variables_are() {
    let pool = ".extern .shared .align 16 .b8 pool[]; .visible .entry NAME() { .reg .b32 %r; mov.u32 %r, pool; ret; }";
    linked(&[&pool.replace("NAME", "a"), &pool.replace("NAME", "b")]).expect("links");
    let module = linked(&[
        ".visible .shared .u32 s; .visible .entry a() { .reg .b32 %r; ld.shared.u32 %r, [s]; ret; }",
        ".extern .shared .u32 s; .visible .entry b() { .reg .b32 %r; ld.shared.u32 %r, [s]; ret; }",
    ])
    .expect("links");
    assert_eq!(module.variables.len(), 1);
}

#[test]
fn errors_name_both_texts_and_all_are_told() {
    let errors = linked(&[
        &(caller("missing") + &function(".visible", "f", 1)),
        &function(".visible", "f", 2),
        ".visible .entry k() { ret; } .visible .global .u32 missing_too;",
        ".extern .global .u32 gone; .visible .entry z() { .reg .b32 %r; ld.global.u32 %r, [gone]; ret; }",
    ])
    .unwrap_err();
    assert_eq!(errors.len(), 4, "{errors:?}");
    assert!(
        errors[0].starts_with("error[duplicate-symbol]: `f` is defined in 0.ptx and again in 1.ptx\n  --> 0.ptx:5:")
    );
    assert!(errors[0].contains("\n  --> 1.ptx:4:"), "{}", errors[0]);
    assert!(errors[1].starts_with("error[duplicate-symbol]: `k` is defined in 0.ptx and again in 2.ptx"));
    assert!(errors[2].starts_with("error[unresolved-symbol]: `missing` is used in 0.ptx and defined in none"));
    assert!(errors[3].starts_with("error[unresolved-symbol]: `gone` is used in 3.ptx"));
    assert!(errors.iter().all(|error| error.contains("\nhelp: ")));
}

#[test]
fn a_function_is_no_variable() {
    let texts = vec![text("a", &caller("f")), text("b", ".visible .global .u32 f;")];
    let errors = link(texts, &[]).unwrap_err();
    assert_eq!(errors.iter().map(|e| e.kind).collect::<Vec<_>>(), [LinkErrorKind::Mismatch]);
    let texts = vec![text("a", &function(".visible", "f", 1)), text("b", ".visible .global .u32 f;")];
    assert_eq!(link(texts, &[]).unwrap_err()[0].kind, LinkErrorKind::Mismatch);
}

#[test]
fn functions_remember_their_text_and_their_source_file() {
    let with_file = |name: &str| format!(".visible .entry {name}() {{ .loc 1 7 1\n ret; }}\n.file 1 \"{name}.cu\"\n");
    let module = linked(&[&with_file("a"), &with_file("b")]).expect("links");
    for (i, name) in ["a", "b"].into_iter().enumerate() {
        let id = module.function(name).expect("there");
        assert_eq!(module.text_of(id), Some(format!("{i}.ptx").as_str()));
        let loc = module.functions[id.0 as usize].body[0].loc.expect("a place");
        assert_eq!(module.files[loc.file as usize], format!("{name}.cu"));
    }
}

#[test]
fn the_newest_version_and_target_are_those_of_the_whole() {
    let text = |version: &str, target: &str| {
        let source = format!(".version {version}\n.target {target}\n.address_size 64\n");
        Text { name: target.to_string(), module: dacapo_ptx::parse(&source).expect("a text") }
    };
    for texts in [[text("8.0", "sm_90"), text("8.4", "sm_75")], [text("8.4", "sm_75"), text("8.0", "sm_90")]] {
        let module = link(texts.to_vec(), &[]).expect("links");
        assert_eq!((module.version, module.target), ((8, 4), vec!["sm_90".to_string()]));
    }
}

#[test]
fn a_declaration_says_what_the_definition_says() {
    let used =
        |declared: &str| format!("{declared}; .visible .entry k() {{ .reg .b32 %r; ld.global.u32 %r, [v]; ret; }}");
    for (declared, defined, what) in [
        (".extern .global .u32 v", ".visible .global .u64 v;", "`v` is 8 bytes long in one text and 4 in another"),
        (".extern .global .u32 v", ".visible .const .u32 v;", "`v` is in another state space"),
    ] {
        let errors = linked(&[&used(declared), defined]).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert!(errors[0].starts_with(&format!("error[symbol-mismatch]: {what}")), "{}", errors[0]);
    }
    let texts = vec![text("a", &caller("f")), text("b", ".visible .func (.param .b64 r) f() { ret; }")];
    assert_eq!(link(texts, &[]).unwrap_err()[0].kind, LinkErrorKind::Prototype);
}

#[test]
fn what_stays_open_in_one_text_is_named() {
    use dacapo_ptx::link::{Gathered, unresolved};
    let one = text("a", &caller("f"));
    assert_eq!(unresolved(&one.module, &[]), Some("f".to_string()));
    assert_eq!(unresolved(&one.module, &["f"]), None);
    assert!(Gathered::default().add(one).is_empty(), "another text may define it");
    let variable =
        text("b", ".extern .global .u32 v; .visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [v]; ret; }");
    assert_eq!(unresolved(&variable.module, &[]), Some("v".to_string()));
    let both = ".extern .global .u32 v; .visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [v]; ret; }
        .visible .global .u32 v = 3;";
    assert_eq!(unresolved(&text("c", both).module, &[]), None, "declared and defined");
}

#[test]
fn addresses_of_functions_in_initialisers_are_those_of_the_whole() {
    let table = ".extern .func (.param .b32 r) f(); .visible .global .u64 table[1] = {f};";
    let module = linked(&[&function(".visible", "g", 1), table, &function(".visible", "f", 2)]).expect("links");
    let table = module.variables.iter().find(|v| v.name == "table").expect("there");
    let Init::Function { function, .. } = table.init[0] else { panic!("no function") };
    assert_eq!(Some(function), module.function("f"));
}

#[test]
fn variables_inside_functions_point_to_those_of_the_whole() {
    let user = ".extern .global .u32 v; .visible .entry k() { .global .u64 p[1] = {v}; ret; }";
    let module = linked(&[".visible .global .u32 first;", user, ".visible .global .u32 v;"]).expect("links");
    let kernel = &module.functions[module.function("k").expect("there").0 as usize];
    let held = kernel.variables.iter().chain(&module.variables).find(|v| v.name == "p").expect("there");
    let Init::Address { variable: VariableRef::Module(at), .. } = held.init[0] else { panic!("no address") };
    assert_eq!(module.variables[at as usize].name, "v");
}

#[test]
fn what_is_not_supported_keeps_its_source_file() {
    let with_file = |name: &str| {
        format!(".visible .entry {name}() {{ .loc 1 7 1\n wgmma.fence.sync.aligned; ret; }}\n.file 1 \"{name}.cu\"\n")
    };
    let module = linked(&[&with_file("a"), &with_file("b")]).expect("links");
    for name in ["a", "b"] {
        let function = &module.functions[module.function(name).expect("there").0 as usize];
        let loc = function.unsupported[0].loc.expect("a place");
        assert_eq!(module.files[loc.file as usize], format!("{name}.cu"));
    }
}

#[test]
fn a_kernel_is_a_symbol_of_all_texts_without_saying_so() {
    let errors = linked(&[".entry k() { ret; }", ".entry k() { ret; }"]).unwrap_err();
    assert!(
        errors[0].starts_with("error[duplicate-symbol]: `k` is defined in 0.ptx and again in 1.ptx"),
        "{}",
        errors[0]
    );
}

/// One after another the texts are told the same as all at once, by the first that does not fit.
#[test]
fn texts_that_come_one_after_another_are_held_against_those_before() {
    let other = ".visible .func (.param .b64 r) f() { ret; }";
    let (strong, weak) = (function(".visible", "f", 1), function(".weak", "f", 2));
    let variable = ".visible .global .u32 f;";
    for (bodies, bad) in [
        (vec![caller("f"), strong.clone(), weak.clone()], None),
        (vec![caller("f"), weak.clone(), strong.clone()], None),
        (vec![caller("f"), weak.clone(), other.to_string()], Some(2)),
        (vec![strong.clone(), caller("f"), strong.clone()], Some(2)),
        (vec![caller("f"), variable.to_string()], Some(1)),
        (vec![other.to_string(), caller("f")], Some(1)),
        (vec![weak, variable.to_string()], Some(1)),
    ] {
        let texts = || bodies.iter().enumerate().map(|(i, body)| text(&format!("{i}.ptx"), body));
        let mut gathered = dacapo_ptx::link::Gathered::default();
        let told: Vec<_> = texts().map(|text| gathered.add(text)).collect();
        assert_eq!(told.iter().position(|errors| !errors.is_empty()), bad, "{bodies:?}");
        assert_eq!(gathered.texts().len(), bodies.len());
        let at_once = link(texts().collect(), &[]).err().unwrap_or_default();
        assert_eq!(told.concat(), at_once, "{bodies:?}");
    }
}
