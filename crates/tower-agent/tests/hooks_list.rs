//! Stories about lists of hooks that are put together at run time.
#![cfg(test)]
#![cfg(feature = "hooks")]

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use proptest::{collection::vec, prelude::*};
use tower::{Layer, ServiceExt, service_fn};
use tower_agent::{
    BoxToolService, Content, Effect, Error, ErrorKind, FailMode, Message, ModelRequest,
    ModelResponse, Reply, ToolCall, ToolOutput, Verdict,
    hooks::{Hook, HookList, NameError, after_call, before, on_error},
};

#[path = "support/echo.rs"]
mod echo;

use echo::{Echo, NoSuchFile, crash};

type Notes = Arc<Mutex<Vec<String>>>;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Down {
    #[default]
    Allow,
    Edit,
    EditContext,
    Modify,
    Deny,
    Answer,
    Break,
    Crash,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Up {
    #[default]
    Leave,
    Edit,
    Crash,
}

/// A hook that writes down what it sees and does what the test asks for.
#[derive(Clone, Debug, Default)]
struct Scripted {
    name: String,
    mode: FailMode,
    before: Down,
    after: Up,
    on_error: Up,
    notes: Notes,
}

impl Scripted {
    fn new(name: &str, notes: &Notes) -> Self {
        Self { name: name.to_owned(), notes: notes.clone(), ..Self::default() }
    }

    fn note(&self, stage: &str, call: &ToolCall) {
        let note = format!("{} {stage} {} {}", self.name, call.arguments, call.ctx.attempt);
        self.notes.lock().unwrap().push(note);
    }
}

impl Hook<ToolCall> for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn fail_mode(&self) -> FailMode {
        self.mode
    }

    fn before(&self, call: &mut ToolCall) -> Verdict<ToolCall> {
        self.note("before", call);
        let edit = |call: &mut ToolCall| {
            call.arguments.make_mut().unwrap()[&self.name] = true.into();
        };
        match self.before {
            Down::Allow => {}
            Down::Edit => edit(call),
            Down::EditContext => call.ctx.attempt += 1,
            Down::Modify => {
                let mut modified = call.clone();
                edit(&mut modified);
                return Verdict::modify(modified);
            }
            Down::Deny => return Verdict::deny(""),
            Down::Answer => return Verdict::answer(ToolOutput::text(&*self.name)),
            Down::Break => call.arguments = "[".into(),
            Down::Crash => {
                edit(call);
                crash()
            }
        }
        Verdict::Allow
    }

    fn after(&self, call: &ToolCall, output: &mut ToolOutput) {
        self.note("after", call);
        match self.after {
            Up::Leave => {}
            Up::Edit => output.content.push(Content::text(&*self.name)),
            Up::Crash => crash(),
        }
    }

    fn on_error(&self, call: &ToolCall, _: &Error) -> Option<ToolOutput> {
        self.note("on_error", call);
        match self.on_error {
            Up::Leave => None,
            Up::Edit => Some(ToolOutput::text(format!("{} instead", self.name))),
            Up::Crash => crash(),
        }
    }
}

fn call() -> ToolCall {
    ToolCall::new("search", "{}")
}

fn failing() -> ToolCall {
    ToolCall::new("fail", "{}")
}

fn list(hooks: impl IntoIterator<Item = Scripted>) -> HookList<ToolCall> {
    HookList::new(hooks.into_iter().map(|hook| Box::new(hook) as Box<dyn Hook<ToolCall>>)).unwrap()
}

fn run(hooks: &HookList<ToolCall>, call: ToolCall) -> Result<ToolOutput, Error> {
    hooks.layer(Echo::default()).oneshot(call).now_or_never().unwrap()
}

fn stages(notes: &Notes) -> Vec<String> {
    let notes = notes.lock().unwrap();
    notes.iter().map(|note| note.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

fn three(notes: &Notes, second: Scripted) -> HookList<ToolCall> {
    list([Scripted::new("a", notes), second, Scripted::new("c", notes)])
}

#[test]
fn before_hooks_run_in_order_and_after_hooks_in_reverse() {
    let notes = Notes::default();
    run(&three(&notes, Scripted::new("b", &notes)), call()).unwrap();
    assert_eq!(
        stages(&notes),
        ["a before", "b before", "c before", "c after", "b after", "a after"]
    );
}

#[test]
fn after_an_entry_that_stops_the_call_only_those_around_it_hear_of_it() {
    for before in [Down::Deny, Down::Answer] {
        let notes = Notes::default();
        let tool = Echo::default();
        let hooks = three(&notes, Scripted { before, ..Scripted::new("b", &notes) });
        let output = hooks.layer(tool.clone()).oneshot(call()).now_or_never().unwrap().unwrap();
        assert_eq!((output.provenance.by.as_deref(), tool.runs()), (Some("b"), 0));
        assert_eq!(stages(&notes), ["a before", "b before", "a after"]);
    }
}

#[test]
fn an_entry_that_fails_before_the_call_closes_with_an_error_for_those_around_it() {
    for before in [Down::Crash, Down::Break] {
        let notes = Notes::default();
        let error = run(&three(&notes, Scripted { before, ..Scripted::new("b", &notes) }), call())
            .unwrap_err();
        assert_eq!((error.kind(), error.effect()), (ErrorKind::Hook, Effect::NotStarted));
        assert_eq!(error.layer(), Some("b"));
        assert_eq!(stages(&notes), ["a before", "b before", "a on_error"]);
    }
}

#[test]
fn an_error_is_offered_from_the_inside_out_until_one_handles_it_and_the_rest_see_the_answer() {
    let notes = Notes::default();
    let b = Scripted { on_error: Up::Edit, ..Scripted::new("b", &notes) };
    let output = run(&three(&notes, b), failing()).unwrap();
    assert_eq!(output.joined_text(), "b instead");
    assert_eq!(
        stages(&notes),
        ["a before", "b before", "c before", "c on_error", "b on_error", "a after"]
    );
}

#[test]
fn an_error_that_no_entry_handles_keeps_its_identity() {
    let notes = Notes::default();
    let b = Scripted { on_error: Up::Crash, ..Scripted::new("b", &notes) };
    let error = run(&three(&notes, b), failing()).unwrap_err();
    assert!(error.find::<NoSuchFile>().is_some());
    assert_eq!(stages(&notes)[3..], ["c on_error", "b on_error", "a on_error"]);
}

#[test]
fn edits_of_arguments_and_results_add_up() {
    let notes = Notes::default();
    let edits =
        |name| Scripted { before: Down::Edit, after: Up::Edit, ..Scripted::new(name, &notes) };
    let output = run(&list([edits("a"), edits("b")]), call()).unwrap();
    assert_eq!(output.joined_text(), "{\"a\":true,\"b\":true}\nb\na");
}

#[test]
fn each_entry_sees_afterwards_the_request_that_it_passed_on_and_no_later_edit() {
    let notes = Notes::default();
    let hooks = [
        Scripted::new("a", &notes),
        Scripted { before: Down::Edit, ..Scripted::new("b", &notes) },
        Scripted { before: Down::EditContext, ..Scripted::new("c", &notes) },
        Scripted { before: Down::Modify, ..Scripted::new("d", &notes) },
    ];
    run(&list(hooks), call()).unwrap();
    let notes = notes.lock().unwrap();
    assert_eq!(
        notes[4..],
        [
            r#"d after {"b":true,"d":true} 2"#,
            r#"c after {"b":true} 2"#,
            r#"b after {"b":true} 1"#,
            "a after {} 1",
        ]
    );
}

#[test]
fn an_observer_that_crashes_keeps_the_result_and_stops_nobody_else() {
    let notes = Notes::default();
    let b = Scripted { after: Up::Crash, ..Scripted::new("b", &notes) };
    assert_eq!(run(&three(&notes, b), call()).unwrap(), ToolOutput::text("{}"));
    assert_eq!(stages(&notes)[3..], ["c after", "b after", "a after"]);
}

#[test]
fn a_guard_that_crashes_withholds_the_result_and_those_around_it_see_that() {
    let notes = Notes::default();
    let b = Scripted { after: Up::Crash, mode: FailMode::Closed, ..Scripted::new("b", &notes) };
    let output = run(&three(&notes, b), ToolCall::new("search", r#"{"k":"secret"}"#)).unwrap();
    assert!(output.outcome.is_failed());
    assert!(!output.joined_text().contains("secret"));
    assert_eq!(stages(&notes)[3..], ["c after", "b after", "a after"]);
}

#[test]
fn an_empty_list_changes_nothing_and_still_says_something() {
    let empty = HookList::<ToolCall>::default();
    assert_eq!((empty.len(), empty.is_empty(), empty.names().count()), (0, true, 0));
    assert_eq!(
        (empty.to_string().as_str(), format!("{empty:?}").as_str()),
        ("no hooks", "HookList[]")
    );
    assert_eq!(run(&empty, call()).unwrap(), ToolOutput::text("{}"));
    assert!(run(&empty, failing()).unwrap_err().find::<NoSuchFile>().is_some());
}

#[test]
fn hooks_that_do_nothing_pass_everything_through() {
    struct Idle;
    impl Hook<ToolCall> for Idle {
        fn name(&self) -> &str {
            "idle"
        }
    }
    impl Hook<ModelRequest> for Idle {
        fn name(&self) -> &str {
            "idle"
        }
    }
    let tools = HookList::builder().hook(Idle).build().unwrap();
    assert_eq!(run(&tools, call()).unwrap(), ToolOutput::text("{}"));
    assert!(run(&tools, failing()).is_err());

    let model = service_fn(|request: ModelRequest| async move {
        Ok::<_, Error>(ModelResponse::full(Reply::new(Message::assistant(request.model))))
    });
    let models = HookList::builder().hook(Idle).build().unwrap();
    let response = models.layer(model).oneshot(ModelRequest::new("demo", vec![]));
    let reply = response.now_or_never().unwrap().unwrap().body.collect().now_or_never().unwrap();
    assert_eq!(reply.unwrap().message.text(), "demo");
}

#[test]
fn the_names_are_listed_in_order_and_must_be_unambiguous() {
    let notes = Notes::default();
    let names = |names: &[&str]| {
        let hooks = names.iter().map(|name| Scripted::new(name, &notes));
        HookList::new(hooks.map(|hook| Box::new(hook) as Box<dyn Hook<ToolCall>>))
    };
    let hooks = names(&["auth", "log", "cache"]).unwrap();
    assert_eq!(hooks.names().collect::<Vec<_>>(), ["auth", "log", "cache"]);
    assert_eq!(hooks.to_string(), "auth > log > cache");

    let twice = names(&["auth", "log", "auth"]).unwrap_err();
    assert_eq!(twice, NameError::Duplicate("auth".into()));
    assert_eq!(twice.to_string(), "two hooks are named `auth`");
    let blank = names(&["auth", " "]).unwrap_err();
    assert_eq!((&blank, blank.to_string().as_str()), (&NameError::Blank(1), "hook 1 has no name"));
}

#[test]
fn one_value_may_stand_in_several_lists_and_keep_its_state() {
    let notes = Notes::default();
    let shared = Arc::new(Scripted::new("shared", &notes));
    for _ in 0..2 {
        let hooks = HookList::builder().hook(Arc::clone(&shared)).build().unwrap();
        run(&hooks, call()).unwrap();
    }
    assert_eq!(stages(&notes).len(), 4);
}

/// The same hook as layers of its own.
fn layered(hook: Scripted, inner: BoxToolService) -> BoxToolService {
    let (name, mode) = (hook.name.clone(), hook.mode);
    let hook = Arc::new(hook);
    let (down, up, error) = (hook.clone(), hook.clone(), hook);
    let up = after_call(move |call: &ToolCall, output: &mut ToolOutput| up.after(call, output));
    let error = on_error(move |call: &ToolCall, cause: &Error| error.on_error(call, cause));
    let down = before(move |call: &mut ToolCall| down.before(call));
    let inner =
        error.named(name.clone()).layer(up.named(name.clone()).fail_mode(mode).layer(inner));
    BoxToolService::new(down.named(name).fail_mode(mode).layer(inner))
}

fn scripts() -> impl Strategy<Value = Vec<Scripted>> {
    use proptest::sample::select;
    let down = select(vec![
        Down::Allow,
        Down::Allow,
        Down::Edit,
        Down::EditContext,
        Down::Modify,
        Down::Deny,
        Down::Answer,
        Down::Break,
        Down::Crash,
    ]);
    let up = || select(vec![Up::Leave, Up::Edit, Up::Crash]);
    let mode = select(vec![FailMode::Split, FailMode::Open, FailMode::Closed]);
    let script = (mode, down, up(), up()).prop_map(|(mode, before, after, on_error)| Scripted {
        mode,
        before,
        after,
        on_error,
        ..Scripted::default()
    });
    vec(script, 0..6)
}

/// What there is to see of a call from outside.
fn seen(result: Result<ToolOutput, Error>, notes: &Notes) -> (String, Vec<String>) {
    let notes = std::mem::take(&mut *notes.lock().unwrap());
    let result = result.map_err(|error| {
        (error.kind(), error.effect(), error.layer().map(str::to_owned), error.to_string())
    });
    (format!("{result:?}"), notes)
}

proptest! {
    #[test]
    fn a_list_does_what_the_same_hooks_do_as_nested_layers(mut scripts in scripts(), fails: bool) {
        let notes = Notes::default();
        for (position, script) in scripts.iter_mut().enumerate() {
            script.name = format!("h{position}");
            script.notes = notes.clone();
        }
        let call = if fails { failing() } else { call() };
        let nested = scripts.iter().cloned().rfold(BoxToolService::new(Echo::default()), |inner, hook| {
            layered(hook, inner)
        });
        let nested = nested.oneshot(call.clone()).now_or_never().unwrap();
        let nested = seen(nested, &notes);
        let listed = seen(run(&list(scripts), call), &notes);
        prop_assert_eq!(listed, nested);
    }
}
