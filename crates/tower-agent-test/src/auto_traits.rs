/// Does not compile unless the type can be cloned and shared between threads, as a server's state must.
///
/// ```
/// tower_agent_test::assert_clone_send_sync::<tower_agent_test::ScriptedModel>();
/// ```
pub const fn assert_clone_send_sync<T: Clone + Send + Sync>() {}

/// The same for a value whose type has no name, such as a stack that `ServiceBuilder` made.
pub const fn assert_clone_send_sync_value<T: Clone + Send + Sync>(_: &T) {}
