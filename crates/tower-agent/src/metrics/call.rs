use std::sync::Arc;

use tokio::time::Instant;
use tower_agent_core::{Class, Usage};

use super::series::Series;

/// A call that is being counted; it is counted once, whatever becomes of it.
#[derive(Debug)]
pub(super) struct Call {
    series: Option<Arc<Series>>,
    began: Instant,
    on_drop: Class,
}

impl Call {
    pub(super) fn begin(series: Arc<Series>) -> Self {
        series.begin();
        Self { series: Some(series), began: Instant::now(), on_drop: Class::Cancelled }
    }

    /// Runs something whose panic makes the call a failure.
    pub(super) fn watch<R>(&mut self, run: impl FnOnce() -> R) -> R {
        let on_drop = std::mem::replace(&mut self.on_drop, Class::Failed);
        let result = run();
        self.on_drop = on_drop;
        result
    }

    pub(super) fn end(mut self, class: Class, usage: Option<Usage>) {
        self.settle(class, usage);
    }

    fn settle(&mut self, class: Class, usage: Option<Usage>) {
        if let Some(series) = self.series.take() {
            series.end(class, self.began.elapsed(), usage);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.settle(self.on_drop, None);
    }
}
