//! The table's rows as data: [`Call`] names one, and answers what is known of it.

/// What a call does when the stream it is given is capturing. Observed, not quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnCapturing {
    /// It becomes a node of the graph, or moves the stream's dependencies.
    Recorded,
    /// `STREAM_CAPTURE_UNSUPPORTED`, and the capture is invalidated: in every mode, from every thread.
    Refused,
    /// It answers and does not invalidate the capture: it asks, changes the stream itself, or begins or ends a capture.
    Allowed,
    /// It takes no stream.
    NoStream,
}

/// What a call does while some other stream captures. Observed, not quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BesideCapturing {
    /// Never checked.
    Free,
    /// Refused with `STREAM_CAPTURE_UNSUPPORTED`, invalidating the capture, unless the thread's mode, the capture's
    /// mode or the thread's identity exempts it.
    Unsafe,
    /// Refused whatever the modes are.
    Refused,
    /// Runs on the legacy stream: refused with `STREAM_CAPTURE_IMPLICIT` while a blocking stream captures, else free.
    Legacy,
    /// It depends on where the event was recorded.
    Event,
}

/// Whether a symbol has a twin whose null stream is the calling thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PerThreadTwin {
    /// No twin.
    None,
    /// The symbol with `_ptsz` behind it.
    Ptsz,
    /// The symbol with `_ptds` behind it.
    Ptds,
}

/// The chapters of the driver API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Family {
    General,
    Device,
    Context,
    Module,
    Library,
    Link,
    Function,
    Memory,
    Pool,
    VirtualMemory,
    Pointer,
    Copy,
    Set,
    Array,
    Texture,
    Stream,
    Capture,
    Event,
    Launch,
    Graph,
    GraphExec,
    GraphMemory,
    UserObject,
    Occupancy,
    Profiler,
}

macro_rules! define_calls {
    ($($symbol:ident [$name:ident, $family:ident, $since:literal, $on:ident, $beside:ident, $twin:ident] ($($arg:ident: $ty:ty),*);)*) => {
        /// A row of the table: one symbol of the driver API.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(non_camel_case_types, missing_docs, reason = "cuda.h's own names")]
        #[repr(u16)]
        pub enum Call { $($symbol,)* }

        impl Call {
            /// Every row, in the table's order.
            pub const ALL: &'static [Call] = &[$(Call::$symbol,)*];

            fn row(self) -> &'static Row {
                const ROWS: &[Row] = &[$(Row {
                    symbol: stringify!($symbol), name: stringify!($name), family: Family::$family, since: $since,
                    on: OnCapturing::$on, beside: BesideCapturing::$beside, twin: PerThreadTwin::$twin,
                    arguments: &[$((stringify!($arg), stringify!($ty))),*],
                },)*];
                &ROWS[self as usize]
            }
        }
    };
}

struct Row {
    symbol: &'static str,
    name: &'static str,
    family: Family,
    since: u32,
    on: OnCapturing,
    beside: BesideCapturing,
    twin: PerThreadTwin,
    arguments: &'static [(&'static str, &'static str)],
}

crate::for_each_call!(define_calls);

impl Call {
    /// The symbol the library exports: `cuMemAlloc_v2`.
    pub fn symbol(self) -> &'static str {
        self.row().symbol
    }

    /// The name in the manual, which `cuGetProcAddress` takes: `cuMemAlloc`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The chapter it belongs to.
    pub fn family(self) -> Family {
        self.row().family
    }

    /// The CUDA version that brought this signature: 12_030 is CUDA 12.3.
    pub fn since(self) -> u32 {
        self.row().since
    }

    /// What it does on a capturing stream.
    pub fn on_capturing_stream(self) -> OnCapturing {
        self.row().on
    }

    /// What it does beside a capturing stream.
    pub fn beside_capturing_stream(self) -> BesideCapturing {
        self.row().beside
    }

    /// Whether there is a `_ptsz` or `_ptds` twin.
    pub fn per_thread_twin(self) -> PerThreadTwin {
        self.row().twin
    }

    /// Names and types of the arguments, in order.
    pub fn arguments(self) -> &'static [(&'static str, &'static str)] {
        self.row().arguments
    }

    /// The row whose symbol is `symbol`.
    pub fn by_symbol(symbol: &str) -> Option<Call> {
        Call::ALL.iter().copied().find(|call| call.symbol() == symbol)
    }
}
