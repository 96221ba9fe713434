//! Masks text. What is no UTF-8 passes as it is, and what stands before and after it is masked on its own.

use std::io::{self, Write};

use tower_agent_detect::{Detector, Mask, StreamRedactor};

use crate::{pump::Filter, report::Report};

#[derive(Debug)]
pub(crate) struct Text {
    stream: StreamRedactor,
    /// The beginning of a character that has not come completely.
    begun: Vec<u8>,
    out: String,
}

impl Text {
    pub(crate) fn new(detector: &Detector, mask: Mask) -> Self {
        Self { stream: detector.stream(mask), begun: Vec::new(), out: String::new() }
    }

    fn bytes(&mut self, bytes: &[u8], to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        if let Ok(text) = str::from_utf8(bytes) {
            return self.text(text, to, report);
        }
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text(chunk.valid(), to, report)?;
            if chunks.peek().is_none() && is_begun(chunk.invalid()) {
                self.begun.extend_from_slice(chunk.invalid());
            } else if !chunk.invalid().is_empty() {
                self.end(to, report)?;
                to.write_all(chunk.invalid())?;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str, to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        self.stream.push(text, &mut self.out);
        self.write(to, report)
    }

    /// Ends the text, so that what comes next begins another one.
    fn end(&mut self, to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        self.stream.finish(&mut self.out);
        self.write(to, report)
    }

    fn write(&mut self, to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        for finding in self.stream.take_findings() {
            report.found(finding.rule().id());
        }
        to.write_all(self.out.as_bytes())?;
        self.out.clear();
        Ok(())
    }
}

impl Filter for Text {
    fn push(&mut self, piece: &[u8], to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        if self.begun.is_empty() {
            return self.bytes(piece, to, report);
        }
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        self.bytes(&bytes, to, report)
    }

    fn finish(&mut self, to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        self.end(to, report)?;
        to.write_all(&std::mem::take(&mut self.begun))
    }
}

/// Whether bytes that are no UTF-8 may still become a character.
fn is_begun(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
