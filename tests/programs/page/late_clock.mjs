// SPDX-License-Identifier: Apache-2.0
// usage: late_clock.mjs FOLDER
// What the top of a page says of points whose clock was late, by the scripts of the page in FOLDER.
import {deepStrictEqual} from 'node:assert';
import {readFileSync} from 'node:fs';
import {createContext, runInContext} from 'node:vm';

const page = createContext({});
for (const name of ['numbers.js', 'results.js', 'summary.js']) {
  runInContext(readFileSync(`${process.argv[2]}/${name}`, 'utf8'), page);
}
const late = 'This machine is too slow for its clock: 7 % were late.';
const said = (...sentences) => {
  page.all = {
    axes: [{name: 'producers', values: [1, 2]}],
    points: sentences.map((sentence, index) => ({
      axes: {producers: index + 1},
      gb_per_s: {median: 10 * (index + 1)},
      ceilings: {gb_per_s: 20},
      too_slow: sentence,
    })),
  };
  // A number and its unit have a space that does not break.
  return runInContext('summary.finding(all)', page).replaceAll(/\s/g, ' ');
};
deepStrictEqual(said(null, null), 'Fastest with 2 producers: 20 GB/s, 100 % of what the slowest part can do alone.');
deepStrictEqual(
  said(null, late),
  `1 of 2 points are not judged. ${late} Fastest with 1 producer: 10 GB/s, 50 % of what the slowest part can do alone.`,
);
deepStrictEqual(said(late, late), `2 of 2 points are not judged. ${late}`);
deepStrictEqual(runInContext('results.share_of_ceiling(all.points[0])', page), null);

// The answer of a sweep over threads comes before what was fastest.
said(null, null);
page.all.enough_threads = [{count: 1, of_most: 0.96, more_may_help: false, sentence: 'How many producers? 1.'}];
deepStrictEqual(
  runInContext('summary.finding(all)', page).replaceAll(/\s/g, ' '),
  'How many producers? 1. Fastest with 2 producers: 20 GB/s, 100 % of what the slowest part can do alone.',
);
