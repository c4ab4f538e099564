//! The program `dacapo`; all of it is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    dacapo_cli::main()
}
