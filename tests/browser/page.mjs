// The example's page, used as a person would, in a real browser at desktop and phone width.
//
//     node page.mjs --url http://127.0.0.1:3000 --browser /usr/bin/chromium --out ../../target/browser
//
// `cargo xtask browser` starts the server, has the browser and its driver ready and runs this. With `--screenshot FILE`
// it also writes the picture that the README shows.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseArgs } from 'node:util';

import { open, launch } from './chat.mjs';

const { values: options } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:3000' },
    browser: { type: 'string', default: '/usr/bin/chromium' },
    out: { type: 'string', default: '.' },
    screenshot: { type: 'string' },
  },
});

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const QUESTION = 'read config.toml';
// The demo model asks for the tool that the allow-list denies.
const FORBIDDEN = 'delete config.toml';

let browser;
before(async () => {
  browser = await launch(options.browser);
});
after(() => browser?.close());

for (const [name, size] of Object.entries(SIZES)) {
  describe(name, { timeout: 120_000 }, () => {
    const picture = (what) => path.join(options.out, `${name}-${what}.png`);
    const visit = async (t) => {
      const chat = await open(browser, options.url, { viewport: size });
      t.after(() => chat.close());
      return chat;
    };

    test('a question is answered, and the answer streams in', async (t) => {
      const chat = await visit(t);
      await chat.watchAnswer();
      await chat.ask(QUESTION);
      await chat.finished();

      assert.equal(await chat.users.last().innerText(), QUESTION);
      assert.equal(await chat.prompt.inputValue(), '', 'the prompt is empty again');
      const lengths = await chat.answerLengths();
      assert.ok(growths(lengths) >= 2, `the answer grew by steps of ${lengths}`);
      assert.ok((await chat.answers.last().innerText()).trim());
      await chat.picture(picture('answer'));
      chat.assertClean();
    });

    test('a tool call shows what each layer did to it', async (t) => {
      const chat = await visit(t);
      await chat.ask(QUESTION);
      await chat.finished();

      const tool = chat.tools.first();
      assert.equal(await tool.getAttribute('data-outcome'), 'success');
      assert.ok(await tool.getAttribute('data-name'));
      assert.match(await tool.locator('.duration').first().innerText(), /\d/);
      const marks = await chat.marks(tool);
      assert.ok(marks.some((mark) => /redact/i.test(mark.layer)), `the secrets were masked by none of ${say(marks)}`);
      for (const mark of marks) {
        assert.ok(mark.layer && mark.action && mark.text, `a mark says too little: ${say([mark])}`);
      }
      await chat.picture(picture('marks'));
      chat.assertClean();
    });

    test('a denied call says who denied it, and the answer comes all the same', async (t) => {
      const chat = await visit(t);
      await chat.ask(FORBIDDEN);
      await chat.finished();

      const denied = chat.page.locator('#log .tool[data-outcome="denied"]').first();
      await denied.waitFor();
      const marks = await chat.marks(denied);
      assert.ok(marks.some((mark) => /^den/i.test(mark.action) && mark.layer), `nobody denied it: ${say(marks)}`);
      assert.ok((await chat.answers.last().innerText()).trim());
      assert.equal(await chat.errors.count(), 0, 'a denial is no error');
      await chat.picture(picture('denied'));
      chat.assertClean();
    });

    test('a request that the server refuses is shown as an error', async (t) => {
      const chat = await visit(t);
      const refusal = { error: { message: 'too many runs at once', type: 'overloaded_error', param: null, code: null } };
      await chat.page.route('**/v1/runs', (route) => route.fulfill({ status: 503, json: refusal }));
      await chat.ask(QUESTION);
      await chat.state('error');

      assert.match(await chat.errors.last().innerText(), /too many runs at once/);
      await chat.picture(picture('refused'));

      await chat.page.unroute('**/v1/runs');
      await chat.ask(QUESTION);
      await chat.finished();
      assert.ok((await chat.answers.last().innerText()).trim(), 'the next question is answered');
    });

    test('a server that is gone is shown as an error', async (t) => {
      const chat = await visit(t);
      await chat.page.route('**/v1/runs', (route) => route.abort('connectionrefused'));
      await chat.ask(QUESTION);
      await chat.state('error');

      assert.ok((await chat.errors.last().innerText()).trim());
      assert.ok(await chat.send.isEnabled(), 'one can try again');
    });

    test('a run that takes too long can be stopped', async (t) => {
      const chat = await visit(t);
      // The request is held back for good, so that the run is under way however fast the server is.
      await chat.page.route('**/v1/runs', () => {});
      await chat.ask(QUESTION);
      await chat.state('running');
      await chat.stop.click();

      await chat.state('idle');
      assert.ok(await chat.stop.isHidden(), 'nothing is left to stop');
      assert.ok(await chat.send.isEnabled(), 'one can ask anew');
    });

    test('everything fits the screen', async (t) => {
      const chat = await visit(t);
      await chat.ask(QUESTION);
      await chat.finished();

      const { content, screen } = await chat.page.evaluate(() => ({
        content: document.documentElement.scrollWidth,
        screen: document.documentElement.clientWidth,
      }));
      assert.ok(content <= screen, `the page is ${content} wide on a screen of ${screen}`);
      for (const part of [chat.prompt, chat.send]) {
        const box = await part.boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= size.width && box.y + box.height <= size.height);
      }
    });
  });
}

if (options.screenshot) {
  test('the picture for the README', async (t) => {
    const chat = await open(browser, options.url, { viewport: SIZES.desktop, deviceScaleFactor: 2 });
    t.after(() => chat.close());
    for (const question of [QUESTION, FORBIDDEN]) {
      await chat.ask(question);
      await chat.finished();
    }
    await chat.picture(options.screenshot);
  });
}

function growths(lengths) {
  return lengths.filter((length, index) => index > 0 && length > lengths[index - 1]).length;
}

function say(marks) {
  return JSON.stringify(marks);
}
