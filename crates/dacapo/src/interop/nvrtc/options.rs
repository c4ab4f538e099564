//! How a text is compiled.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use crate::device::Device;
use crate::error::Result;
use crate::interop::nvrtc::c_string;

/// How a source is compiled: NVRTC's command line.
///
/// ```
/// # fn main() -> dacapo::Result<()> {
/// use dacapo::{ErrorKind, interop::nvrtc::{self, Options}};
/// let source = r#"extern "C" __global__ void set(int* y) { *y = N; }"#;
/// match nvrtc::compile(source, &Options::new().name("set.cu").define("N", 4).line_info()) {
///     Ok(ptx) => assert!(ptx.contains("set.cu")),
///     Err(error) => assert!(matches!(error.kind(), ErrorKind::NoLibrary { .. }), "{error}"), // no NVRTC here
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    name: Option<String>,
    arch: Option<Arch>,
    includes: Vec<PathBuf>,
    defines: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    instances: Vec<String>,
    flags: Vec<String>,
    fast_math: bool,
    line_info: bool,
    library: Option<PathBuf>,
}

#[derive(Clone, Debug)]
enum Arch {
    Named(String),
    /// The newest that the compiler knows and that is not newer than this.
    UpTo(u32),
}

/// Runs on every GPU that the library supports, and on all later ones.
const ARCH: &str = "compute_75";

impl Options {
    /// For `compute_75`, with no other options.
    pub fn new() -> Options {
        Options::default()
    }

    /// The file name in the compiler's log; `program.cu` by default.
    pub fn name(mut self, name: impl Into<String>) -> Options {
        self.name = Some(name.into());
        self
    }

    /// For this device: the newest architecture that both it and the compiler know.
    pub fn device(mut self, device: &Device) -> Options {
        let (major, minor) = device.properties().compute;
        self.arch = Some(Arch::UpTo(major * 10 + minor));
        self
    }

    /// For this architecture: `compute_90`.
    pub fn arch(mut self, arch: impl Into<String>) -> Options {
        self.arch = Some(Arch::Named(arch.into()));
        self
    }

    /// One more folder for `#include`.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Options {
        self.includes.push(folder.into());
        self
    }

    /// A macro: `define("N", "4")` is `-DN=4`.
    pub fn define(mut self, name: impl Into<String>, value: impl ToString) -> Options {
        self.defines.push((name.into(), value.to_string()));
        self
    }

    /// A header as text: `#include "name"` finds it without a file.
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Options {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// A template instance to compile: `scale<float>`. [`Ptx::entry`](super::Ptx::entry) gives its symbol.
    pub fn instance(mut self, expression: impl Into<String>) -> Options {
        self.instances.push(expression.into());
        self
    }

    /// Fast approximate math; denormals are flushed to zero.
    pub fn fast_math(mut self) -> Options {
        self.fast_math = true;
        self
    }

    /// Adds source lines to the PTX, so that the software device can name them in its reports.
    pub fn line_info(mut self) -> Options {
        self.line_info = true;
        self
    }

    /// Any other option, passed unchanged: `--std=c++17`.
    pub fn flag(mut self, flag: impl Into<String>) -> Options {
        self.flags.push(flag.into());
        self
    }

    /// The library's file, instead of searching for it.
    ///
    /// Unsafe, because opening a file runs its code:
    ///
    /// ```compile_fail,E0133
    /// dacapo::interop::nvrtc::Options::new().library("any.so");
    /// ```
    ///
    /// # Safety
    ///
    /// - Opening the file runs its initialisers and those of its dependencies and of the `libnvrtc-builtins` beside it:
    ///   they do no harm.
    /// - If it exports NVRTC's names, they do what NVIDIA's do.
    pub unsafe fn library(mut self, file: impl Into<PathBuf>) -> Options {
        self.library = Some(file.into());
        self
    }

    pub(super) fn library_path(&self) -> Option<&Path> {
        self.library.as_deref()
    }

    pub(super) fn program_name(&self) -> &str {
        self.name.as_deref().unwrap_or("program.cu")
    }

    pub(super) fn instances(&self) -> &[String] {
        &self.instances
    }

    /// Name and text of each header.
    pub(super) fn headers_as_c(&self) -> Result<Vec<(CString, CString)>> {
        let headers = self.headers.iter();
        headers.map(|(name, text)| Ok((c_string(name, "a header's name")?, c_string(text, "a header")?))).collect()
    }

    /// The command line. `known` are the architectures that the compiler knows, asked for only where they matter.
    pub(super) fn flags(&self, known: impl FnOnce() -> Result<Vec<u32>>) -> Result<Vec<String>> {
        let arch = match &self.arch {
            None => ARCH.to_string(),
            Some(Arch::Named(arch)) => arch.clone(),
            Some(Arch::UpTo(newest)) => {
                let best = known()?.into_iter().filter(|known| known <= newest).max();
                best.map_or_else(|| ARCH.to_string(), |best| format!("compute_{best}"))
            }
        };
        let mut flags = vec![format!("--gpu-architecture={arch}")];
        flags.extend(self.includes.iter().map(|folder| format!("--include-path={}", folder.display())));
        flags.extend(self.defines.iter().map(|(name, value)| format!("--define-macro={name}={value}")));
        if self.fast_math {
            flags.push("--use_fast_math".to_string());
        }
        if self.line_info {
            flags.push("--generate-line-info".to_string());
        }
        flags.extend(self.flags.iter().cloned());
        Ok(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_the_compiler_s_own() {
        let options = Options::new().define("N", 4).include("inc").fast_math().line_info().flag("--std=c++17");
        let flags = options.flags(|| panic!("not asked for")).unwrap();
        let want = [
            "--gpu-architecture=compute_75",
            "--include-path=inc",
            "--define-macro=N=4",
            "--use_fast_math",
            "--generate-line-info",
            "--std=c++17",
        ];
        assert_eq!(flags, want);
    }

    #[test]
    fn a_device_gets_the_newest_architecture_that_the_compiler_knows_too() {
        let of = |newest, known: &'static [u32]| {
            let options = Options { arch: Some(Arch::UpTo(newest)), ..Options::default() };
            options.flags(|| Ok(known.to_vec())).unwrap()[0].clone()
        };
        assert_eq!(of(90, &[75, 80, 90, 100]), "--gpu-architecture=compute_90");
        assert_eq!(of(120, &[75, 80, 90]), "--gpu-architecture=compute_90");
        assert_eq!(of(70, &[75]), "--gpu-architecture=compute_75");
    }
}
