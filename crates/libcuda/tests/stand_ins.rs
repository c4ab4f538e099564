//! A program that asks NVRTC or nvJitLink for a cubin gets PTX, when our library is preloaded and was asked to; otherwise, and
//! where there are no such libraries, it gets what it would have got.
//!
//! NVIDIA's libraries are played by small ones that rustc builds. The program is this test itself, in a process of its own.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use dacapo_sim::fatbin;

/// A compiler whose cubin is `CCCC..` and whose PTX is a text.
const NVRTC: &str = r#"
    const PTX: &[u8] = b".version 8.0 .target sm_70 .address_size 64\0";
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvrtcGetCUBINSize(p: usize, n: *mut usize) -> i32 { unsafe { *n = if p == 0 { 0 } else { 1000 } }; 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvrtcGetCUBIN(_: usize, to: *mut u8) -> i32 { unsafe { to.write_bytes(b'C', 1000) }; 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvrtcGetPTXSize(_: usize, n: *mut usize) -> i32 { unsafe { *n = PTX.len() }; 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvrtcGetPTX(_: usize, to: *mut u8) -> i32 { unsafe { to.copy_from(PTX.as_ptr(), PTX.len()) }; 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvrtcVersion(_: *mut i32, _: *mut i32) -> i32 { 77 }
"#;

/// A linker that says of everything that it was asked: 90 and more. Its handles are 5 and the number of options.
const NVJITLINK: &str = r#"
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkCreate(h: *mut usize, n: u32, _: *const *const u8) -> i32 { unsafe { *h = 5 + n as usize }; 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkDestroy(_: *mut usize) -> i32 { 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkAddData(_: usize, _: i32, _: *const u8, _: usize, _: *const u8) -> i32 { 92 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkAddFile(_: usize, _: i32, _: *const u8) -> i32 { 93 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkComplete(_: usize) -> i32 { 94 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkGetLinkedCubinSize(_: usize, _: *mut usize) -> i32 { 95 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkGetLinkedCubin(_: usize, _: *mut u8) -> i32 { 96 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkGetLinkedPtxSize(_: usize, _: *mut usize) -> i32 { 97 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkGetLinkedPtx(_: usize, _: *mut u8) -> i32 { 98 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkGetErrorLogSize(_: usize, n: *mut usize) -> i32 { unsafe { *n = 0 }; 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkGetErrorLog(_: usize, _: *mut u8) -> i32 { 0 }
    #[unsafe(no_mangle)] pub unsafe extern "C" fn nvJitLinkVersion(_: *mut u32, _: *mut u32) -> i32 { 99 }
"#;

/// Builds a library from Rust source and says where it is.
fn build(name: &str, source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stand ins");
    std::fs::create_dir_all(&folder).unwrap();
    let (input, output) = (folder.join(format!("{name}.rs")), folder.join(format!("{name}.so.13")));
    std::fs::write(&input, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "played", "-C", "panic=abort", "-o"]);
    let run = command.arg(&output).arg(&input).output().expect("rustc is there, because it built this test");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    output
}

/// Another version of the compiler, which ends the process when it is asked about a program of the first one, as NVIDIA's
/// would; its programs are 2.
fn other_nvrtc() -> String {
    let strict = "if p != 2 { std::process::exit(42) }";
    NVRTC
        .replace("sm_70", "sm_80")
        .replace("(_: usize", "(p: usize")
        .replace("-> i32 { ", &format!("-> i32 {{ {strict} "))
        .replace(
            &format!("nvrtcVersion(_: *mut i32, _: *mut i32) -> i32 {{ {strict}"),
            "nvrtcVersion(_: *mut i32, _: *mut i32) -> i32 {",
        )
}

/// A linker whose handles are those of the other one, whose codes are 100 more, and whose names are spelled as in the header.
fn other_nvjitlink() -> String {
    let lines = NVJITLINK.replace("{ 9", "{ 19").replace("fn nvJitLink", "fn __nvJitLink");
    lines.lines().map(|line| line.replacen("(", "_13_0(", 2).replacen("_13_0(", "(", 1) + "\n").collect()
}

fn played() -> &'static [PathBuf; 4] {
    static BUILT: OnceLock<[PathBuf; 4]> = OnceLock::new();
    BUILT.get_or_init(|| {
        [
            build("libnvrtc", NVRTC),
            build("libnvJitLink", NVJITLINK),
            build("libnvrtc-other", &other_nvrtc()),
            build("libnvJitLink-other", &other_nvjitlink()),
        ]
    })
}

/// Runs one of the clients below with our library preloaded; what it printed, and what came on standard error.
fn run(client: &str, stand_ins: bool) -> (String, String) {
    let test = std::env::current_exe().unwrap();
    let library = test.ancestors().skip(1).take(2).map(|folder| folder.join("libdacapo_libcuda.so"));
    let library = library.into_iter().find(|path| path.exists()).expect("cargo builds the library before its tests");
    let mut command = Command::new(&test);
    command.args(["--exact", client, "--ignored", "--nocapture"]).env("LD_PRELOAD", library);
    command.env("PLAYED_NVRTC", &played()[0]).env("PLAYED_NVJITLINK", &played()[1]);
    command.env("OTHER_NVRTC", &played()[2]).env("OTHER_NVJITLINK", &played()[3]);
    if stand_ins {
        command.env("DACAPO_STAND_INS", "1");
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

fn open(variable: &str) -> libloading::Library {
    // SAFETY: a library that was built above, whose loading does nothing.
    unsafe { libloading::Library::new(std::env::var_os(variable).unwrap()) }.unwrap()
}

/// The function of this name, which must have this type.
fn get<T: Copy>(library: &libloading::Library, name: &str) -> T {
    // SAFETY: the clients ask for the types that the libraries above have.
    unsafe { *library.get::<T>(name).unwrap_or_else(|error| panic!("{name}: {error}")) }
}

type Size = unsafe extern "C" fn(usize, *mut usize) -> c_int;
type Fill = unsafe extern "C" fn(usize, *mut c_void) -> c_int;

/// What a pair of functions hands out.
fn handed_out(size: Size, fill: Fill, of: usize) -> Vec<u8> {
    let mut bytes = 0;
    // SAFETY: the buffer has the size that was answered.
    unsafe {
        assert_eq!(size(of, &mut bytes), 0);
        let mut buffer = vec![0u8; bytes];
        assert_eq!(fill(of, buffer.as_mut_ptr().cast()), 0);
        buffer
    }
}

fn shown(image: &[u8]) -> String {
    match fatbin::choose(image, 90) {
        Ok(fatbin::Image::Linked(texts)) => {
            let texts = texts
                .iter()
                .map(|(name, text)| format!("{name}: {}", String::from_utf8_lossy(text).trim_end_matches('\0')));
            format!("PTX [{}]", texts.collect::<Vec<_>>().join(" | "))
        }
        _ => format!("{} bytes of {}", image.len(), char::from(image.first().copied().unwrap_or(b'-'))),
    }
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn client_of_nvrtc() {
    let nvrtc = open("PLAYED_NVRTC");
    let (size, fill) = (get(&nvrtc, "nvrtcGetCUBINSize"), get(&nvrtc, "nvrtcGetCUBIN"));
    println!("cubin: {}", shown(&handed_out(size, fill, 1)));
    unsafe extern "C" fn nothing(_: usize, _: *mut c_void) -> c_int {
        0
    }
    println!("of no cubin: {}", shown(&handed_out(size, nothing, 0)));
    let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int = get(&nvrtc, "nvrtcVersion");
    // SAFETY: it looks at nothing.
    println!("version: {}", unsafe { version(std::ptr::null_mut(), std::ptr::null_mut()) });
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn client_of_nvjitlink() {
    type Add = unsafe extern "C" fn(usize, c_int, *const c_void, usize, *const c_char) -> c_int;
    type Complete = unsafe extern "C" fn(usize) -> c_int;
    let linker = open("PLAYED_NVJITLINK");
    let create: unsafe extern "C" fn(*mut usize, u32, *const *const c_char) -> c_int = get(&linker, "nvJitLinkCreate");
    let (add, complete): (Add, Complete) = (get(&linker, "nvJitLinkAddData"), get(&linker, "nvJitLinkComplete"));
    let destroy: unsafe extern "C" fn(*mut usize) -> c_int = get(&linker, "nvJitLinkDestroy");
    let (log_size, log) = (get(&linker, "nvJitLinkGetErrorLogSize"), get(&linker, "nvJitLinkGetErrorLog"));
    let (size, fill) = (get(&linker, "nvJitLinkGetLinkedCubinSize"), get(&linker, "nvJitLinkGetLinkedCubin"));
    let head = ".version 8.0\n.target sm_70\n.address_size 64\n";
    let caller = format!("{head}.extern .func f();\n.visible .entry k() {{ call.uni f; ret; }}\n");
    let callee = format!("{head}.visible .func f() {{ ret; }}\n");
    let bad = format!("{head}nonsense\n");
    let texts = |list: &[(&CStr, &str)]| {
        let mut handle = 0;
        // SAFETY: texts as long as they say, names with a NUL at their end, and a valid out pointer.
        unsafe {
            assert_eq!(create(&mut handle, 1, [c"-arch=sm_90".as_ptr()].as_ptr()), 0);
            let codes: Vec<c_int> = list
                .iter()
                .map(|(name, text)| add(handle, 2, text.as_ptr().cast(), text.len(), name.as_ptr()))
                .collect();
            let done = complete(handle);
            println!("add {codes:?} complete {done}");
            let words = String::from_utf8(handed_out(log_size, log, handle)).unwrap();
            assert!(words.is_empty() || words.ends_with('\0'), "{words}");
            println!("log: {}", words.lines().next().unwrap_or_default());
            if done == 0 {
                let image = handed_out(size, fill, handle);
                println!("cubin: {}", shown(&image).replace('\n', " ").contains("one.ptx"));
            }
            destroy(&mut handle);
        }
    };
    texts(&[(c"one.ptx", &caller), (c"two.ptx", &callee)]);
    texts(&[(c"one.ptx", &caller)]);
    texts(&[(c"bad.ptx", &bad)]);
    // Link-time code is for NVIDIA's own linker.
    let mut handle = 0;
    // SAFETY: as above.
    unsafe {
        create(&mut handle, 0, std::ptr::null());
        println!("link-time code: {}", add(handle, 3, b"LTO".as_ptr().cast(), 3, c"lto".as_ptr()));
        println!("complete: {}", complete(handle));
        create(&mut handle, 1, [c"-lto".as_ptr()].as_ptr());
        println!("options with link-time code: {}", handle - 5);
        // An object of the host without anything for a device: left out.
        println!("object: {}", add(handle, 5, b"\x7fELF".as_ptr().cast(), 4, c"host.o".as_ptr()));
        // Of a fat binary the text that the link's own architecture takes.
        create(&mut handle, 1, [c"-arch=sm_75".as_ptr()].as_ptr());
        let [old, new] = ["old", "new"].map(|name| format!("{head}.visible .entry {name}() {{ ret; }}\n"));
        let stored = [(70, &old), (90, &new)].map(|(architecture, text)| fatbin::Written {
            kind: 1,
            architecture,
            flags: 0,
            name: "",
            stored: text.as_bytes(),
            packing: fatbin::Packing::Plain,
        });
        let fat = fatbin::write(&stored);
        let code = add(handle, 4, fat.as_ptr().cast(), fat.len(), c"two".as_ptr()) + complete(handle);
        println!("fat: {code}");
        if code == 0 {
            println!("of two: {}", shown(&handed_out(size, fill, handle)).contains(".entry old"));
        }
    }
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn client_of_two_versions() {
    // All names are looked up before anything is used, as bindings do.
    let compilers = [open("PLAYED_NVRTC"), open("OTHER_NVRTC")];
    let pairs = compilers.each_ref().map(|nvrtc| (get(nvrtc, "nvrtcGetCUBINSize"), get(nvrtc, "nvrtcGetCUBIN")));
    for ((size, fill), program) in pairs.into_iter().zip([1, 2]) {
        println!("program {program}: {}", shown(&handed_out(size, fill, program)));
    }
    type Add = unsafe extern "C" fn(usize, c_int, *const c_void, usize, *const c_char) -> c_int;
    type Complete = unsafe extern "C" fn(usize) -> c_int;
    type Create = unsafe extern "C" fn(*mut usize, u32, *const *const c_char) -> c_int;
    let text = ".version 8.0\n.target sm_70\n.address_size 64\n";
    let linkers = [(open("PLAYED_NVJITLINK"), ["", ""]), (open("OTHER_NVJITLINK"), ["__", "_13_0"])];
    let functions = linkers.each_ref().map(|(linker, [before, behind])| {
        let name = |name: &str| format!("{before}{name}{behind}");
        let create = get::<Create>(linker, &name("nvJitLinkCreate"));
        (create, get::<Add>(linker, &name("nvJitLinkAddData")), get::<Complete>(linker, &name("nvJitLinkComplete")))
    });
    // SAFETY: a text as long as it says, and valid out pointers.
    unsafe {
        let mut handles = [0; 2];
        for ((create, add, _), handle) in functions.iter().zip(&mut handles) {
            create(handle, 0, std::ptr::null());
            println!("link-time code: {}", add(*handle, 3, b"LTO".as_ptr().cast(), 3, c"lto".as_ptr()));
        }
        println!("linkers: {:?}", functions.map(|(.., complete)| complete(handles[0])));
        for (create, add, complete) in functions {
            create(&mut handles[0], 0, std::ptr::null());
            add(handles[0], 2, text.as_ptr().cast(), text.len(), c"x.ptx".as_ptr());
            println!("linked here: {}", complete(handles[0]));
        }
    }
}

/// A program that is linked with NVRTC, or looks names up in no library in particular, finds our export first.
#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn client_of_no_library_in_particular() {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: a library that was built above; our exports and the library's have these types.
    unsafe {
        let _nvrtc = Library::open(std::env::var_os("PLAYED_NVRTC"), RTLD_NOW | RTLD_GLOBAL).unwrap();
        let all = Library::this();
        let size: Size = *all.get(b"nvrtcGetCUBINSize").unwrap();
        let fill: Fill = *all.get(b"nvrtcGetCUBIN").unwrap();
        println!("cubin: {}", shown(&handed_out(size, fill, 1)));
    }
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn client_of_two_versions_at_once() {
    std::thread::scope(|scope| {
        for (variable, program, target) in [("PLAYED_NVRTC", 1, "sm_70"), ("OTHER_NVRTC", 2, "sm_80")] {
            scope.spawn(move || {
                for _ in 0..300 {
                    // Opened and closed each time, so that one may come to lie where the other was.
                    let nvrtc = open(variable);
                    let (size, fill) = (get(&nvrtc, "nvrtcGetCUBINSize"), get(&nvrtc, "nvrtcGetCUBIN"));
                    let image = shown(&handed_out(size, fill, program));
                    assert!(image.contains(target), "{variable}: {image}");
                }
            });
        }
    });
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn client_without_either() {
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    for name in [c"nvrtcGetCUBIN", c"nvrtcGetCUBINSize", c"nvJitLinkCreate", c"malloc"] {
        // SAFETY: a name, and no library in particular.
        let found = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
        println!("{}: {}", name.to_str().unwrap(), !found.is_null());
    }
}

#[test]
fn ptx_is_handed_over_in_the_place_of_a_cubin_and_the_findings_say_so() {
    let (said, findings) = run("client_of_nvrtc", true);
    assert!(said.contains("cubin: PTX [NVRTC: .version 8.0 .target sm_70 .address_size 64]"), "{said}");
    assert!(said.contains("of no cubin: 0 bytes of -") && said.contains("version: 77"), "{said}");
    assert!(findings.starts_with("note: the program asked NVRTC or nvJitLink for machine code"), "{findings}");
    assert_eq!(findings.matches("note:").count(), 1, "once: {findings}");
}

#[test]
fn unasked_it_stands_before_nothing() {
    let (said, findings) = run("client_of_nvrtc", false);
    assert!(said.contains("cubin: 1000 bytes of C"), "{said}");
    assert_eq!(findings, "");
    let (said, _) = run("client_of_nvjitlink", false);
    assert!(said.contains("add [92, 92] complete 94"), "{said}");
}

#[test]
fn our_export_is_the_librarys_unless_stand_ins_were_asked_for() {
    let (said, _) = run("client_of_no_library_in_particular", false);
    assert!(said.contains("cubin: 1000 bytes of C"), "{said}");
    let (said, _) = run("client_of_no_library_in_particular", true);
    assert!(said.contains("cubin: PTX [NVRTC: "), "{said}");
}

#[test]
fn texts_are_linked_here_and_link_time_code_is_not() {
    let (said, findings) = run("client_of_nvjitlink", true);
    assert!(said.contains("add [0, 0] complete 0\nlog: \ncubin: true\n"), "{said}");
    assert!(said.contains("add [0] complete 6\nlog: error[unresolved-symbol]: `f` is used in one.ptx"), "{said}");
    assert!(said.contains("add [4] complete 94\nlog: the PTX of bad.ptx does not compile"), "{said}");
    assert!(said.contains("link-time code: 92\ncomplete: 94"), "{said}");
    assert!(said.contains("options with link-time code: 2\nobject: 0\nfat: 0\nof two: true\n"), "{said}");
    assert!(findings.starts_with("note: "), "{findings}");
}

#[test]
fn each_of_two_versions_in_a_process_is_asked_about_what_is_its_own() {
    let (said, _) = run("client_of_two_versions", true);
    assert!(said.contains("program 1: PTX [NVRTC: .version 8.0 .target sm_70"), "{said}");
    assert!(said.contains("program 2: PTX [NVRTC: .version 8.0 .target sm_80"), "{said}");
    assert!(said.contains("link-time code: 92\nlink-time code: 192\nlinkers: [94, 194]\n"), "{said}");
    assert!(said.contains("linked here: 0\nlinked here: 0\n"), "{said}");
    run("client_of_two_versions_at_once", true);
}

#[test]
fn a_program_without_these_libraries_does_not_notice() {
    for stand_ins in [false, true] {
        let (said, findings) = run("client_without_either", stand_ins);
        if stand_ins {
            assert!(said.contains("nvrtcGetCUBIN: false\nnvrtcGetCUBINSize: false\n"), "{said}");
        }
        assert!(said.contains("nvJitLinkCreate: false\nmalloc: true\n"), "{said}");
        assert_eq!(findings, "");
    }
}

/// Whatever a program starts has the library preloaded too.
#[test]
fn children_work_as_ever() {
    let test = std::env::current_exe().unwrap();
    let library = test.ancestors().skip(1).take(2).map(|folder| folder.join("libdacapo_libcuda.so"));
    let library = library.into_iter().find(|path| path.exists()).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "sh -c 'echo inner' && cat /dev/null && exit 3"]);
    let output = command.env("LD_PRELOAD", library).env("DACAPO_STAND_INS", "1").output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..], &output.stderr[..]), (Some(3), &b"inner\n"[..], &b""[..]));
}
