// SPDX-License-Identifier: Apache-2.0
// Pages to open: made of the samples, in a folder that lasts as long as the test.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const page_of = process.argv[3];
export const world = fs.mkdtempSync(path.join(os.tmpdir(), 'penstock-page-'));
process.on('exit', () => fs.rmSync(world, {recursive: true, force: true}));

export function sample_text(name) {
  return fs.readFileSync(fileURLToPath(new URL(`samples/${name}.json`, import.meta.url)), 'utf8');
}
export function page(name, text = sample_text(name), title = `Sample ${name}`) {
  const file = path.join(world, `${name}.html`);
  fs.writeFileSync(file, execFileSync(page_of, [title], {input: text, maxBuffer: 1 << 24}));
  return file;
}
// Closes a page. This must hold of each, whatever happened on it.
export async function leave(tab, where) {
  assert.deepEqual(tab.complaints, [], `${where}: the browser complained`);
  assert.deepEqual(tab.requests, [], `${where}: the page asked for something`);
  await tab.close();
}
