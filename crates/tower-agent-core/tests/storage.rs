//! What a host stores or sends comes back unchanged.
#![cfg(test)]

use std::fmt::Debug;

use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use tower_agent_core::{
    Conversation, ModelEvent, ModelRequest, Outcome, Provenance, Reply, RunEvent, RunRequest,
    Suspension, ToolCall, ToolOutput, ToolSpec, Tools, Transcript,
};
use tower_agent_test::strategies;

/// As a text and as a value, since hosts do both, and text again, which shows every byte.
fn stored<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, TestCaseError> {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap();
    prop_assert_eq!(&serde_json::to_string(&back).unwrap(), &text);
    let through_value: T = serde_json::from_value(serde_json::to_value(value).unwrap()).unwrap();
    prop_assert_eq!(&serde_json::to_string(&through_value).unwrap(), &text);
    Ok(back)
}

fn survives<T>(value: &T) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    prop_assert_eq!(&stored(value)?, value);
    Ok(())
}

proptest! {
    #[test]
    fn a_conversation_survives(value in strategies::conversation()) {
        survives::<Conversation>(&value)?;
    }

    #[test]
    fn a_transcript_survives(value in strategies::transcript()) {
        survives::<Transcript>(&value)?;
    }

    #[test]
    fn a_step_of_a_run_survives(value in strategies::run_event()) {
        survives::<RunEvent>(&value)?;
    }

    #[test]
    fn an_event_of_a_model_survives(value in strategies::model_event()) {
        survives::<ModelEvent>(&value)?;
    }

    #[test]
    fn a_reply_survives(value in strategies::reply()) {
        survives::<Reply>(&value)?;
    }

    #[test]
    fn an_outcome_with_its_suspension_survives(value in strategies::outcome()) {
        survives::<Outcome>(&value)?;
    }

    #[test]
    fn a_suspension_survives(value in strategies::suspension()) {
        survives::<Suspension>(&value)?;
    }

    #[test]
    fn a_provenance_survives(value in strategies::provenance()) {
        survives::<Provenance>(&value)?;
    }

    #[test]
    fn an_output_survives(value in strategies::tool_output()) {
        survives::<ToolOutput>(&value)?;
    }

    #[test]
    fn tools_survive_in_their_order(value in strategies::tools()) {
        survives::<Tools>(&value)?;
    }

    #[test]
    fn a_spec_survives(value in strategies::tool_spec()) {
        survives::<ToolSpec>(&value)?;
    }

    #[test]
    fn a_suspended_call_survives(value in strategies::tool_call()) {
        let back = stored::<ToolCall>(&value)?;
        prop_assert_eq!((&back.id, &back.name), (&value.id, &value.name));
        prop_assert_eq!(back.arguments.as_str(), value.arguments.as_str());
    }

    #[test]
    fn a_model_request_survives(value in strategies::model_request()) {
        let back = stored::<ModelRequest>(&value)?;
        prop_assert_eq!(back.messages, value.messages);
        prop_assert_eq!(back.tools, value.tools);
        prop_assert_eq!(back.sampling, value.sampling);
        prop_assert_eq!((back.model, back.instructions), (value.model, value.instructions));
        prop_assert_eq!((back.tool_choice, back.output), (value.tool_choice, value.output));
        prop_assert_eq!((back.stream, back.extra), (value.stream, value.extra));
    }

    #[test]
    fn a_run_request_survives(value in strategies::run_request()) {
        let back = stored::<RunRequest>(&value)?;
        prop_assert_eq!((back.conversation, back.input), (value.conversation, value.input));
        prop_assert_eq!((back.instructions, back.model), (value.instructions, value.model));
        prop_assert_eq!((back.sampling, back.output), (value.sampling, value.output));
        prop_assert_eq!((back.stream, back.limits, back.extra), (value.stream, value.limits, value.extra));
    }
}

#[test]
fn a_null_that_a_tool_gave_is_not_taken_for_nothing() {
    let output = ToolOutput::structured("null");
    let back = stored(&output).unwrap();
    assert_eq!(back.structured.unwrap().as_str(), "null");
}
