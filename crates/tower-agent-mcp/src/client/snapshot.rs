use std::sync::Arc;

use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use tower_agent_core::{Json, Str, Tools};

/// A server as it was at one time.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Its tools under the names that it gave them. They stay while the server is away.
    pub tools: Tools,
    /// The tools that it offers and that are kept out, with the reason.
    pub refused: Arc<[Refused]>,
    /// Whether it can be called.
    pub status: Status,
    /// What it says of itself.
    pub server: Option<Arc<ServerInfo>>,
}

impl Snapshot {
    /// The tools that can be called now: none while the server is away.
    #[must_use]
    pub fn available(&self) -> Tools {
        if self.status == Status::Connected { self.tools.clone() } else { Tools::new() }
    }
}

/// Whether a server can be called.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// Not connected yet.
    #[default]
    Connecting,
    /// It can be called.
    Connected,
    /// It went away; the client tries to connect again.
    Unavailable {
        /// Why, for the operator.
        reason: Str,
    },
    /// It is not tried any more: the client was closed, or gave up.
    Closed {
        /// Why, for the operator.
        reason: Str,
    },
}

/// What a server says of itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The name that the server gives itself.
    pub name: Str,
    /// Its version.
    pub version: Option<Str>,
    /// The version of the protocol that both speak, such as `2026-07-28`.
    pub protocol: Str,
    /// What it says about its use. A host that hands it to a model should know whom it trusts.
    pub instructions: Option<Str>,
    /// All that it said when it was greeted.
    pub json: Json,
}

impl ServerInfo {
    /// Whether it speaks the generation of the protocol that has no handshake.
    pub(crate) fn is_stateless(&self) -> bool {
        self.protocol.as_str() >= ProtocolVersion::V_2026_07_28.as_str()
    }
}

impl From<&ServerPeerInfo> for ServerInfo {
    fn from(info: &ServerPeerInfo) -> Self {
        let server = info.server_info.as_ref();
        Self {
            name: server.map(|server| Str::from(&server.name)).unwrap_or_default(),
            version: server.map(|server| Str::from(&server.version)),
            protocol: Str::from(info.protocol_version.to_string()),
            instructions: info.instructions.as_ref().map(Str::from),
            json: Json::from_serialize(info).unwrap_or_default(),
        }
    }
}

/// A tool that is kept out.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Refused {
    /// The tool's name; empty if it has none.
    pub tool: Str,
    /// Why it is kept out, for the operator.
    pub reason: Str,
    /// Whether it changed since it was pinned; the reason then ends with the differences.
    pub is_drift: bool,
}
