//! Plugins around a model.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tower::{Layer, ServiceBuilder, ServiceExt};
use tower_agent::{
    AllowListLayer, BoxError, CatchPanicLayer, ConcurrencyLimitLayer, Effect, ErrorKind, FailMode,
    Json, LogLayer, Media, MediaSource, Message, MetricsLayer, ModelEvent, ModelRequest,
    ModelResponse, Part, Plugin, PluginLayer, RedactLayer, Reply, ReportErrorsLayer, Role,
    TimeoutLayer, ToolSpec, Usage, Verdict,
    hooks::{Hook, HookList, on_model_event},
    plugin::BoxPlugin,
    redact::Arguments,
};
use tower_agent_test::{ModelHandle, ScriptedModel, Turn};

type Notes = Arc<Mutex<Vec<&'static str>>>;

/// Notes its hooks and does in each what the test asks for.
struct Around {
    name: &'static str,
    notes: Notes,
    mode: FailMode,
    before: fn() -> Result<Verdict<ModelRequest>, BoxError>,
    after: fn() -> Result<(), BoxError>,
}

impl Around {
    fn new(name: &'static str, notes: &Notes) -> Self {
        let (mode, notes) = (FailMode::Split, notes.clone());
        Self { name, notes, mode, before: || Ok(Verdict::Allow), after: || Ok(()) }
    }
}

impl Plugin for Around {
    fn name(&self) -> &str {
        self.name
    }

    fn fail_mode(&self) -> FailMode {
        self.mode
    }

    async fn before_model(&self, _: &mut ModelRequest) -> Result<Verdict<ModelRequest>, BoxError> {
        self.notes.lock().unwrap().push(self.name);
        (self.before)()
    }

    async fn after_model(
        &self,
        _: &ModelRequest,
        _: &mut Reply,
        _: Duration,
    ) -> Result<(), BoxError> {
        self.notes.lock().unwrap().push("after");
        (self.after)()
    }
}

fn request() -> ModelRequest {
    let mut request = ModelRequest::new("demo", vec![Message::user("hello")]);
    request.instructions = Some("Be brief.".into());
    request.tools.push(ToolSpec::new("now", "Tells the time."));
    request.extra = Some(r#"{ "num_ctx": 8192 }"#.into());
    request
}

fn model() -> (ScriptedModel, ModelHandle) {
    let model = ScriptedModel::new([Turn::text("hi").usage(Usage::new(10, 5))]).repeat_last();
    let handle = model.handle();
    (model, handle)
}

#[tokio::test]
async fn no_plugins_leave_requests_and_replies_as_they_are() {
    struct Nothing;
    impl Plugin for Nothing {
        fn name(&self) -> &str {
            "nothing"
        }
    }
    let (plain, handle) = model();
    let expected = plain.clone().oneshot(request()).await.unwrap().body.collect().await.unwrap();
    let none = PluginLayer::new(Vec::<BoxPlugin>::new()).layer(plain.clone());
    let idle = PluginLayer::new((Nothing, Nothing)).layer(plain.clone());
    let list = HookList::new([] as [Box<dyn Hook<ModelRequest>>; 0]).unwrap().layer(plain);
    let bodies = [
        none.oneshot(request()).await.unwrap().body,
        idle.oneshot(request()).await.unwrap().body,
        list.oneshot(request()).await.unwrap().body,
    ];
    for body in bodies {
        assert_eq!(body.collect().await.unwrap(), expected);
    }
    let written = |request: &ModelRequest| serde_json::to_value(request).unwrap();
    for asked in handle.requests() {
        assert_eq!(written(&asked), written(&request()));
    }
}

#[tokio::test]
async fn an_answer_in_the_models_place_stops_later_plugins_and_the_model() {
    let notes = Notes::default();
    let mut first = Around::new("first", &notes);
    first.before = || {
        let reply = Reply::new(Message::assistant("from memory")).with_usage(Usage::new(7, 3));
        Ok(Verdict::answer(ModelResponse::full(reply)))
    };
    let (model, handle) = model();
    let layer = PluginLayer::new((first, Around::new("second", &notes)));
    let reply = layer.layer(model).oneshot(request()).await.unwrap().body.collect().await.unwrap();
    assert_eq!(
        (reply.message.text().as_str(), reply.usage),
        ("from memory", Some(Usage::new(7, 3)))
    );
    assert_eq!((handle.calls(), &notes.lock().unwrap()[..]), (0, &["first"][..]));
}

#[tokio::test]
async fn a_plugin_that_fails_before_a_model_call_stops_it_and_later_plugins() {
    let notes = Notes::default();
    let mut first = Around::new("first", &notes);
    first.before = || Err("no database".into());
    let (model, handle) = model();
    let layer = PluginLayer::new((first, Around::new("second", &notes)));
    let error = layer.layer(model).oneshot(request()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect(), error.layer()),
        (ErrorKind::Hook, Effect::NotStarted, Some("first"))
    );
    assert_eq!((handle.calls(), &notes.lock().unwrap()[..]), (0, &["first"][..]));
}

#[tokio::test]
async fn a_plugin_that_fails_after_a_model_call_keeps_the_reply_unless_it_guards() {
    for (mode, kept) in [(FailMode::Split, true), (FailMode::Open, true), (FailMode::Closed, false)]
    {
        let notes = Notes::default();
        let mut inner = Around::new("inner", &notes);
        (inner.mode, inner.after) = (mode, || Err("no disk".into()));
        let layer = PluginLayer::new((Around::new("outer", &notes), inner));
        let text = match layer.layer(model().0).oneshot(request()).await {
            Ok(response) => response.body.collect().await.map(|reply| reply.message.text()),
            Err(error) => Err(error),
        };
        assert_eq!(text.is_ok_and(|text| text == "hi"), kept, "{mode:?}");
        let heard = notes.lock().unwrap().iter().filter(|note| **note == "after").count();
        assert!(heard >= 1 && (!kept || heard == 2), "the outer plugin still hears of it");
    }
}

struct Idle;

impl Plugin for Idle {
    fn name(&self) -> &str {
        "idle"
    }

    fn edits_replies(&self) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn pictures_sound_and_files_pass_every_layer_of_a_model_both_ways_whole_and_streamed() {
    let media = |bytes: &str, kind: &str| Media {
        source: MediaSource::Base64(bytes.into()),
        mime_type: Some(kind.into()),
        extra: Some(Json::from_text(r#"{ "detail":"high", "n":1.50 }"#)),
    };
    let parts = vec![
        Part::text("Look: "),
        Part::Image(media("iVBORw0KGgo=", "image/png")),
        Part::Audio(media("UklGRg==", "audio/wav")),
        Part::File(media("JVBERg==", "application/pdf")),
        Part::Opaque { json: Json::from_text(r#"{ "type":"chart", "n":1.50 }"#) },
    ];
    for streamed in [false, true] {
        let asked = Message::new(Role::User, parts.clone());
        let reply = Reply::new(Message::new(Role::Assistant, parts.clone()));
        let model = ScriptedModel::new([Turn::reply(reply.clone()).streamed(streamed)]);
        let handle = model.handle();
        let everything = RedactLayer::all().arguments(Arguments::Mask);
        let stack = ServiceBuilder::new()
            .layer(LogLayer::new())
            .layer(MetricsLayer::new())
            .layer(CatchPanicLayer::new())
            .layer(PluginLayer::new(Idle))
            .layer(AllowListLayer::exact(["scan"]))
            .layer(everything)
            .layer(ReportErrorsLayer::new())
            .layer(ConcurrencyLimitLayer::new(1))
            .layer(TimeoutLayer::new(Duration::from_secs(1)))
            .layer(on_model_event(|_: &mut ModelEvent| {}));
        let stack = stack.service(model);
        let request = ModelRequest::new("m", vec![asked.clone()]);
        let answer = stack.oneshot(request).await.unwrap().body.collect().await.unwrap();
        assert_eq!(answer.message, reply.message, "streamed: {streamed}");
        let seen = &handle.requests()[0].messages[0];
        assert_eq!(serde_json::to_string(seen).unwrap(), serde_json::to_string(&asked).unwrap());
    }
}
