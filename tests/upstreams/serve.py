"""Serves llmock on a port of the system's choice, and says which.

The first part of a path is a room: each has a llmock of its own, so that clients can be tried side by side.
"""

import socket
from functools import cache

import uvicorn
from llmock.chaos import ChaosSettings, StreamChaos
from llmock.main import create_app
from llmock.ratelimit import LimitSettings
from llmock.simulation import MockResponseSettings


@cache
def room(_name):
    return create_app(
        chaos=ChaosSettings(),
        responses=MockResponseSettings(response_style="hello"),
        # A hundred tokens come back each second, so a quota that was used up is a short wait.
        limits=LimitSettings(tpm=6000, context_window=3000),
        # A stream that is written at once is over before its reader can be seen to go.
        stream_chaos=StreamChaos(chunk_delay_ms=30),
    )


async def rooms(scope, receive, send):
    _, name, path = scope["path"].split("/", 2)
    inside = {**scope, "path": f"/{path}", "raw_path": f"/{path}".encode()}
    await room(name)(inside, receive, send)


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(rooms, lifespan="off", log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
