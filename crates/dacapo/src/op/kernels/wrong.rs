//! What is wrong with a declaration that `kernels!` does not take: a sentence with what was found and what is expected.
//!
//! Every kernel is looked at, so that all mistakes are told at once; of the clauses of one kernel, the first mistake.

/// What is wrong with a declaration that `kernels!` does not take. Makes nothing but errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __kernels_wrong {
    // ---- Kernel by kernel.
    (@kernels) => {};
    (@kernels $(#[$attribute:meta])* fn $kernel:ident($($parameters:tt)*) { $($clauses:tt)* } $($rest:tt)*) => {
        $crate::__kernels_wrong! { @clauses $kernel [entry state early requires grid] $($clauses)* }
        $crate::__kernels_wrong! { @kernels $($rest)* }
    };
    (@kernels #[$attribute:meta] $($found:tt)*) => {
        $crate::__kernels_wrong! { @kernels $($found)* }
    };
    (@kernels $($found:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "expected a kernel, `fn name(parameters) { clauses }`, found `", ::core::stringify!($($found)*), "`",
        ));
    };

    // ---- Clause by clause; the list in brackets is what may still come.
    (@clauses $kernel:ident []) => {};
    (@clauses $kernel:ident [entry $($then:tt)*] entry: $entry:literal; $($rest:tt)*) => {
        $crate::__kernels_wrong! { @clauses $kernel [$($then)*] $($rest)* }
    };
    (@clauses $kernel:ident [$(entry)? state $($then:tt)*] state: $($global:ident),+; $($rest:tt)*) => {
        $crate::__kernels_wrong! { @clauses $kernel [$($then)*] $($rest)* }
    };
    (@clauses $kernel:ident [$(entry)? $(state)? early $($then:tt)*] early: $($name:ident),+; $($rest:tt)*) => {
        $crate::__kernels_wrong! { @clauses $kernel [$($then)*] $($rest)* }
    };
    (@clauses $kernel:ident [$(entry)? $(state)? $(early)? requires grid] requires: $($is:expr),+ $(,)?; $($rest:tt)*) => {
        $crate::__kernels_wrong! { @clauses $kernel [grid] $($rest)* }
    };
    (@clauses $kernel:ident [$($before:ident)+] grid: $grid:expr; $($rest:tt)*) => {
        $crate::__kernels_wrong! { @clauses $kernel [] $($rest)* }
    };
    (@clauses $kernel:ident [$($before:ident)+] default_grid: $grid:expr; $($rest:tt)*) => {
        $crate::__kernels_wrong! { @clauses $kernel [] $($rest)* }
    };
    (@clauses $kernel:ident [$($before:ident)+]) => {
        $crate::__kernels! { @parameters [] [] [method unsafe [] [] $kernel [] []] [] }
    };

    // ---- A clause that may stand here, and is not written as it should be.
    (@clauses $kernel:ident [entry $($then:tt)*] entry $($found:tt)*) => {
        $crate::__kernels_wrong! { @form $kernel entry "`entry: \"symbol\";`" $($found)* }
    };
    (@clauses $kernel:ident [$(entry)? state $($then:tt)*] state $($found:tt)*) => {
        $crate::__kernels_wrong! { @form $kernel state "`state: global, global;`" $($found)* }
    };
    (@clauses $kernel:ident [$(entry)? $(state)? early $($then:tt)*] early $($found:tt)*) => {
        $crate::__kernels_wrong! { @form $kernel early "`early: parameter, parameter;`" $($found)* }
    };
    (@clauses $kernel:ident [$(entry)? $(state)? $(early)? requires grid] requires $($found:tt)*) => {
        $crate::__kernels_wrong! { @form $kernel requires "`requires: condition, condition;`" $($found)* }
    };
    (@clauses $kernel:ident [$($before:ident)+] grid $($found:tt)*) => {
        $crate::__kernels_wrong! { @form $kernel grid "`grid: linear(n, threads);`" $($found)* }
    };
    (@clauses $kernel:ident [$($before:ident)+] default_grid $($found:tt)*) => {
        $crate::__kernels_wrong! { @form $kernel default_grid "`default_grid: linear(n, threads);`" $($found)* }
    };
    (@form $kernel:ident $clause:ident $form:literal $($found:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "`: expected ", $form, ", with the `;` at its end, found `",
            ::core::stringify!($clause), ::core::stringify!($($found)*), "`",
        ));
    };

    // ---- A clause that may not stand here.
    (@clauses $kernel:ident $may:tt entry $($found:tt)*) => {
        $crate::__kernels_wrong! { @order $kernel entry }
    };
    (@clauses $kernel:ident $may:tt state $($found:tt)*) => {
        $crate::__kernels_wrong! { @order $kernel state }
    };
    (@clauses $kernel:ident $may:tt early $($found:tt)*) => {
        $crate::__kernels_wrong! { @order $kernel early }
    };
    (@clauses $kernel:ident $may:tt requires $($found:tt)*) => {
        $crate::__kernels_wrong! { @order $kernel requires }
    };
    (@clauses $kernel:ident $may:tt grid $($found:tt)*) => {
        $crate::__kernels_wrong! { @order $kernel grid }
    };
    (@clauses $kernel:ident $may:tt default_grid $($found:tt)*) => {
        $crate::__kernels_wrong! { @order $kernel default_grid }
    };
    (@order $kernel:ident $clause:ident) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "`: found `", ::core::stringify!($clause),
            "` out of order or twice; expected, each once: `entry`, `state`, `early`, `requires`, then `grid` or `default_grid`",
        ));
    };
    (@clauses $kernel:ident $may:tt $clause:ident: $($found:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "`: found the unknown clause `", ::core::stringify!($clause),
            "`; expected `entry`, `state`, `early`, `requires`, `grid` or `default_grid`",
        ));
    };
    (@clauses $kernel:ident $may:tt $($found:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "kernel `", ::core::stringify!($kernel), "`: expected a clause, `entry: ..;`, `state: ..;`, \
            `early: ..;`, `requires: ..;`, `grid: ..;` or `default_grid: ..;`, found `", ::core::stringify!($($found)*), "`",
        ));
    };

    // ---- The declaration as a whole.
    ($(#[$attribute:meta])* $visible:vis struct $($rest:tt)*) => {
        ::core::compile_error!(
            "write `unsafe struct`: a declaration promises what nobody checks in full, that its kernels have these \
            parameters, stay inside of them and end; see \"Safety\" in the documentation of `kernels!`"
        );
    };
    ($(#[$attribute:meta])* $visible:vis unsafe struct $Name:ident $(($ptx:expr))? { $($kernels:tt)* }) => {
        $crate::__kernels_wrong! { @kernels $($kernels)* }
    };
    (#[$attribute:meta] $($found:tt)*) => {
        $crate::__kernels_wrong! { $($found)* }
    };
    ($($found:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "expected `unsafe struct Name(\"PTX\") { fn kernel(parameters) { clauses } .. }`, or the same without \
            `(\"PTX\")`, found `", ::core::stringify!($($found)*), "`",
        ));
    };
}
