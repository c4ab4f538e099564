//! `kernels!`: typed methods that make ops of a module's entry points.

use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Args, Declared, Grid, LoadedModule};
use crate::memory::{Access, Extent, Mode};
use crate::record::{KernelWork, Node, Op, Work};
use crate::value::{AnySlot, Snapshot};

/// The slot of an argument, if it has one.
#[doc(hidden)]
#[allow(private_interfaces, reason = "what `kernels!` writes only passes it on")]
pub type OptSlot = Option<Arc<AnySlot>>;

/// The op of a declared kernel.
///
/// # Safety
///
/// - `position` is that of the declaration which the rest is made of.
/// - `access` are its pointers, in order, each with the mode that is declared; `recipe` gives its arguments, in order, and
///   refuses whenever one of its conditions does not hold, before it writes the first of them.
#[doc(hidden)]
#[allow(private_interfaces, reason = "what `kernels!` writes only passes it on")]
pub unsafe fn kernel_op<D: Declared, const A: usize, const S: usize>(
    module: &LoadedModule<D>,
    position: usize,
    at: &'static Location<'static>,
    access: [Access; A],
    slots: [OptSlot; S],
    recipe: impl Fn(&Snapshot<'_>, &mut Args) -> Result<Grid> + Send + Sync + 'static,
) -> impl Op<Out = ()> {
    move |recorder| {
        let geometry = recorder.grid();
        let (decl, function) = (&D::KERNELS[position], module.functions[position].clone());
        let mut access: SmallVec<[Access; 4]> = access.into_iter().collect();
        for (name, allocation) in &function.state {
            let place = Extent { allocation: allocation.clone(), start: 0, bytes: allocation.bytes() };
            access.push(Access { place, mode: Mode::Write, name, element: 1 });
        }
        if !module.device.is(recorder.device()) {
            return Err(recorder.blame(Error::new(ErrorKind::WrongDevice), decl.name, at));
        }
        if geometry.is_some() && !decl.tunable {
            return Err(recorder.blame(Error::new(ErrorKind::GridFixed), decl.name, at));
        }
        let work =
            Work::Kernel(KernelWork { function, decl: Some(decl), geometry, recipe: Arc::new(recipe), prepared: None });
        recorder.push(Node::new(decl.name.into(), at, access, work), &slots)?;
        // Only now: a kernel that was refused leaves the geometry to the one that takes its place.
        recorder.take_grid();
        Ok(())
    }
}

/// Binds entry points of a module to typed methods.
///
/// ```
/// dacapo::kernels! {
///     /// Vector kernels.
///     pub unsafe struct Kernels(include_str!("../../../../kernels/ptx/saxpy.ptx")) {
///         /// y ← a·x + y
///         fn saxpy(n: i32 = y.len(), a: f32, x: &[f32], y: &mut [f32]) {
///             entry: "saxpy_f32";
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let k = Kernels::load(&device)?;
/// # Ok(()) }
/// ```
///
/// Parameters stand in the order of the PTX:
///
/// | declared | what the method takes |
/// |---|---|
/// | `a: f32` | `impl Value<f32>`: a `&Slot<f32>` or `baked(..)`; any [`Pod`](crate::Pod) |
/// | `s: &f32`, `l: &mut f32`, `m: &out f32` | `&Element<f32>`, `&mut Element<f32>`: one value in device memory |
/// | `x: &[f32]`, `y: &mut [f32]`, `z: &out [f32]` | `&Slice<f32>`, `&mut Slice<f32>` |
/// | `n: u32 = y.len()` | nothing: it is derived, by `TryFrom`, never truncated |
///
/// `&out` is written whole and never read before. `unchecked x: &[f32]` is a parameter that is not held against the
/// text.
///
/// Clauses, in this order, each ended by `;`:
///
/// - `entry: "_Z5saxpyfPKfPfj"`: the symbol, if it is not the name.
/// - `state: counter, table`: globals of the module that the kernel touches.
/// - `requires: condition, condition`: checked when recorded and whenever an argument changes. A slice has `len()`,
///   `is_empty()` and `aligned(bytes)` here; `within(offset, n, len)` is `offset + n <= len` without the overflow.
/// - `grid: linear(n, threads)`, `tiled((w, h), (tx, ty))` or `exact([b; 3], [t; 3])`, each with `.shared(bytes)`;
///   or `default_grid:` with the same, when every geometry is in bounds and the call may override it
///   ([`Op::with_grid`](crate::Op::with_grid)).
///
/// # What is checked
///
/// When the module is loaded, the declaration is held against the text of its kernels. What the text contradicts is
/// refused ([`ErrorKind::Declaration`](crate::ErrorKind::Declaration)): a store through `&[T]`, a value that is used as
/// an address or the reverse, a `.param .f32` declared as a whole number or the reverse, a global that is written and
/// not named by `state`. What may be right and seldom is stands in `checked()` and in `inspect()`. What cannot be
/// decided is left alone.
///
/// # Safety
///
/// The word `unsafe` in the declaration is the promise that:
///
/// - the entry point's parameters have the declared types, in this order;
/// - whenever the `requires` conditions hold, a launch with the declared geometry (any geometry for `default_grid`)
///   stays inside its slices, writes only `&mut` and `&out` memory, writes all of `&out` memory, and ends;
/// - it touches no other memory but the globals named by `state`.
///
/// A crate with `#![forbid(unsafe_code)]` cannot declare kernels; it can use those of another crate. `deny` does not
/// refuse a declaration: what a macro of another crate expands to is out of its sight.
#[macro_export]
macro_rules! kernels {
    ($(#[$m:meta])* $v:vis unsafe struct $Name:ident($src:expr) { $($(#[$km:meta])* fn $f:ident($($params:tt)*) { $($body:tt)* })* }) => {
        $(#[$m])* $v struct $Name { module: $crate::__private::LoadedModule<$Name> }
        // Said, so that a crate which forbids unsafe code is refused: lints do not look into another crate's macro, but
        // `forbid` does not let itself be allowed.
        // SAFETY: the word `unsafe` in the declaration promises that it is true.
        #[allow(unsafe_code, reason = "the declaration has the word")]
        unsafe impl $crate::__private::Declared for $Name {
            const KERNELS: &'static [$crate::__private::KernelDecl] = &[$($crate::kernels!(@decl $f [$($body)*] [] ; $($params)* ,)),*];
        }
        #[allow(unsafe_code, reason = "the declaration has the word")]
        impl $Name {
            /// Loads the module, finds every entry point, and checks its declaration against it.
            ///
            /// # Errors
            ///
            /// - The driver does not accept the PTX; an entry point is missing, or its parameters are others; the text
            ///   of a kernel contradicts its declaration.
            $v fn load(device: &$crate::Device) -> $crate::Result<Self> {
                // The source is an expression of the user's: outside of the block, which is for one call.
                let module = match $src {
                    // SAFETY: the word `unsafe` in the declaration promises what this asks for.
                    source => unsafe { $crate::__private::LoadedModule::load(device, source) },
                };
                ::core::result::Result::Ok($Name { module: module? })
            }
            /// The same from another text: PTX that was compiled or read at run time.
            ///
            /// # Errors
            ///
            /// - As `load`.
            ///
            /// # Safety
            ///
            /// - Everything that the declaration promises is true of the kernels in this text.
            #[allow(dead_code, reason = "a program need not use all that is declared")]
            $v unsafe fn load_ptx(device: &$crate::Device, source: &str) -> $crate::Result<Self> {
                // SAFETY: the caller's promise.
                let module = unsafe { $crate::__private::LoadedModule::load(device, source) };
                ::core::result::Result::Ok($Name { module: module? })
            }
            /// What was decided about the declaration when the module was loaded.
            #[allow(dead_code, reason = "a program need not use all that is declared")]
            $v fn checked(&self) -> &$crate::inspect::Checked {
                self.module.checked()
            }
            $( $crate::kernels!{@params unsafe [$(#[$km])*] [$v] $f [$($body)*] [$($params)*] args[] wrap[] vals[] seen[] derived[] access[] all[] ; $($params)* ,} )*
        }
    };
    // ---- a declaration as data
    (@decl $f:ident $b:tt [$($d:tt)*] ; unchecked $p:ident: $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* $crate::__private::unchecked] ; $p: $($rest)*) };
    (@decl $f:ident $b:tt $d:tt ; $p:ident: &$($rest:tt)*) => { $crate::kernels!(@pointer $f $b $d $p ; $($rest)*) };
    (@decl $f:ident $b:tt [$($d:tt)*] ; $p:ident: $t:ty = $e:expr, $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::value::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::ParamKind::Derived)),] ; $($rest)*) };
    (@decl $f:ident $b:tt [$($d:tt)*] ; $p:ident: $t:ty, $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::value::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::ParamKind::Value)),] ; $($rest)*) };
    (@decl $f:ident [$($b:tt)*] [$($d:tt)*] ; $(,)?) => {
        $crate::__private::KernelDecl { name: ::core::stringify!($f), entry: $crate::kernels!(@entry $f $($b)*), tunable: $crate::kernels!(@tunable $($b)*), params: &[$($d)*], state: $crate::kernels!(@state $($b)*) }
    };
    (@pointer $f:ident $b:tt [$($d:tt)*] $p:ident ; mut [$t:ty], $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::pointer::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::PointerMode::Write, false)),] ; $($rest)*) };
    (@pointer $f:ident $b:tt [$($d:tt)*] $p:ident ; out [$t:ty], $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::pointer::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::PointerMode::Out, false)),] ; $($rest)*) };
    (@pointer $f:ident $b:tt [$($d:tt)*] $p:ident ; [$t:ty], $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::pointer::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::PointerMode::Read, false)),] ; $($rest)*) };
    (@pointer $f:ident $b:tt [$($d:tt)*] $p:ident ; mut $t:ty, $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::pointer::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::PointerMode::Write, true)),] ; $($rest)*) };
    (@pointer $f:ident $b:tt [$($d:tt)*] $p:ident ; out $t:ty, $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::pointer::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::PointerMode::Out, true)),] ; $($rest)*) };
    (@pointer $f:ident $b:tt [$($d:tt)*] $p:ident ; $t:ty, $($rest:tt)*) => { $crate::kernels!(@decl $f $b [$($d)* ($crate::__private::Param::pointer::<$t>(::core::stringify!($p), ::core::stringify!($t), $crate::__private::PointerMode::Read, true)),] ; $($rest)*) };
    (@entry $f:ident entry: $e:literal; $($r:tt)*) => { $e };
    (@entry $f:ident $($r:tt)*) => { ::core::stringify!($f) };
    (@state entry: $e:literal; $($r:tt)*) => { $crate::kernels!(@state $($r)*) };
    (@state state: $($s:ident),+ ; $($r:tt)*) => { &[$(::core::stringify!($s)),+] };
    (@state $($r:tt)*) => { &[] };
    (@tunable default_grid: $($r:tt)*) => { true };
    (@tunable $first:tt $($r:tt)*) => { $crate::kernels!(@tunable $($r)*) };
    (@tunable) => { false };
    // ---- parameters
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; unchecked $p:ident: $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args $a wrap $w vals $vals seen $s derived $d access $x all $l; $p: $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args[$($a:tt)*] wrap[$($w:tt)*] vals $vals:tt seen[$($s:tt)*] derived $d:tt access[$($x:tt)*] all[$($l:tt)*]; $p:ident: &mut [$t:ty], $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args[$($a)* $p: &mut $crate::Slice<$t>,] wrap[$($w)* let $p = $crate::__private::SliceArg::new($p);] vals $vals seen[$($s)* $p] derived $d access[$($x)* $crate::__private::Access::write(::core::stringify!($p), $p),] all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args[$($a:tt)*] wrap[$($w:tt)*] vals $vals:tt seen[$($s:tt)*] derived $d:tt access[$($x:tt)*] all[$($l:tt)*]; $p:ident: &out [$t:ty], $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args[$($a)* $p: &mut $crate::Slice<$t>,] wrap[$($w)* let $p = $crate::__private::SliceArg::new($p);] vals $vals seen[$($s)* $p] derived $d access[$($x)* $crate::__private::Access::out(::core::stringify!($p), $p),] all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args[$($a:tt)*] wrap[$($w:tt)*] vals $vals:tt seen[$($s:tt)*] derived $d:tt access[$($x:tt)*] all[$($l:tt)*]; $p:ident: &[$t:ty], $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args[$($a)* $p: &$crate::Slice<$t>,] wrap[$($w)* let $p = $crate::__private::SliceArg::new($p);] vals $vals seen[$($s)* $p] derived $d access[$($x)* $crate::__private::Access::read(::core::stringify!($p), $p),] all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args[$($a:tt)*] wrap[$($w:tt)*] vals $vals:tt seen[$($s:tt)*] derived $d:tt access[$($x:tt)*] all[$($l:tt)*]; $p:ident: &out $t:ty, $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args[$($a)* $p: &mut $crate::Element<$t>,] wrap[$($w)* let $p = $crate::__private::ElementArg::new($p);] vals $vals seen[$($s)* $p] derived $d access[$($x)* $crate::__private::Access::out_one(::core::stringify!($p), $p),] all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args[$($a:tt)*] wrap[$($w:tt)*] vals $vals:tt seen[$($s:tt)*] derived $d:tt access[$($x:tt)*] all[$($l:tt)*]; $p:ident: &mut $t:ty, $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args[$($a)* $p: &mut $crate::Element<$t>,] wrap[$($w)* let $p = $crate::__private::ElementArg::new($p);] vals $vals seen[$($s)* $p] derived $d access[$($x)* $crate::__private::Access::write_one(::core::stringify!($p), $p),] all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args[$($a:tt)*] wrap[$($w:tt)*] vals $vals:tt seen[$($s:tt)*] derived $d:tt access[$($x:tt)*] all[$($l:tt)*]; $p:ident: &$t:ty, $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args[$($a)* $p: &$crate::Element<$t>,] wrap[$($w)* let $p = $crate::__private::ElementArg::new($p);] vals $vals seen[$($s)* $p] derived $d access[$($x)* $crate::__private::Access::read_one(::core::stringify!($p), $p),] all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived[$($d:tt)*] access $x:tt all[$($l:tt)*]; $p:ident: $t:ty = $e:expr, $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args $a wrap $w vals $vals seen $s derived[$($d)* let $p: $t = $crate::__private::derive(::core::stringify!($p), ::core::stringify!($e), $crate::__private::said(|| $e))?;] access $x all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args[$($a:tt)*] wrap[$($w:tt)*] vals[$($vals:tt)*] seen $s:tt derived $d:tt access $x:tt all[$($l:tt)*]; $p:ident: $t:ty, $($rest:tt)*) => {
        $crate::kernels!{@params unsafe $m $v $f $b $ps args[$($a)* $p: impl $crate::Value<$t>,] wrap[$($w)* let $p: $crate::__private::Val<$t> = $crate::Value::into_val($p);] vals[$($vals)* $p] seen $s derived $d access $x all[$($l)* $p]; $($rest)*} };
    (@params unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; $(,)?) => { $crate::kernels!{@body unsafe $m $v $f $b $ps req[] args $a wrap $w vals $vals seen $s derived $d access $x all $l; $b} };
    // ---- clauses
    (@body unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt req $req:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; [entry: $e:literal; $($rest:tt)*]) => { $crate::kernels!{@body unsafe $m $v $f $b $ps req $req args $a wrap $w vals $vals seen $s derived $d access $x all $l; [$($rest)*]} };
    (@body unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt req $req:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; [state: $($st:ident),+ ; $($rest:tt)*]) => { $crate::kernels!{@body unsafe $m $v $f $b $ps req $req args $a wrap $w vals $vals seen $s derived $d access $x all $l; [$($rest)*]} };
    (@body unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt req[] args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; [requires: $($c:expr),+ $(,)?; $($rest:tt)*]) => { $crate::kernels!{@body unsafe $m $v $f $b $ps req[$($c;)+] args $a wrap $w vals $vals seen $s derived $d access $x all $l; [$($rest)*]} };
    (@body unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt req $req:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; [grid: $g:expr; ]) => { $crate::kernels!{@emit unsafe $m $v $f $b $ps req $req args $a wrap $w vals $vals seen $s derived $d access $x all $l; $g} };
    (@body unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt req $req:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; [default_grid: $g:expr; ]) => { $crate::kernels!{@emit unsafe $m $v $f $b $ps req $req args $a wrap $w vals $vals seen $s derived $d access $x all $l; $g} };
    (@body unsafe $m:tt $v:tt $f:ident $b:tt $ps:tt req $req:tt args $a:tt wrap $w:tt vals $vals:tt seen $s:tt derived $d:tt access $x:tt all $l:tt; [$($bad:tt)*]) => {
        ::core::compile_error!(::core::concat!("kernel `", ::core::stringify!($f), "`: expected `entry: \"..\";`, `state: ..;`, `requires: ..;`, then `grid: ..;` or `default_grid: ..;`, found `", ::core::stringify!($($bad)*), "`")); };
    (@emit unsafe [$($m:tt)*] [$v:vis] $f:ident $b:tt [$($ps:tt)*] req[$($c:expr;)*] args[$($a:tt)*] wrap[$($w:tt)*] vals[$($val:ident)*] seen[$($see:ident)*] derived[$($d:tt)*] access[$($x:tt)*] all[$($l:ident)*]; $g:expr) => {
        $($m)* #[track_caller] #[allow(clippy::too_many_arguments, reason = "the kernel's")]
        $v fn $f(&self, $($a)*) -> impl $crate::Op<Out = ()> {
            let at = ::core::panic::Location::caller();
            // A name that stands twice would shadow an argument inside the recipe: refused, as in any list of parameters.
            #[allow(unused, reason = "only its list of parameters counts")] let distinct = |$($l: ()),*| ();
            #[allow(unused_mut, unused_variables, reason = "a kernel may take no slice")]
            let mut accesses = 0usize;
            let access = [$($x)*];
            $($w)*
            $(let $see = $see.numbered(&mut accesses);)*
            let slots = [$($crate::__private::Val::slot(&$val)),*];
            // A closure of the user's expressions: outside of the block, which is for one call.
            let recipe = move |snapshot: &$crate::__private::Snapshot<'_>, into: &mut $crate::__private::Args| -> $crate::Result<$crate::grid::Grid> {
                #[allow(unused_imports, reason = "a grid may be written without them")] use $crate::grid::*;
                $(let $val = $val.get(snapshot);)*
                $(let $see = $see.seen(snapshot);)*
                $($d)*
                #[allow(unused, reason = "a kernel may have no conditions")] let values = || $crate::__private::describe(&[$((::core::stringify!($l), &$l as &dyn $crate::__private::ToArg)),*]);
                $(if !$crate::__private::said::<bool>(|| $c) { return ::core::result::Result::Err($crate::__private::requires_failed(::core::stringify!($c), $crate::__private::aside(values))) })*
                let grid = $crate::__private::said::<$crate::grid::Grid>(|| $g);
                if snapshot.wants_texts() { $crate::__private::aside(|| $crate::__private::tell(snapshot, &[$(&$l as &dyn $crate::__private::ToArg),*])) }
                $($crate::__private::ToArg::put(&$l, into);)*
                ::core::result::Result::Ok(grid)
            };
            // SAFETY: the position is that of this declaration; the accesses and the recipe are made of it.
            unsafe { $crate::__private::kernel_op(&self.module, const { $crate::__private::position::<Self>(::core::stringify!($f)) }, at, access, slots, recipe) }
        }
    };
}
