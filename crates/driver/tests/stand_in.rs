//! What one gets from a library that is not as it should be: a typed error that names it, never a panic.
//!
//! Each test builds a small shared library with rustc, so that no driver and no GPU are needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use dacapo_driver::{CUresult, Call, Check, Driver, LoadError, Nvidia};

/// Builds a shared library from Rust source and says where it is.
fn build(name: &str, source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stand_in");
    std::fs::create_dir_all(&folder).unwrap();
    let input = folder.join(format!("{name}.rs"));
    let output = folder.join(format!("lib{name}.so"));
    std::fs::write(&input, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let run = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", "cdylib", "-C", "panic=abort", "-o"])
        .arg(&output)
        .arg(&input)
        .output()
        .expect("rustc is there, because it built this test");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    output
}

/// Opens what a test has built.
fn open(path: &Path) -> Result<Nvidia, LoadError> {
    // SAFETY: these libraries have no initialisers but Rust's, and what they export is as cuda.h has it.
    unsafe { Nvidia::open_path(path) }
}

/// A driver of `version` that exports `more` besides what every driver has.
fn driver(version: i32, more: &str) -> String {
    format!(
        "#[unsafe(no_mangle)] pub extern \"C\" fn cuDriverGetVersion(v: *mut i32) -> u32 {{ unsafe {{ *v = {version} }}; 0 }}
         #[unsafe(no_mangle)] pub extern \"C\" fn cuInit(_: u32) -> u32 {{ 0 }}
         {more}"
    )
}

#[test]
fn a_driver_that_lacks_an_entry_point_loads_and_the_lack_is_named() {
    let more = "#[unsafe(no_mangle)] pub extern \"C\" fn cuCtxSynchronize() -> u32 { 0 }";
    let path = build("lacks", &driver(12_080, more));
    let driver = open(&path).unwrap();
    assert_eq!((driver.version(), driver.path(), driver.is_software()), (12_080, path.as_path(), false));
    assert!(driver.has(Call::cuCtxSynchronize));
    assert_eq!(driver.require(&[Call::cuInit, Call::cuCtxSynchronize]), Ok(()));
    assert_eq!(driver.lacking().len(), Call::ALL.len() - 3);

    assert!(!driver.has(Call::cuGraphAddNode_v2));
    let error = driver.require(&[Call::cuInit, Call::cuGraphAddNode_v2]).unwrap_err();
    let expected =
        LoadError::MissingEntryPoint { path: path.clone(), call: Call::cuGraphAddNode_v2, driver_version: 12_080 };
    assert_eq!(error, expected);
    let text = error.to_string();
    for part in
        ["liblacks.so", "CUDA 12.8", "`cuGraphAddNode_v2`", "`cuGraphAddNode` in the manual", "CUDA 12.3", "help: "]
    {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    // Calling it all the same answers a code and touches nothing.
    let mut address = 7;
    // SAFETY: the pointer is to a local.
    let answer = unsafe { driver.cuMemAlloc_v2(&raw mut address, 16) };
    assert_eq!((answer, address), (CUresult::CUDA_ERROR_NOT_SUPPORTED, 7));
}

#[test]
fn a_newer_entry_point_than_the_driver_asks_for_a_newer_driver() {
    let driver = open(&build("older", &driver(12_040, ""))).unwrap();
    let text = driver.require(&[Call::cuStreamGetDevice]).unwrap_err().to_string();
    assert!(text.contains("came with CUDA 12.8") && text.ends_with("help: install a newer NVIDIA driver"), "{text}");
}

#[test]
fn an_entry_point_that_is_not_exported_is_asked_for_by_name_and_version() {
    // Not exported as a symbol: only `cuGetProcAddress_v2` knows it, and only under the version that brought it.
    let more = "
        extern \"C\" fn synchronize() -> u32 { 77 }
        #[unsafe(no_mangle)] pub unsafe extern \"C\" fn cuGetProcAddress_v2(
            name: *const std::ffi::c_char, out: *mut *mut std::ffi::c_void, version: i32, flags: u64, status: *mut u32) -> u32 {
            let name = unsafe { std::ffi::CStr::from_ptr(name) };
            let found = name == c\"cuCtxSynchronize\" && version == 2000 && flags == 0;
            unsafe {
                *out = if found { synchronize as *const () as *mut _ } else { std::ptr::null_mut() };
                *status = if found { 0 } else { 1 };
            }
            0
        }";
    let driver = open(&build("asked", &driver(13_000, more))).unwrap();
    // SAFETY: takes nothing.
    assert_eq!(unsafe { driver.cuCtxSynchronize() }, CUresult(77));
    assert!(!driver.has(Call::cuMemAlloc_v2), "success with a null address means that there is none");
}

#[test]
fn an_exported_symbol_wins_over_what_a_name_and_a_version_give() {
    let more = "
        #[unsafe(no_mangle)] pub extern \"C\" fn cuCtxSynchronize() -> u32 { 1 }
        extern \"C\" fn other() -> u32 { 2 }
        #[unsafe(no_mangle)] pub unsafe extern \"C\" fn cuGetProcAddress_v2(
            _: *const std::ffi::c_char, out: *mut *mut std::ffi::c_void, _: i32, _: u64, status: *mut u32) -> u32 {
            unsafe { *out = other as *const () as *mut _; *status = 0; }
            0
        }";
    let driver = open(&build("exported", &driver(13_000, more))).unwrap();
    // SAFETY: takes nothing.
    assert_eq!(unsafe { driver.cuCtxSynchronize() }, CUresult(1));
}

#[test]
fn an_unknown_code_survives() {
    let more = "#[unsafe(no_mangle)] pub extern \"C\" fn cuCtxSynchronize() -> u32 { 4242 }";
    let driver = open(&build("unknown_code", &driver(13_000, more))).unwrap();
    // SAFETY: takes nothing.
    let error = unsafe { driver.cuCtxSynchronize() }.check(Call::cuCtxSynchronize).unwrap_err();
    assert_eq!((error.code, error.call), (CUresult(4242), Call::cuCtxSynchronize));
    assert_eq!(error.to_string(), "cuCtxSynchronize failed: code 4242");
}

#[test]
fn a_driver_that_will_not_tell_its_version_is_refused_with_its_code() {
    let source = "
        #[unsafe(no_mangle)] pub extern \"C\" fn cuDriverGetVersion(_: *mut i32) -> u32 { 4242 }
        #[unsafe(no_mangle)] pub extern \"C\" fn cuInit(_: u32) -> u32 { 4242 }";
    let path = build("mute", source);
    let Err(LoadError::Refused { path: named, error }) = open(&path) else { panic!("not refused") };
    assert_eq!((named, error.code, error.call), (path, CUresult(4242), Call::cuDriverGetVersion));
}

#[test]
fn a_driver_older_than_12_4_is_too_old() {
    let path = build("too_old", &driver(12_030, ""));
    let error = open(&path).unwrap_err();
    assert_eq!(error, LoadError::TooOld { path: path.clone(), found: 12_030, needed: 12_040 });
    let text = error.to_string();
    assert!(text.contains("libtoo_old.so") && text.contains("CUDA 12.3") && text.contains("CUDA 12.4"), "{text}");
    // A version that is no version is too old as well.
    let path = build("negative", &driver(-1, ""));
    assert!(matches!(open(&path), Err(LoadError::TooOld { found: 0, .. })));
}

#[test]
fn a_library_that_is_no_driver_is_told_so() {
    let path = build("no_driver", "#[unsafe(no_mangle)] pub extern \"C\" fn unrelated() {}");
    let error = open(&path).unwrap_err();
    assert_eq!(error, LoadError::NotADriver { path, missing: "cuDriverGetVersion" });
    assert!(error.to_string().contains("libno_driver.so is not a CUDA driver"), "{error}");
    let half = build("half", "#[unsafe(no_mangle)] pub extern \"C\" fn cuDriverGetVersion(_: *mut i32) -> u32 { 0 }");
    let error = open(&half).unwrap_err();
    assert_eq!(error, LoadError::NotADriver { path: half, missing: "cuInit" });
}

#[test]
fn no_library_lists_what_was_tried() {
    let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nowhere/libcuda.so.1");
    let Err(LoadError::LibraryNotFound { tried }) = open(&nowhere) else { panic!("found") };
    assert_eq!(tried.len(), 1);
    assert_eq!(tried[0].0, nowhere);
    assert!(tried[0].1.contains("No such file"), "{}", tried[0].1);
    // A file that is no library.
    let text = Path::new(env!("CARGO_TARGET_TMPDIR")).join("text.so.1");
    std::fs::write(&text, "not a library").unwrap();
    assert!(matches!(open(&text), Err(LoadError::LibraryNotFound { .. })));
    assert!(matches!(open(Path::new("")), Err(LoadError::LibraryNotFound { .. })));
}

#[test]
fn the_software_driver_is_known_by_its_mark() {
    let more = "#[unsafe(no_mangle)] pub extern \"C\" fn dacapo_software_driver() -> u32 { 1 }";
    assert!(open(&build("marked", &driver(13_000, more))).unwrap().is_software());
}

/// `DACAPO_LIBCUDA` set means that file and no other. In a process of its own, since variables belong to the process.
#[test]
fn the_variable_names_the_one_file_that_is_opened() {
    let good = build("named", &driver(12_090, ""));
    let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nowhere/libcuda.so.1");
    for (value, expected) in [
        (good.as_path(), "opened 12090"),
        (nowhere.as_path(), "not found, 1 tried"),
        (Path::new(""), "not found, 1 tried"),
    ] {
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "in_a_child_process", "--nocapture", "--ignored"])
            .env(Nvidia::VARIABLE, value)
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&run.stdout);
        assert!(output.contains(expected), "{value:?}: {output}");
    }
}

#[test]
#[ignore = "run by `the_variable_names_the_one_file_that_is_opened`, in a process of its own"]
fn in_a_child_process() {
    match Nvidia::open() {
        Ok(driver) => println!("opened {}", driver.version()),
        Err(LoadError::LibraryNotFound { tried }) => println!("not found, {} tried", tried.len()),
        Err(error) => println!("{error}"),
    }
}
