// Anthropic's own client and the AI SDK's against the messages of a running example server.
//
//   node anthropic_messages.mjs --url http://127.0.0.1:3000 --tools-model demo-bare
//
// `cargo xtask clients` starts the server, has the pinned clients ready and runs this.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseArgs } from "node:util";

import Anthropic, { BadRequestError, InternalServerError, NotFoundError } from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:3000" },
    "tools-model": { type: "string", default: "demo-bare" },
  },
});
const MODEL = "demo";
const BARE = values["tools-model"];
const SNOW = "snow, 3 degrees below zero";
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const ASK_WEATHER = "call weather with city Oslo";

const asked = (changes) => ({
  model: MODEL,
  max_tokens: 1024,
  messages: [{ role: "user", content: "read config.toml" }],
  ...changes,
});

describe("@anthropic-ai/sdk", () => {
  // It neither retries nor reads keys of the environment.
  const client = new Anthropic({ baseURL: values.url, apiKey: "unused", maxRetries: 0, timeout: 30_000 });

  test("a question is answered, whole and streamed alike", async () => {
    const whole = await client.messages.create(asked());
    assert.deepEqual([whole.type, whole.role, whole.stop_reason], ["message", "assistant", "end_turn"]);
    const stream = client.messages.stream(asked());
    let text = "";
    stream.on("text", (piece) => { text += piece; });
    const final = await stream.finalMessage();
    assert.equal(final.content[0].text, whole.content[0].text);
    assert.equal(text, whole.content[0].text);
    assert.deepEqual(final.usage.output_tokens, whole.usage.output_tokens);
  });

  test("plain iteration sees the events from start to stop", async () => {
    const types = [];
    for await (const event of await client.messages.create(asked({ stream: true }))) types.push(event.type);
    assert.deepEqual(types.slice(0, 2), ["message_start", "content_block_start"]);
    assert.deepEqual(types.slice(-3), ["content_block_stop", "message_delta", "message_stop"]);
  });

  test("a tool that the client runs", async () => {
    const tools = [{ name: "weather", input_schema: CITY }];
    const ask = [{ role: "user", content: ASK_WEATHER }];
    for (const stream of [false, true]) {
      const request = asked({ model: BARE, tools, messages: ask });
      const asking = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
      assert.equal(asking.stop_reason, "tool_use");
      const call = asking.content.find((block) => block.type === "tool_use");
      assert.deepEqual([call.name, call.input], ["weather", { city: "Oslo" }]);
      const result = { type: "tool_result", tool_use_id: call.id, content: SNOW };
      const turn = [...ask, { role: "assistant", content: asking.content }, { role: "user", content: [result] }];
      const reply = await client.messages.create(asked({ model: BARE, tools, messages: turn }));
      assert.match(reply.content[0].text, /snow/);
    }
  });

  test("the tool runner goes on until the answer", async () => {
    const weather = { name: "weather", description: "The weather.", input_schema: CITY, parse: (input) => input, run: async () => SNOW };
    const messages = [{ role: "user", content: ASK_WEATHER }];
    const last = await client.beta.messages.toolRunner(asked({ model: BARE, messages, tools: [weather] }));
    assert.match(last.content[0].text, /snow/);
  });

  test("thinking comes signed and goes back as it came", async () => {
    const think = [{ role: "user", content: "Think aloud." }];
    const reply = await client.messages.stream(asked({ model: BARE, messages: think })).finalMessage();
    const [thought, said] = reply.content;
    assert.deepEqual([thought.type, said.type], ["thinking", "text"]);
    assert.ok(thought.thinking && thought.signature);
    const turn = [...think, { role: "assistant", content: reply.content }, { role: "user", content: "What did you think?" }];
    const again = await client.messages.create(asked({ model: BARE, messages: turn }));
    assert.ok(again.content[0].text.includes(thought.thinking));
  });

  test("errors are told apart", async () => {
    await assert.rejects(client.messages.create(asked({ model: "no-such-model" })), (error) => {
      assert.ok(error instanceof NotFoundError);
      assert.equal(error.error.error.type, "not_found_error");
      assert.ok(error.requestID);
      return true;
    });
    await assert.rejects(client.messages.create(asked({ messages: "Hi" })), BadRequestError);
    await assert.rejects(client.messages.create(asked({ messages: [{ role: "user", content: "simulate a failure" }] })), InternalServerError);
    const broken = client.messages.stream(asked({ messages: [{ role: "user", content: "break off" }] }));
    await assert.rejects(broken.finalMessage(), /broke off/);
  });
});

describe("ai and @ai-sdk/anthropic", () => {
  const provider = createAnthropic({ baseURL: `${values.url}/v1`, apiKey: "unused" });
  const common = { maxRetries: 0, telemetry: { isEnabled: false } };
  const weather = tool({ description: "The weather.", inputSchema: jsonSchema(CITY), execute: async () => SNOW });

  test("a question is answered, whole and streamed alike", async () => {
    const whole = await generateText({ model: provider(MODEL), prompt: "read config.toml", ...common });
    assert.equal(whole.finishReason, "stop");
    assert.ok(whole.usage.outputTokens > 0);
    const stream = streamText({ model: provider(MODEL), prompt: "read config.toml", ...common });
    const pieces = [];
    for await (const piece of stream.textStream) pieces.push(piece);
    assert.ok(pieces.length > 1, "the reply came in one piece");
    assert.equal(pieces.join(""), whole.text);
    assert.equal(await stream.finishReason, "stop");
  });

  test("the loop of tools runs to the answer", async () => {
    const loop = { model: provider(BARE), prompt: ASK_WEATHER, tools: { weather }, stopWhen: isStepCount(4), ...common };
    const whole = await generateText(loop);
    assert.match(whole.text, /snow/);
    assert.equal(whole.steps.length, 2);
    const stream = streamText(loop);
    assert.match(await stream.text, /snow/);
    assert.equal((await stream.steps).length, 2);
  });

  test("thinking comes as reasoning and goes back signed", async () => {
    const think = { role: "user", content: "Think aloud." };
    const stream = streamText({ model: provider(BARE), messages: [think], ...common });
    const thought = await stream.reasoningText;
    assert.ok(thought);
    const said = (await stream.response).messages;
    const messages = [think, ...said, { role: "user", content: "What did you think?" }];
    const again = await generateText({
      model: provider(BARE), messages, ...common,
      providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
    });
    assert.ok(again.text.includes(thought), again.text);
  });

  test("errors are raised with the server's words", async () => {
    await assert.rejects(generateText({ model: provider("no-such-model"), prompt: "Hi", ...common }), (error) => {
      assert.equal(error.statusCode, 404);
      assert.match(error.message, /no-such-model/);
      return true;
    });
    const failed = [];
    const stream = streamText({ model: provider(MODEL), prompt: "break off", ...common, onError: ({ error }) => failed.push(error) });
    await stream.consumeStream();
    assert.equal(failed.length, 1);
  });
});
