//! `kernels!`: typed methods that make ops of a module's entry points.
//!
//! `expand.rs` makes a declaration and a method of each kernel, `wrong.rs` says what is wrong with a declaration, and
//! `launch.rs` has the op that a method returns. What a parameter is stands in `kernel/parameter.rs`.

#[macro_use]
mod expand;
#[macro_use]
mod wrong;
mod launch;

pub use launch::kernel_op;

/// Binds entry points of a module to typed methods.
///
/// ```
/// dacapo::kernels! {
///     /// Vector kernels.
///     pub unsafe struct Kernels(include_str!("../../../kernels/saxpy.ptx")) {
///         /// y ← a·x + y
///         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// let (stream, k) = (device.stream()?, Kernels::load(&device)?);
/// let (x, mut y) = (device.buffer(&[1.0, 2.0])?, device.buffer(&[10.0, 10.0])?);
/// stream.run(k.saxpy(dacapo::baked(3.0), &x, &mut y))?;
/// assert_eq!(stream.read(&y)?, [13.0, 16.0]);
/// # Ok(()) }
/// ```
///
/// Without `(text)` the declaration is for PTX that comes at run time, from NVRTC or from a file. Then there is no
/// `load`, only `unsafe fn load_ptx(device, text)`, which every declaration has:
///
/// ```
/// dacapo::kernels! {
///     pub unsafe struct Kernels {
///         fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32 = y.len()) {
///             requires: x.len() == y.len();
///             grid: linear(y.len(), 256);
///         }
///     }
/// }
/// # fn main() -> dacapo::Result<()> {
/// # let device = dacapo::Device::software()?;
/// # let text = include_str!("../../../kernels/saxpy.ptx");
/// // SAFETY: the declaration is true of this text.
/// let k = unsafe { Kernels::load_ptx(&device, text) }?;
/// # Ok(()) }
/// ```
///
/// Parameters are in the order of the PTX:
///
/// | declared | what the method takes |
/// |---|---|
/// | `a: f32` | `impl Value<f32>`: a `&Slot<f32>` or `baked(..)`; any [`Pod`](crate::Pod) |
/// | `s: &f32`, `l: &mut f32`, `m: &out f32` | `&Element<f32>`, `&mut Element<f32>`: one value in device memory |
/// | `x: &[f32]`, `y: &mut [f32]`, `z: &out [f32]` | `&Slice<f32>`, `&mut Slice<f32>` |
/// | `n: u32 = y.len()` | nothing: it is derived, by `TryFrom`, never truncated |
///
/// `&out` memory is written completely and not read before that. `unchecked x: &[f32]` is a parameter that is not
/// checked against the PTX.
///
/// Clauses, in this order, each ended by `;`:
///
/// - `entry: "_Z5saxpyfPKfPfj"`: the symbol, if it is not the name.
/// - `state: counter, table`: globals of the module that the kernel touches.
/// - `early: w`: of a kernel that executes `griddepcontrol.wait` itself, the `&` parameters that it touches before that. In a
///   graph it may then begin while the kernel before it runs, if nothing before it writes them (docs/edges.md).
/// - `requires: condition, condition`: checked when recorded and whenever an argument changes. A slice has `len()`,
///   `is_empty()` and `aligned(bytes)` here; `within(offset, n, len)` is `offset + n <= len` without overflow.
/// - `grid: linear(n, threads)`, `tiled((w, h), (tx, ty))` or `exact([b; 3], [t; 3])`, each with `.shared(bytes)`; or
///   `default_grid:` with the same, if every geometry is in bounds and the caller may override it
///   ([`Op::with_grid`](crate::Op::with_grid)).
///
/// # What is checked
///
/// When the module is loaded, the declaration is checked against the PTX of its kernels. What the PTX contradicts is
/// refused ([`ErrorKind::Declaration`](crate::ErrorKind::Declaration)): a store through `&[T]`, a value that is used as
/// an address or the reverse, a `.param .f32` declared as an integer or the reverse, a global that is written and not
/// named by `state`. What may be right but seldom is shows up as a warning in `checked()` and in `inspect()`. What
/// cannot be decided is left alone.
///
/// # Safety
///
/// The word `unsafe` in the declaration is the promise that:
///
/// - the entry point's parameters have the declared types, in this order;
/// - whenever the `requires` conditions hold, a launch with the declared geometry (any geometry for `default_grid`)
///   stays inside its slices, writes only `&mut` and `&out` memory, writes all of `&out` memory, and terminates;
/// - it touches no other memory except the globals named by `state`;
/// - with `early`, no thread touches anything but the memory named there before it, or one that it has synchronised with, has
///   executed `griddepcontrol.wait`.
///
/// A crate with `#![forbid(unsafe_code)]` cannot declare kernels, but can use those of another crate. `deny` does not
/// reject a declaration: the lint does not look into another crate's macro.
#[macro_export]
macro_rules! kernels {
    (
        $(#[$attribute:meta])*
        $visible:vis unsafe struct $Name:ident $(($ptx:expr))? {
            $(
                $(#[$kernel_attribute:meta])*
                fn $kernel:ident($($parameters:tt)*) {
                    $(entry: $entry:literal;)?
                    $(state: $($global:ident),+;)?
                    $(early: $($early:ident),+;)?
                    $(requires: $($condition:expr),+ $(,)?;)?
                    $(grid: $grid:expr;)?
                    $(default_grid: $default_grid:expr;)?
                }
            )*
        }
    ) => {
        $(#[$attribute])*
        $visible struct $Name { module: $crate::__private::LoadedModule<$Name> }

        // Lints do not look into another crate's macro, but `forbid` does not let itself be allowed.
        // SAFETY: the word `unsafe` in the declaration promises that it is true.
        #[allow(unsafe_code, reason = "said, so that a crate which forbids it is refused")]
        unsafe impl $crate::__private::Declared for $Name {
            const KERNELS: &'static [$crate::__private::KernelDecl] = &[$(
                $crate::__private::KernelDecl::new(
                    ::core::stringify!($kernel),
                    $crate::__kernels! { @parameters [$($parameters)*] [] [declare] [] },
                )
                $(.entry($entry))?
                $(.state(&[$(::core::stringify!($global)),+]))?
                $(.early(&[$(::core::stringify!($early)),+]))?
                $(.tunable(::core::stringify!($default_grid)))?
                .text(&[
                    ::core::concat!("fn ", ::core::stringify!($kernel), "(", ::core::stringify!($($parameters)*), ")"),
                    $(::core::concat!("entry: ", ::core::stringify!($entry)),)?
                    $(::core::concat!("state: ", ::core::stringify!($($global),+)),)?
                    $(::core::concat!("early: ", ::core::stringify!($($early),+)),)?
                    $(::core::concat!("requires: ", ::core::stringify!($($condition),+)),)?
                    $(::core::concat!("grid: ", ::core::stringify!($grid)),)?
                    $(::core::concat!("default_grid: ", ::core::stringify!($default_grid)),)?
                ])
            ),*];
        }

        #[allow(unsafe_code, reason = "as above")]
        impl $Name {
            $(
                /// Loads the module, finds every entry point, and checks its declaration against it.
                ///
                /// # Errors
                ///
                /// - The driver does not accept the PTX; an entry point is missing, or its parameters are others; the
                ///   text of a kernel contradicts its declaration.
                $visible fn load(device: &$crate::Device) -> $crate::Result<Self> {
                    // The source is an expression of the user's: outside of the block, which is for one call.
                    let module = match $ptx {
                        // SAFETY: the word `unsafe` in the declaration promises what this asks for.
                        source => unsafe { $crate::__private::LoadedModule::load(device, source) },
                    };
                    ::core::result::Result::Ok($Name { module: module? })
                }
            )?

            /// Loads the module from a text that was compiled or read at run time, finds every entry point, and checks
            /// its declaration against it.
            ///
            /// # Errors
            ///
            /// - The driver does not accept the PTX; an entry point is missing, or its parameters are others; the text
            ///   of a kernel contradicts its declaration.
            ///
            /// # Safety
            ///
            /// - Everything that the declaration promises is true of the kernels in this text.
            #[allow(dead_code, reason = "one of two ways to load")]
            $visible unsafe fn load_ptx(device: &$crate::Device, source: &str) -> $crate::Result<Self> {
                // SAFETY: the caller's promise.
                let module = unsafe { $crate::__private::LoadedModule::load(device, source) };
                ::core::result::Result::Ok($Name { module: module? })
            }

            /// What was decided about the declaration when the module was loaded.
            #[allow(dead_code, reason = "for those who ask")]
            $visible fn checked(&self) -> &$crate::inspect::Checked {
                self.module.checked()
            }

            $(
                $crate::__kernels! {
                    @parameters [$($parameters)*] []
                    [method unsafe [$(#[$kernel_attribute])*] [$visible] $kernel
                        [$($($condition),+)?] [$($grid)? $($default_grid)?]]
                    []
                }
            )*
        }
    };
    // What is wrong with anything else is said.
    ($($wrong:tt)*) => { $crate::__kernels_wrong! { $($wrong)* } };
}
