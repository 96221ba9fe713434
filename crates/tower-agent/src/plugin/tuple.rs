//! Tuples of plugins: down in order, up in reverse.

use std::future::Future;

use tower_agent_core::{
    ModelRequest, ModelResponse, Reply, RunEvent, RunRequest, Str, ToolCall, ToolOutput,
};

use super::{
    ended::Ended,
    leaf::Plugin,
    stack::{After, Before, Stop},
    trail::Observe,
};

macro_rules! tuple {
    ($($down:ident)+ | $($up:ident)+) => {
        #[allow(non_snake_case, reason = "a type and its value share a name in the macro")]
        impl<$($down: Plugin),+> Plugin for ($($down,)+) {
            fn name(&self) -> &str {
                "plugins"
            }

            fn collect_names(&self, names: &mut Vec<Str>) {
                let ($($down,)+) = self;
                $($down.collect_names(names);)+
            }

            fn tool_before(
                &self,
                cx: &mut Before<'_, ToolCall>,
            ) -> impl Future<Output = Option<Stop<ToolCall>>> + Send {
                let ($($down,)+) = self;
                async move {
                    $(if let Some(stop) = $down.tool_before(cx).await {
                        return Some(stop);
                    })+
                    None
                }
            }

            fn tool_after(&self, cx: &mut After<'_, ToolCall, ToolOutput>) -> impl Future<Output = ()> + Send {
                let ($($down,)+) = self;
                async move { $($up.tool_after(cx).await;)+ }
            }

            fn model_before(
                &self,
                cx: &mut Before<'_, ModelRequest>,
            ) -> impl Future<Output = Option<Stop<ModelRequest>>> + Send {
                let ($($down,)+) = self;
                async move {
                    $(if let Some(stop) = $down.model_before(cx).await {
                        return Some(stop);
                    })+
                    None
                }
            }

            fn model_error(
                &self,
                cx: &mut After<'_, ModelRequest, ModelResponse>,
            ) -> impl Future<Output = ()> + Send {
                let ($($down,)+) = self;
                async move { $($up.model_error(cx).await;)+ }
            }

            fn model_after(&self, cx: &mut After<'_, ModelRequest, Reply>) -> impl Future<Output = ()> + Send {
                let ($($down,)+) = self;
                async move { $($up.model_after(cx).await;)+ }
            }

            fn run_before(
                &self,
                cx: &mut Before<'_, RunRequest>,
            ) -> impl Future<Output = Option<Stop<RunRequest>>> + Send {
                let ($($down,)+) = self;
                async move {
                    $(if let Some(stop) = $down.run_before(cx).await {
                        return Some(stop);
                    })+
                    None
                }
            }

            fn run_event(&self, cx: &mut Observe<'_, RunEvent>) -> impl Future<Output = ()> + Send {
                let ($($down,)+) = self;
                async move { $($up.run_event(cx).await;)+ }
            }

            fn each_ended(&self, ended: &mut dyn FnMut(&dyn Ended)) {
                let ($($down,)+) = self;
                $($up.each_ended(ended);)+
            }
        }
    };
}

tuple!(A | A);
tuple!(A B | B A);
tuple!(A B C | C B A);
tuple!(A B C D | D C B A);
tuple!(A B C D E | E D C B A);
tuple!(A B C D E F | F E D C B A);
tuple!(A B C D E F G | G F E D C B A);
tuple!(A B C D E F G H | H G F E D C B A);
tuple!(A B C D E F G H I | I H G F E D C B A);
tuple!(A B C D E F G H I J | J I H G F E D C B A);
tuple!(A B C D E F G H I J K | K J I H G F E D C B A);
tuple!(A B C D E F G H I J K L | L K J I H G F E D C B A);
