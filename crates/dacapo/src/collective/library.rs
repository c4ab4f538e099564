//! Which NCCL: NVIDIA's library, found at run time, or the one in software that belongs to a software device.

use std::sync::{Arc, OnceLock};

use dacapo_nccl::types::ncclResult;
use dacapo_nccl::{Nccl, NcclCall, NvidiaNccl};

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::interop::library::Wanted;

const NAME: &str = "NCCL";

const WANTED: Wanted =
    Wanted { name: NAME, variable: "DACAPO_LIBNCCL", files: &["libnccl.so.2", "libnccl.so"], wheels: &["nccl"] };

/// One that is open.
#[derive(Clone)]
pub(super) struct Library {
    nccl: Arc<dyn Nccl>,
    /// Whether a rank is told of every other one's end, wherever that is. NVIDIA's is known to notice it over the network only.
    tells_everybody: bool,
}

impl Library {
    /// That of a device: the double for one in software, else NVIDIA's, opened once for the process.
    pub(super) fn of(device: &Device) -> Result<Library> {
        #[cfg(feature = "software")]
        if let Some(machine) = &device.0.machine {
            return Ok(Library { nccl: Arc::new(machine.nccl()), tells_everybody: true });
        }
        if device.is_software() {
            let what = "collectives on a software device behind the C ABI".to_string();
            let needs = "`Device::software_group`, whose devices have collectives in software".to_string();
            return Err(Error::new(ErrorKind::Unsupported { what, needs }));
        }
        static OPENED: OnceLock<Library> = OnceLock::new();
        if let Some(opened) = OPENED.get() {
            return Ok(opened.clone());
        }
        let (nccl, _) = WANTED.first(None, |library| {
            // SAFETY: the file is what the system, or who started this process, calls NCCL, and it is never closed. That it is
            // of version 2.14 or later is seen by its having every symbol.
            unsafe { NvidiaNccl::resolve(|symbol| library.symbol(symbol).ok()) }.map_err(|missing| missing.to_string())
        })?;
        Ok(OPENED.get_or_init(|| Library::given(Arc::new(nccl))).clone())
    }

    /// NVIDIA's, or one that the program has brought.
    pub(super) fn given(nccl: Arc<dyn Nccl>) -> Library {
        Library { nccl, tells_everybody: false }
    }

    pub(super) fn nccl(&self) -> &dyn Nccl {
        &*self.nccl
    }

    pub(super) fn tells_everybody(&self) -> bool {
        self.tells_everybody
    }

    /// A code as a result.
    pub(super) fn check(&self, code: ncclResult, call: NcclCall) -> Result<()> {
        if code.is_success() { Ok(()) } else { Err(self.refused(code, call)) }
    }

    /// An error of a code.
    pub(super) fn refused(&self, code: ncclResult, call: NcclCall) -> Error {
        Error::new(ErrorKind::Library { library: NAME, call: call.symbol(), said: self.said(code) })
    }

    /// A code in words, with what the library says of it.
    pub(super) fn said(&self, code: ncclResult) -> String {
        match self.nccl.last_error() {
            Some(last) => format!("{code}: {last}"),
            None => code.to_string(),
        }
    }
}
