//! What every model has in the same words.

/// The knobs that all builders share.
macro_rules! settings {
    () => {
        /// Sends a header; its value is treated as confidential.
        pub fn header(
            mut self,
            name: impl TryInto<http::HeaderName, Error: Into<http::Error>>,
            value: impl TryInto<http::HeaderValue, Error: Into<http::Error>>,
        ) -> Self {
            self.settings.header(name, value);
            self
        }

        /// How long a connection may take; 10 seconds without this.
        pub const fn connect_timeout(mut self, limit: std::time::Duration) -> Self {
            self.settings.connect_timeout = limit;
            self
        }

        /// How long the server may be silent, before its answer or inside it; 10 minutes without this.
        ///
        /// It guards against connections that died unseen. Limits of a call belong into a layer.
        pub const fn read_timeout(mut self, limit: std::time::Duration) -> Self {
            self.settings.read_timeout = limit;
            self
        }

        /// Whether `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` count; they do not without this.
        pub const fn env_proxy(mut self, allow: bool) -> Self {
            self.settings.env_proxy = allow;
            self
        }

        /// Whether to send the [`CallerHeaders`](tower_agent_wire::CallerHeaders) that a host attached to a request, over
        /// those of this model; they are not sent without this. A caller's own key takes the place of the model's.
        pub const fn caller_headers(mut self, send: bool) -> Self {
            self.settings.caller_headers = send;
            self
        }

        /// Keeps another header of the answers, for layers and for the clients of a proxy; a `*` at its end stands for the
        /// rest of a name, as in `x-groq-*`.
        ///
        /// Ids of requests, limits of rate, waits and times of processing are kept anyway, as
        /// [`ProviderHeaders`](tower_agent_wire::ProviderHeaders) in the head of the answer or in its error. Headers of a
        /// connection, of a body, of an origin and of a login [cannot be](tower_agent_wire::ProviderHeaders::may_hold).
        pub fn keep_header(mut self, name: impl AsRef<str>) -> Self {
            self.settings.keep_header(name.as_ref());
            self
        }

        /// How many bytes a reply may have, whole or streamed; 64 MiB without this.
        pub const fn reply_limit(mut self, bytes: usize) -> Self {
            self.settings.reply_limit = bytes;
            self
        }

        /// Uses a client of your own, for proxies or certificates. Then time-outs, redirects and proxies are its affair:
        /// switch redirects off there.
        pub fn client(mut self, client: reqwest::Client) -> Self {
            self.settings.client(client);
            self
        }
    };
}

/// Makes a handle of [`Inner`](crate::transport::Inner) a model.
macro_rules! model {
    ($model:ident) => {
        impl std::fmt::Debug for $model {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(stringify!($model), f)
            }
        }

        impl tower_service::Service<tower_agent_core::ModelRequest> for $model {
            type Response = tower_agent_core::ModelResponse;
            type Error = tower_agent_core::Error;
            type Future = $crate::ResponseFuture;

            fn poll_ready(
                &mut self,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), Self::Error>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: tower_agent_core::ModelRequest) -> Self::Future {
                $crate::ResponseFuture::new(std::sync::Arc::clone(&self.0), request)
            }
        }
    };
}

/// Lends a codec's decoder its own methods under the trait.
macro_rules! decode {
    ($decoder:ty) => {
        impl $crate::transport::Decode for $decoder {
            fn push(&mut self, bytes: &[u8]) {
                Self::push(self, bytes);
            }

            fn finish(&mut self) {
                Self::finish(self);
            }

            fn next_event(
                &mut self,
            ) -> Option<Result<tower_agent_core::ModelEvent, tower_agent_core::Error>> {
                Self::next_event(self)
            }

            fn is_complete(&self) -> bool {
                Self::is_complete(self)
            }

            fn is_over(&self) -> bool {
                Self::is_over(self)
            }
        }
    };
}
