//! The text format of Prometheus, version 0.0.4.

use std::fmt::{self, Display, Write};

use tower_agent_core::OperationKind;

use super::snapshot::{SeriesSnapshot, Snapshot};

pub(super) fn to_text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = write_all(&mut text, &snapshot.series);
    text
}

fn write_all(text: &mut String, all: &[SeriesSnapshot]) -> fmt::Result {
    head(text, "tower_agent_calls_total", "counter", "Calls that are over, by outcome.")?;
    for series in all {
        for (class, count) in &series.outcomes {
            let labels = format!("{},outcome=\"{class}\"", labels(series));
            sample(text, "tower_agent_calls_total", &labels, count)?;
        }
    }
    head(text, "tower_agent_calls_in_flight", "gauge", "Calls that are not over yet.")?;
    for series in all {
        sample(text, "tower_agent_calls_in_flight", &labels(series), series.in_flight)?;
    }
    let help = "How long calls took, to the end of their streams.";
    head(text, "tower_agent_call_duration_seconds", "histogram", help)?;
    for series in all {
        write_duration(text, series)?;
    }
    head(text, "tower_agent_tokens_total", "counter", "Tokens that calls used, parts included.")?;
    for series in all.iter().filter(|series| series.operation != OperationKind::Tool) {
        write_tokens(text, series)?;
    }
    Ok(())
}

fn head(text: &mut String, metric: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(text, "# HELP {metric} {help}\n# TYPE {metric} {kind}")
}

fn sample(text: &mut String, metric: &str, labels: &str, value: impl Display) -> fmt::Result {
    writeln!(text, "{metric}{{{labels}}} {value}")
}

fn write_duration(text: &mut String, series: &SeriesSnapshot) -> fmt::Result {
    let (labels, duration) = (labels(series), &series.duration);
    for (bound, count) in duration.cumulative() {
        let labels = format!("{labels},le=\"{bound}\"");
        sample(text, "tower_agent_call_duration_seconds_bucket", &labels, count)?;
    }
    let last = format!("{labels},le=\"+Inf\"");
    sample(text, "tower_agent_call_duration_seconds_bucket", &last, duration.count())?;
    sample(text, "tower_agent_call_duration_seconds_sum", &labels, duration.sum)?;
    sample(text, "tower_agent_call_duration_seconds_count", &labels, duration.count())
}

fn write_tokens(text: &mut String, series: &SeriesSnapshot) -> fmt::Result {
    let usage = &series.usage;
    let kinds = [
        ("input", usage.input),
        ("cached_read", usage.cached_read),
        ("cached_write", usage.cached_write),
        ("output", usage.output),
        ("reasoning", usage.reasoning),
    ];
    for (kind, tokens) in kinds {
        let labels = format!("{},type=\"{kind}\"", labels(series));
        sample(text, "tower_agent_tokens_total", &labels, tokens)?;
    }
    Ok(())
}

fn labels(series: &SeriesSnapshot) -> String {
    format!("operation=\"{}\",name=\"{}\"", series.operation, escaped(&series.name))
}

/// A label's value may hold anything, but for what would end it.
fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::escaped;

    #[test]
    fn quotes_backslashes_and_line_ends_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
    }

    proptest! {
        #[test]
        fn no_name_ends_its_label_or_its_line(name in "\\PC*|[\"\\\\\n a]*") {
            let value = escaped(&name);
            let mut back = String::new();
            let mut chars = value.chars();
            while let Some(char) = chars.next() {
                prop_assert!(char != '"' && char != '\n');
                back.push(match char {
                    '\\' => match chars.next() { Some('n') => '\n', Some(char) => char, None => '?' },
                    char => char,
                });
            }
            prop_assert_eq!(back, name);
        }
    }
}
