//! A program that nobody here wrote runs on the software driver. The program is `dacapo doctor`, which opens whatever
//! driver the dynamic loader finds.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Our library under the name that programs look for.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        // The folder of the test first: that one was built together with it.
        let built = test.ancestors().skip(1).take(2).map(|folder| folder.join("libdacapo_libcuda.so"));
        let built = built.into_iter().find(|path| path.exists()).expect("cargo builds the library before this test");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("software driver");
        std::fs::create_dir_all(&folder).unwrap();
        let library = folder.join("libcuda.so.1");
        std::fs::copy(&built, &library).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
        library
    })
}

fn dacapo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.args(arguments).env("DACAPO_LIBCUDA", library());
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_finds_the_software_driver() {
    let output = dacapo(&["run", "--", env!("CARGO_BIN_EXE_dacapo"), "doctor"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("this is Dacapo's software driver behind the C ABI"), "{said}");
    assert_eq!(said.matches("every number right").count(), 2, "{said}");
    assert_eq!(said.matches("as eager and plain Rust in every bit").count(), 2, "{said}");
}

#[test]
fn the_loader_would_find_it_too() {
    let folder = library().parent().unwrap();
    let output = dacapo(&["run", "--", "sh", "-c", "echo \"$LD_LIBRARY_PATH\""]);
    assert!(text(&output.stdout).starts_with(&folder.display().to_string()), "{output:?}");
}

#[test]
fn settings_reach_the_program_and_its_exit_code_comes_back() {
    // By its whole path: the program may change its folder before it opens the file.
    let script = "test \"$DACAPO_SEED $DACAPO_MEMORY $DACAPO_DETECT $DACAPO_CORES $DACAPO_DEVICES $DACAPO_FINDINGS\" = \
                  \"42 17179869184 all 2 3 $PWD/f.txt\" && exit 42";
    let settings = ["--seed", "0x2a", "--memory", "16G", "--detect", "all", "--cores", "2", "--findings", "f.txt"];
    let output = dacapo(&[&["run", "--devices", "3"], &settings[..], &["--", "sh", "-c", script]].concat());
    assert_eq!(output.status.code(), Some(42), "{output:?}");
}

#[test]
fn a_program_that_is_not_there_is_127() {
    let output = dacapo(&["run", "--", "/nowhere/program"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("`/nowhere/program` cannot be run"), "{output:?}");
    let output = dacapo(&["run", "--detct", "all", "--", "true"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("help: `--detct` is no option of `dacapo run`"), "{output:?}");
}

#[test]
fn no_library_is_125_and_says_how_to_make_one() {
    let output = Command::new(env!("CARGO_BIN_EXE_dacapo"))
        .args(["run", "--", "true"])
        .env("DACAPO_LIBCUDA", "/nowhere/libcuda.so.1")
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("help: unset DACAPO_LIBCUDA: `dacapo libcuda`"), "{output:?}");
}

#[test]
fn a_setting_that_makes_no_sense_is_refused_before_anything_runs() {
    let wrong = [
        ("--detect", "nonsense", "global_races"),
        ("--cores", "0", "from 1 to 1024"),
        ("--devices", "65", "from 1 to 64"),
        ("--seed", "x", "0x5eed"),
    ];
    for (option, value, accepted) in wrong {
        let output = dacapo(&["run", option, value, "--", "sh", "-c", "echo ran"]);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{said}");
        assert!(said.contains(value) && said.contains(option) && said.contains(accepted), "{said}");
        let output = dacapo(&["run", "--json", option, value, "--", "sh", "-c", "echo ran"]);
        let complaint: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert!(complaint["error"]["what"].as_str().unwrap().contains(accepted), "{complaint}");
        assert_eq!((output.status.code(), complaint["error"]["help"].is_string()), (Some(2), true), "{complaint}");
    }
}

/// A copy of the library in a folder with this name.
#[cfg(unix)]
fn copied_to(name: &std::ffi::OsStr) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(library(), folder.join("libcuda.so.1")).unwrap();
    folder
}

#[cfg(unix)]
#[test]
fn a_folder_that_the_loader_cannot_be_told_is_refused() {
    let folder = copied_to("one:two".as_ref());
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.args(["run", "--", "sh", "-c", "echo ran"]).env("DACAPO_LIBCUDA", folder.join("libcuda.so.1"));
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(125), ""), "{output:?}");
    assert!(text(&output.stderr).contains("has `:` in its path"), "{output:?}");
}

/// The loader looks for a name without a folder in places of its own.
#[test]
fn a_library_without_a_folder_is_the_one_in_the_working_folder() {
    let folder = library().parent().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.arg("libcuda").env("DACAPO_LIBCUDA", "libcuda.so.1").current_dir(folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(Path::new(text(&output.stdout).trim_end()), library());
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_is_told_as_json_all_the_same() {
    use std::os::unix::ffi::OsStrExt;
    let folder = copied_to(std::ffi::OsStr::from_bytes(b"not \xff text"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_dacapo"));
    command.args(["libcuda", "--json"]).env("DACAPO_LIBCUDA", folder.join("libcuda.so.1"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(told["library"].as_str().unwrap().ends_with("text/libcuda.so.1"), "{told}");
}

#[test]
fn findings_are_lines_of_json_where_that_is_asked_for() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings.json");
    let _ = std::fs::remove_file(&folder);
    let script = "test \"$DACAPO_FINDINGS_FORMAT\" = json";
    assert!(dacapo(&["run", "--json", "--", "sh", "-c", script]).status.success());
    assert!(!dacapo(&["run", "--", "sh", "-c", script]).status.success());
    let output = dacapo(&["--json", "run", "--", "/nowhere/program"]);
    let complaint: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert!(complaint["error"]["what"].as_str().unwrap().contains("/nowhere/program"), "{complaint}");
}

#[test]
fn the_library_is_preloaded_and_asked_to_stand_in_unless_it_is_told_not_to() {
    let script = "echo \"$LD_PRELOAD|$DACAPO_STAND_INS\"";
    // The folder has a blank in its name, so the library is named by its name alone.
    let output = dacapo(&["run", "--", "sh", "-c", script]);
    assert_eq!(text(&output.stdout), "libcuda.so.1|1\n", "{output:?}");
    assert_eq!(text(&output.stderr), "");
    let output = dacapo(&["run", "--no-stand-ins", "--", "sh", "-c", script]);
    assert_eq!(text(&output.stdout), "|\n", "{output:?}");
}
