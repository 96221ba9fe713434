"""Anthropic's own client against the messages of a running example server.

    python anthropic_messages.py --url http://127.0.0.1:3000

`cargo xtask clients` starts the server, has the pinned client ready and runs this.
"""

import argparse
import sys
import unittest

import anthropic

MODEL = "demo"
# The demo model answers the same to the same words, so that a whole and a streamed reply can be compared.
QUESTION = [{"role": "user", "content": "read config.toml"}]

WEATHER = {
    "name": "weather",
    "description": "The weather in a city now.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
ASK_WEATHER = [{"role": "user", "content": "call weather with city Oslo"}]


class Settings:
    """What the command line says."""

    url = "http://127.0.0.1:3000"
    tools_model = None


class ClientCase(unittest.TestCase):
    """A client that neither retries nor asks a proxy, so that each failure is seen as the server sent it."""

    def setUp(self):
        self.client = anthropic.Anthropic(
            base_url=Settings.url,
            api_key="unused",
            max_retries=0,
            timeout=30,
            http_client=anthropic.DefaultHttpxClient(trust_env=False),
        )
        self.addCleanup(self.client.close)

    def asked(self, **changes):
        return {"model": MODEL, "max_tokens": 1024, "messages": QUESTION, **changes}

    def create(self, **changes):
        return self.client.messages.create(**self.asked(**changes))

    def stream(self, **changes):
        return self.client.messages.stream(**self.asked(**changes))


class Models(ClientCase):
    def test_the_demo_model_is_listed(self):
        models = list(self.client.models.list())
        self.assertIn(MODEL, [model.id for model in models])
        self.assertEqual({model.type for model in models}, {"model"})
        self.assertEqual(self.client.models.retrieve(MODEL).display_name, MODEL)
        with self.assertRaises(anthropic.NotFoundError):
            self.client.models.retrieve("no-such-model")


class WholeReplies(ClientCase):
    def test_a_question_is_answered(self):
        reply = self.create()
        self.assertEqual((reply.type, reply.role, reply.model), ("message", "assistant", MODEL))
        self.assertEqual((reply.stop_reason, reply.stop_sequence), ("end_turn", None))
        self.assertEqual([block.type for block in reply.content], ["text"])
        self.assertTrue(reply.content[0].text.strip())
        self.assertGreater(reply.usage.input_tokens, 0)
        self.assertGreater(reply.usage.output_tokens, 0)
        self.assertTrue(reply._request_id)

    def test_a_conversation_with_a_system_text_goes_on(self):
        system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
        first = self.create(system=system)
        messages = [*QUESTION, {"role": "assistant", "content": first.content}, {"role": "user", "content": "what is in docs?"}]
        second = self.create(messages=messages, system="Be brief.")
        self.assertTrue(second.content[0].text.strip())
        self.assertNotEqual(second.content[0].text, first.content[0].text)


class StreamedReplies(ClientCase):
    def test_plain_iteration_sees_each_event_from_start_to_stop(self):
        with self.create(stream=True) as stream:
            events = list(stream)
        types = [event.type for event in events]
        self.assertEqual(types[:2], ["message_start", "content_block_start"])
        self.assertEqual(types[-3:], ["content_block_stop", "message_delta", "message_stop"])
        pieces = [event.delta.text for event in events if event.type == "content_block_delta"]
        self.assertGreater(len(pieces), 1, "the reply came in one piece")
        whole = self.create()
        self.assertEqual("".join(pieces), whole.content[0].text)
        self.assertEqual(events[-2].usage.output_tokens, whole.usage.output_tokens)

    def test_the_stream_helper_puts_the_same_reply_together(self):
        # Stricter than plain iteration: it needs the start of the message and of each block, and their names.
        with self.stream() as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        self.assertEqual((final.content[0].text, final.stop_reason), (text, "end_turn"))
        self.assertEqual(text, self.create().content[0].text)
        self.assertGreater(final.usage.output_tokens, 0)

    def test_a_client_that_leaves_early_leaves_a_server_that_answers(self):
        with self.create(stream=True) as stream:
            next(iter(stream))
        self.assertTrue(self.create().content[0].text.strip())


class Errors(ClientCase):
    def assert_explained(self, error, status, kind):
        self.assertEqual(error.status_code, status)
        self.assertEqual(error.body["error"]["type"], kind)
        self.assertTrue(error.body["error"]["message"].strip(), "the error explains nothing")
        self.assertEqual(error.body["request_id"], error.request_id)

    def test_a_body_of_the_wrong_shape_is_a_bad_request(self):
        with self.assertRaises(anthropic.BadRequestError) as caught:
            self.create(messages="read config.toml")
        self.assert_explained(caught.exception, 400, "invalid_request_error")
        self.assertIn("messages", caught.exception.message)

    def test_an_unknown_model_is_not_found(self):
        for stream in (False, True):
            with self.subTest(stream=stream), self.assertRaises(anthropic.NotFoundError) as caught:
                self.create(model="no-such-model", stream=stream)
            self.assert_explained(caught.exception, 404, "not_found_error")
            self.assertIn("no-such-model", caught.exception.message)

    def test_tokens_are_not_counted_and_that_is_said(self):
        with self.assertRaises(anthropic.NotFoundError) as caught:
            self.client.messages.count_tokens(model=MODEL, messages=QUESTION)
        self.assertIn("count", caught.exception.message)

    def test_a_failed_model_is_a_server_error(self):
        with self.assertRaises(anthropic.InternalServerError):
            self.create(messages=[{"role": "user", "content": "simulate a failure"}])

    def test_an_error_in_a_begun_stream_is_raised(self):
        with self.assertRaises(anthropic.APIStatusError) as caught:
            with self.stream(messages=[{"role": "user", "content": "break off"}]) as stream:
                for _ in stream.text_stream:
                    pass
        self.assertEqual(caught.exception.body["error"]["type"], "api_error")

    def test_an_agent_takes_no_tools(self):
        with self.assertRaises(anthropic.BadRequestError) as caught:
            self.create(tools=[WEATHER])
        self.assertIn("tools", caught.exception.message)


class BareModel(ClientCase):
    """What the client itself does with a bare model stack: an agent runs its own tools and keeps its thoughts."""

    def setUp(self):
        if Settings.tools_model is None:
            self.skipTest("no --tools-model given: this server leaves no tool to its client")
        super().setUp()

    def asked(self, **changes):
        return super().asked(**{"model": Settings.tools_model, **changes})

    def test_a_tool_that_the_client_runs(self):
        reply = self.create(messages=ASK_WEATHER, tools=[WEATHER])
        self.assertEqual(reply.stop_reason, "tool_use")
        self.finish(reply)

    def test_a_tool_call_that_streams_in(self):
        with self.stream(messages=ASK_WEATHER, tools=[WEATHER]) as stream:
            events = list(stream)
            reply = stream.get_final_message()
        self.assertTrue(any(event.type == "input_json" for event in events))
        self.assertEqual(reply.stop_reason, "tool_use")
        self.finish(reply)

    def finish(self, asking):
        """Answers the calls of a message and sees the model use the answers."""
        calls = [block for block in asking.content if block.type == "tool_use"]
        self.assertEqual([(call.name, call.input) for call in calls], [("weather", {"city": "Oslo"})])
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "snow, 3 degrees below zero"} for call in calls]
        turn = [*ASK_WEATHER, {"role": "assistant", "content": asking.content}, {"role": "user", "content": results}]
        reply = self.create(messages=turn, tools=[WEATHER])
        self.assertEqual(reply.stop_reason, "end_turn")
        self.assertIn("snow", reply.content[0].text)

    def test_the_tool_runner_goes_on_until_the_answer(self):
        asked_for = []

        @anthropic.beta_tool
        def weather(city: str) -> str:
            """The weather in a city now.

            Args:
                city: The city.
            """
            asked_for.append(city)
            return "snow, 3 degrees below zero"

        for stream in (False, True):
            with self.subTest(stream=stream):
                runner = self.client.beta.messages.tool_runner(**self.asked(messages=ASK_WEATHER), tools=[weather], stream=stream)
                last = runner.until_done()
                self.assertIn("snow", last.content[0].text)
        self.assertEqual(asked_for, ["Oslo", "Oslo"])

    def test_a_failed_tool_is_told_apart(self):
        asking = self.create(messages=ASK_WEATHER, tools=[WEATHER])
        call = next(block for block in asking.content if block.type == "tool_use")
        failed = {"type": "tool_result", "tool_use_id": call.id, "is_error": True, "content": [{"type": "text", "text": "no such city"}]}
        turn = [*ASK_WEATHER, {"role": "assistant", "content": asking.content}, {"role": "user", "content": [failed]}]
        text = self.create(messages=turn, tools=[WEATHER]).content[0].text
        self.assertIn("could not", text)
        self.assertIn("no such city", text)

    def test_thinking_comes_signed_and_goes_back_as_it_came(self):
        think = [{"role": "user", "content": "Think aloud."}]
        for stream in (False, True):
            with self.subTest(stream=stream):
                asked = self.asked(messages=think, thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2048)
                if stream:
                    with self.client.messages.stream(**asked) as events:
                        kinds = {event.type for event in events}
                        reply = events.get_final_message()
                    self.assertLessEqual({"thinking", "signature", "text"}, kinds)
                else:
                    reply = self.client.messages.create(**asked)
                thought, said = reply.content
                self.assertEqual((thought.type, said.type), ("thinking", "text"))
                self.assertTrue(thought.thinking and thought.signature)
                turn = [*think, {"role": "assistant", "content": reply.content}, {"role": "user", "content": "What did you think?"}]
                self.assertIn(thought.thinking, self.create(messages=turn).content[0].text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default=Settings.url, help="the server's address")
    parser.add_argument("--tools-model", help="a model id of that server which leaves tool calls to its client")
    parser.parse_args(namespace=Settings)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
