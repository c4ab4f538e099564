//! The kernels of `kernels/llama.cu` and `kernels/text.cu` as methods: a declaration for each type of weights, [`Weight`], which
//! finds the one that belongs to a type, and one for what is the same for all types.
//!
//! Sizes that follow from the lengths of what is given are not arguments, and `requires` says how the rest must fit: a wrong
//! buffer is an error with the lengths in it, before anything runs.

use dacapo::grid::{Grid, exact};
use dacapo::{Device, Element, Op, Pod, Result, Slice, Value};
use half::{bf16, f16};

/// Warps of a block of a matrix product, and the same for [`linear_add`](Step::linear_add), where two of them share a row.
const WARPS: u32 = 8;
const WARPS_SHARING: u32 = 16;
/// Threads of a block of `attend`, and query heads whose values it adds up at a time; as in the CUDA source.
const THREADS: u32 = 256;
const TILE: u32 = 4;

/// What the arguments of `attend` say besides their lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    /// Positions that the cache has room for.
    pub context: u32,
    /// Elements of a head.
    pub head: u32,
    /// Query heads.
    pub heads: u32,
    /// Query heads that share a head of keys and values.
    pub group: u32,
    /// Positions that one block looks at.
    pub span: u32,
}

impl Attention {
    /// Spans that the context has.
    pub fn spans(&self) -> u32 {
        self.context.div_ceil(self.span.max(1))
    }

    /// What every score is multiplied with.
    pub fn scale(&self) -> f32 {
        1.0 / (self.head as f32).sqrt()
    }
}

/// A type of weights that there are kernels for.
pub trait Weight: Pod {
    /// Its name in a safetensors file.
    const NAME: &'static str;
    /// Its kernels.
    type Kernels: Step<T = Self>;

    /// As a number of more digits.
    fn wide(self) -> f32;

    /// Loads its kernels.
    ///
    /// # Errors
    ///
    /// - What the device answered.
    fn load(device: &Device) -> Result<Self::Kernels>;
}

/// Makes the trait and, for each declaration, the methods that hand on to its kernels. `Self::T` is the type of weights.
macro_rules! steps {
    ($($(#[$about:meta])* fn $kernel:ident($($name:ident: $Type:ty),* $(,)?);)*) => {
        /// The kernels of a step for one type of weights.
        pub trait Step: Send + Sync {
            /// The type of weights.
            type T: Weight;

            $($(#[$about])*
            #[track_caller]
            fn $kernel(&self, $($name: $Type),*) -> impl Op<Out = ()>;)*

            /// Puts the step's keys and values into the cache and attends over it: the whole of it where there is one span,
            /// else what [`combine`](SharedKernels::combine) puts together.
            #[track_caller]
            #[expect(clippy::too_many_arguments, reason = "these are the kernel's")]
            fn attend(
                &self,
                qkv: &Slice<f32>,
                turns: &Slice<f32>,
                position: &Element<u32>,
                keys: &mut Slice<Self::T>,
                values: &mut Slice<Self::T>,
                out: &mut Slice<f32>,
                tops: &mut Slice<f32>,
                attention: Attention,
            ) -> impl Op<Out = ()>;
        }

        macro_rules! hand_on {
            ($Name:ident) => {
                $(#[track_caller]
                fn $kernel(&self, $($name: $Type),*) -> impl Op<Out = ()> {
                    $Name::$kernel(self, $($name),*)
                })*
            };
        }
    };
}

steps! {
    /// x ← the vector of the token that the sequence stands at.
    fn embed(history: &Slice<u32>, position: &Element<u32>, table: &Slice<Self::T>, x: &mut Slice<f32>);

    /// y ← norm(x) Wᵀ.
    fn norm_linear(x: &Slice<f32>, gain: &Slice<f32>, w: &Slice<Self::T>, y: &mut Slice<f32>, epsilon: impl Value<f32>);

    /// y ← silu(norm(x) Gᵀ) · norm(x) Uᵀ, where `w` is G and then U.
    fn norm_gate(x: &Slice<f32>, gain: &Slice<f32>, w: &Slice<Self::T>, y: &mut Slice<f32>, epsilon: impl Value<f32>);

    /// y ← y + x Wᵀ.
    fn linear_add(x: &Slice<f32>, w: &Slice<Self::T>, y: &mut Slice<f32>);
}

dacapo::kernels! {
    /// What is the same for every type of weights.
    ///
    /// Safe by: every kernel compares its thread's number with the sizes below; a position is compared with the context before
    /// it is an index.
    pub unsafe struct SharedKernels(include_str!("../../kernels/text.ptx")) {
        /// out ← what the spans have of the attention, added up.
        fn combine(parts: &[f32], tops: &[f32], out: &out [f32], heads: u32, head: u32, spans: u32 = per(parts.len(), out.len())) {
            requires: heads > 0, head > 0, head <= 1024, !out.is_empty(), out.len() == heads as usize * head as usize,
                parts.len().is_multiple_of(out.len()), tops.len() == 2 * spans as usize * heads as usize;
            grid: exact([heads, 1, 1], [head, 1, 1]);
        }
        /// best ← the likeliest token, where it beats what is there.
        fn choose(logits: &[f32], best: &mut u64, vocabulary: u32 = logits.len()) {
            grid: linear(logits.len().div_ceil(4), 256);
        }
        /// best ← a token drawn at this temperature, where it beats what is there.
        fn draw(logits: &[f32], noise: &[f32], best: &mut u64, vocabulary: u32 = logits.len(), temperature: f32) {
            requires: noise.len() == logits.len(), temperature > 0.0;
            grid: linear(logits.len().div_ceil(4), 256);
        }
        /// One given token on.
        fn feed(position: &mut u32, length: &u32) {
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
        /// The chosen token behind the last one, and one on.
        fn advance(best: &mut u64, ends: &[u32], position: &mut u32, limit: &mut u32, history: &mut [u32],
                   running: &out u32, ends_count: u32 = ends.len(), context: u32 = history.len().saturating_sub(1)) {
            requires: !history.is_empty();
            grid: exact([1, 1, 1], [1, 1, 1]);
        }
    }
}

/// Declares the kernels for one type of weights, and says that they are those of the type.
macro_rules! step {
    ($Name:ident, $T:ident, $name:literal, $embed:literal, $norm_linear:literal, $norm_gate:literal, $linear_add:literal,
     $attend:literal) => {
        dacapo::kernels! {
            /// The kernels for one type of weights.
            ///
            /// Safe by: every kernel compares its thread's number with the sizes below; a token and a position are compared
            /// with how many there are before they are an index.
            pub unsafe struct $Name(include_str!("../../kernels/llama.ptx")) {
                /// x ← the vector of the token that the sequence stands at.
                fn embed(history: &[u32], position: &u32, table: &[$T], x: &out [f32],
                         context: u32 = history.len().saturating_sub(1), vocabulary: u32 = per(table.len(), x.len()),
                         dim: u32 = x.len()) {
                    entry: $embed;
                    requires: !history.is_empty(), !x.is_empty(), !table.is_empty(), table.len().is_multiple_of(x.len());
                    grid: linear(x.len(), 256);
                }
                /// y ← norm(x) Wᵀ.
                fn norm_linear(x: &[f32], gain: &[f32], w: &[$T], y: &out [f32], inputs: u32 = x.len(),
                               outputs: u32 = y.len(), epsilon: f32) {
                    entry: $norm_linear;
                    requires: gain.len() == x.len(), matrix::<$T>(x.len(), w.len(), y.len()), x.aligned(16),
                        gain.aligned(16), w.aligned(16);
                    grid: products(outputs, inputs, WARPS, 1);
                }
                /// y ← silu(norm(x) Gᵀ) · norm(x) Uᵀ.
                fn norm_gate(x: &[f32], gain: &[f32], w: &[$T], y: &out [f32], inputs: u32 = x.len(),
                             hidden: u32 = y.len(), epsilon: f32) {
                    entry: $norm_gate;
                    requires: gain.len() == x.len(), matrix::<$T>(x.len(), w.len(), 2 * y.len()), x.aligned(16),
                        gain.aligned(16), w.aligned(16);
                    grid: products(hidden, inputs, WARPS, 1);
                }
                /// y ← y + x Wᵀ.
                fn linear_add(x: &[f32], w: &[$T], y: &mut [f32], inputs: u32 = x.len(), outputs: u32 = y.len()) {
                    entry: $linear_add;
                    requires: matrix::<$T>(x.len(), w.len(), y.len()), x.aligned(16), w.aligned(16);
                    grid: products(outputs, inputs, WARPS_SHARING, 2);
                }
                /// Keys and values into the cache, and attention over it.
                fn attend(qkv: &[f32], turns: &[f32], position: &u32, keys: &mut [$T], values: &mut [$T], out: &out [f32],
                          tops: &out [f32], context: u32, head: u32, heads: u32, group: u32, span: u32, scale: f32) {
                    entry: $attend;
                    requires: attention::<$T>(Attention { context, head, heads, group, span }, qkv.len(), turns.len(), keys.len(),
                            out.len(), tops.len()), values.len() == keys.len(), turns.aligned(8), keys.aligned(16),
                        values.aligned(16);
                    grid: heads_and_spans(Attention { context, head, heads, group, span });
                }
            }
        }

        impl Weight for $T {
            const NAME: &'static str = $name;
            type Kernels = $Name;

            fn wide(self) -> f32 {
                self.into()
            }

            fn load(device: &Device) -> Result<$Name> {
                $Name::load(device)
            }
        }

        impl Step for $Name {
            type T = $T;

            hand_on!($Name);

            #[track_caller]
            fn attend(
                &self,
                qkv: &Slice<f32>,
                turns: &Slice<f32>,
                position: &Element<u32>,
                keys: &mut Slice<$T>,
                values: &mut Slice<$T>,
                out: &mut Slice<f32>,
                tops: &mut Slice<f32>,
                attention: Attention,
            ) -> impl Op<Out = ()> {
                let Attention { context, head, heads, group, span } = attention;
                let [context, head, heads, group, span] = [context, head, heads, group, span].map(dacapo::baked);
                let scale = dacapo::baked(attention.scale());
                $Name::attend(self, qkv, turns, position, keys, values, out, tops, context, head, heads, group, span, scale)
            }
        }
    };
}

step!(Bf16Kernels, bf16, "BF16", "embed_bf16", "norm_linear_bf16", "norm_gate_bf16", "linear_add_bf16", "attend_bf16");
step!(F16Kernels, f16, "F16", "embed_f16", "norm_linear_f16", "norm_gate_f16", "linear_add_f16", "attend_f16");
step!(F32Kernels, f32, "F32", "embed_f32", "norm_linear_f32", "norm_gate_f32", "linear_add_f32", "attend_f32");

/// How often `part` is in `len`. `requires` says that nothing was left over.
fn per(len: usize, part: usize) -> usize {
    len.checked_div(part).unwrap_or(0)
}

/// Whether W is [outputs, inputs], and a row of it whole chunks of 16 bytes.
fn matrix<T>(inputs: usize, w: usize, outputs: usize) -> bool {
    inputs > 0
        && (inputs * size_of::<T>()).is_multiple_of(16)
        && inputs.checked_mul(outputs) == Some(w)
        && outputs <= u32::MAX as usize / 2
}

/// Whether these sizes are those of the arguments, and some that `attend` can do.
fn attention<T>(of: Attention, qkv: usize, turns: usize, keys: usize, out: usize, tops: usize) -> bool {
    let Attention { context, head, heads, group, span } = of;
    let all = u64::from(heads) * u64::from(head);
    if ![16, 32, 64, 128].contains(&head) || group == 0 || span == 0 || context == 0 || !heads.is_multiple_of(group) {
        return false;
    }
    let (kv_heads, spans) = (u64::from(heads / group), u64::from(of.spans()));
    qkv as u64 == all + 2 * kv_heads * u64::from(head)
        && turns as u64 == u64::from(context) * u64::from(head)
        && keys as u64 == kv_heads * u64::from(context) * u64::from(head)
        && u64::from(span) * u64::from(head) * size_of::<T>() as u64 <= u64::from(u32::MAX)
        && out as u64 == spans * all
        && tops as u64 == 2 * spans * u64::from(heads)
}

/// `sharing` warps for each row, or pair of rows; the vector is in shared memory.
fn products(rows: u32, inputs: u32, warps: u32, sharing: u32) -> Grid {
    exact([rows.div_ceil(warps / sharing), 1, 1], [32 * warps, 1, 1]).shared(inputs.saturating_mul(4))
}

/// A block for each head of keys and values, and each span.
fn heads_and_spans(of: Attention) -> Grid {
    let Attention { head, heads, group, span, .. } = of;
    let floats = group.saturating_mul(head.saturating_add(span)).saturating_add(THREADS / 32 * TILE * head);
    exact([heads.checked_div(group).unwrap_or(0), of.spans(), 1], [THREADS, 1, 1]).shared(floats.saturating_mul(4))
}
