//! Masks secrets and personal data on their way from standard input to standard output: `cargo run --release -p redact`.

mod args;
mod choice;
mod lines;
mod pump;
mod report;
mod text;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::{
    args::{Args, HELP, Options, UsageError},
    report::Report,
};

fn main() -> ExitCode {
    match Args::parse(std::env::args_os().skip(1)) {
        Ok(Args::Run(options)) => run(&options),
        Ok(Args::Help) => done(io::stdout().write_all(HELP.as_bytes())),
        Err(UsageError(error)) => refused(&format!("{error}; --help lists the flags")),
    }
}

fn run(options: &Options) -> ExitCode {
    let (detector, mask) = match choice::choose(options) {
        Ok(chosen) => chosen,
        Err(error) => return refused(&error.to_string()),
    };
    let mut report = Report::new(options.quiet);
    let masked = if options.json {
        pump::pump(&mut lines::Lines::new(detector, mask), &mut report)
    } else {
        pump::pump(&mut text::Text::new(&detector, mask), &mut report)
    };
    report.clear();
    if masked.is_ok() {
        report.summary();
    }
    done(masked)
}

fn refused(error: &str) -> ExitCode {
    // Whether anybody reads it is nothing that could be told to anybody.
    let _ = writeln!(io::stderr(), "redact: {error}");
    ExitCode::from(2)
}

fn done(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "redact: {error}");
            ExitCode::FAILURE
        }
    }
}
