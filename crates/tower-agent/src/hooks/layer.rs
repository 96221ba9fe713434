//! What the layers of single hooks have in common.

use std::borrow::Cow;

use crate::{FailMode, contain::HookName};

/// How a hook is called and what its failure means.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) name: HookName,
    pub(super) mode: FailMode,
}

impl Settings {
    pub(super) const fn new(kind: &'static str) -> Self {
        Self { name: HookName::Static(kind), mode: FailMode::Split }
    }

    /// Blame must name somebody, so a blank name changes nothing.
    pub(super) fn rename(&mut self, name: Cow<'static, str>) {
        if !name.trim().is_empty() {
            self.name = name.into();
        }
    }
}

/// A layer of one closure and its service, without `impl Service`.
macro_rules! hook_layer {
    ($(#[$layer_doc:meta])* $Layer:ident, $(#[$service_doc:meta])* $Service:ident, $kind:literal) => {
        $(#[$layer_doc])*
        #[derive(Clone)]
        pub struct $Layer<F> {
            hook: F,
            settings: $crate::hooks::layer::Settings,
        }

        impl<F> $Layer<F> {
            /// A layer of a closure.
            pub const fn new(hook: F) -> Self {
                Self { hook, settings: $crate::hooks::layer::Settings::new($kind) }
            }

            #[doc = concat!("Names the hook, in denials, errors and logs; `", $kind, "` unless set. A blank name changes nothing.")]
            #[must_use]
            pub fn named(mut self, name: impl Into<std::borrow::Cow<'static, str>>) -> Self {
                self.settings.rename(name.into());
                self
            }
        }

        impl<S, F: Clone> tower_layer::Layer<S> for $Layer<F> {
            type Service = $Service<S, F>;

            fn layer(&self, inner: S) -> Self::Service {
                $Service { inner, hook: self.hook.clone(), settings: self.settings.clone() }
            }
        }

        impl<F> std::fmt::Debug for $Layer<F> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($Layer)).field(&self.settings).finish()
            }
        }

        $(#[$service_doc])*
        #[derive(Clone)]
        pub struct $Service<S, F> {
            inner: S,
            hook: F,
            settings: $crate::hooks::layer::Settings,
        }

        impl<S, F> $Service<S, F> {
            /// Wraps a service.
            pub const fn new(inner: S, hook: F) -> Self {
                Self { inner, hook, settings: $crate::hooks::layer::Settings::new($kind) }
            }

            /// The layer of a closure.
            pub const fn layer(hook: F) -> $Layer<F> {
                $Layer::new(hook)
            }

            inner_accessors!();
        }

        impl<S: std::fmt::Debug, F> std::fmt::Debug for $Service<S, F> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Service))
                    .field("inner", &self.inner)
                    .field("settings", &self.settings)
                    .finish()
            }
        }
    };
}

/// The choice what a failure of the hook means.
macro_rules! fail_mode {
    ($Layer:ident) => {
        impl<F> $Layer<F> {
            /// What becomes of the call when the hook fails; [`Split`](crate::FailMode::Split) unless set.
            #[must_use]
            pub const fn fail_mode(mut self, mode: crate::FailMode) -> Self {
                self.settings.mode = mode;
                self
            }
        }
    };
}
