// The page under test, in the words of its user. The names of its elements stand here and nowhere else.

import assert from 'node:assert/strict';

import { chromium } from 'playwright-core';

// Nothing in the background may reach for the network: the tests need none.
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const PATIENCE = 20_000;

export function launch(executablePath) {
  // Chromium's sandbox does not start as root, which is what a container often runs as.
  const args = process.getuid?.() === 0 ? [...QUIET, '--no-sandbox'] : QUIET;
  return chromium.launch({ executablePath, args, headless: true });
}

/** Opens the page in a window of its own. */
export async function open(browser, url, settings) {
  const context = await browser.newContext(settings);
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const chat = new Chat(page, new URL(url).origin);
  await page.goto(url);
  await chat.state('idle');
  return chat;
}

class Chat {
  /** What went wrong in the page, though it may not show. */
  #faults = [];

  constructor(page, origin) {
    this.page = page;
    this.prompt = page.locator('#prompt');
    this.send = page.locator('#send');
    this.stop = page.locator('#stop');
    this.users = page.locator('#log .message.user');
    this.answers = page.locator('#log .message.assistant');
    this.tools = page.locator('#log .tool');
    this.errors = page.locator('.error');

    page.on('pageerror', (error) => this.#faults.push(`a script failed: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') this.#faults.push(`the console shows: ${message.text()}`);
    });
    page.on('request', (request) => {
      const asked = new URL(request.url());
      const own = asked.origin === origin || ['data:', 'blob:'].includes(asked.protocol);
      if (!own) this.#faults.push(`the page asks another host: ${request.url()}`);
    });
  }

  /** Types a question and sends it. */
  async ask(question) {
    const before = await this.users.count();
    await this.prompt.fill(question);
    await this.send.click();
    await this.users.nth(before).waitFor();
  }

  /** Waits until the page says that it is idle, running or in error. */
  async state(name) {
    await this.page.locator(`#status[data-state="${name}"]`).waitFor({ state: 'attached' });
  }

  /** Waits for the end of a run. The page counts as running from the click on, so an idle one is done. */
  async finished() {
    await this.page.locator('#status:not([data-state="running"])').waitFor({ state: 'attached' });
    const state = await this.page.locator('#status').getAttribute('data-state');
    assert.equal(state, 'idle', `the run failed: ${await this.errors.allInnerTexts()}`);
  }

  /** What each layer did to a tool call. */
  marks(tool) {
    return tool.locator('.mark').evaluateAll((marks) =>
      marks.map((mark) => ({
        layer: mark.dataset.layer,
        action: mark.dataset.action,
        text: mark.textContent.trim(),
      })),
    );
  }

  /** Notes from now on how long the last answer is, each time that it changes. */
  async watchAnswer() {
    await this.page.evaluate(() => {
      window.answerLengths = [];
      const length = () => {
        const answer = [...document.querySelectorAll('#log .message.assistant')].at(-1)?.cloneNode(true);
        answer?.querySelectorAll('.tool, .error').forEach((part) => part.remove());
        return answer?.textContent.trim().length ?? 0;
      };
      const note = () => {
        const now = length();
        if (now !== window.answerLengths.at(-1)) window.answerLengths.push(now);
      };
      const changes = { childList: true, subtree: true, characterData: true };
      new MutationObserver(note).observe(document.querySelector('#log'), changes);
    });
  }

  answerLengths() {
    return this.page.evaluate(() => window.answerLengths);
  }

  async picture(file) {
    await this.page.screenshot({ path: file });
  }

  /** Fails when something went wrong unseen. */
  assertClean() {
    assert.deepEqual(this.#faults, []);
  }

  async close() {
    await this.page.context().close();
  }
}
