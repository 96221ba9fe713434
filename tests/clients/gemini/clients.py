"""Google's own client against Gemini's API of a running example server.

    python clients.py --url http://127.0.0.1:3000 --tools-model demo-bare

`cargo xtask clients` starts the server, has the pinned client ready and runs this. It asks nobody but that server.
"""

import argparse
import sys
import unittest

from google import genai
from google.genai import errors, types

MODEL = "demo"
# The demo model answers the same to the same words, so that a whole and a streamed reply can be compared.
QUESTION = "read config.toml"
CALL = "call weather with city Oslo"
SNOW = "snow, 3 degrees below zero"

WEATHER = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="weather",
            description="The weather in a city now.",
            parameters=types.Schema(type="OBJECT", properties={"city": types.Schema(type="STRING")}, required=["city"]),
        )
    ]
)


class Settings:
    """What the command line says."""

    url = "http://127.0.0.1:3000"
    tools_model = None


class ClientCase(unittest.TestCase):
    """A client that asks no proxy, so that each failure is seen as the server sent it."""

    version = "v1beta"

    def setUp(self):
        options = types.HttpOptions(
            base_url=Settings.url, api_version=self.version, timeout=30_000, client_args={"trust_env": False}
        )
        self.client = genai.Client(api_key="unused", http_options=options)
        self.addCleanup(self.client.close)

    def asked(self, **changes):
        return {"model": MODEL, "contents": QUESTION, **changes}

    def create(self, **changes):
        return self.client.models.generate_content(**self.asked(**changes))

    def stream(self, **changes):
        return self.client.models.generate_content_stream(**self.asked(**changes))


class Models(ClientCase):
    def test_the_demo_model_is_listed(self):
        models = list(self.client.models.list(config={"query_base": True}))
        self.assertIn(f"models/{MODEL}", [model.name for model in models])
        self.assertEqual(self.client.models.get(model=MODEL).display_name, MODEL)
        with self.assertRaises(errors.ClientError) as caught:
            self.client.models.get(model="no-such-model")
        self.assertEqual((caught.exception.code, caught.exception.status), (404, "NOT_FOUND"))


class WholeReplies(ClientCase):
    def test_a_question_is_answered(self):
        reply = self.create()
        self.assertTrue(reply.text.strip())
        self.assertEqual((reply.model_version, len(reply.candidates)), (MODEL, 1))
        self.assertEqual(reply.candidates[0].finish_reason, types.FinishReason.STOP)
        self.assertTrue(reply.response_id)
        used = reply.usage_metadata
        self.assertGreater(used.prompt_token_count, 0)
        self.assertEqual(used.total_token_count, used.prompt_token_count + used.candidates_token_count)

    def test_a_chat_goes_on(self):
        config = types.GenerateContentConfig(system_instruction="Be brief.", temperature=0.5, top_k=40)
        chat = self.client.chats.create(model=MODEL, config=config)
        first = chat.send_message(QUESTION)
        second = chat.send_message("what is in docs?")
        self.assertTrue(second.text.strip())
        self.assertNotEqual(first.text, second.text)
        self.assertEqual([content.role for content in chat.get_history()], ["user", "model"] * 2)


class WholeRepliesOfTheOtherVersion(WholeReplies):
    version = "v1"


class StreamedReplies(ClientCase):
    def test_the_pieces_make_the_whole_reply(self):
        chunks = list(self.stream())
        pieces = [chunk.text for chunk in chunks if chunk.text]
        self.assertGreater(len(pieces), 1, "the reply came in one piece")
        whole = self.create()
        self.assertEqual("".join(pieces), whole.text)
        self.assertEqual(chunks[-1].candidates[0].finish_reason, types.FinishReason.STOP)
        self.assertEqual(chunks[-1].usage_metadata.candidates_token_count, whole.usage_metadata.candidates_token_count)
        self.assertEqual(len({chunk.response_id for chunk in chunks}), 1)

    def test_a_client_that_leaves_early_leaves_a_server_that_answers(self):
        stream = self.stream()
        next(stream)
        stream.close()
        self.assertTrue(self.create().text.strip())


class Errors(ClientCase):
    def assert_explained(self, error, code, status):
        self.assertEqual((error.code, error.status), (code, status))
        self.assertTrue(error.message.strip(), "the error explains nothing")

    def test_an_unknown_model_is_not_found(self):
        for ask in (self.create, lambda **changes: list(self.stream(**changes))):
            with self.assertRaises(errors.ClientError) as caught:
                ask(model="no-such-model")
            self.assert_explained(caught.exception, 404, "NOT_FOUND")
            self.assertIn("no-such-model", caught.exception.message)

    def test_tokens_are_not_counted_and_that_is_said(self):
        with self.assertRaises(errors.ClientError) as caught:
            self.client.models.count_tokens(model=MODEL, contents=QUESTION)
        self.assert_explained(caught.exception, 404, "NOT_FOUND")
        self.assertIn("countTokens", caught.exception.message)

    def test_an_empty_conversation_is_a_bad_request(self):
        with self.assertRaises(errors.ClientError) as caught:
            self.create(contents=[types.Content(role="user", parts=[types.Part(function_response={"name": ""})])])
        self.assert_explained(caught.exception, 400, "INVALID_ARGUMENT")
        self.assertIn("contents[0].parts[0].functionResponse", caught.exception.message)

    def test_a_failed_model_is_a_server_error(self):
        with self.assertRaises(errors.ServerError) as caught:
            self.create(contents="simulate a failure")
        self.assertTrue(caught.exception.message.strip())

    def test_an_agent_takes_no_tools(self):
        with self.assertRaises(errors.ClientError) as caught:
            self.create(config=types.GenerateContentConfig(tools=[WEATHER]))
        self.assert_explained(caught.exception, 400, "INVALID_ARGUMENT")


class ToolsOfTheClient(ClientCase):
    """What the client does itself with a bare model stack: an agent runs its own tools."""

    def setUp(self):
        if Settings.tools_model is None:
            self.skipTest("no --tools-model given: this server leaves no tool to its client")
        super().setUp()

    def asked(self, **changes):
        return super().asked(**{"model": Settings.tools_model, "contents": CALL, **changes})

    def test_a_call_that_the_client_makes(self):
        config = types.GenerateContentConfig(
            tools=[WEATHER], automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
        )
        whole = self.create(config=config)
        streamed = list(self.stream(config=config))
        for asking in (whole.candidates[0].content, next(c.candidates[0].content for c in streamed if c.function_calls)):
            call = next(part.function_call for part in asking.parts if part.function_call)
            self.assertEqual((call.name, call.args), ("weather", {"city": "Oslo"}))
            answer = types.FunctionResponse(id=call.id, name=call.name, response={"output": SNOW})
            turn = [
                types.Content(role="user", parts=[types.Part(text=CALL)]),
                asking,
                types.Content(role="user", parts=[types.Part(function_response=answer)]),
            ]
            reply = self.create(contents=turn, config=config)
            self.assertIsNone(reply.function_calls)
            self.assertIn("snow", reply.text)

    def test_a_response_without_an_id_belongs_to_the_call_of_its_name(self):
        turn = [
            types.Content(role="user", parts=[types.Part(text=CALL)]),
            types.Content(role="model", parts=[types.Part.from_function_call(name="weather", args={"city": "Oslo"})]),
            types.Content(role="user", parts=[types.Part.from_function_response(name="weather", response={"result": SNOW})]),
        ]
        reply = self.create(contents=turn, config=types.GenerateContentConfig(tools=[WEATHER]))
        self.assertIn("snow", reply.text)

    def test_the_client_calls_functions_by_itself(self):
        asked_for = []

        def weather(city: str) -> str:
            """The weather in a city now."""
            asked_for.append(city)
            return SNOW

        config = types.GenerateContentConfig(tools=[weather])
        self.assertIn("snow", self.create(config=config).text)
        pieces = [chunk.text for chunk in self.stream(config=config) if chunk.text]
        self.assertIn("snow", "".join(pieces))
        self.assertEqual(asked_for, ["Oslo", "Oslo"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default=Settings.url, help="the server's address")
    parser.add_argument("--tools-model", default=Settings.tools_model, help="a model that leaves tools to its client")
    parser.parse_args(namespace=Settings)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
