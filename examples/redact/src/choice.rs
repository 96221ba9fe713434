//! The rules and the mask that the flags ask for.

use std::fs;

use tower_agent_detect::{Detector, Mask};

use crate::args::{MaskName, Options, UsageError};

/// The variable with the key of `--mask hash`.
const KEY: &str = "REDACT_KEY";

pub(crate) fn choose(options: &Options) -> Result<(Detector, Mask), UsageError> {
    Ok((detector(options)?, mask(options.mask)?))
}

fn detector(options: &Options) -> Result<Detector, UsageError> {
    if options.set.is_none() && options.rules.is_empty() {
        return Ok(Detector::builtin());
    }
    let mut builder = Detector::builder();
    if let Some(set) = options.set {
        builder = builder.set(set);
    }
    for path in &options.rules {
        let refused = |error: String| UsageError(format!("--rules {}: {error}", path.display()));
        let rules = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        // Each file is tried on its own, so that the error names the file.
        let tried = Detector::builder().rules_toml(&rules).build();
        tried.map_err(|error| refused(error.to_string()))?;
        builder = builder.rules_toml(&rules);
    }
    builder.build().map_err(|error| UsageError(error.to_string()))
}

fn mask(name: MaskName) -> Result<Mask, UsageError> {
    Ok(match name {
        MaskName::Label => Mask::label(),
        MaskName::Last4 => Mask::keep_last(4),
        MaskName::Remove => Mask::remove(),
        MaskName::Hash => {
            let key = std::env::var_os(KEY).filter(|key| !key.is_empty());
            let key = key.ok_or_else(|| UsageError(format!("--mask hash needs a key in {KEY}")))?;
            Mask::hash(key.as_encoded_bytes())
        }
    })
}
