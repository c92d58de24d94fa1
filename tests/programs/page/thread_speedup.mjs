// SPDX-License-Identifier: Apache-2.0
// usage: thread_speedup.mjs FOLDER
// The chart of speed-up by threads, and the scale of timelines above each other, by the scripts of the page in FOLDER.
import {deepStrictEqual} from 'node:assert';
import {readFileSync} from 'node:fs';
import {createContext, runInContext} from 'node:vm';

const page = createContext({});
for (const name of ['numbers.js', 'results.js', 'series.js', 'sweep.js', 'timeline.js']) {
  runInContext(readFileSync(`${process.argv[2]}/${name}`, 'utf8'), page);
}
const plain = (value) => JSON.parse(JSON.stringify(value));

page.all = {
  axes: [{name: 'producers', values: [1, 2, 8]}],
  points: [
    {axes: {producers: 1}, thread_speed_up: {times: 1, of_ideal: 1}},
    {axes: {producers: 2}, thread_speed_up: {times: 1.5, of_ideal: 0.75}},
    {axes: {producers: 8}, thread_speed_up: {times: 2, of_ideal: 0.25}},
  ],
};
page.state = {layout: {across: 'producers', each: null}, chosen: {producers: new Set([1, 2, 8])}};
const {charts} = runInContext('sweep.thread_speedup_charts(all, state)', page);
const medians = (line) => plain(line.values.map((value) => value && value.median));
deepStrictEqual(medians(charts[0].series[0]), [1, 1.5, 2]);
deepStrictEqual(medians(charts[0].series[1]), [1, 2, 8], 'the ideal is as many times as the threads');
deepStrictEqual(charts[0].series[1].name, 'ideal');
deepStrictEqual(charts[0].range[1] >= 8, true, 'the ideal fits');

// A long recording and a short one: both begin with as long a time, and have the same whole.
page.models = [
  {begin: 0, end: 1e6, count: 7000},
  {begin: 500, end: 2e6 + 500, count: 1400},
  {begin: 0, end: 9e9, count: 0},
];
const scale = plain(runInContext('timeline_scale(models)', page));
deepStrictEqual(scale, {longest: 2.04e6, first: 1.02e5, followers: []});
