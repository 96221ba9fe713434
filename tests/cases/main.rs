//! Faults that people reported of other systems, each reduced to a small input, and the right outcome here.
//!
//! The cases are read from the folder that `TOWER_AGENT_SHARED` names; without it there is nothing to run. A
//! new case is one line in the table below: in the list of those that run, or in that of those that wait.
#![cfg(test)]

mod case;
mod check;
mod executor;
mod layers;
mod limits;
mod mcp;
mod names;
mod order;
mod readiness;
mod redact;
mod scene;
mod streams;
mod truncate;
mod wire;

use std::{collections::BTreeSet, io::Write};

use case::Case;

/// One test per case, named by what it shows, and the list of all their ids.
macro_rules! cases {
    ($($id:literal $name:ident: $show:path,)*) => {
        const RUN: &[&str] = &[$($id),*];

        $(#[tokio::test(start_paused = true)]
        async fn $name() {
            if let Some(case) = Case::find($id) {
                $show(&case).await;
                case.expected.assert_all_looked_at();
            }
        })*
    };
}

cases! {
    "argument-parsing-01" no_arguments_are_an_empty_object_and_broken_ones_do_not_run: executor::arguments,
    "argument-parsing-02" arguments_that_were_cut_off_do_not_run: executor::cut_off,
    "argument-parsing-04" numbers_that_nobody_changed_arrive_as_sent: executor::large_numbers,
    "cancellation-01" a_dropped_call_gives_its_slot_back: limits::dropped_call,
    "cancellation-02" an_interrupted_batch_answers_every_call: executor::interrupted,
    "error-shape-01" an_error_flag_is_a_failure_with_all_its_parts: mcp::error_flag,
    "error-shape-02" an_unknown_tool_is_an_error_that_layers_see: executor::calls,
    "metrics-01" a_stream_that_is_left_or_fails_is_counted_once: limits::counted_streams,
    "ordering-01" no_half_of_a_secret_comes_out_in_either_order: order::cut_and_mask,
    "panic-01" a_cut_falls_between_characters: truncate::characters,
    "panic-02" a_panic_is_an_error_result_and_gives_its_slot_back: executor::calls,
    "parallel-01" one_failure_leaves_its_siblings_alone: executor::one_fails,
    "parallel-02" results_go_back_in_call_order: executor::calls,
    "readiness-01" every_layer_calls_the_instance_that_was_ready: readiness::every_layer,
    "redaction-miss-01" arguments_of_a_reply_without_text_are_masked: redact::reply,
    "redaction-miss-02" a_private_key_is_masked_from_its_first_to_its_last_line: redact::result,
    "redaction-miss-03" errors_are_masked_as_results_are: redact::error,
    "redaction-miss-04" cards_of_every_length_are_masked: redact::result,
    "redaction-overlap-01" overlapping_finds_are_masked_as_one: redact::result,
    "redaction-overmatch-01" words_that_hold_the_beginning_of_a_key_stay: redact::result,
    "redaction-overmatch-02" a_telling_name_alone_masks_nothing: redact::result,
    "redaction-overmatch-03" times_in_milliseconds_are_no_cards: redact::result,
    "redaction-overmatch-04" the_tool_gets_what_the_text_loses: redact::reply,
    "schema-01" every_keyword_of_a_schema_reaches_the_model: mcp::schemas,
    "schema-02" no_tool_takes_the_place_of_another: mcp::names,
    "streaming-boundary-01" a_secret_across_pieces_is_masked: streams::masked,
    "streaming-boundary-02" held_text_is_delivered_before_the_end: streams::masked,
    "streaming-boundary-03" harmless_text_flows_while_the_stream_runs: streams::masked,
    "timeout-01" a_stream_that_stalls_ends_with_a_timeout: limits::stalled_stream,
    "timeout-02" a_server_is_told_that_nobody_waits: mcp::silence,
    "tool-call-pairing-01" pieces_of_interleaved_calls_go_by_index: wire::stream,
    "truncation-01" json_stays_json_and_keeps_its_small_fields: truncate::json,
    "unicode-confusable-01" names_are_compared_byte_for_byte_and_shown_escaped: names::look_alikes,
    "utf8-01" a_character_that_two_chunks_share_arrives_whole: wire::stream,
}

/// Cases that wait, by the part that they wait for.
const LATER: &[(&str, &[&str])] = &[
    (
        "rules about arguments: commands and paths",
        &[
            "allowlist-bypass-01",
            "allowlist-bypass-02",
            "allowlist-bypass-03",
            "allowlist-bypass-04",
            "allowlist-bypass-05",
            "ordering-02",
        ],
    ),
    ("arguments brought to their schema", &["argument-parsing-03"]),
    ("approval", &["approval-01", "approval-02"]),
    ("budget", &["budget-01"]),
    ("cache", &["cache-key-01", "cache-key-02", "cache-key-03", "cache-value-01"]),
    ("cost", &["cost-01", "cost-02"]),
    ("fallback", &["fallback-01"]),
    ("guard", &["guardrail-01", "guardrail-02"]),
    ("limit on the number of calls", &["tool-call-pairing-02"]),
    ("rate limit by key", &["rate-limit-01"]),
    ("record and replay", &["record-replay-01"]),
    ("retry", &["retry-01", "retry-02", "retry-03", "retry-04"]),
];

#[test]
fn every_case_runs_or_is_named_with_what_it_waits_for() {
    let Some(cases) = case::all() else {
        // Not `eprintln`, which the harness would keep to itself.
        let _ = writeln!(
            std::io::stderr(),
            "TOWER_AGENT_SHARED is not set: the shared cases are not run"
        );
        return;
    };
    let waiting = LATER.iter().flat_map(|(_, ids)| ids.iter().copied());
    let ours: Vec<&str> = RUN.iter().copied().chain(waiting).collect();
    let known: BTreeSet<&str> = ours.iter().copied().collect();
    assert_eq!(known.len(), ours.len(), "an id is listed twice");
    let given: BTreeSet<&str> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
    let unknown: Vec<_> = given.difference(&known).collect();
    let gone: Vec<_> = known.difference(&given).collect();
    assert!(unknown.is_empty(), "cases that are in neither list: {unknown:?}");
    assert!(gone.is_empty(), "cases that do not exist: {gone:?}");
}
