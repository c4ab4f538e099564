//! A headless Chromium and the DevTools protocol, spoken over a pipe.
//!
//! - The browser is looked for as `$CHROMIUM` says, else by [`NAMES`] on the PATH.
//! - It reads messages from its file 3 and writes them to its file 4: JSON texts, each with a NUL byte behind it. `sh` puts
//!   the two pipes there, so nothing here is unsafe and no port is opened.
//! - It has a fresh home below the target folder, and resolves no name: a page that wants the network does not get it.
//! - Every answer has a time limit. An error says what was waited for, and what the browser wrote last.
//! - It ends when [`Browser`] is dropped, also by a panic, and by itself when this process is killed: its pipe ends then.
//!
//! What a page looks like and how one clicks in it is in `tab.rs`.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::workspace;

/// What the browser is called, in the order in which it is looked for.
pub const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

/// The variable that names a browser instead.
const VARIABLE: &str = "CHROMIUM";

/// How long an answer may take. Long, because a machine of CI may do much else meanwhile.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// How long the browser may take to end by itself before it is killed.
const END_LIMIT: Duration = Duration::from_secs(3);

/// Puts the pipes where the browser looks for them.
const WITH_PIPES: &str = r#"exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

/// What the browser is told.
const FLAGS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    // In a container /dev/shm may be too small.
    "--disable-dev-shm-usage",
    // No network: no name resolves, and nothing of its own accord.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--no-pings",
    "--no-first-run",
    "--no-default-browser-check",
    "--metrics-recording-only",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    // The same picture on every machine, and nothing that happens a little later.
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--font-render-hinting=none",
    "--disable-smooth-scrolling",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
];

/// The browser of this machine, if it has one.
///
/// # Errors
///
/// - `$CHROMIUM` names a program that is not there.
pub fn find() -> Result<Option<PathBuf>, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(std::env::var_os(VARIABLE).as_deref(), &path)
}

/// `chosen` is what the variable says, `path` the PATH.
fn find_in(chosen: Option<&OsStr>, path: &OsStr) -> Result<Option<PathBuf>, String> {
    // A name with a slash is joined to nothing: `join` takes an absolute one as it is.
    let on_path =
        |name: &OsStr| std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file());
    let Some(chosen) = chosen.filter(|chosen| !chosen.is_empty()) else {
        return Ok(NAMES.iter().find_map(|name| on_path(OsStr::new(name))));
    };
    let plain = Some(PathBuf::from(chosen)).filter(|file| file.is_file());
    match plain.or_else(|| on_path(chosen)) {
        Some(found) => Ok(Some(found)),
        None => Err(format!("{VARIABLE} is `{}`, and there is no such program", chosen.display())),
    }
}

/// Something that the browser told without being asked.
struct Event {
    session: String,
    method: String,
    params: Value,
}

/// A running browser.
pub struct Browser {
    child: Child,
    // Absent when it is told to end.
    opt_commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    events: VecDeque<Event>,
    calls_made: u64,
    home: PathBuf,
    version: String,
}

impl Browser {
    /// Starts `program`.
    ///
    /// # Errors
    ///
    /// - It does not start, or does not answer.
    pub fn start(program: &Path) -> Result<Self, String> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let name = format!("home-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let home = workspace::target(&workspace::root()).join("pages").join(name);
        let at_home = |error: std::io::Error| format!("{}: {error}", home.display());
        std::fs::create_dir_all(&home).map_err(at_home)?;
        let log = std::fs::File::create(home.join("log")).map_err(at_home)?;
        let mut child = Command::new("sh")
            .args(["-c", WITH_PIPES, "sh"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", home.display()))
            .env("HOME", &home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("sh: {error}"))?;
        let opt_commands = child.stdin.take();
        let messages = child.stdout.take().map(read_messages).ok_or("the browser has no pipe")?;
        let (events, version) = (VecDeque::new(), String::new());
        let mut browser = Self { child, opt_commands, messages, events, calls_made: 0, home, version };
        let answer = browser.call(None, "Browser.getVersion", json!({}), ANSWER_LIMIT)?;
        let product = answer["product"].as_str().unwrap_or_default();
        browser.version = product.split('/').next_back().unwrap_or_default().to_string();
        Ok(browser)
    }

    /// `148.0.7778.167`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The folder in which it keeps what it keeps; gone when it is.
    #[cfg(test)]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Asks for something and waits for the answer; `session` is the tab that is meant.
    ///
    /// # Errors
    ///
    /// - The browser refuses, does not answer in time, or is gone.
    /// - The tab crashed, or shows a dialog, behind which no answer comes.
    pub fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, String> {
        self.calls_made += 1;
        let id = self.calls_made;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let commands = self.opt_commands.as_mut().ok_or("the browser was told to end")?;
        if let Err(error) = commands.write_all(&bytes).and_then(|()| commands.flush()) {
            return Err(self.told(&format!("Chromium is gone, and `{method}` was not sent: {error}")));
        }
        let deadline = Instant::now() + limit;
        loop {
            let mut answer = self.message(&format!("the answer to `{method}`"), deadline, limit)?;
            if answer["id"] == id {
                return match answer["error"]["message"].as_str() {
                    Some(refused) => Err(format!("Chromium refused `{method}`: {refused} {}", answer["error"]["data"])),
                    None => Ok(answer["result"].take()),
                };
            }
            if let Some(end) = self.keep(answer, session) {
                return Err(format!("{end}, while the answer to `{method}` was waited for"));
            }
        }
    }

    /// Waits until a tab tells of `method`, and takes that event away.
    ///
    /// # Errors
    ///
    /// - It does not happen in time; or as for [`call`](Self::call).
    pub fn wait_for(&mut self, session: &str, method: &str, limit: Duration) -> Result<Value, String> {
        let deadline = Instant::now() + limit;
        loop {
            let is_it = |event: &Event| event.session == session && event.method == method;
            if let Some(event) = self.events.iter().position(is_it).and_then(|at| self.events.remove(at)) {
                return Ok(event.params);
            }
            let message = self.message(&format!("`{method}`"), deadline, limit)?;
            if let Some(end) = self.keep(message, Some(session)) {
                return Err(format!("{end}, while `{method}` was waited for"));
            }
        }
    }

    /// Takes what a tab has told since, in order: methods and their parameters.
    pub fn events_of(&mut self, session: &str) -> Vec<(String, Value)> {
        while let Ok(message) = self.messages.try_recv() {
            self.keep(message, None);
        }
        let (taken, kept) = std::mem::take(&mut self.events).into_iter().partition(|event| event.session == session);
        self.events = kept;
        let taken: VecDeque<Event> = taken;
        taken.into_iter().map(|event| (event.method, event.params)).collect()
    }

    /// The next message, which is `what` in an error.
    fn message(&self, what: &str, deadline: Instant, limit: Duration) -> Result<Value, String> {
        match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(message) => Ok(message),
            Err(RecvTimeoutError::Timeout) => Err(format!("{what} did not come within {:.1} s", limit.as_secs_f64())),
            Err(RecvTimeoutError::Disconnected) => Err(self.told(&format!("Chromium ended before {what} came"))),
        }
    }

    /// Keeps an event. What ends every wait of `session` is told.
    fn keep(&mut self, mut message: Value, session: Option<&str>) -> Option<String> {
        // An answer that nobody waits for any more has no method.
        let method = message["method"].as_str()?.to_string();
        let of = message["sessionId"].as_str().unwrap_or_default().to_string();
        let end = match method.as_str() {
            _ if session != Some(of.as_str()) => None,
            "Inspector.targetCrashed" => Some("the page crashed".to_string()),
            "Page.javascriptDialogOpening" => {
                Some(format!("the page shows a dialog that says `{}`", text_of(&message["params"]["message"])))
            }
            _ => None,
        };
        self.events.push_back(Event { session: of, method, params: message["params"].take() });
        end
    }

    /// With what the browser wrote last.
    fn told(&self, what: &str) -> String {
        let log = std::fs::read(self.home.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(5)..].join("\n  ");
        if last.is_empty() { what.to_string() } else { format!("{what}. It wrote last:\n  {last}") }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // With its pipe closed it ends with all its processes; a kill reaches only the first of them.
        self.opt_commands = None;
        let deadline = Instant::now() + END_LIMIT;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Both fail when it has ended, as it should.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A process of it may write a last file meanwhile.
        for _ in 0..20 {
            if std::fs::remove_dir_all(&self.home).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}

/// Reads messages in a thread of its own, which ends with the pipe.
fn read_messages(pipe: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut bytes = Vec::new();
        while pipe.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
            if bytes.last() == Some(&0) {
                bytes.pop();
            }
            // What is no JSON is the end of a message that was cut off: the browser is ending.
            let Ok(message) = serde_json::from_slice(&bytes) else { break };
            if sender.send(message).is_err() {
                break;
            }
            bytes.clear();
        }
    });
    receiver
}

/// A string without its quotes, anything else as JSON.
pub fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_comes_before_the_path_and_must_be_true() {
        let folder = workspace::target(&workspace::root()).join("pages").join("find");
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["google-chrome", "mine"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let path = folder.as_os_str();
        let found = |chosen: Option<&str>| find_in(chosen.map(OsStr::new), path);
        assert_eq!(found(None), Ok(Some(folder.join("google-chrome"))));
        assert_eq!(found(Some("")), Ok(Some(folder.join("google-chrome"))));
        assert_eq!(found(Some("mine")), Ok(Some(folder.join("mine"))));
        assert_eq!(found(folder.join("mine").to_str()), Ok(Some(folder.join("mine"))));
        assert_eq!(found(Some("gone")), Err("CHROMIUM is `gone`, and there is no such program".to_string()));
        assert_eq!(find_in(None, OsStr::new("")), Ok(None));
        std::fs::write(folder.join("chromium"), "").unwrap();
        assert_eq!(found(None), Ok(Some(folder.join("chromium"))), "the first of the names");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_program_that_is_no_browser_is_told_with_what_it_wrote() {
        let folder = workspace::target(&workspace::root()).join("pages").join("no-browser");
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("chromium");
        // Reads one byte first: what is sent is accepted, and only the answer is missing.
        std::fs::write(&program, "head -c1 <&3 >&2; echo no display >&2\n").unwrap();
        Command::new("chmod").arg("+x").arg(&program).status().unwrap();
        let error = Browser::start(&program).err().unwrap();
        assert!(error.starts_with("Chromium ended before the answer to `Browser.getVersion` came."), "{error}");
        assert!(error.ends_with("no display"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
