"""openai's own client against the chat completions of a running example server.

    python openai_chat.py --url http://127.0.0.1:3000

`cargo xtask clients` starts the server, has the pinned client ready and runs this.
"""

import argparse
import json
import sys
import unittest

import openai

MODEL = "demo"
# The demo model answers the same to the same words, so that a whole and a streamed reply can be compared.
QUESTION = [{"role": "user", "content": "read config.toml"}]

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city now.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


class Settings:
    """What the command line says."""

    url = "http://127.0.0.1:3000"
    tools_model = None


class ClientCase(unittest.TestCase):
    """A client that neither retries nor asks a proxy, so that each failure is seen as the server sent it."""

    def setUp(self):
        self.client = openai.OpenAI(
            base_url=f"{Settings.url}/v1",
            api_key="unused",
            max_retries=0,
            timeout=30,
            http_client=openai.DefaultHttpxClient(trust_env=False),
        )
        self.addCleanup(self.client.close)

    def chat(self, **changes):
        return self.client.chat.completions.create(**{"model": MODEL, "messages": QUESTION, **changes})


class Models(ClientCase):
    def test_the_demo_model_is_listed(self):
        models = self.client.models.list().data
        self.assertIn(MODEL, [model.id for model in models])
        for model in models:
            self.assertEqual(model.object, "model")


class WholeReplies(ClientCase):
    def test_a_question_is_answered(self):
        reply = self.chat()
        self.assertEqual(reply.object, "chat.completion")
        self.assertEqual(len(reply.choices), 1)
        self.assertEqual(reply.choices[0].finish_reason, "stop")
        self.assertEqual(reply.choices[0].message.role, "assistant")
        self.assertTrue(reply.choices[0].message.content.strip())

    def test_usage_adds_up(self):
        usage = self.chat().usage
        self.assertGreater(usage.prompt_tokens, 0)
        self.assertGreater(usage.completion_tokens, 0)
        self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)

    def test_a_conversation_goes_on(self):
        first = self.chat().choices[0].message
        messages = [*QUESTION, first.model_dump(exclude_none=True), {"role": "user", "content": "what is in docs?"}]
        second = self.chat(messages=messages).choices[0].message
        self.assertTrue(second.content.strip())
        self.assertNotEqual(second.content, first.content)


class StreamedReplies(ClientCase):
    def chunks(self, **changes):
        with self.chat(stream=True, **changes) as stream:
            return list(stream)

    def test_the_pieces_make_the_whole_reply(self):
        pieces = [chunk.choices[0].delta.content for chunk in self.chunks() if chunk.choices]
        pieces = [piece for piece in pieces if piece]
        self.assertGreater(len(pieces), 1, "the reply came in one piece")
        self.assertEqual("".join(pieces), self.chat().choices[0].message.content)

    def test_every_chunk_belongs_to_one_reply(self):
        chunks = self.chunks()
        self.assertEqual({chunk.object for chunk in chunks}, {"chat.completion.chunk"})
        self.assertEqual(len({chunk.id for chunk in chunks}), 1)
        self.assertEqual({choice.index for chunk in chunks for choice in chunk.choices}, {0})

    def test_the_last_choice_says_why_the_reply_ends(self):
        reasons = [chunk.choices[0].finish_reason for chunk in self.chunks() if chunk.choices]
        self.assertEqual(reasons[-1], "stop")
        self.assertEqual(set(reasons[:-1]), {None})

    def test_usage_comes_last_when_it_is_asked_for(self):
        *others, last = self.chunks(stream_options={"include_usage": True})
        self.assertEqual(last.choices, [])
        self.assertGreater(last.usage.completion_tokens, 0)
        self.assertEqual(last.usage.total_tokens, last.usage.prompt_tokens + last.usage.completion_tokens)
        self.assertTrue(all(chunk.usage is None for chunk in others))

    def test_no_usage_comes_unasked(self):
        self.assertTrue(all(chunk.usage is None for chunk in self.chunks()))

    def test_the_stream_helper_reads_it_to_its_end(self):
        # Stricter than plain iteration: it asserts the shape of each chunk and that a reply is complete.
        with self.client.chat.completions.stream(model=MODEL, messages=QUESTION) as stream:
            pieces = [event.delta for event in stream if event.type == "content.delta"]
            final = stream.get_final_completion()
        self.assertEqual("".join(pieces), final.choices[0].message.content)

    def test_a_client_that_leaves_early_leaves_a_server_that_answers(self):
        with self.chat(stream=True) as stream:
            next(iter(stream))
        self.assertTrue(self.chat().choices[0].message.content.strip())


class Errors(ClientCase):
    def assert_explained(self, error, status):
        self.assertEqual(error.status_code, status)
        self.assertTrue(error.body["message"].strip(), "the error explains nothing")
        self.assertEqual(error.type, "invalid_request_error")

    def test_a_body_of_the_wrong_shape_is_a_bad_request(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(messages="read config.toml")
        self.assert_explained(caught.exception, 400)
        self.assertIn("messages", caught.exception.body["message"])

    def test_a_body_that_is_no_json_is_a_bad_request(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.client.post("/chat/completions", cast_to=object, content=b'{"model": "demo", "mess')
        self.assert_explained(caught.exception, 400)

    def test_an_unknown_model_is_not_found(self):
        for stream in (False, True):
            with self.subTest(stream=stream), self.assertRaises(openai.NotFoundError) as caught:
                self.chat(model="no-such-model", stream=stream)
            self.assert_explained(caught.exception, 404)
            self.assertIn("no-such-model", caught.exception.body["message"])


class ClientSideTools(ClientCase):
    """Tools that the client runs: only a bare model stack leaves them to it, an agent runs its own."""

    def setUp(self):
        if Settings.tools_model is None:
            self.skipTest("no --tools-model given: this server leaves no tool to its client")
        super().setUp()

    def test_a_tool_that_the_client_runs(self):
        messages = [{"role": "user", "content": "call weather with city Oslo"}]
        reply = self.chat(model=Settings.tools_model, messages=messages, tools=[WEATHER]).choices[0]
        self.assertEqual(reply.finish_reason, "tool_calls")
        self.finish(messages, reply.message)

    def test_a_tool_call_that_streams_in(self):
        messages = [{"role": "user", "content": "call weather with city Oslo"}]
        asked = dict(model=Settings.tools_model, messages=messages, tools=[WEATHER])
        with self.client.chat.completions.stream(**asked) as stream:
            reply = stream.get_final_completion().choices[0]
        self.assertEqual(reply.finish_reason, "tool_calls")
        self.finish(messages, reply.message)

    def finish(self, messages, asking):
        """Answers the calls of a message and sees the model use the answers."""
        self.assertEqual([call.function.name for call in asking.tool_calls], ["weather"])
        answers = []
        for call in asking.tool_calls:
            self.assertEqual(json.loads(call.function.arguments), {"city": "Oslo"})
            answers.append({"role": "tool", "tool_call_id": call.id, "content": "snow, 3 degrees below zero"})
        calls = [
            {"id": call.id, "type": "function", "function": call.function.model_dump(include={"name", "arguments"})}
            for call in asking.tool_calls
        ]
        turn = [*messages, {"role": "assistant", "content": asking.content, "tool_calls": calls}, *answers]
        reply = self.chat(model=Settings.tools_model, messages=turn, tools=[WEATHER]).choices[0]
        self.assertEqual(reply.finish_reason, "stop")
        self.assertIn("snow", reply.message.content)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default=Settings.url, help="the server's address")
    parser.add_argument("--tools-model", help="a model id of that server which leaves tool calls to its client")
    parser.parse_args(namespace=Settings)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
