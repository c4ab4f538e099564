//! CUDA C compiled to PTX at run time by NVRTC.
//!
//! ```no_run
//! use dacapo::interop::nvrtc::{self, Options};
//! # fn main() -> dacapo::Result<()> {
//! # let device = dacapo::Device::best()?;
//! let source = r#"extern "C" __global__ void twice(float* y, unsigned n) {
//!     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i < n) y[i] *= 2;
//! }"#;
//! let ptx = nvrtc::compile(source, &Options::new().name("twice.cu").device(&device))?;
//! let kernel = dacapo::raw::RawKernel::load(&device, &ptx, "twice")?;
//! # Ok(()) }
//! ```
//!
//! - [`Ptx`] is text: it goes where any PTX goes, to [`RawKernel::load`](crate::raw::RawKernel::load) and to the `load_ptx` of
//!   [`kernels!`](crate::kernels), on a GPU and on the software device. Compiling needs neither.
//! - The library is found at run time: `libnvrtc.so.13`, `.12`, `.11.2`, then the plain name, in the loader's search
//!   path and in the usual folders of the toolkit and of wheels; [`Options::library`] or `DACAPO_LIBNVRTC` names a file
//!   instead. Without it [`compile`] returns [`ErrorKind::NoLibrary`].
//! - A source with errors is [`ErrorKind::Compile`], with the compiler's log, which names the lines of the source.

mod options;
mod sys;

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Result};
use crate::interop::library::{Library, Wanted};

pub use options::Options;
use sys::{Entries, Program, SUCCESS, Status};

const WANTED: Wanted = Wanted {
    name: "NVRTC",
    variable: "DACAPO_LIBNVRTC",
    files: &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"],
    wheels: &["cu13", "cuda_nvrtc"],
};

/// PTX that was compiled at run time. It derefs to `str`, so it goes wherever PTX goes.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{ErrorKind, interop::nvrtc::{self, Options}};
/// let source = "template<class T> __global__ void twice(T* y) { y[threadIdx.x] *= 2; }";
/// match nvrtc::compile(source, &Options::new().instance("twice<float>")) {
///     Ok(ptx) => assert!(ptx.contains(ptx.entry("twice<float>").unwrap())), // the mangled name
///     Err(error) => assert!(matches!(error.kind(), ErrorKind::NoLibrary { .. }), "{error}"), // no NVRTC here
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    text: String,
    log: String,
    entries: Vec<(String, String)>,
}

impl Ptx {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The compiler's warnings. Often empty.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The symbol of a template instance that [`Options::instance`] asked for.
    pub fn entry(&self, instance: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == instance).map(|(_, symbol)| symbol.as_str())
    }
}

impl Deref for Ptx {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for Ptx {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Ptx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Compiles CUDA C to PTX. Needs no GPU.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{ErrorKind, interop::nvrtc::{self, Options}};
/// let source = r#"extern "C" __global__ void twice(float* y) { y[threadIdx.x] *= 2; }"#;
/// match nvrtc::compile(source, &Options::new()) {
///     Ok(ptx) => assert!(ptx.contains(".entry twice")), // for `RawKernel::load` or `Kernels::load_ptx`
///     Err(error) => assert!(matches!(error.kind(), ErrorKind::NoLibrary { .. }), "{error}"), // no NVRTC here
/// }
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// - [`ErrorKind::NoLibrary`]: NVRTC was not found; the error lists what was tried.
/// - [`ErrorKind::Compile`]: the source has errors; the error has the log.
/// - [`ErrorKind::Library`]: NVRTC refused something else, such as an option.
pub fn compile(source: &str, options: &Options) -> Result<Ptx> {
    let nvrtc = Nvrtc::open(options.library_path())?;
    let text = c_string(source, "the source")?;
    let name = c_string(options.program_name(), "the program's name")?;
    let headers = options.headers_as_c()?;
    let header_texts: Vec<*const c_char> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
    let header_names: Vec<*const c_char> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
    let mut program = Compilation { nvrtc, raw: std::ptr::null_mut() };
    // SAFETY: all texts end in a zero and outlive the call, which copies them; there are as many as are said.
    let status = unsafe {
        (nvrtc.entries.nvrtcCreateProgram)(
            &mut program.raw,
            text.as_ptr(),
            name.as_ptr(),
            headers.len() as c_int,
            header_texts.as_ptr(),
            header_names.as_ptr(),
        )
    };
    nvrtc.check(status, "nvrtcCreateProgram")?;
    let instances: Vec<CString> =
        options.instances().iter().map(|instance| c_string(instance, "an instance")).collect::<Result<_>>()?;
    for instance in &instances {
        // SAFETY: the program was made above; the text ends in a zero.
        let status = unsafe { (nvrtc.entries.nvrtcAddNameExpression)(program.raw, instance.as_ptr()) };
        nvrtc.check(status, "nvrtcAddNameExpression")?;
    }
    let flags = options.flags(|| nvrtc.architectures())?;
    let flags: Vec<CString> = flags.iter().map(|flag| c_string(flag, "an option")).collect::<Result<_>>()?;
    let pointers: Vec<*const c_char> = flags.iter().map(|flag| flag.as_ptr()).collect();
    // SAFETY: the program was made above; there are as many texts as are said, each ending in a zero.
    let status =
        unsafe { (nvrtc.entries.nvrtcCompileProgram)(program.raw, pointers.len() as c_int, pointers.as_ptr()) };
    let log = program.text(nvrtc.entries.nvrtcGetProgramLogSize, nvrtc.entries.nvrtcGetProgramLog);
    match status {
        SUCCESS => {}
        sys::COMPILATION => return Err(Error::new(ErrorKind::Compile { log: log.unwrap_or_default() })),
        status => {
            let said = match log.unwrap_or_default() {
                log if log.trim().is_empty() => nvrtc.words(status),
                log => format!("{}: {}", nvrtc.words(status), log.trim()),
            };
            return Err(Error::new(ErrorKind::Library { library: WANTED.name, call: "nvrtcCompileProgram", said }));
        }
    }
    let text = program.text(nvrtc.entries.nvrtcGetPTXSize, nvrtc.entries.nvrtcGetPTX)?;
    let mut entries = Vec::with_capacity(instances.len());
    for (instance, expression) in options.instances().iter().zip(&instances) {
        let mut symbol: *const c_char = std::ptr::null();
        // SAFETY: the expression was added before the program was compiled; `symbol` is valid for the write.
        let status = unsafe { (nvrtc.entries.nvrtcGetLoweredName)(program.raw, expression.as_ptr(), &mut symbol) };
        nvrtc.check(status, "nvrtcGetLoweredName")?;
        // SAFETY: the name ends in a zero and lives as long as the program.
        let symbol = unsafe { CStr::from_ptr(symbol) }.to_string_lossy().into_owned();
        entries.push((instance.clone(), symbol));
    }
    Ok(Ptx { text, log: log?.trim().to_string(), entries })
}

/// The version of the compiler that [`compile`] would use: `(12, 4)`.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{ErrorKind, interop::nvrtc::{self, Options}};
/// match nvrtc::version(&Options::new()) {
///     Ok(version) => assert!(version >= (11, 2)),
///     Err(error) => assert!(matches!(error.kind(), ErrorKind::NoLibrary { .. }), "{error}"), // no NVRTC here
/// }
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// - [`ErrorKind::NoLibrary`]: NVRTC was not found; the error lists what was tried.
pub fn version(options: &Options) -> Result<(u32, u32)> {
    Ok(Nvrtc::open(options.library_path())?.version)
}

pub(super) fn c_string(text: &str, what: &str) -> Result<CString> {
    CString::new(text).map_err(|zero| Error::msg(format!("{what} has a zero byte in it")).with_source(zero))
}

/// The opened library.
struct Nvrtc {
    entries: Entries,
    version: (u32, u32),
}

impl Nvrtc {
    /// Opened once for each file that is asked for; it is never closed.
    fn open(path: Option<&Path>) -> Result<&'static Nvrtc> {
        static OPENED: Mutex<Option<HashMap<Option<PathBuf>, &'static Nvrtc>>> = Mutex::new(None);
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = opened.get_or_insert_default();
        // The variable may change; what was opened under another name of it is another library.
        let key = path.map(Path::to_path_buf).or_else(|| std::env::var_os(WANTED.variable).map(PathBuf::from));
        if let Some(nvrtc) = opened.get(&key) {
            return Ok(nvrtc);
        }
        for path in WANTED.candidates(path) {
            load_companion(&path);
        }
        let (nvrtc, _) = WANTED.first(path, |library| {
            let entries = Entries::find(library)?;
            let (mut major, mut minor) = (0, 0);
            // SAFETY: both are valid for the write.
            match unsafe { (entries.nvrtcVersion)(&mut major, &mut minor) } {
                SUCCESS => Ok(Nvrtc { entries, version: (major as u32, minor as u32) }),
                status => Err(format!("nvrtcVersion answered {status}")),
            }
        })?;
        let nvrtc: &'static Nvrtc = Box::leak(Box::new(nvrtc));
        opened.insert(key, nvrtc);
        Ok(nvrtc)
    }

    /// What the library says about a status.
    fn words(&self, status: Status) -> String {
        // SAFETY: it takes any number.
        let text = unsafe { (self.entries.nvrtcGetErrorString)(status) };
        if text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: a text of the library's own, which ends in a zero and is never freed.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    fn check(&self, status: Status, call: &'static str) -> Result<()> {
        match status {
            SUCCESS => Ok(()),
            status => Err(Error::new(ErrorKind::Library { library: WANTED.name, call, said: self.words(status) })),
        }
    }

    /// The architectures it knows, as 90 for `compute_90`.
    fn architectures(&self) -> Result<Vec<u32>> {
        let mut count = 0;
        // SAFETY: `count` is valid for the write.
        let status = unsafe { (self.entries.nvrtcGetNumSupportedArchs)(&mut count) };
        self.check(status, "nvrtcGetNumSupportedArchs")?;
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: there is room for as many as it said.
        let status = unsafe { (self.entries.nvrtcGetSupportedArchs)(known.as_mut_ptr()) };
        self.check(status, "nvrtcGetSupportedArchs")?;
        Ok(known.into_iter().filter_map(|known| u32::try_from(known).ok()).collect())
    }
}

/// NVRTC opens a second library, `libnvrtc-builtins`, by its plain name: it is found where the loader searches, or if it is
/// open already. So for a file that is named with its folder, the one beside it is opened first.
fn load_companion(nvrtc: &Path) {
    let Some(folder) = nvrtc.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_companion = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libnvrtc-builtins.so."))
    };
    for companion in files.filter(is_companion) {
        // Where it does not open, NVRTC says so when it compiles.
        let _ = Library::open(&companion);
    }
}

/// A program of the library's, destroyed with this.
struct Compilation {
    nvrtc: &'static Nvrtc,
    raw: Program,
}

impl Compilation {
    /// A text that is asked for by its size and then by itself; the size counts the zero at its end.
    fn text(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> Status,
        get: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    ) -> Result<String> {
        let mut bytes = 0;
        // SAFETY: the program is alive; `bytes` is valid for the write.
        self.nvrtc.check(unsafe { size(self.raw, &mut bytes) }, "nvrtcGetProgramLogSize or nvrtcGetPTXSize")?;
        let mut text = vec![0u8; bytes];
        if bytes > 0 {
            // SAFETY: there is room for as many bytes as it said.
            let status = unsafe { get(self.raw, text.as_mut_ptr().cast()) };
            self.nvrtc.check(status, "nvrtcGetProgramLog or nvrtcGetPTX")?;
        }
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        Ok(String::from_utf8_lossy(&text[..end]).into_owned())
    }
}

impl Drop for Compilation {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: made by `nvrtcCreateProgram` and held by nobody else.
            unsafe { (self.nvrtc.entries.nvrtcDestroyProgram)(&mut self.raw) };
        }
    }
}
