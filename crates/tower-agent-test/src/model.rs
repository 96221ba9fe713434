//! A model that follows a script.

mod service;
mod turn;

pub use self::{
    service::{ModelHandle, ScriptFuture, ScriptedModel},
    turn::{Step, Turn},
};
