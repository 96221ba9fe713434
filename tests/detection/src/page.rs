//! The page, section by section.

use detection_quality::{Differences, personal::Counted, secrets, verdicts};

use crate::{
    masked::Judged, page_masked, page_personal, page_secrets, page_sources, page_targets,
    sources::Sources,
};

/// All that was measured, and what is known about it.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) secrets: secrets::Report,
    pub(crate) verdicts: verdicts::Report,
    pub(crate) personal: Vec<Counted>,
    pub(crate) due: verdicts::Report,
    pub(crate) sentences: usize,
    pub(crate) masked: Vec<Judged>,
    pub(crate) sources: Sources,
    pub(crate) differences: Differences,
}

/// The part of the page that is measured.
pub(crate) fn write(measured: &Measured) -> String {
    [
        page_targets::write(measured),
        page_secrets::samples(&measured.secrets),
        page_secrets::verdicts(&measured.verdicts, &measured.differences),
        page_personal::sentences(&measured.personal, measured.sentences),
        page_personal::tables(&measured.due, &measured.differences),
        page_masked::write(&measured.masked),
        page_sources::write(&measured.sources),
    ]
    .concat()
}
