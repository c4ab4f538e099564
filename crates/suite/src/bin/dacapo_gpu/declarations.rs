//! `declarations`: what the check of a declaration adds to loading a module.
//!
//! A module of 100 entries, put together from the corpus, is loaded by the driver and checked by us, in turns. Loading
//! is `cuModuleLoadData` and `cuFuncLoad` of every entry, because a driver that loads lazily compiles only then; the
//! library calls both. The driver's cache is off, so that it compiles each time as it does the first time. The check is
//! everything that a load adds: the text is parsed, every kernel followed and compared.
//!
//! On the software driver the same runs, and says nothing of a GPU.

use std::error::Error;
use std::ffi::{CString, OsStr};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use dacapo::__private::{KernelDecl, Param, ParamKind, PointerMode, check_text};
use dacapo_driver::types::{CUfunction, CUmodule};
use dacapo_driver::{Call, Nvidia};
use dacapo_suite::corpus::MODULES;
use dacapo_suite::session::{Session, checked};

const ENTRIES: usize = 100;
const ROUNDS: usize = 15;
/// The most that the check may cost, of what the driver takes.
const SHARE_MAX: f64 = 0.05;
/// The driver reads it once, when it is initialised.
const CACHE_OFF: &str = "CUDA_CACHE_DISABLE";

/// This task in a process whose driver keeps no compiled code; none where this is one already.
pub fn without_cache(arguments: &[String]) -> Option<ExitCode> {
    if arguments.first().map(String::as_str) != Some("declarations") || std::env::var_os(CACHE_OFF).is_some() {
        return None;
    }
    Some(match again(arguments.iter().map(OsStr::new)) {
        Ok(true) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// The same among other tasks.
pub fn run_apart(_: &Nvidia, _: &mut Session<'_>, folder: &Path) -> Result<bool, Box<dyn Error>> {
    Ok(again([OsStr::new("declarations"), folder.as_os_str()])?)
}

/// This binary again, with the driver's cache off.
fn again<'a>(arguments: impl IntoIterator<Item = &'a OsStr>) -> std::io::Result<bool> {
    let status = Command::new(std::env::current_exe()?).args(arguments).env(CACHE_OFF, "1").status()?;
    Ok(status.success())
}

/// Loads and checks in turns, and writes declarations.txt.
pub fn run(driver: &Nvidia, session: &mut Session<'_>, folder: &Path) -> Result<bool, Box<dyn Error>> {
    if std::env::var(CACHE_OFF).as_deref() != Ok("1") {
        return Err(format!(
            "{CACHE_OFF} is not 1: a module out of the driver's cache is not loaded as the first time"
        )
        .into());
    }
    let (text, entries) = module();
    let decls: Vec<KernelDecl> = entries.iter().map(declaration).collect();
    let (mut loads, mut checks, mut decided) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        loads.push(load(session, &text, &entries)?);
        let before = Instant::now();
        let (found, _) = check_text(&text, &decls);
        checks.push(before.elapsed());
        decided = found.kernels.iter().filter(|kernel| kernel.not_decided.is_none()).count();
    }
    let (load, check) = (spread(&mut loads), spread(&mut checks));
    let share = check[1].as_secs_f64() / load[1].as_secs_f64();
    let mut report = String::new();
    let (name, release) = (session.device_name()?, session.driver_release());
    writeln!(report, "check of declarations on {name}, driver {release}, commit {}", crate::COMMIT)?;
    writeln!(
        report,
        "{} entries, {} KiB of PTX, {decided} decided, {ROUNDS} rounds in turns",
        entries.len(),
        text.len() >> 10
    )?;
    for (what, [low, median, high]) in [("load by the driver, its cache off", load), ("check by dacapo", check)] {
        writeln!(report, "{what:<34} median {median:>10.2?}  from {low:.2?} to {high:.2?}")?;
    }
    let software = driver.is_software();
    let well = decided == entries.len() && (software || share <= SHARE_MAX);
    let last = match software {
        true => "declarations: the software driver; nothing is said of a GPU".to_string(),
        false => {
            format!("declarations: the check takes {:.2} % of the load, at most {} %", share * 100.0, SHARE_MAX * 100.0)
        }
    };
    writeln!(report, "{last}{}", if well { "" } else { ": NOT MET" })?;
    print!("{report}");
    std::fs::write(folder.join("declarations.txt"), report)?;
    Ok(well)
}

/// One entry point: its name, and the type of each of its parameters, as the text has it.
struct Entry {
    name: &'static str,
    params: Vec<&'static str>,
}

/// The first 100 entries of the corpus that can stand in one module, as one text.
fn module() -> (String, Vec<Entry>) {
    let mut text = ".version 8.4\n.target sm_75\n.address_size 64\n".to_string();
    let mut entries: Vec<Entry> = Vec::new();
    for (_, ptx) in MODULES {
        // Another target cannot stand in it, and a name must not stand twice: no functions, no globals.
        let (head, rest) = ptx.split_once(".visible .entry ").unwrap_or((ptx, ""));
        let stands_alone = head.contains(".target sm_75")
            && !["\n.global", "\n.const", "\n.visible", "\n.func", "\n.extern", "\n.weak"]
                .iter()
                .any(|word| head.contains(word))
            && !rest.contains("\n.func");
        let names = |entry: &str| entry.split('(').next().unwrap_or_default().trim().to_string();
        if !stands_alone
            || rest.split(".visible .entry ").any(|one| entries.iter().any(|known| known.name == names(one)))
        {
            continue;
        }
        for entry in rest.split(".visible .entry ").take(ENTRIES - entries.len()) {
            let Some((signature, _)) = entry.split_once(')') else { continue };
            let (name, list) = signature.split_once('(').unwrap_or((signature, ""));
            let params = list.split(',').filter(|param| param.contains(".param")).collect();
            entries.push(Entry { name: name.trim(), params });
            // What debuggers are told stands behind the last body and names files of its own.
            let body = entry.split("\n}").next().unwrap_or_default();
            let lines = body.lines().filter(|line| !line.trim_start().starts_with(".loc"));
            text.push_str(".visible .entry ");
            lines.for_each(|line| text.extend([line, "\n"]));
            text.push_str("}\n");
        }
    }
    (text, entries)
}

/// Every parameter of 64 bits as memory: more to follow than a true declaration has.
fn declaration(entry: &Entry) -> KernelDecl {
    let param = |text: &&str| match text.contains(".u64") {
        true => Param::pointer::<[u8; 1]>("memory", "[u8; 1]", PointerMode::Write, false),
        false => Param::value::<[u8; 1]>("value", "[u8; 1]", ParamKind::Value),
    };
    let params: Vec<Param> = entry.params.iter().map(param).collect();
    KernelDecl::new(entry.name, Vec::leak(params))
}

/// How long the driver takes for the module and all its entries. Unloading is not counted.
fn load(session: &Session<'_>, text: &str, entries: &[Entry]) -> Result<Duration, Box<dyn Error>> {
    let (driver, image, mut module) = (session.driver(), CString::new(text)?, CUmodule::NULL);
    let names: Vec<CString> = entries.iter().map(|entry| CString::new(entry.name)).collect::<Result<_, _>>()?;
    let before = Instant::now();
    // SAFETY: the image is a text with a NUL at its end, and `module` is valid for the write.
    let loaded = unsafe { driver.cuModuleLoadData(&mut module, image.as_ptr().cast()) };
    checked(loaded, Call::cuModuleLoadData, "100 entries")?;
    for name in &names {
        let mut function = CUfunction::NULL;
        // SAFETY: the module is loaded, the name ends in a NUL, and `function` is valid for the write.
        let found = unsafe { driver.cuModuleGetFunction(&mut function, module, name.as_ptr()) };
        checked(found, Call::cuModuleGetFunction, "an entry")?;
        // SAFETY: the function is of a module that is loaded.
        checked(unsafe { driver.cuFuncLoad(function) }, Call::cuFuncLoad, "an entry")?;
    }
    let took = before.elapsed();
    // SAFETY: nothing of the module was launched.
    checked(unsafe { driver.cuModuleUnload(module) }, Call::cuModuleUnload, "100 entries")?;
    Ok(took)
}

/// Lowest, median and highest.
fn spread(times: &mut [Duration]) -> [Duration; 3] {
    times.sort();
    [times[0], times[times.len() / 2], times[times.len() - 1]]
}
