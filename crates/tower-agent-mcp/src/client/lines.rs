//! JSON-RPC over a pair of byte streams, a message a line, as standard input and output carry it.
//!
//! The library's own transport reads each message into its types, which loses what they do not name. Here the results
//! that we asked for arrive as the text that was sent.

use std::{collections::HashSet, io};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::raw::{self, Raw};

/// How many messages may wait to be written.
const QUEUE: usize = 64;
/// As much of a message that is too long is kept as it takes to find its id.
const HEAD: usize = 512;

type Letter = (String, oneshot::Sender<io::Result<()>>);

pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    is_too_long: bool,
    max: usize,
    raw: HashSet<RequestId>,
    queue: Option<mpsc::Sender<Letter>>,
    writer: JoinSet<()>,
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    pub(crate) fn new<W>(read: R, write: W, max: usize) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (queue, letters) = mpsc::channel(QUEUE);
        let mut writer = JoinSet::new();
        writer.spawn(write_all(write, letters));
        Self {
            reader: BufReader::new(read),
            line: Vec::new(),
            is_too_long: false,
            max,
            raw: HashSet::new(),
            queue: Some(queue),
            writer,
        }
    }

    /// Reads to the end of a line. Dropped in between, it goes on where it was.
    async fn fill(&mut self) -> io::Result<bool> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                return Ok(false);
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let (piece, _) = read.split_at(end.unwrap_or(read.len()));
            let keep = if self.is_too_long { HEAD } else { self.max };
            let room = keep.saturating_sub(self.line.len()).min(piece.len());
            self.line.extend_from_slice(piece.split_at(room).0);
            self.is_too_long |= room < piece.len();
            let used = piece.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn note(&mut self, item: &ClientJsonRpcMessage) {
        match item {
            ClientJsonRpcMessage::Request(request) if Raw::of(&request.request).is_some() => {
                self.raw.insert(request.id.clone());
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.raw.remove(id);
                }
            }
            _ => {}
        }
    }

    fn decode(&mut self) -> Option<ServerJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            let why = format!("a message is longer than {} bytes", self.max);
            return raw::flawed(&line, &why, &mut self.raw);
        }
        raw::decode(&line, &mut self.raw)
    }
}

async fn write_all<W: AsyncWrite + Unpin>(mut write: W, mut letters: mpsc::Receiver<Letter>) {
    while let Some((text, done)) = letters.recv().await {
        let result = write_line(&mut write, text).await;
        let failed = result.is_err();
        // Nobody waits for it any more, if this fails.
        drop(done.send(result));
        if failed {
            return;
        }
    }
    if let Err(error) = write.shutdown().await {
        tracing::debug!(%error, "closing a server's input failed");
    }
}

async fn write_line<W: AsyncWrite + Unpin>(write: &mut W, mut text: String) -> io::Result<()> {
    text.push('\n');
    write.write_all(text.as_bytes()).await?;
    write.flush().await
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.note(&item);
        let queue = self.queue.clone();
        async move {
            let text = raw::encode(&item).map_err(io::Error::other)?;
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let (done, result) = oneshot::channel();
            queue.ok_or_else(gone)?.send((text, done)).await.map_err(|_| gone())?;
            result.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.fill().await {
                Ok(true) => {
                    if let Some(message) = self.decode() {
                        return Some(message);
                    }
                }
                Ok(false) => return None,
                Err(error) => {
                    tracing::warn!(%error, "reading from a server failed");
                    return None;
                }
            }
        }
    }

    /// Lets the writer write what waits and close the stream.
    async fn close(&mut self) -> io::Result<()> {
        self.queue = None;
        while self.writer.join_next().await.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use tokio::io::duplex;

    use super::*;

    const MAX: usize = 120;

    /// What comes out of a stream that is read in pieces of a size.
    fn read(text: &str, piece: usize) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut ours, theirs) = duplex(piece);
            let mut lines = Lines::new(theirs, tokio::io::sink(), MAX);
            lines.raw = (0..8).map(RequestId::Number).collect();
            let write = async {
                ours.write_all(text.as_bytes()).await.unwrap();
                drop(ours);
            };
            let read = async {
                let mut seen = Vec::new();
                while let Some(message) = lines.receive().await {
                    seen.push(serde_json::to_string(&message).unwrap());
                }
                seen
            };
            tokio::join!(write, read).1
        })
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            (0..8, "[ -~é]{0,150}").prop_map(|(id, text)| {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, Value::from(text))
            }),
            (0..8).prop_map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)),
            Just(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned()),
            "[ -~]{0,200}",
        ]
    }

    proptest! {
        #[test]
        fn messages_are_the_same_however_they_come(lines in prop::collection::vec(line(), 0..8), piece in 1..40_usize) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            prop_assert_eq!(read(&text, piece), read(&text, 1 << 16));
        }
    }

    #[test]
    fn a_message_that_is_too_long_answers_its_request_and_no_other() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "x".repeat(MAX));
        let seen = read(&format!("{long}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{}}}}\n"), 7);
        let [first, second] = &seen[..] else { panic!("{seen:?}") };
        assert!(
            first.contains(r#""id":1"#) && first.contains("a message is longer than 120 bytes"),
            "{first}"
        );
        assert!(second.contains(r#""id":2"#), "{second}");
    }
}
