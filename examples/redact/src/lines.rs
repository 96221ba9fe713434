//! Masks JSON Lines, each line on its own.

use std::io::{self, Write};

use tower_agent_detect::{Detector, Mask};

use crate::{pump::Filter, report::Report, text::Text};

/// The longest line that is read as JSON, in bytes, so that the memory that is needed is bounded.
const LONGEST: usize = 64 << 20;

#[derive(Debug)]
pub(crate) struct Lines {
    detector: Detector,
    mask: Mask,
    /// The line that has not come completely.
    line: Vec<u8>,
    /// Masks lines that are no JSON.
    text: Text,
    /// Whether the line is known to be too long, and its beginning has gone as text.
    is_text: bool,
}

impl Lines {
    pub(crate) fn new(detector: Detector, mask: Mask) -> Self {
        let text = Text::new(&detector, mask.clone());
        Self { detector, mask, line: Vec::new(), text, is_text: false }
    }

    /// Takes a part of a line, without its end.
    fn part(&mut self, part: &[u8], to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        if !self.is_text && self.line.len() + part.len() <= LONGEST {
            self.line.extend_from_slice(part);
            return Ok(());
        }
        if !self.is_text {
            self.is_text = true;
            self.text.push(&std::mem::take(&mut self.line), to, report)?;
        }
        self.text.push(part, to, report)
    }

    fn end(&mut self, to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.line);
        self.whole(&line, to, report)?;
        line.clear();
        (self.line, self.is_text) = (line, false);
        Ok(())
    }

    fn whole(&mut self, line: &[u8], to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        if !self.is_text {
            if line.trim_ascii().is_empty() {
                return to.write_all(line);
            }
            let mut found = |rule: &tower_agent_detect::Rule| report.found(rule.id());
            let text = str::from_utf8(line).ok();
            let masked = text.and_then(|it| self.detector.mask_json(it, &self.mask, &mut found));
            if let Some(masked) = masked {
                return to.write_all(masked.as_bytes());
            }
            self.text.push(line, to, report)?;
        }
        report.no_json();
        self.text.finish(to, report)
    }
}

impl Filter for Lines {
    fn push(&mut self, piece: &[u8], to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                // A line that is here as a whole needs no copy.
                Some(line) if self.line.is_empty() && !self.is_text => {
                    self.whole(line, to, report)?
                }
                Some(line) => {
                    self.part(line, to, report)?;
                    self.end(to, report)?;
                }
                None => {
                    self.part(part, to, report)?;
                    continue;
                }
            }
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    fn finish(&mut self, to: &mut dyn Write, report: &mut Report) -> io::Result<()> {
        if self.line.is_empty() && !self.is_text { Ok(()) } else { self.end(to, report) }
    }
}
