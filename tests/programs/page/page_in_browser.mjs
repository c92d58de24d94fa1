// SPDX-License-Identifier: Apache-2.0
// usage: node page_in_browser.mjs BROWSER PAGE_OF CASE
import {Browser} from './browser.mjs';
import * as hands from './page_hands.mjs';
import * as looks from './page_looks.mjs';

const [program, , wanted] = process.argv.slice(2);
const cases = {...looks, ...hands};
if (!cases[wanted]) {
  console.error(`no such case: ${wanted}; there are: ${Object.keys(cases).join(' ')}`);
  process.exit(2);
}
const browser = new Browser(program);
let failed = false;
try {
  await cases[wanted](browser);
} catch (problem) {
  console.error(problem);
  failed = true;
} finally {
  await browser.close();
}
process.exit(failed ? 1 : 0);
