//! Moves the input through a filter to the output.

use std::io::{self, BufWriter, Read, Write};

use crate::report::Report;

/// How much is read at once at most, in bytes. A pipe gives no more at a time.
const CHUNK: usize = 64 << 10;

/// Masks bytes that come in pieces.
pub(crate) trait Filter {
    /// Takes the next piece and writes what is settled.
    fn push(&mut self, piece: &[u8], to: &mut dyn Write, report: &mut Report) -> io::Result<()>;
    /// Writes the rest.
    fn finish(&mut self, to: &mut dyn Write, report: &mut Report) -> io::Result<()>;
}

/// Reads to the end. What is settled is written before the next read, which may take long.
pub(crate) fn pump(filter: &mut impl Filter, report: &mut Report) -> io::Result<()> {
    let mut from = io::stdin().lock();
    let mut to = BufWriter::with_capacity(CHUNK, io::stdout().lock());
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        filter.push(chunk.get(..read).unwrap_or_default(), &mut to, report)?;
        to.flush()?;
        report.passed(read);
    }
    filter.finish(&mut to, report)?;
    to.flush()
}
