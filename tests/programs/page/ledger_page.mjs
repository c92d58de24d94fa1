// SPDX-License-Identifier: Apache-2.0
// usage: ledger_page.mjs FOLDER
// What a page says of a ledger, by the scripts of the page in FOLDER.
import {match, ok} from 'node:assert';
import {readFileSync} from 'node:fs';
import {createContext, runInContext} from 'node:vm';

class Part {
  children = [];
  style = {};
  setAttribute() {}
  append(...children) {
    this.children.push(...children);
  }
  get text() {
    return this.children.map((child) => child.text ?? String(child)).join('|');
  }
}
const page = createContext({document: {title: 'penstock work', createElement: () => new Part()}});
for (const name of ['numbers', 'elements', 'plain_table', 'results', 'summary', 'figures_page'])
  runInContext(readFileSync(`${process.argv[2]}/${name}.js`, 'utf8'), page);
const row = {
  leases: 1000, ready: 862, out: 16, done: 120, parked: 2, suspects: 3, lost: 4, retries: 5, owners: 4, closed: true,
  finished: false, leases_per_s: 62.5, oldest_out_s: 2.1, oldest_ready_s: 3,
};
const parked = [{number: 17, tries: 5, reason: 'at sink: <no>.', path: '/data/17.bin', offset_bytes: 0, length_bytes: null}];
page.text = JSON.stringify({
  schema: 1, kind: 'ledger', ...row, parked_leases: parked, lines: [row], sentences: ['120 of 1000 leases done.'],
});
const said = () => runInContext("figures_page.parts(results.read(text)).map((part) => part.text ?? part).join('|')", page);
ok(runInContext('figures_page.shows(results.read(text))', page));
for (const expected of [
  /^penstock work\|120 of 1000 leases done\./,
  /done\|12.%\|120 of 1000 leases\|/,
  /leases\/s\|62\.5\|4 owners/,
  /out\|16\|the oldest for 2\.1.s, 4 of processes that ended/,
  /ready\|862\|the first has waited for 3.s/,
  /tries beyond the first\|5\|3 leases to go alone/,
  /parked\|2/,
  /Parked leases\|number\|tries\|reason\|path\|offset bytes\|17\|5\|at sink: <no>\.\|\/data\/17\.bin/,
])
  match(said(), expected);
// One that is empty.
page.text = JSON.stringify({schema: 1, kind: 'ledger', leases: 0, ready: 0, out: 0, done: 0, parked: 0, lines: []});
match(said(), /Parked leases\|None\./);
