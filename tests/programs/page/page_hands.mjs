// SPDX-License-Identifier: Apache-2.0
// What a reader does on a page of results, and what comes of it. Each case is a test of its own.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as in_page from './in_page.mjs';
import {leave, page, sample_text, world} from './pages.mjs';

export async function TurnsToAnotherThemeAndWidthWhileItIsOpen(browser) {
  const tab = await browser.open(page('bench_small'), {scheme: 'light'});
  const before = await tab.ask(in_page.charts);
  await tab.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: 'dark'}]});
  await tab.drawn();
  assert.equal(await tab.ask(in_page.theme_in_force), 'dark');
  await tab.ask(in_page.press, 'Light');
  assert.equal(await tab.ask(in_page.theme_in_force), 'light');
  await tab.ask(in_page.press, 'Auto');
  assert.equal(await tab.ask(in_page.theme_in_force), 'dark');
  await tab.resize(390, 2);
  assert.deepEqual(await tab.ask(in_page.what_sticks_out), []);
  assert.equal((await tab.ask(in_page.charts)).length, before.length);
  await leave(tab, 'turned');
}

export async function GivesItsDataAwayAsItGotThem(browser) {
  const tab = await browser.open(page('bench_many'));
  const folder = path.join(world, 'downloads');
  await browser.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: folder, eventsEnabled: true});
  for (const kind of ['JSON', 'CSV']) {
    const done = browser.next('Browser.downloadProgress', ({state}) => state !== 'inProgress');
    await tab.ask(in_page.press, kind);
    assert.equal((await done).state, 'completed');
  }
  const name = `penstock-bench-${JSON.parse(sample_text('bench_many')).date.slice(0, 10)}`;
  assert.equal(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'), sample_text('bench_many'));
  const lines = fs
    .readFileSync(path.join(folder, `${name}.csv`), 'utf8')
    .trimEnd()
    .split('\r\n');
  const {points} = JSON.parse(sample_text('bench_many'));
  assert.equal(lines.length, points.length + 1);
  assert.ok(lines[0].startsWith('producers,tile,signal,streams,repeats,gb_per_s_median,'), lines[0]);
  const {axes, gb_per_s} = points[3];
  assert.ok(lines[4].startsWith(`${Object.values(axes).join()},5,${gb_per_s.median},`), lines[4]);
  await leave(tab, 'downloads');
}

export async function HasTheNameOfTheProgramThatWroteIt(browser) {
  const text = sample_text('bench_many');
  for (const [title, program] of [
    ['count bench', 'count'],
    ['penstock bench', 'penstock'],
    ['A title', 'penstock'],
  ]) {
    const tab = await browser.open(page('bench_many', text, title));
    assert.equal(await tab.ask(() => document.querySelector('.brand').textContent.trim()), `${program}bench`);
    await leave(tab, title);
  }
}

export async function ShowsOtherSeriesWhenAsked(browser) {
  const tab = await browser.open(page('bench_many'));
  const charts = async () => (await tab.ask(in_page.charts)).filter(({of}) => of.startsWith('throughput'));
  const lines = () => tab.ask(() => document.querySelectorAll('#throughput .legend li .swatch').length);
  assert.equal((await charts()).length, 3, 'one for each signal');
  assert.equal(await lines(), 6, 'one for each size of tile and kind of stream');
  await tab.ask(in_page.press, 'thread_default');
  assert.equal(await lines(), 3);
  await tab.ask(in_page.press, 'own');
  assert.equal(await lines(), 3, 'the last one stays');
  await tab.ask(in_page.press, 'flag');
  assert.equal((await charts()).length, 2);
  await tab.ask(in_page.choose, 'in', 'one chart');
  assert.equal((await charts()).length, 1);
  await tab.ask(in_page.choose, 'against', 'signal');
  assert.equal((await charts()).length, 1);
  for (const measure of ['Tiles', 'CPU time']) await tab.ask(in_page.choose, 'Show', measure);
  assert.equal((await charts()).length, 1);
  await leave(tab, 'other series');
}

export async function TellsWhatAPointIsByMouseAndByKeys(browser) {
  const tab = await browser.open(page('bench_small'));
  await tab.ask(() => document.querySelector('#throughput .plot').focus());
  await tab.key('ArrowRight');
  await tab.key('ArrowRight');
  const tip = () =>
    tab.ask(() => {
      const {hidden, innerText} = document.querySelector('#throughput .tip');
      return hidden ? '' : innerText;
    });
  const second = JSON.parse(sample_text('bench_small')).points[1];
  assert.match(await tip(), /^2 producers/);
  assert.ok((await tip()).includes(String(Number(second.gb_per_s.median.toPrecision(3)))), await tip());
  await tab.key('Escape');
  assert.equal(await tip(), '');
  const place = await tab.ask(in_page.middle_of, '#throughput .u-over');
  await tab.mouse('mouseMoved', ...place);
  assert.match(await tip(), /^4 producers/);
  await tab.mouse('mousePressed', ...place);
  await tab.mouse('mouseReleased', ...place);
  assert.match(await tab.ask(() => document.querySelector('#verdict select').selectedOptions[0].text), /^4 producers/);
  await leave(tab, 'points');
}

export async function SortsItsTableAndShowsTheVerdictOfALine(browser) {
  const tab = await browser.open(page('bench_many'));
  const rows = () =>
    tab.ask(() =>
      [...document.querySelectorAll('#points tbody tr:not(.error)')].map((row) => row.cells[4].firstChild.textContent),
    );
  assert.equal((await rows()).length, 30);
  await tab.ask(in_page.press, 'Show all 54 points');
  assert.equal((await rows()).length, 54);
  await tab.ask(in_page.press, 'throughput');
  const fastest_first = (await rows()).map(parseFloat);
  assert.ok(Number.isNaN(fastest_first.pop()), 'what failed comes last');
  assert.deepEqual(
    fastest_first,
    [...fastest_first].sort((one, other) => other - one),
  );
  await tab.ask(in_page.press, 'throughput');
  const slowest_first = (await rows()).map(parseFloat);
  assert.ok(Number.isNaN(slowest_first.pop()), 'what failed still comes last');
  assert.deepEqual(slowest_first, fastest_first.reverse());
  await tab.ask(() => document.querySelector('#points tr.failed').click());
  assert.match(await tab.ask(() => document.querySelector('.verdict').innerText), /^Out of pinned memory/);
  await leave(tab, 'table');
}

export async function ZoomsTheTimelineByWheelDragButtonsAndKeys(browser) {
  const tab = await browser.open(page('bench_small'));
  await tab.ask(() => document.querySelector('#timeline canvas').scrollIntoView({block: 'center'}));
  const image = () => tab.ask(() => document.querySelector('#timeline canvas').toDataURL());
  const whole = await image();
  const place = await tab.ask(in_page.middle_of, '#timeline canvas');
  const seen = [whole];
  const is_new = async (what) => {
    const now = await image();
    assert.ok(!seen.includes(now), `${what} did not change the timeline`);
    seen.push(now);
  };
  await tab.mouse('mouseWheel', ...place, {deltaX: 0, deltaY: -300, modifiers: 2});
  await is_new('ctrl and the wheel');
  await tab.mouse('mousePressed', ...place);
  await tab.mouse('mouseMoved', place[0] - 90, place[1], {buttons: 1});
  await tab.mouse('mouseReleased', place[0] - 90, place[1]);
  await is_new('a drag');
  await tab.ask(in_page.press, '+');
  await is_new('the button +');
  await tab.ask(() => document.querySelector('#timeline canvas').focus());
  await tab.key('-');
  await is_new('the key -');
  await tab.key('ArrowLeft');
  await is_new('the left arrow');
  await tab.key('0');
  assert.equal(await image(), whole, '0 shows all again');
  await tab.key('ArrowDown');
  await is_new('following a tile');
  assert.match(await tab.ask(() => document.querySelector('.said').innerText), /^Tile 0, .* fill .* upload /);
  await tab.key('Escape');
  assert.equal(await image(), whole, 'Escape lets go of the tile');
  const [x, y] = await tab.ask(in_page.top_left_of, '#timeline canvas');
  await tab.mouse('mouseMoved', x + 400, y + 34);
  assert.match(await tab.ask(() => document.querySelector('#timeline .tip').innerText), /^Tile \d+, fill\n/);
  await leave(tab, 'timeline');
}
