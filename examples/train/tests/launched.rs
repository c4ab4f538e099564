//! Ranks as processes, started by `examples/launch.sh` as a launcher starts them: over sockets they train as one process does,
//! and a rank that is killed ends the others with an error that names it, in bounded time.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dacapo-example-train");
/// For how long a rank is waited for, in seconds.
const PATIENCE: u64 = 6;
/// What a busy computer may add to it.
const SLACK: Duration = Duration::from_secs(20);

/// A launch that goes on.
struct Launch {
    script: Child,
    processes: Vec<u32>,
    /// What it writes to standard error behind the numbers of the processes.
    said: JoinHandle<String>,
}

impl Launch {
    fn new(ranks: usize, arguments: &[&str]) -> Launch {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|taken| taken.local_addr()).expect("a port").port();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch.sh");
        let mut script = Command::new("sh")
            .arg(script)
            .args([&ranks.to_string(), PROGRAM, "--device", "software", "--ranks", &ranks.to_string(), "--time", "2"])
            .args(["--rate", "0.05"])
            .args(arguments)
            .env("MASTER_PORT", port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let mut lines = BufReader::new(script.stderr.take().expect("piped"));
        let mut before = String::new();
        let mut processes = Vec::new();
        while processes.len() < ranks {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).expect("text") > 0, "the script ended: {before}");
            match line.split_once(" is process ") {
                Some((_, process)) => processes.push(process.trim().parse().expect("a number")),
                None => before.push_str(&line),
            }
        }
        let said = std::thread::spawn(move || {
            let read = lines.read_to_string(&mut before);
            read.expect("text");
            before
        });
        Launch { script, processes, said }
    }

    /// The end of all ranks, what they printed, and what they said of errors. Whoever has not ended by then is killed, and that
    /// is a failure.
    fn end_within(mut self, patience: Duration) -> (ExitStatus, String, String) {
        let until = Instant::now() + patience;
        let ended = loop {
            match self.script.try_wait().expect("its state") {
                Some(ended) => break Some(ended),
                None if Instant::now() > until => break None,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        if ended.is_none() {
            self.processes.iter().for_each(|process| kill(*process));
            let _ = self.script.kill();
        }
        let mut printed = String::new();
        self.script.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
        let said = self.said.join().expect("it reads");
        let ended = ended.unwrap_or_else(|| panic!("not ended within {patience:?}:\n{printed}{said}"));
        (ended, printed, said)
    }
}

fn kill(process: u32) {
    let killed = Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
    killed.expect("there is `kill`");
}

/// The line with the digest of all losses and parameters.
fn digest(printed: &str) -> &str {
    let line = printed.lines().find(|line| line.contains("digest of all bits"));
    line.unwrap_or_else(|| panic!("no digest:\n{printed}"))
}

#[test]
fn processes_end_with_the_bits_of_threads() {
    for (model, ranks) in [("mlp", 2), ("gru", 2), ("mlp", 4)] {
        let arguments = ["--model", model, "--steps", "6", "--hidden", "16"];
        let (ended, printed, said) = Launch::new(ranks, &arguments).end_within(Duration::from_secs(240));
        assert!(ended.success(), "{printed}{said}");
        let each = format!("{ranks} ranks with {} of 8 sequences each", 8 / ranks);
        assert!(printed.contains(&each) && printed.contains("ok      0 findings"), "{printed}");
        assert_eq!(printed.matches(" ranks with ").count(), 1, "only rank 0 speaks:\n{printed}");

        let alone = Command::new(PROGRAM)
            .args(["--device", "software", "--time", "2", "--rate", "0.05", "--ranks", &ranks.to_string()])
            .args(arguments)
            .output()
            .expect("the program starts");
        assert!(alone.status.success(), "{alone:?}");
        assert_eq!(digest(&printed), digest(&String::from_utf8_lossy(&alone.stdout)), "{model} on {ranks}");
    }
}

/// Before they have found each other, while they train, and later; of two, each of them.
#[test]
fn a_rank_that_is_killed_ends_the_others_in_bounded_time() {
    let mut named = 0;
    for (victim, delay_ms) in [(1, 0), (1, 700), (0, 700), (0, 2500), (1, 2500)] {
        let launch = Launch::new(
            2,
            &["--model", "mlp", "--steps", "60000", "--hidden", "8", "--patience", &PATIENCE.to_string()],
        );
        std::thread::sleep(Duration::from_millis(delay_ms));
        kill(launch.processes[victim]);
        let (ended, printed, said) = launch.end_within(Duration::from_secs(PATIENCE) + SLACK);
        let what = format!("rank {victim} killed after {delay_ms} ms: {ended}\n{printed}{said}");
        let survivor = 1 - victim;
        assert!(said.contains(&format!("rank {victim} ended with 137")), "{what}");
        assert!(said.contains(&format!("rank {survivor} ended with 2")), "{what}");
        assert!(said.contains("error[rank_failed]") || said.contains("error[not_joined]"), "{what}");
        assert!(said.contains(&format!("rank {survivor} of 2")), "who says it is named: {what}");
        // What was not done because of it.
        named += usize::from(said.contains("which needs it for `") && said.contains("examples/train/src/"));
    }
    assert!(named >= 2, "{named} of the errors name the op that waited for the rank that was killed, and its line");
}

#[test]
fn the_script_says_how_it_is_used() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launch.sh");
    let done = Command::new("sh").arg(&script).output().expect("there is a shell");
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("usage:"), "{done:?}");
    let done = Command::new("sh").arg(&script).args(["2", "false"]).output().expect("there is a shell");
    assert_eq!(done.status.code(), Some(1), "the code of who failed: {done:?}");
}
