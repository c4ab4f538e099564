//! What the text of a crate says of small sources in memory.

use std::collections::BTreeMap;
use std::path::Path;

use super::text::changes;
use super::{Described, describe};

/// The API of the crate `here` (and of `other` before it, where there is one) made of these files.
fn described(files: &[(&str, &str)]) -> Result<Described, String> {
    let files: BTreeMap<&Path, &str> = files.iter().map(|(name, text)| (Path::new(*name), *text)).collect();
    let read = |file: &Path| files.get(file).map(|text| text.to_string());
    let with_other = files.contains_key(Path::new("other/src/lib.rs"));
    let crates = [("other", "other"), ("here", "")];
    let mut described = describe(&crates[usize::from(!with_other)..], &read)?;
    described.pop().ok_or("nothing was described".into())
}

/// Its lines, without what every text opens with.
fn lines(files: &[(&str, &str)]) -> Vec<String> {
    let text = described(files).unwrap().text;
    text.lines().skip(3).map(str::to_string).collect()
}

/// The lines of one file.
fn api(text: &str) -> Vec<String> {
    lines(&[("src/lib.rs", text)])
}

#[test]
fn a_type_is_told_where_it_is_exported_with_the_impls_of_private_modules() {
    let files = [
        ("src/lib.rs", "mod inner; mod more; pub use inner::Thing;"),
        ("src/inner.rs", "pub struct Thing { pub a: u8, b: Own } struct Own; pub struct Unreached;"),
        (
            "src/more/mod.rs",
            "use crate::inner::Thing;
             impl Thing { pub fn get(&self) -> Thing { todo!() } fn own(&self) {} pub(crate) fn near(&self) {} }
             use std::fmt::{Display, Formatter, Result};
             impl Display for Thing { fn fmt(&self, f: &mut Formatter) -> Result { todo!() } }
             trait Private {} impl Private for Thing {}",
        ),
    ];
    assert_eq!(
        lines(&files),
        [
            "struct here::Thing { .. }",
            "field here::Thing::a: u8",
            "fn here::Thing::get(&self) -> here::Thing",
            "impl std::fmt::Display for here::Thing",
        ]
    );
}

#[test]
fn reexports_are_followed_whatever_they_look_like() {
    let text = "
        mod a {
            pub fn one() {} pub fn two() {} fn own() {} pub use self::deep::*;
            mod deep { pub fn three() {} pub(super) fn four() {} }
        }
        mod b { pub use super::a::one as first; pub mod open { pub struct S; } }
        pub use crate::{a::*, b::{first, open::{self, S as Short}}};
        pub use {std::sync::Arc, half};
        pub enum E { X, Y(u8) }
        pub use self::E::Y;";
    assert_eq!(
        api(text),
        [
            "use here::Arc = std::sync::Arc",
            "enum here::E",
            "variant here::E::X",
            "variant here::E::Y(u8)",
            "struct here::Short;",
            "use here::Y = here::E::Y",
            "fn here::first()",
            "use here::half = half",
            "use here::one = here::first",
            "mod here::open",
            "use here::open::S = here::Short",
            "fn here::three()",
            "fn here::two()",
        ]
    );
}

#[test]
fn another_crate_of_the_workspace_is_named_and_not_repeated() {
    let files = [
        ("other/src/lib.rs", "mod inner { pub struct Far; } pub use inner::Far; pub mod sub { pub fn f() {} }"),
        ("src/lib.rs", "pub use other::{self, Far as Near, sub::*}; pub fn take(far: Near) {}"),
    ];
    assert_eq!(
        lines(&files),
        [
            "use here::Near = other::Far",
            "use here::f = other::sub::f",
            "use here::other = other",
            "fn here::take(far: other::Far)",
        ]
    );
}

#[test]
fn what_the_documentation_hides_stands_in_a_section_of_its_own() {
    let text = "
        pub struct Open { #[doc(hidden)] pub shut: u8 }
        impl Open { #[doc(hidden)] pub fn reach(&self) {} }
        #[doc(hidden)] #[derive(Clone)] pub struct Shut;
        #[doc(hidden)] pub mod __private { pub use crate::inner::Deep; }
        mod inner { pub struct Deep; }";
    assert_eq!(
        api(text),
        [
            "struct here::Open",
            "",
            "# Hidden from the documentation",
            "",
            "#[doc(hidden)] field here::Open::shut: u8",
            "#[doc(hidden)] fn here::Open::reach(&self)",
            "#[doc(hidden)] struct here::Shut;",
            "#[doc(hidden)] impl Clone for here::Shut",
            "#[doc(hidden)] mod here::__private",
            "#[doc(hidden)] struct here::__private::Deep;",
        ]
    );
}

#[test]
fn gates_of_modules_exports_items_and_members_are_told() {
    let files = [
        (
            "src/lib.rs",
            "#[cfg(feature = \"a\")] pub mod a; #[cfg(test)] pub mod tests; #[cfg(doctest)] pub struct Readme;
             #[cfg(feature = \"b\")] #[path = \"elsewhere/named.rs\"] mod b;
             #[cfg(feature = \"b\")] pub use b::B;",
        ),
        ("src/a.rs", "#![cfg(not(loom))] pub struct A; impl A { #[cfg(feature = \"c\")] pub fn c() {} }"),
        ("src/elsewhere/named.rs", "mod beside; pub struct B; pub use beside::X as Never;"),
        ("src/elsewhere/beside.rs", "pub struct X;"),
    ];
    assert_eq!(
        lines(&files),
        [
            "struct here::B; [feature b]",
            "mod here::a [feature a]",
            "struct here::a::A; [feature a]",
            "fn here::a::A::c() [feature a] [feature c]",
        ]
    );
}

#[test]
fn macros_are_told_and_what_they_make_is_told() {
    let text = "
        #[macro_use] mod inner {
            #[macro_export]
            macro_rules! table { (@own $x:tt) => {}; ($consume:path) => { $consume! { One = 1; Two = 2; } }; }
            macro_rules! members { ($($name:ident)*) => { $(pub fn $name(&self) {})* }; }
        }
        macro_rules! define {
            ($($name:ident = $value:literal;)*) => { $(pub const $name: u8 = $value; pub struct $name {})* };
        }
        table!(define);
        impl One { members! { a b } }";
    assert_eq!(
        api(text),
        [
            "const here::One: u8 = 1",
            "struct here::One",
            "fn here::One::a(&self)",
            "fn here::One::b(&self)",
            "const here::Two: u8 = 2",
            "struct here::Two",
            "macro here::table! ($consume:path)",
        ]
    );
}

#[test]
fn traits_say_what_is_unsafe_and_what_is_provided() {
    let text = "
        use std::fmt; mod sealed { pub trait Sealed {} }
        pub unsafe trait T<A = u8>: sealed::Sealed + Send where A: Copy {
            type Out: fmt::Debug; const N: usize; const M: usize = 1;
            fn must(&self) -> Self::Out; unsafe fn may(&self, a: <Self as T<A>>::Out) {} #[cfg(test)] fn test() {}
        }
        unsafe impl T for u8 { type Out = Vec<u8>; const N: usize = 1; fn must(&self) -> Vec<u8> { todo!() } }
        struct Own; unsafe impl T for Own { type Out = u8; const N: usize = 1; fn must(&self) -> u8 { 1 } }
        impl From<Own> for Open { fn from(_: Own) -> Open { Open } }
        #[derive(Debug, thiserror::Error)] #[must_use] #[non_exhaustive] pub struct Open;
        #[derive(Clone, Default)] pub struct Gen<T: Copy, U = ()>(pub T, U);";
    assert_eq!(
        api(text),
        [
            "struct here::Gen<T: Copy, U = ()>(T, _)",
            "impl<T: Copy + Clone, U: Clone> Clone for here::Gen<T, U>",
            "impl<T: Copy + Default, U: Default> Default for here::Gen<T, U>",
            "#[must_use] #[non_exhaustive] struct here::Open;",
            "derive thiserror::Error for here::Open",
            "impl std::fmt::Debug for here::Open",
            "unsafe trait here::T<A = u8>: private::Sealed + Send where A: Copy",
            "const here::T::M: usize = ..",
            "const here::T::N: usize",
            "type here::T::Out: std::fmt::Debug",
            "unsafe fn here::T::may(&self, a: <Self as here::T<A>>::Out) { .. }",
            "fn here::T::must(&self) -> Self::Out",
            "unsafe impl here::T for u8 { type Out = Vec<u8>; }",
        ]
    );
}

#[test]
fn a_changed_signature_is_reported() {
    let before = described(&[("src/lib.rs", "pub struct S; impl S { pub fn f(&self, n: u8) {} pub fn g(&self) {} }")]);
    let after = described(&[("src/lib.rs", "pub struct S; impl S { pub fn f(&self, n: u16) {} pub fn g(&self) {} }")]);
    let changes = changes(&before.unwrap().text, &after.unwrap().text);
    assert_eq!(changes, ["- fn here::S::f(&self, n: u8)", "+ fn here::S::f(&self, n: u16)"]);
}

#[test]
fn a_name_that_means_something_else_is_reported_and_an_item_that_moves_is_not() {
    let text = |import: &str| {
        let lib = format!(
            "mod a; mod b; pub use b::E; mod f {{ {import} pub fn f() -> Result<E> {{ todo!() }} }} pub use f::f;"
        );
        let b = "pub type Result<T> = std::result::Result<T, E>; pub struct E;";
        described(&[("src/lib.rs", &lib), ("src/a.rs", "pub use crate::b::E;"), ("src/b.rs", b)]).unwrap().text
    };
    let (first, moved) = (text("use crate::b::{E, Result};"), text("use crate::b::Result; use crate::a::*;"));
    assert_eq!(changes(&first, &moved), Vec::<String>::new());
    let other = text("use crate::b::E; use std::io::Result;");
    assert_eq!(
        changes(&first, &other),
        ["- fn here::f() -> private::Result<here::E>", "+ fn here::f() -> std::io::Result<here::E>"]
    );
}

#[test]
fn conditions_of_an_impl_stand_behind_its_functions() {
    let text = "
        pub struct S<'a, T>(&'a T); pub type Alias<'a> = S<'a, u8>;
        impl<'a, T: Clone> S<'a, T> where T: 'a {
            pub const fn f<U: Copy>(mut self, (_, b): (T, U)) -> U where U: Send { b }
        }
        impl Alias<'_> { pub fn byte(&self) {} }";
    assert_eq!(
        api(text),
        [
            "type here::Alias<'a> = here::S<'a, u8>",
            "struct here::S<'a, T> { .. }",
            "fn here::Alias<'_>::byte(&self)",
            "const fn here::S<'a, T>::f<U: Copy>(self, _: (T, U)) -> U where T: Clone, T: 'a, U: Send",
        ]
    );
}

#[test]
fn names_at_the_root_and_examples_are_counted() {
    let files = [
        (
            "src/lib.rs",
            "pub use half; pub mod sub { pub fn deep() {} }
             #[doc = include_str!(\"../f.md\")] pub fn f() {}
             /// ```no_run\n/// ```\npub fn g() {}
             pub struct ByMethod(u8); impl ByMethod { /** ```\nx();\n``` */ pub fn m(&self) {} }
             pub struct HasField { pub a: u8 } impl HasField { /** ```\nx();\n``` */ pub fn m(&self) {} }
             #[doc(hidden)] pub struct Hidden; pub const C: u8 = 1;
             /// ```\n/// ```\n#[macro_export] macro_rules! m { () => {} }
             pub trait T {}",
        ),
        ("src/../f.md", "Words\n```\nf();\n```\n"),
    ];
    let counts = described(&files).unwrap().counts;
    assert_eq!(counts.root_names.iter().collect::<Vec<_>>(), ["ByMethod", "C", "HasField", "T", "f", "g", "m"]);
    assert_eq!(counts.items.len(), 7);
    let missing: Vec<String> = counts.missing().collect();
    assert_eq!(missing, ["type here::HasField", "trait here::T", "fn here::g", "fn here::sub::deep"]);
}

#[test]
fn what_is_not_understood_is_an_error_and_no_silence() {
    let error = |text: &str| described(&[("src/lib.rs", text)]).err().unwrap_or_default();
    assert!(error("mod a { pub struct S; } pub use a::Missing;").contains("`Missing` leads nowhere"));
    assert!(error("unknown! { a }").contains("macro `unknown` is not found"));
    assert!(error("macro_rules! m { (a) => {} } m!(b);").contains("no arm takes `b`"));
    assert!(error("mod gone;").contains("module `gone` has no file"));
    assert!(error("unsafe extern \"C\" { pub fn f(); }").contains("`extern`"));
    assert!(error("pub trait T {} impl dyn T { pub fn f(&self) {} }").contains("an impl of `dyn T`"));
    assert_eq!(error("thread_local! { static X: u8 = 1; }"), "");
}
