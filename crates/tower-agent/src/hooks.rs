//! Closures as layers: before, after and around a call, for all three operations.
#[macro_use]
mod layer;

mod after;
mod after_async;
mod after_call;
mod answer;
mod before;
mod before_async;
mod from_fn;
mod hooked;
mod list;
mod on_error;
mod on_error_async;

pub use self::{
    after::{After, AfterFuture, AfterLayer, after},
    after_async::{AfterAsync, AfterAsyncFuture, AfterAsyncLayer, after_async},
    after_call::{AfterCall, AfterCallFuture, AfterCallLayer, after_call},
    before::{Before, BeforeFuture, BeforeLayer, before},
    before_async::{BeforeAsync, BeforeAsyncFuture, BeforeAsyncLayer, before_async},
    from_fn::{FromFn, FromFnFuture, FromFnLayer, Next, from_fn},
    hooked::{Hooked, HookedFuture},
    list::{Hook, HookList, HookListBuilder, NameError},
    on_error::{OnError, OnErrorFuture, OnErrorLayer, on_error},
    on_error_async::{OnErrorAsync, OnErrorAsyncFuture, OnErrorAsyncLayer, on_error_async},
};
