use tower::ServiceBuilder;
#[allow(unused_imports, reason = "without any layer there is no method")]
use tower::layer::util::Stack;

mod sealed {
    #[expect(unnameable_types, reason = "that nobody can name it is what seals the trait")]
    pub trait Sealed {}
    impl<L> Sealed for tower::ServiceBuilder<L> {}
}

/// The layers of this crate as methods of [`ServiceBuilder`].
///
/// Each has the layer's usual settings; for others, use [`ServiceBuilder::layer`].
///
/// ```
/// use std::time::Duration;
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Names, ServiceBuilderExt, ToolCall, ToolOutput, describe};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tower_agent::BoxError> {
/// let stack = ServiceBuilder::new()
///     .catch_panic()
///     .allow_list(Names::new(["read_*"])?)
///     .truncate(4_000)
///     .redact()
///     .report_errors()
///     .service(service_fn(|_: ToolCall| async { Ok::<_, tower_agent::Error>(ToolOutput::text("read")) }));
/// assert_eq!(
///     describe(&stack).to_string(),
///     "catch_panic > allow_list > truncate > redact > report_errors > service_fn"
/// );
/// let output = stack.oneshot(ToolCall::new("read_file", "{}")).await?;
/// assert_eq!(output.joined_text(), "read");
/// # Ok(())
/// # }
/// ```
pub trait ServiceBuilderExt<L>: sealed::Sealed + Sized {
    /// Lets only these tools run; see [`allow_list`](crate::allow_list).
    #[cfg(feature = "allow-list")]
    fn allow_list(self, names: crate::Names) -> ServiceBuilder<Stack<crate::AllowListLayer, L>>;

    /// Lets all but these tools run; see [`allow_list`](crate::allow_list).
    #[cfg(feature = "allow-list")]
    fn deny_list(self, names: crate::Names) -> ServiceBuilder<Stack<crate::DenyListLayer, L>>;

    /// Contains panics; see [`catch_panic`](crate::catch_panic).
    #[cfg(feature = "catch-panic")]
    fn catch_panic(self) -> ServiceBuilder<Stack<crate::CatchPanicLayer, L>>;

    /// Logs the beginning and the end of each call; see [`log`](crate::log).
    #[cfg(feature = "log")]
    fn log_calls(self) -> ServiceBuilder<Stack<crate::LogLayer, L>>;

    /// Counts calls in a layer's registry; see [`metrics`](crate::metrics).
    #[cfg(feature = "metrics")]
    fn count_calls(
        self,
        metrics: &crate::MetricsLayer,
    ) -> ServiceBuilder<Stack<crate::MetricsLayer, L>>;

    /// Adds the hooks of a plugin; see [`plugin`](crate::plugin).
    #[cfg(feature = "plugin")]
    fn plugin<P: crate::Plugin>(self, plugin: P)
    -> ServiceBuilder<Stack<crate::PluginLayer<P>, L>>;

    /// Masks credentials; see [`redact`](crate::redact).
    #[cfg(feature = "redact")]
    fn redact(self) -> ServiceBuilder<Stack<crate::RedactLayer, L>>;

    /// Makes answers of errors; see [`report_errors`](crate::report_errors).
    #[cfg(feature = "report-errors")]
    fn report_errors(self) -> ServiceBuilder<Stack<crate::ReportErrorsLayer, L>>;

    /// Bounds the time of a call and of its stream; see [`timeout`](crate::timeout). Tower's own `timeout` ends with the
    /// head.
    #[cfg(feature = "timeout")]
    fn time_limits(
        self,
        limits: crate::timeout::Limits,
    ) -> ServiceBuilder<Stack<crate::TimeoutLayer, L>>;

    /// Bounds the bytes of an output; see [`truncate`](crate::truncate).
    #[cfg(feature = "truncate")]
    fn truncate(self, bytes: usize) -> ServiceBuilder<Stack<crate::TruncateLayer, L>>;
}

impl<L> ServiceBuilderExt<L> for ServiceBuilder<L> {
    #[cfg(feature = "allow-list")]
    fn allow_list(self, names: crate::Names) -> ServiceBuilder<Stack<crate::AllowListLayer, L>> {
        self.layer(names.into())
    }

    #[cfg(feature = "allow-list")]
    fn deny_list(self, names: crate::Names) -> ServiceBuilder<Stack<crate::DenyListLayer, L>> {
        self.layer(names.into())
    }

    #[cfg(feature = "catch-panic")]
    fn catch_panic(self) -> ServiceBuilder<Stack<crate::CatchPanicLayer, L>> {
        self.layer(crate::CatchPanicLayer::new())
    }

    #[cfg(feature = "log")]
    fn log_calls(self) -> ServiceBuilder<Stack<crate::LogLayer, L>> {
        self.layer(crate::LogLayer::new())
    }

    #[cfg(feature = "metrics")]
    fn count_calls(
        self,
        metrics: &crate::MetricsLayer,
    ) -> ServiceBuilder<Stack<crate::MetricsLayer, L>> {
        self.layer(metrics.clone())
    }

    #[cfg(feature = "plugin")]
    fn plugin<P: crate::Plugin>(
        self,
        plugin: P,
    ) -> ServiceBuilder<Stack<crate::PluginLayer<P>, L>> {
        self.layer(crate::PluginLayer::new(plugin))
    }

    #[cfg(feature = "redact")]
    fn redact(self) -> ServiceBuilder<Stack<crate::RedactLayer, L>> {
        self.layer(crate::RedactLayer::secrets())
    }

    #[cfg(feature = "report-errors")]
    fn report_errors(self) -> ServiceBuilder<Stack<crate::ReportErrorsLayer, L>> {
        self.layer(crate::ReportErrorsLayer::new())
    }

    #[cfg(feature = "timeout")]
    fn time_limits(
        self,
        limits: crate::timeout::Limits,
    ) -> ServiceBuilder<Stack<crate::TimeoutLayer, L>> {
        self.layer(crate::TimeoutLayer::limits(limits))
    }

    #[cfg(feature = "truncate")]
    fn truncate(self, bytes: usize) -> ServiceBuilder<Stack<crate::TruncateLayer, L>> {
        self.layer(crate::TruncateLayer::bytes(bytes))
    }
}
