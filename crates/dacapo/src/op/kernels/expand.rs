//! What `kernels!` makes of each kernel: its parameters in normal form, and from these its declaration or its method.
//!
//! The normal form of a parameter is `{[unchecked] name: Marker<..>; type; ..}`. The markers are those of
//! `kernel/parameter.rs`. It ends in `takes(name: argument)` where the caller gives it, and in
//! `from(name = expression)` where it is derived.

/// What `kernels!` makes of one kernel. Not a part of the API.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernels {
    // ---- Normal form: takes parameters off the list one by one. `$then` is what is made of them in the end.
    (@parameters [unchecked $p:ident: $($rest:tt)*] [] $then:tt $done:tt) => {
        $crate::__kernels! { @parameters [$p: $($rest)*] [unchecked] $then $done }
    };
    (@parameters [$p:ident: &mut [$t:ty] $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: Write<[$t]>; $t; takes($p: &mut $crate::Slice<$t>)}] }
    };
    (@parameters [$p:ident: &out [$t:ty] $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: Out<[$t]>; $t; takes($p: &mut $crate::Slice<$t>)}] }
    };
    (@parameters [$p:ident: &[$t:ty] $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: Read<[$t]>; $t; takes($p: &$crate::Slice<$t>)}] }
    };
    (@parameters [$p:ident: &mut $t:ty $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: Write<$crate::__private::One<$t>>; $t; takes($p: &mut $crate::Element<$t>)}] }
    };
    (@parameters [$p:ident: &out $t:ty $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: Out<$crate::__private::One<$t>>; $t; takes($p: &mut $crate::Element<$t>)}] }
    };
    (@parameters [$p:ident: &$t:ty $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: Read<$crate::__private::One<$t>>; $t; takes($p: &$crate::Element<$t>)}] }
    };
    (@parameters [$p:ident: $t:ty = $e:expr $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: Derived<$t>; $t; from($p = $e)}] }
    };
    (@parameters [$p:ident: $t:ty $(, $($rest:tt)*)?] $check:tt $then:tt [$($done:tt)*]) => {
        $crate::__kernels! { @parameters [$($($rest)*)?] [] $then
            [$($done)* {$check $p: ByValue<$t>; $t; takes($p: impl $crate::Value<$t>)}] }
    };

    // ---- The declaration of a kernel's parameters, as data.
    (@parameters [] [] [declare]
        [$({[$($unchecked:ident)?] $p:ident: $Marker:ident<$of:ty>; $t:ty; $($how:tt)*})*]
    ) => {
        &[$(
            $crate::__private::Param::of::<$crate::__private::$Marker<$of>>(
                ::core::stringify!($p), ::core::stringify!($t),
            ) $(.$unchecked())?
        ),*]
    };
    // What is wrong with them is told where the method is made.
    (@parameters [$($wrong:tt)*] $check:tt [declare] $done:tt) => { &[] };

    // ---- The method of a kernel. Asks for `unsafe`, as the declaration does: it launches what it is told.
    (@parameters [] []
        [method unsafe [$($attribute:tt)*] [$visible:vis] $kernel:ident [$($condition:expr),*] [$grid:expr]]
        [$({
            $check:tt $p:ident: $Marker:ident<$of:ty>; $t:ty;
            $(takes($given:ident: $argument:ty))?
            $(from($derived:ident = $e:expr))?
        })*]
    ) => {
        $($attribute)*
        #[track_caller]
        #[allow(unsafe_code, reason = "said, so that a crate which forbids it is refused")]
        #[allow(clippy::too_many_arguments, reason = "as many as the kernel has")]
        $visible fn $kernel(&self, $($($given: $argument,)?)*) -> impl $crate::Op<Out = ()> {
            let at = ::core::panic::Location::caller();
            // A name that stands twice would shadow an argument inside the recipe: refused, as in any parameter list.
            #[allow(unused, reason = "for the names alone")]
            let distinct = |$($p: ()),*| ();
            #[allow(unused_mut, reason = "a kernel may have no arguments")]
            let mut given = $crate::__private::Given::default();
            $($(
                let $given = given.take::<$crate::__private::$Marker<$of>, _>(::core::stringify!($given), $given);
            )?)*
            // A closure of the user's expressions: outside of the block, which is for one call.
            let recipe = move |
                snapshot: &$crate::__private::Snapshot<'_>,
                #[allow(unused_variables, reason = "a kernel may have no parameters")]
                into: &mut $crate::__private::Args,
            | -> $crate::Result<$crate::grid::Grid> {
                #[allow(unused_imports, reason = "a geometry may be made by a function of the user's")]
                use $crate::grid::*;
                $($(let $given = $given.seen(snapshot);)?)*
                $($(
                    let $derived: $t = $crate::__private::derive(
                        ::core::stringify!($derived), ::core::stringify!($e), $crate::__private::said(|| $e),
                    )?;
                )?)*
                #[allow(unused, reason = "a kernel may have no conditions")]
                let values = || $crate::__private::describe(
                    &[$((::core::stringify!($p), &$p as &dyn $crate::__private::ToArg)),*],
                );
                $(
                    if !$crate::__private::said::<bool>(|| $condition) {
                        return ::core::result::Result::Err($crate::__private::requires_failed(
                            ::core::stringify!($condition), $crate::__private::aside(values),
                        ));
                    }
                )*
                let grid = $crate::__private::said::<$crate::grid::Grid>(|| $grid);
                if snapshot.wants_texts() {
                    $crate::__private::aside(
                        || $crate::__private::tell(snapshot, &[$(&$p as &dyn $crate::__private::ToArg),*]),
                    )
                }
                $($crate::__private::ToArg::put(&$p, into);)*
                ::core::result::Result::Ok(grid)
            };
            let position = const { $crate::__private::position::<Self>(::core::stringify!($kernel)) };
            // SAFETY: the position is that of this declaration; what is given and the recipe are made of it.
            unsafe { $crate::__private::kernel_op(&self.module, position, at, given, recipe) }
        }
    };

    // ---- What is wrong with a kernel.
    (@parameters [] [] [method unsafe $attribute:tt $visible:tt $kernel:ident $condition:tt []] $done:tt) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "` has no geometry: expected as its last clause `grid: ..;` or \
            `default_grid: ..;`, for example `grid: linear(y.len(), 256);`",
        ));
    };
    (@parameters [] [] [method unsafe $attribute:tt $visible:tt $kernel:ident $condition:tt $grids:tt] $done:tt) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "` has both `grid` and `default_grid`: expected one of them",
        ));
    };
    (@parameters [$p:ident $(, $($rest:tt)*)?] $check:tt
        [method unsafe $attribute:tt $visible:tt $kernel:ident $($clauses:tt)*] $done:tt
    ) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "`: the parameter `", ::core::stringify!($p), "` has no type: \
            write `", ::core::stringify!($p), ": f32` for a value, or a type like `&[f32]`, `&mut [f32]` or \
            `&out [f32]` for memory",
        ));
    };
    (@parameters [$($wrong:tt)*] $check:tt
        [method unsafe $attribute:tt $visible:tt $kernel:ident $($clauses:tt)*] $done:tt
    ) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "`: expected a parameter, `name: type` or \
            `name: type = expression`, and a comma before the next, found `", ::core::stringify!($($wrong)*), "`",
        ));
    };
}

#[cfg(test)]
mod tests {
    use crate::kernel::{Declared, KernelDecl};

    crate::kernels! {
        #[allow(dead_code, reason = "looked at as data")]
        unsafe struct Forms {
            #[allow(dead_code, reason = "looked at as data")]
            fn all(a: f32, n: u64 = x.len(), x: &[f32], unchecked y: &mut [[u32; 2]], z: &out [u8], s: &f32,
                l: &mut u16, unchecked m: &out f64, v: [f32; 4]) {
                entry: "symbol";
                state: table, counter;
                requires: x.len() == y.len(), z.is_empty();
                default_grid: linear(x.len(), 256);
            }
            #[allow(dead_code, reason = "looked at as data")]
            fn none() { grid: exact([1, 1, 1], [1, 1, 1]); }
        }
    }

    fn params(kernel: &KernelDecl) -> Vec<String> {
        let word = |is: bool, word: &'static str| if is { word } else { "" };
        let shown = kernel.params.iter().map(|param| {
            let mode = param.mode.map_or(String::new(), |mode| format!("{mode:?} "));
            let (one, unchecked) = (word(param.scalar, "one "), word(param.unchecked, ", unchecked"));
            let (name, ty, bytes, size) = (param.name, param.ty, param.bytes, (param.plain)().bytes);
            format!("{name}: {:?} {mode}{one}{ty}, {bytes} of {size}{unchecked}", param.kind)
        });
        shown.collect()
    }

    #[test]
    fn a_declaration_says_of_each_parameter_what_is_written() {
        let [all, none] = Forms::KERNELS else { panic!("two kernels") };
        let expected = [
            "a: Value f32, 4 of 4",
            "n: Derived u64, 8 of 8",
            "x: Pointer Read f32, 8 of 4",
            "y: Pointer Write [u32; 2], 8 of 8, unchecked",
            "z: Pointer Out u8, 8 of 1",
            "s: Pointer Read one f32, 8 of 4",
            "l: Pointer Write one u16, 8 of 2",
            "m: Pointer Out one f64, 8 of 8, unchecked",
            "v: Value [f32; 4], 16 of 16",
        ];
        assert_eq!(params(all), expected);
        assert_eq!((all.name, all.entry, all.tunable, all.state), ("all", "symbol", true, &["table", "counter"][..]));
        assert_eq!((none.name, none.entry, none.tunable), ("none", "none", false));
        assert!(none.params.is_empty() && none.state.is_empty());
    }

    #[test]
    fn a_declaration_keeps_how_it_was_written_with_a_line_for_each_clause() {
        let [all, none] = Forms::KERNELS else { panic!("two kernels") };
        let expected = "\
fn all(a: f32, n: u64 = x.len(), x: &[f32], unchecked y: &mut [[u32; 2]], z: &out [u8], s: &f32, l: &mut u16, \
unchecked m: &out f64, v: [f32; 4]) {
    entry: \"symbol\";
    state: table, counter;
    requires: x.len() == y.len(), z.is_empty();
    default_grid: linear(x.len(), 256);
}";
        assert_eq!(all.declaration().as_deref(), Some(expected));
        assert_eq!(none.declaration().as_deref(), Some("fn none() {\n    grid: exact([1, 1, 1], [1, 1, 1]);\n}"));
        assert_eq!(KernelDecl::new("raw", &[]).declaration(), None);
    }
}
