//! This binary again, in a process of its own that may hang or break: what it said stands, with how it ended.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What a child's last line begins with. What its process does after it is not part of the answer.
pub const ANSWERED: &str = "(answered)";

/// What came of a child.
pub struct Answer {
    /// Its lines but the last one, and the end of what it wrote to its standard error.
    pub said: String,
    /// What stands behind [`ANSWERED`] in its last line; empty without one.
    pub last: String,
    /// How it ended, where it did not say its last line.
    pub ended: Option<String>,
}

/// This binary, with these arguments.
pub fn again(arguments: &[&str]) -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args(arguments);
    Ok(command)
}

/// Runs it, and tells each line as it comes. It is ended after so many seconds.
pub fn listen(mut command: Command, seconds: u64, tell: impl Fn(&str)) -> Result<Answer, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (send, lines) = channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read is told; why no more, is not.
        let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    std::thread::spawn(move || {
        for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).split(b'\n')).flatten() {
            if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    let (mut said, mut last) = (String::new(), None);
    let mut until = Instant::now() + Duration::from_secs(seconds);
    let mut say = |line: &str| {
        tell(line);
        said.extend([line, "\n"]);
    };
    let silent = loop {
        match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => match line.strip_prefix(ANSWERED) {
                Some(rest) => {
                    last = Some(rest.trim().to_string());
                    // Its process may hang at its end, of what it left behind.
                    until = until.min(Instant::now() + Duration::from_secs(5));
                }
                None => say(&line),
            },
            Err(RecvTimeoutError::Timeout) => break true,
            Err(RecvTimeoutError::Disconnected) => break false,
        }
    };
    if silent {
        // It may have ended just now.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let errors = errors.join().unwrap_or_default();
    let errors: Vec<&str> = errors.lines().collect();
    errors[errors.len().saturating_sub(6)..].iter().for_each(|line| say(&format!("stderr: {line}")));
    match (&last, silent) {
        (Some(_), true) => say("(its process did not end by itself after the answer)"),
        (Some(_), false) if !status.success() => {
            say(&format!("(its process ended badly after the answer: {status})"));
        }
        _ => {}
    }
    let ended = match (&last, silent) {
        (Some(_), _) => None,
        (None, true) => Some(format!("it hung, and was ended after {seconds} s")),
        (None, false) => Some(status.to_string()),
    };
    Ok(Answer { said, last: last.unwrap_or_default(), ended })
}
