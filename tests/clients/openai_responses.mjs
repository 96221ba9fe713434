// Clients of OpenAI's Responses in JavaScript against a running example server: openai's own, the AI SDK and OpenAI's agents.
//
//     node openai_responses.mjs --url http://127.0.0.1:3000 --tools-model demo-bare
//
// `cargo xtask clients` starts the server, has the pinned clients ready and runs this. They ask nobody but that server.
// Several of them lose a tool call without a word when an event or a field is missing, so each loop is run to its end.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseArgs } from 'node:util';

import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool as agentTool } from '@openai/agents';
import { generateText, isStepCount, Output, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:3000' },
    'tools-model': { type: 'string', default: 'demo-bare' },
  },
});

const BASE = `${options.url}/v1`;
const MODEL = 'demo';
const TOOLS_MODEL = options['tools-model'];
const QUESTION = 'read config.toml';
const CALL = 'call weather with city Oslo';
const SNOW = 'snow, 3 degrees below zero';
const WEATHER = {
  type: 'function',
  name: 'weather',
  description: 'The weather in a city now.',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const weather = ({ city }) => (city === 'Oslo' ? SNOW : 'no such city');

describe('openai', { timeout: 60_000 }, () => {
  const client = new OpenAI({ baseURL: BASE, apiKey: 'unused', maxRetries: 0 });

  test('a question is answered whole and in pieces', async () => {
    const whole = await client.responses.create({ model: MODEL, input: QUESTION });
    assert.equal(whole.status, 'completed');
    assert.ok(whole.usage.total_tokens > 0);
    const pieces = [];
    for await (const event of await client.responses.create({ model: MODEL, input: QUESTION, stream: true })) {
      if (event.type === 'response.output_text.delta') pieces.push(event.delta);
    }
    assert.ok(pieces.length > 1);
    assert.equal(pieces.join(''), whole.output_text);
  });

  test('the stream helper reads it to its end', async () => {
    const stream = client.responses.stream({ model: MODEL, input: QUESTION });
    const final = await stream.finalResponse();
    assert.ok(final.output_text.trim());
  });

  test('a tool that the client runs', async () => {
    const ask = (input) => client.responses.create({ model: TOOLS_MODEL, input, tools: [WEATHER] });
    const input = [{ role: 'user', content: CALL }];
    const { output } = await ask(input);
    assert.deepEqual(output.map((item) => item.type), ['function_call']);
    const result = weather(JSON.parse(output[0].arguments));
    input.push(...output, { type: 'function_call_output', call_id: output[0].call_id, output: result });
    assert.match((await ask(input)).output_text, /snow/);
  });

  test('errors explain themselves', async () => {
    const refused = (error) => error.status === 400 && error.code === 'not_stored' && error.param === 'previous_response_id';
    await assert.rejects(client.responses.create({ model: MODEL, input: 'Hi', previous_response_id: 'resp_1' }), refused);
    await assert.rejects(client.responses.create({ model: 'no-such-model', input: 'Hi' }), OpenAI.NotFoundError);
    const broken = await client.responses.create({ model: TOOLS_MODEL, input: 'break off', stream: true });
    await assert.rejects(async () => {
      for await (const event of broken) assert.notEqual(event.type, 'response.completed');
    }, OpenAI.APIError);
  });
});

// A question, its answer and another question.
const conversation = async (model, more) => {
  const messages = [{ role: 'user', content: QUESTION }];
  const first = await generateText({ model, messages, maxRetries: 0, ...more });
  messages.push(...first.response.messages, { role: 'user', content: 'what is in docs?' });
  return generateText({ model, messages, maxRetries: 0, ...more });
};

// What all models of the AI SDK must do, whichever dialect they speak.
const aiSdk = (name, model, more) => {
  describe(name, { timeout: 60_000 }, () => {
    const tools = { weather: tool({ description: WEATHER.description, inputSchema: z.object({ city: z.string() }), execute: weather }) };
    const loop = { model: model(TOOLS_MODEL), prompt: CALL, tools, stopWhen: isStepCount(4), maxRetries: 0, ...more };

    test('a question is answered whole and in pieces', async () => {
      const whole = await generateText({ model: model(MODEL), prompt: QUESTION, maxRetries: 0, ...more });
      assert.ok(whole.text.trim());
      assert.ok(whole.usage.totalTokens > 0);
      const pieces = [];
      for await (const piece of streamText({ model: model(MODEL), prompt: QUESTION, maxRetries: 0, ...more }).textStream) pieces.push(piece);
      assert.ok(pieces.length > 1);
      assert.equal(pieces.join(''), whole.text);
    });

    test('a conversation goes on', async () => {
      assert.match((await conversation(model(MODEL), more)).text, /overview/);
    });

    test('its loop runs the tool and comes to an answer', async () => {
      const result = await generateText(loop);
      assert.deepEqual(result.steps.map((step) => step.finishReason), ['tool-calls', 'stop']);
      assert.match(result.text, /snow/);
    });

    test('the same in a stream', async () => {
      const result = streamText(loop);
      await result.consumeStream();
      const steps = await result.steps;
      assert.deepEqual(steps.map((step) => step.finishReason), ['tool-calls', 'stop']);
      assert.deepEqual(steps[0].toolCalls.map((call) => call.input), [{ city: 'Oslo' }]);
      assert.match(await result.text, /snow/);
    });

    test('thoughts come before the answer', async () => {
      const whole = await generateText({ ...loop, prompt: 'think aloud' });
      assert.match(whole.reasoningText, /but one thought/);
      const streamed = streamText({ ...loop, prompt: 'think aloud' });
      await streamed.consumeStream();
      assert.equal(await streamed.reasoningText, whole.reasoningText);
      assert.equal(await streamed.text, whole.text);
    });

    test('an answer of a given form', async () => {
      const output = Output.object({ schema: z.object({ text: z.string() }) });
      const result = await generateText({ model: model(TOOLS_MODEL), prompt: 'count to 3', output, maxRetries: 0, ...more });
      assert.deepEqual(result.output, { text: '1 2 3' });
    });

    test('a stream that breaks off is an error and no answer', async () => {
      const errors = [];
      const result = streamText({ ...loop, prompt: 'break off', onError: ({ error }) => errors.push(error) });
      await result.consumeStream();
      assert.equal(errors.length, 1);
    });

    test('what is refused says why', async () => {
      const asked = generateText({ model: model('no-such-model'), prompt: 'Hi', maxRetries: 0, ...more });
      await assert.rejects(asked, (error) => error.statusCode === 404 && /no-such-model/.test(error.message));
    });
  });
};

const openai = createOpenAI({ baseURL: BASE, apiKey: 'unused' });
aiSdk('@ai-sdk/openai', (id) => openai.responses(id), { providerOptions: { openai: { store: false } } });

const compatible = createOpenAICompatible({ name: 'host', baseURL: BASE, supportsStructuredOutputs: true });
aiSdk('@ai-sdk/openai-compatible', (id) => compatible(id), {});

describe('@ai-sdk/openai with its own default', { timeout: 60_000 }, () => {
  test('it refers to what is not stored, and is told so', async () => {
    const refused = (error) => error.statusCode === 400 && /store: false/.test(error.message);
    await assert.rejects(conversation(openai.responses(MODEL), {}), refused);
  });
});

describe('@openai/agents', { timeout: 60_000 }, () => {
  setTracingDisabled(true);
  const client = new OpenAI({ baseURL: BASE, apiKey: 'unused', maxRetries: 0 });
  const agent = (model) => {
    const parameters = z.object({ city: z.string() });
    const tools = [agentTool({ name: 'weather', description: WEATHER.description, parameters, execute: weather })];
    return new Agent({ name: 'helper', instructions: 'Be brief.', model: new OpenAIResponsesModel(client, model), tools: model === MODEL ? [] : tools });
  };

  test('its loop runs the tool and comes to an answer', async () => {
    const result = await run(agent(TOOLS_MODEL), CALL);
    assert.match(result.finalOutput, /snow/);
    assert.equal(result.rawResponses.length, 2);
  });

  test('the same in a stream', async () => {
    const result = await run(agent(TOOLS_MODEL), CALL, { stream: true });
    const names = [];
    for await (const event of result) if (event.type === 'run_item_stream_event') names.push(event.name);
    await result.completed;
    assert.deepEqual(names, ['tool_called', 'tool_output', 'message_output_created']);
    assert.match(result.finalOutput, /snow/);
  });

  test('an agent of the host answers and goes on', async () => {
    const first = await run(agent(MODEL), QUESTION);
    const second = await run(agent(MODEL), [...first.history, { role: 'user', content: 'what is in docs?' }]);
    assert.match(second.finalOutput, /overview/);
  });

  test('a stream that breaks off is an error and no answer', async () => {
    const result = await run(agent(TOOLS_MODEL), 'break off', { stream: true });
    await assert.rejects(async () => {
      for await (const _ of result);
      await result.completed;
    });
  });
});
