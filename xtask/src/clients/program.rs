//! Runs a program on the software driver, as a user does: `dacapo run -- PROGRAM`.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::pins::Crate;
use crate::{libcuda, workspace};

/// What a run of a client needs to know.
pub struct Workshop {
    /// The root of the repository.
    pub root: PathBuf,
    /// `target/clients`.
    pub folder: PathBuf,
    /// The program `dacapo`.
    dacapo: PathBuf,
    /// The software driver.
    pub library: PathBuf,
}

/// How a program ended.
pub struct Ended {
    /// `None` where it was stopped because it took too long.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard output.
    pub output: String,
}

impl Workshop {
    /// Builds the driver and the program `dacapo`, unless they are to be used as they are.
    ///
    /// # Errors
    ///
    /// - One of them does not build, or is not there.
    pub fn new(is_built: bool) -> Result<Workshop, String> {
        let root = workspace::root();
        let target = workspace::target(&root);
        let folder = target.join("clients");
        std::fs::create_dir_all(folder.join("out")).map_err(|error| format!("{}: {error}", folder.display()))?;
        let dacapo = target.join("debug/dacapo");
        let library = if is_built { target.join("dacapo/libcuda.so.1") } else { build(&root)? };
        if let Some(missing) = [&dacapo, &library].into_iter().find(|file| !file.exists()) {
            return Err(format!("{} is not there", missing.display()));
        }
        Ok(Workshop { root, folder, dacapo, library })
    }

    /// The Python of the environment.
    pub fn python(&self) -> PathBuf {
        self.folder.join("venv/bin/python")
    }

    /// The folder of the wheels' files.
    pub fn site_packages(&self) -> Option<PathBuf> {
        let versions = std::fs::read_dir(self.folder.join("venv/lib")).ok()?.flatten();
        versions.map(|version| version.path().join("site-packages")).find(|folder| folder.is_dir())
    }

    /// Where NVIDIA's wheels put headers and compilers.
    pub fn toolkit(&self) -> Option<PathBuf> {
        Some(self.site_packages()?.join("nvidia/cu13"))
    }

    /// The copy of a crate's package.
    pub fn source(&self, package: &Crate) -> PathBuf {
        self.folder.join("rust").join(format!("{}-{}", package.name, package.version))
    }

    /// `dacapo run` for this program. Findings are appended to a file of the client's.
    pub fn command(&self, client: &str, program: &Path) -> Command {
        let mut command = Command::new(&self.dacapo);
        command.args(["run", "--findings"]).arg(self.findings(client)).arg("--").arg(program);
        command.env("DACAPO_LIBCUDA", &self.library);
        for name in ["DACAPO_SEED", "DACAPO_MEMORY", "DACAPO_DETECT", "DACAPO_CORES", "DACAPO_FINDINGS_FORMAT"] {
            command.env_remove(name);
        }
        if let Some(toolkit) = self.toolkit() {
            command.env("LD_LIBRARY_PATH", before(toolkit.join("lib"), std::env::var_os("LD_LIBRARY_PATH")));
        }
        command
    }

    /// The file of a client's findings.
    pub fn findings(&self, client: &str) -> PathBuf {
        self.folder.join(format!("out/{client}.findings.txt"))
    }

    /// Runs it, for at most this long. Standard error goes to a file of this name.
    ///
    /// # Errors
    ///
    /// - It cannot be started, or its output cannot be kept.
    pub fn run(&self, mut command: Command, name: &str, limit: Duration) -> Result<Ended, String> {
        let file = |kind: &str| self.folder.join(format!("out/{name}.{kind}.txt"));
        let create = |path: PathBuf| File::create(&path).map_err(|error| format!("{}: {error}", path.display()));
        // Of its own group: what it started is stopped with it.
        command.stdin(Stdio::null()).process_group(0);
        command.stdout(create(file("stdout"))?).stderr(create(file("stderr"))?);
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let status = wait(child, limit)?;
        let output = std::fs::read(file("stdout")).unwrap_or_default();
        Ok(Ended { status, output: String::from_utf8_lossy(&output).into_owned() })
    }
}

/// Builds the program `dacapo` and the driver, and says where that is.
fn build(root: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "dacapo-cli"]).current_dir(root);
    match cargo.status().map_err(|error| format!("cargo: {error}"))?.success() {
        true => libcuda::build(),
        false => Err("the program `dacapo` does not build".into()),
    }
}

fn wait(mut child: Child, limit: Duration) -> Result<Option<ExitStatus>, String> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(Some(status));
        }
        if started.elapsed() > limit {
            // The group by its number; the child is its leader and is not waited for yet, so the number is still its own.
            let _ = Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status();
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A folder before those of a search path.
fn before(folder: PathBuf, path: Option<OsString>) -> OsString {
    let mut text = folder.into_os_string();
    if let Some(path) = path.filter(|path| !path.is_empty()) {
        text.push(":");
        text.push(path);
    }
    text
}
