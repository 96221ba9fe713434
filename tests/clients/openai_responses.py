"""Clients of OpenAI's Responses against a running example server: openai's own, and the agent libraries over it.

    python openai_responses.py --url http://127.0.0.1:3000 --tools-model demo-bare

`cargo xtask clients` starts the server, has the pinned clients ready and runs this. They ask nobody but that server.
"""

import argparse
import json
import sys
import unittest

import agents
import langchain.agents
import langchain_core.messages
import langchain_core.tools
import langchain_openai
import openai
import pydantic
import pydantic_ai
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

MODEL = "demo"
# The demo model answers the same to the same words, so that a whole and a streamed reply can be compared.
QUESTION = "read config.toml"
CALL = "call weather with city Oslo"
SNOW = "snow, 3 degrees below zero"

WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a city now.",
    "strict": False,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


class Settings:
    """What the command line says."""

    url = "http://127.0.0.1:3000"
    tools_model = "demo-bare"


def options(client):
    """A client that neither retries nor asks a proxy, so that each failure is seen as the server sent it."""
    return {
        "base_url": f"{Settings.url}/v1",
        "api_key": "unused",
        "max_retries": 0,
        "timeout": 30,
        "http_client": client(trust_env=False),
    }


def weather(city: str) -> str:
    """The weather in a city now."""
    return SNOW if city == "Oslo" else "no such city"


class ClientCase(unittest.TestCase):
    def setUp(self):
        self.client = openai.OpenAI(**options(openai.DefaultHttpxClient))
        self.addCleanup(self.client.close)

    def create(self, **changes):
        return self.client.responses.create(**{"model": MODEL, "input": QUESTION, **changes})


class WholeReplies(ClientCase):
    def test_a_question_is_answered(self):
        reply = self.create()
        self.assertEqual((reply.object, reply.status, reply.error), ("response", "completed", None))
        self.assertTrue(reply.id.startswith("resp_"))
        self.assertGreater(reply.created_at, 1_700_000_000)
        self.assertEqual([item.type for item in reply.output], ["message"])
        self.assertTrue(reply.output_text.strip())

    def test_usage_adds_up(self):
        usage = self.create().usage
        self.assertGreater(usage.input_tokens, 0)
        self.assertGreater(usage.output_tokens, 0)
        self.assertEqual(usage.total_tokens, usage.input_tokens + usage.output_tokens)
        self.assertEqual((usage.input_tokens_details.cached_tokens, usage.output_tokens_details.reasoning_tokens), (0, 0))

    def test_a_conversation_goes_on(self):
        first = self.create()
        turn = [{"role": "user", "content": QUESTION}, *first.output, {"role": "user", "content": "what is in docs?"}]
        second = self.create(input=turn)
        self.assertTrue(second.output_text.strip())
        self.assertNotEqual(second.output_text, first.output_text)


class StreamedReplies(ClientCase):
    def events(self, **changes):
        with self.create(stream=True, **changes) as stream:
            return list(stream)

    def test_the_pieces_make_the_whole_reply(self):
        pieces = [event.delta for event in self.events() if event.type == "response.output_text.delta"]
        self.assertGreater(len(pieces), 1, "the reply came in one piece")
        self.assertEqual("".join(pieces), self.create().output_text)

    def test_events_are_numbered_and_the_last_holds_the_whole_reply(self):
        events = self.events()
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        self.assertEqual((events[0].type, events[-1].type), ("response.created", "response.completed"))
        self.assertEqual(events[0].response.id, events[-1].response.id)
        self.assertEqual(events[-1].response.output_text, self.create().output_text)
        self.assertGreater(events[-1].response.usage.output_tokens, 0)

    def test_the_stream_helper_reads_it_to_its_end(self):
        # Stricter than plain iteration: it puts the reply together itself and asserts the order of events.
        with self.client.responses.stream(model=MODEL, input=QUESTION) as stream:
            pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
            final = stream.get_final_response()
        self.assertEqual("".join(pieces), final.output_text)

    def test_thoughts_stream_in_before_the_answer_and_can_be_sent_back(self):
        with self.client.responses.stream(model=Settings.tools_model, input="think aloud") as stream:
            thoughts = [event.delta for event in stream if event.type == "response.reasoning_summary_text.delta"]
            final = stream.get_final_response()
        self.assertEqual([item.type for item in final.output], ["reasoning", "message"])
        self.assertEqual("".join(thoughts), final.output[0].summary[0].text)
        self.assertGreater(len(thoughts), 1)
        turn = [{"role": "user", "content": "think aloud"}, *final.output, {"role": "user", "content": "count to 3"}]
        self.assertEqual(self.create(model=Settings.tools_model, input=turn).output_text, "1 2 3")

    def test_a_client_that_leaves_early_leaves_a_server_that_answers(self):
        with self.create(stream=True) as stream:
            next(iter(stream))
        self.assertTrue(self.create().output_text.strip())


class Errors(ClientCase):
    def assert_explained(self, error, status):
        self.assertEqual(error.status_code, status)
        self.assertTrue(error.body["message"].strip(), "the error explains nothing")
        self.assertEqual(error.type, "invalid_request_error")

    def test_a_body_of_the_wrong_shape_is_a_bad_request(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.create(input=[{"role": "user", "content": 7}])
        self.assert_explained(caught.exception, 400)
        self.assertEqual(caught.exception.param, "input[0].content")

    def test_an_unknown_model_is_not_found(self):
        for stream in (False, True):
            with self.subTest(stream=stream), self.assertRaises(openai.NotFoundError) as caught:
                self.create(model="no-such-model", stream=stream)
            self.assert_explained(caught.exception, 404)
            self.assertIn("no-such-model", caught.exception.body["message"])

    def test_what_a_host_without_a_store_cannot_know_is_refused(self):
        references = {
            "previous_response_id": {"previous_response_id": "resp_1"},
            "conversation": {"conversation": "conv_1"},
            "background": {"background": True},
            "input": {"input": [{"type": "item_reference", "id": "msg_1"}]},
        }
        for param, changes in references.items():
            with self.subTest(param), self.assertRaises(openai.BadRequestError) as caught:
                self.create(**changes)
            self.assert_explained(caught.exception, 400)
            self.assertEqual((caught.exception.param, caught.exception.code), (param, "not_stored"))

    def test_an_agent_takes_no_tools_of_its_client(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.create(tools=[WEATHER])
        self.assertEqual(caught.exception.param, "tools")

    def test_a_failure_of_the_model_is_the_hosts(self):
        with self.assertRaises(openai.InternalServerError) as caught:
            self.create(model=Settings.tools_model, input="simulate a failure")
        self.assertEqual(caught.exception.status_code, 502)

    def test_a_stream_that_breaks_off_is_an_error_and_no_answer(self):
        with self.assertRaises(openai.APIError) as caught:
            for event in self.create(model=Settings.tools_model, input="break off", stream=True):
                self.assertNotEqual(event.type, "response.completed")
        self.assertTrue(caught.exception.message.strip())


class ClientSideTools(ClientCase):
    """Tools that the client runs: only a bare model stack leaves them to it, an agent runs its own."""

    def ask(self, **changes):
        return {"model": Settings.tools_model, "input": CALL, "tools": [WEATHER], **changes}

    def test_a_tool_that_the_client_runs(self):
        self.finish(self.create(**self.ask()))

    def test_a_tool_call_that_streams_in(self):
        with self.client.responses.stream(**self.ask()) as stream:
            arguments = [event for event in stream if event.type == "response.function_call_arguments.done"]
            reply = stream.get_final_response()
        self.assertEqual(len(arguments), 1)
        self.finish(reply)

    def test_a_tool_call_that_is_parsed(self):
        class Weather(pydantic.BaseModel):
            city: str

        tool = openai.pydantic_function_tool(Weather, name="weather")
        reply = self.client.responses.parse(**self.ask(tools=[tool]))
        self.assertEqual(reply.output[0].parsed_arguments, Weather(city="Oslo"))
        self.finish(reply)

    def test_an_answer_that_is_parsed(self):
        class Answer(pydantic.BaseModel):
            text: str

        reply = self.client.responses.parse(model=Settings.tools_model, input="hello", text_format=Answer)
        self.assertTrue(reply.output_parsed.text.strip())

    def finish(self, asking):
        """Answers the calls of a reply and sees the model use the answers."""
        calls = [item for item in asking.output if item.type == "function_call"]
        self.assertEqual([call.name for call in calls], ["weather"])
        turn = [{"role": "user", "content": CALL}]
        # A parsed call has a field that only the client knows.
        turn += [item.model_dump(exclude={"parsed_arguments"}, exclude_none=True) for item in asking.output]
        for call in calls:
            output = weather(**json.loads(call.arguments))
            turn.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
        reply = self.create(**self.ask(input=turn))
        self.assertEqual([item.type for item in reply.output], ["message"])
        self.assertIn("snow", reply.output_text)


class AsyncCase(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = openai.AsyncOpenAI(**options(openai.DefaultAsyncHttpxClient))
        self.addAsyncCleanup(self.client.close)


class OpenAiAgents(AsyncCase):
    """openai-agents, whose loop goes by the last event of a stream."""

    def agent(self, model):
        tools = [agents.function_tool(weather)] if model == Settings.tools_model else []
        model = agents.OpenAIResponsesModel(model=model, openai_client=self.client)
        return agents.Agent(name="helper", instructions="Be brief.", model=model, tools=tools)

    async def asyncSetUp(self):
        await super().asyncSetUp()
        # Traces would be sent to OpenAI.
        agents.set_tracing_disabled(True)

    async def test_its_loop_runs_the_tool_and_comes_to_an_answer(self):
        result = await agents.Runner.run(self.agent(Settings.tools_model), CALL)
        self.assertIn("snow", result.final_output)
        self.assertEqual(len(result.raw_responses), 2)
        self.assertGreater(result.context_wrapper.usage.total_tokens, 0)

    async def test_the_same_in_a_stream(self):
        result = agents.Runner.run_streamed(self.agent(Settings.tools_model), CALL)
        items = [event.item.type async for event in result.stream_events() if event.type == "run_item_stream_event"]
        self.assertEqual(items, ["tool_call_item", "tool_call_output_item", "message_output_item"])
        self.assertIn("snow", result.final_output)

    async def test_an_agent_of_the_host_answers_and_goes_on(self):
        first = await agents.Runner.run(self.agent(MODEL), QUESTION)
        turn = [*first.to_input_list(), {"role": "user", "content": "what is in docs?"}]
        second = await agents.Runner.run(self.agent(MODEL), turn)
        self.assertIn("overview", second.final_output)

    async def test_a_stream_that_breaks_off_is_an_error_and_no_answer(self):
        result = agents.Runner.run_streamed(self.agent(Settings.tools_model), "break off")
        with self.assertRaises(openai.APIError):
            async for _ in result.stream_events():
                pass


class LangChain(AsyncCase):
    def model(self, model):
        shared = options(openai.DefaultHttpxClient)
        return langchain_openai.ChatOpenAI(
            model=model, use_responses_api=True, http_async_client=self.client._client, **shared
        )

    def test_a_question_is_answered_whole_and_in_pieces(self):
        whole = self.model(MODEL).invoke(QUESTION)
        pieces = list(self.model(MODEL).stream(QUESTION))
        self.assertGreater(len(pieces), 1)
        self.assertTrue(whole.text.strip())
        self.assertEqual("".join(piece.text for piece in pieces), whole.text)
        self.assertGreater(whole.usage_metadata["total_tokens"], 0)

    def test_its_agent_runs_the_tool_and_comes_to_an_answer(self):
        tool = langchain_core.tools.tool(weather)
        agent = langchain.agents.create_agent(self.model(Settings.tools_model), tools=[tool], system_prompt="Be brief.")
        messages = agent.invoke({"messages": [("user", CALL)]})["messages"]
        kinds = [type(message).__name__ for message in messages]
        self.assertEqual(kinds, ["HumanMessage", "AIMessage", "ToolMessage", "AIMessage"])
        self.assertIn("snow", messages[-1].text)

    async def test_a_stream_that_breaks_off_is_an_error_and_no_answer(self):
        with self.assertRaises(openai.APIError):
            async for _ in self.model(Settings.tools_model).astream("break off"):
                pass


class PydanticAi(AsyncCase):
    def agent(self, model, **more):
        model = OpenAIResponsesModel(model, provider=OpenAIProvider(openai_client=self.client))
        return pydantic_ai.Agent(model, instructions="Be brief.", **more)

    async def test_its_loop_runs_the_tool_and_comes_to_an_answer(self):
        result = await self.agent(Settings.tools_model, tools=[weather]).run(CALL)
        self.assertIn("snow", result.output)
        self.assertEqual(result.usage.requests, 2)

    async def test_the_same_in_a_stream(self):
        async with self.agent(Settings.tools_model, tools=[weather]).run_stream(CALL) as result:
            pieces = [piece async for piece in result.stream_text(delta=True, debounce_by=None)]
        self.assertGreater(len(pieces), 1)
        self.assertIn("snow", "".join(pieces))

    async def test_an_agent_of_the_host_answers_and_goes_on(self):
        first = await self.agent(MODEL).run(QUESTION)
        second = await self.agent(MODEL).run("what is in docs?", message_history=first.all_messages())
        self.assertIn("overview", second.output)

    async def test_thoughts_are_parts_of_their_own(self):
        result = await self.agent(Settings.tools_model).run("think aloud")
        kinds = [part.part_kind for part in result.all_messages()[-1].parts]
        self.assertEqual(kinds, ["thinking", "text"])
        second = await self.agent(Settings.tools_model).run("count to 3", message_history=result.all_messages())
        self.assertEqual(second.output, "1 2 3")

    async def test_an_answer_of_a_given_type(self):
        class Answer(pydantic.BaseModel):
            text: str

        native = pydantic_ai.NativeOutput(Answer)
        result = await self.agent(Settings.tools_model, output_type=native).run("hello")
        self.assertTrue(result.output.text.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default=Settings.url, help="the server's address")
    parser.add_argument("--tools-model", default=Settings.tools_model, help="a model that leaves tools to its client")
    parser.parse_args(namespace=Settings)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
