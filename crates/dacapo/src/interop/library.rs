//! Shared libraries that are looked for at run time: where, and what is in them.
//!
//! - A library that is not there is an error that lists every place that was tried, each with the reason.
//! - Which file is opened is decided by the system and by who started the process, through variables of the same rank
//!   as the loader's `LD_LIBRARY_PATH`; or by a caller who names it, behind `unsafe`. No safe call takes a file.
//! - A library is never unloaded: it has threads and destructors of its own, which are code inside it.
//! - An address that is handed out is that of a symbol of the asked name; that it has the stated signature is what the
//!   table of its file says.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use crate::error::{Error, ErrorKind};

/// A library that is looked for.
pub(crate) struct Wanted {
    /// As errors name it.
    pub(crate) name: &'static str,
    /// The variable that names the file to open instead of searching.
    pub(crate) variable: &'static str,
    /// File names, the newest first.
    pub(crate) files: &'static [&'static str],
    /// The folders of the Python wheels that have it, below `site-packages/nvidia`.
    pub(crate) wheels: &'static [&'static str],
}

impl Wanted {
    /// What is tried, in order: the file that the caller or the variable names, and no other; else the loader's own
    /// search (`LD_LIBRARY_PATH` and the system's folders), then the folders of a toolkit and of the packages and wheels in an
    /// active environment of Python's or conda's.
    pub(crate) fn candidates(&self, given: Option<&Path>) -> Vec<PathBuf> {
        let named = given.map(Path::to_path_buf).or_else(|| std::env::var_os(self.variable).map(PathBuf::from));
        if let Some(path) = named {
            return vec![path];
        }
        let mut folders = Vec::new();
        for variable in ["CUDA_HOME", "CUDA_PATH"] {
            folders.extend(std::env::var_os(variable).map(|root| PathBuf::from(root).join("lib64")));
        }
        folders.push(PathBuf::from("/usr/local/cuda/lib64"));
        for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os).map(PathBuf::from) {
            // Conda has packages of the libraries themselves, too.
            folders.push(root.join("lib"));
            let pythons = std::fs::read_dir(root.join("lib"));
            let mut pythons: Vec<PathBuf> = pythons.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            pythons.sort();
            for python in pythons {
                let nvidia = python.join("site-packages/nvidia");
                folders.extend(self.wheels.iter().map(|wheel| nvidia.join(wheel).join("lib")));
            }
        }
        let plain = self.files.iter().map(PathBuf::from);
        // Beside the loader's search only files that are there: each that is not would be a line of the error.
        let inside = folders.iter().flat_map(|folder| self.files.iter().map(move |file| folder.join(file)));
        plain.chain(inside.filter(|path| path.exists())).collect()
    }

    /// None of them would do.
    pub(crate) fn missing(&self, tried: Vec<(PathBuf, String)>) -> Error {
        let tried = tried.into_iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
        Error::new(ErrorKind::NoLibrary { library: self.name, variable: self.variable, tried })
    }

    /// The first candidate of which `make` makes something, with where it was.
    pub(crate) fn first<T>(
        &self,
        given: Option<&Path>,
        make: impl Fn(&Library) -> Result<T, String>,
    ) -> Result<(T, PathBuf), Error> {
        let mut tried = Vec::new();
        for path in self.candidates(given) {
            match Library::open(&path).and_then(|library| make(&library)) {
                Ok(made) => return Ok((made, path)),
                Err(why) => tried.push((path, why)),
            }
        }
        Err(self.missing(tried))
    }
}

/// An opened library that stays open.
pub(crate) struct Library(&'static libloading::Library);

impl Library {
    pub(crate) fn open(path: &Path) -> Result<Library, String> {
        if path.as_os_str().is_empty() {
            // An empty name would open the running program itself.
            return Err("the name is empty".to_string());
        }
        // SAFETY: opening runs the library's initialisers. Whoever named the file has promised that they do no harm, or
        // it is the system's, or of who started this process.
        match unsafe { libloading::Library::new(path) } {
            Ok(library) => Ok(Library(Box::leak(Box::new(library)))),
            // The loader's own words are one level down.
            Err(error) => Err(std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string)),
        }
    }

    /// The address of a symbol.
    pub(crate) fn symbol(&self, name: &str) -> Result<NonNull<c_void>, String> {
        let lacks = || format!("it has no `{name}`");
        // SAFETY: a symbol's address is asked for as a plain pointer and nothing is done with it here.
        let symbol = unsafe { self.0.get::<*mut c_void>(name) }.map_err(|_| lacks())?;
        // SAFETY: the library is never closed, so the address may outlive the borrow.
        unsafe { symbol.try_as_raw_ptr() }.and_then(NonNull::new).ok_or_else(lacks)
    }
}

/// A struct of function pointers with a `find` that looks all of them up in a [`Library`].
#[cfg(any(feature = "cublaslt", feature = "nvrtc"))]
macro_rules! entries {
    ($($name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty;)*) => {
        /// The entry points that are used, as the library's header states them.
        #[allow(non_snake_case, reason = "C's names")]
        #[derive(Clone, Copy)]
        pub(crate) struct Entries { $(pub(crate) $name: unsafe extern "C" fn($($arg: $ty),*) -> $out,)* }

        impl Entries {
            /// Looks all of them up.
            pub(crate) fn find(library: &$crate::interop::library::Library) -> Result<Entries, String> {
                Ok(Entries { $($name: {
                    let address = library.symbol(stringify!($name))?;
                    // SAFETY: the address is that of the function of this name, whose signature stands above as the
                    // library's header has it; a function pointer and an object pointer have one size here.
                    unsafe {
                        std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, unsafe extern "C" fn($($ty),*) -> $out>(address)
                    }
                },)* })
            }
        }
    };
}
#[cfg(any(feature = "cublaslt", feature = "nvrtc"))]
pub(crate) use entries;
