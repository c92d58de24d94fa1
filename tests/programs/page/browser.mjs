// SPDX-License-Identifier: Apache-2.0
// A Chromium without a window, driven through a pipe by the DevTools protocol. Needs nothing but node.
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

export class Browser {
  #child;
  #profile = fs.mkdtempSync(path.join(os.tmpdir(), 'penstock-browser-'));
  #answers = new Map();
  #listeners = new Set();
  #last = 0;
  #received = '';

  constructor(program) {
    this.#child = spawn(
      program,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--hide-scrollbars',
        '--disable-background-networking',
        '--disable-component-update',
        '--remote-debugging-pipe',
        `--user-data-dir=${this.#profile}`,
        'about:blank',
      ],
      {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']},
    );
    this.#child.stdio[4].setEncoding('utf8').on('data', (text) => this.#hear(text));
    this.#child.stdio[3].on('error', () => {});
  }

  #hear(text) {
    this.#received += text;
    const messages = this.#received.split('\0');
    this.#received = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
      if (message.id) {
        const {resolve, reject} = this.#answers.get(message.id);
        this.#answers.delete(message.id);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      }
      for (const listener of [...this.#listeners]) listener(message);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    this.#child.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    return new Promise((resolve, reject) => this.#answers.set(id, {resolve, reject}));
  }
  listen(listener) {
    this.#listeners.add(listener);
  }
  // The next event of that name for which `is_meant` holds.
  next(method, is_meant = () => true) {
    return new Promise((resolve) => {
      const listener = (message) => {
        if (message.method !== method || !is_meant(message.params)) return;
        this.#listeners.delete(listener);
        resolve(message.params);
      };
      this.#listeners.add(listener);
    });
  }

  // Opens a file in a new tab, and waits until it is loaded and drawn.
  async open(file, {width = 1200, scheme = 'light'} = {}) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    const tab = new Tab(this, targetId, sessionId);
    await Promise.all(['Page', 'Runtime', 'Log', 'Network'].map((domain) => tab.send(`${domain}.enable`)));
    await tab.resize(width);
    await tab.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
    const loaded = this.next('Page.loadEventFired');
    await tab.send('Page.navigate', {url: pathToFileURL(file).href});
    await loaded;
    await tab.drawn();
    return tab;
  }

  async close() {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.send('Browser.close').catch(() => {});
    await gone;
    fs.rmSync(this.#profile, {recursive: true, force: true, maxRetries: 10, retryDelay: 100});
  }
}

class Tab {
  #browser;
  #target;
  #session;
  // What the page complained of, and what it asked for besides itself.
  complaints = [];
  requests = [];

  constructor(browser, target, session) {
    [this.#browser, this.#target, this.#session] = [browser, target, session];
    browser.listen(({method, params, sessionId}) => {
      if (sessionId !== session) return;
      if (method === 'Runtime.exceptionThrown')
        this.complaints.push(params.exceptionDetails.exception?.description ?? 'an exception');
      if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) {
        this.complaints.push(params.args.map((one) => one.value ?? one.description).join(' '));
      }
      if (method === 'Log.entryAdded') this.complaints.push(params.entry.text);
      if (
        method === 'Network.requestWillBeSent' &&
        params.type !== 'Document' &&
        !params.request.url.startsWith('data:')
      ) {
        this.requests.push(params.request.url);
      }
    });
  }

  send(method, params = {}) {
    return this.#browser.send(method, params, this.#session);
  }
  // What a function returns when it runs in the page, with these arguments.
  async ask(code, ...values) {
    const expression = `(${code})(...${JSON.stringify(values)})`;
    const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  // Until the page has drawn what it wanted to draw by now.
  drawn() {
    return this.ask(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
  }
  // Twice drawn: the page may draw anew only what it found to have another width.
  async resize(width, dense = 1) {
    const screen = {width, height: 900, deviceScaleFactor: dense, mobile: false};
    await this.send('Emulation.setDeviceMetricsOverride', screen);
    await this.drawn();
    await this.drawn();
  }
  async key(key) {
    for (const type of ['keyDown', 'keyUp'])
      await this.send('Input.dispatchKeyEvent', {
        type,
        key,
        text: type === 'keyDown' && key.length === 1 ? key : undefined,
      });
    await this.drawn();
  }
  async mouse(type, x, y, more = {}) {
    await this.send('Input.dispatchMouseEvent', {
      type,
      x,
      y,
      button: type === 'mouseMoved' && !more.buttons ? 'none' : 'left',
      clickCount: 1,
      ...more,
    });
    await this.drawn();
  }
  close() {
    return this.#browser.send('Target.closeTarget', {targetId: this.#target});
  }
}
