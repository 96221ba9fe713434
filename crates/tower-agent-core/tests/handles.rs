//! Requests are handles: what is cloned is shared, and an edit copies only what it touches.
#![cfg(test)]

use std::sync::Arc;

use tower_agent_core::{
    Context, Conversation, Message, ModelRequest, Operation, Part, Run, ToolCall, ToolSpec, Tools,
};

#[test]
fn the_next_turn_copies_handles_and_an_edit_copies_one_message() {
    let mut ours: Conversation = ["one", "two", "three"].map(Message::user).into_iter().collect();
    let request = ours.clone();
    assert!(ours.ptr_eq(&request));

    ours.make_mut()[1].parts_mut().push(Part::text("!"));
    assert_eq!((ours[1].text().as_str(), request[1].text().as_str()), ("two!", "two"));
    let shared = [0, 1, 2].map(|at| ours[at].ptr_eq(&request[at]));
    assert_eq!(shared, [true, false, true]);
}

#[test]
fn an_edit_that_nobody_shares_copies_nothing() {
    let mut ours: Conversation = [Message::user("one")].into_iter().collect();
    let place = ours.as_ptr();
    ours.make_mut()[0].parts_mut().push(Part::text("!"));
    assert_eq!(ours.as_ptr(), place);
}

#[test]
fn hiding_no_tool_copies_nothing_and_hiding_one_copies_no_spec() {
    let specs = ["read", "write"].map(|name| Arc::new(ToolSpec::new(name, "")));
    let tools = Tools::from(specs.to_vec());
    let mut all = tools.clone();
    all.retain(|_| true);
    assert!(all.ptr_eq(&tools));

    let mut some = tools.clone();
    some.retain(|spec| spec.name == "write");
    assert_eq!((some.len(), tools.len()), (1, 2));
    assert!(Arc::ptr_eq(&some[0], &specs[1]));
    assert!(some.find("read").is_none() && tools.find("read").is_some());
}

#[test]
fn a_call_knows_whether_it_was_touched() {
    let call = ToolCall::new("read", r#"{"a": 1}"#).with_id("c1");
    let mut other = call.clone();
    assert!(other.is_untouched(&call));
    other.ctx = Context::default();
    assert!(other.is_untouched(&call));
    other.arguments.make_mut().unwrap()["a"] = 2.into();
    assert!(!other.is_untouched(&call));
}

#[test]
fn a_clone_of_a_request_shares_all_texts() {
    let mut request = ModelRequest::new("demo", vec![Message::user("hello")]);
    request.append_instructions("Be brief.");
    let clone = request.clone();
    assert!(clone.model.ptr_eq(&request.model));
    assert!(clone.messages.ptr_eq(&request.messages));
    assert!(clone.tools.ptr_eq(&request.tools));

    request.append_instructions("Be kind.");
    assert_eq!(request.instructions.unwrap(), "Be brief.\nBe kind.");
    assert_eq!(clone.instructions.unwrap(), "Be brief.");
}

#[test]
fn the_deadline_of_a_call_is_the_earlier_of_its_own_and_the_run_s() {
    let now = tokio::time::Instant::now().into_std();
    let second = std::time::Duration::from_secs(1);
    let mut ctx = Run::builder("r1").deadline(now + second * 2).build();
    assert_eq!(ctx.deadline(), Some(now + second * 2));
    ctx.set_deadline(now + second * 3);
    assert_eq!(ctx.deadline(), Some(now + second * 2));
    ctx.set_deadline(now + second);
    assert_eq!(ctx.deadline(), Some(now + second));
    assert_eq!(ctx.nested("r2", "c1".into()).deadline(), Some(now + second));
}

#[test]
fn every_operation_names_itself_and_its_run() {
    let ctx = || Run::builder("r1").agent("helper").build();
    let call = ToolCall::new("read", "").with_context(ctx());
    let run = tower_agent_core::RunRequest::user("hi").with_context(ctx());
    let mut model = ModelRequest::new("demo", Vec::new());
    *model.context_mut() = ctx();
    assert_eq!((call.name(), model.name(), run.name()), ("read", "demo", "helper"));
    for ctx in [call.context(), model.context(), run.context()] {
        assert_eq!(ctx.run().id(), "r1");
    }
}
