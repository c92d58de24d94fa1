// SPDX-License-Identifier: Apache-2.0
'use strict';

// What a program was watched doing: the results of docs/commands/watch.md.
const watch_page = (() => {
  const time = numbers.nanoseconds;
  const count = (value) => numbers.plain(value, 9);
  const times_in_words = (value) => `${count(value)} ${value === 1 ? 'time' : 'times'}`;
  const ratio = (value) => (numbers.is_there(value) ? value.toFixed(3) : numbers.none);
  const used = (all) => all.processes.filter((process) => process.works > 0);

  // The sentences for a reader of no more.
  function verdict(process) {
    const [worst] = process.faults ?? [];
    const hazards = process.hazards?.count ?? 0;
    return [
      `Copies and kernels took ${time(process.window_ns)}; one after the other they take ${time(process.serial_ns)}, and ` +
        `${time(process.possible_ns)} would be possible.`,
      worst
        ? `Costliest: ${worst.words}, ${times_in_words(worst.count)}, up to ${time(worst.cost_ns)}. ${worst.advice}`
        : 'No fault costs a hundredth of that.',
      hazards
        ? `${count(hazards)} ${hazards === 1 ? 'pair' : 'pairs'} of copies or memsets on the same bytes would lose their ` +
          'order without the legacy default stream.'
        : '',
    ]
      .filter(Boolean)
      .join(' ');
  }

  // What the log does not have.
  function missing(process) {
    return [
      numbers.is_there(process.full_after_ns) &&
        `The log was full after ${time(process.full_after_ns)}; what came later was counted only: ` +
          `${count(process.counted_only?.calls)} calls, ${count(process.counted_only?.works)} works of the device.`,
      process.lost && `CUPTI had no room for ${count(process.lost)} works of the device.`,
      process.ended === false &&
        'The process did not come to its end; the last 0.1 s of the device may be missing.',
    ]
      .filter(Boolean)
      .map(remark);
  }

  function figures(process) {
    return element(
      'dl',
      {class: 'figures-row key-figures'},
      key_figure(time(process.window_ns), 'measured', `one after the other ${time(process.serial_ns)}`),
      key_figure(time(process.possible_ns), 'possible', 'what the busiest of the three kinds takes'),
      key_figure(ratio(process.overlap), 'overlap', `1 - measured / one after the other: ${ratio(process.overlap_text)}`),
      key_figure(ratio(process.speed_of_light), 'speed of light', 'the part of the time in which the busiest kind ran'),
      key_figure(ratio(process.duplex), 'duplex', 'of the shorter direction, the part beside the other'),
    );
  }

  function fault(one) {
    const places = one.worst ?? [];
    return element(
      'li',
      {},
      element('p', {}, element('strong', {}, one.words), `: ${times_in_words(one.count)}, up to ${time(one.cost_ns)} lost`),
      element('p', {}, one.advice),
      places.length
        ? plain_table(
            `Where: ${one.words}`,
            [['thread'], ['call', true], ['stream', true], ['times'], ['time'], ['longest'], ['correlation']],
            places.map((place) => [
              count(place.thread),
              place.call,
              place.stream ?? numbers.none,
              count(place.count),
              time(place.cost_ns),
              time(place.most_ns),
              String(place.correlation),
            ]),
          )
        : null,
    );
  }

  function faults(process) {
    const all = process.faults ?? [];
    const reasons = (process.no_help ?? []).filter((reason) => reason.holds);
    return [
      all.length ? element('ol', {class: 'faults'}, all.map(fault)) : remark('None that costs a hundredth of the time.'),
      reasons.length ? element('h3', {}, 'More streams will not help, or help little') : null,
      reasons.map((reason) => element('p', {}, reason.sentence)),
    ].flat();
  }

  function gaps(process) {
    const all = (process.gaps ?? []).filter((gap) => gap.count);
    if (!all.length) return [remark('Something ran at any time.')];
    return [
      plain_table(
        'Table of gaps',
        [['why', true], ['times'], ['time']],
        all.map((gap) => [gap.why, count(gap.count), time(gap.time_ns)]),
      ),
    ];
  }

  // Rows with how often, how long and the longest, behind what they are of.
  const sums = (label, columns, rows, cells) =>
    rows?.length
      ? plain_table(
          label,
          [...columns, ['times'], ['time'], ['longest']],
          rows.map((row) => [...cells(row), count(row.count), time(row.time_ns), time(row.longest_ns)]),
        )
      : remark('None.');
  const text_columns = (...names) => names.map((name) => [name, true]);

  function tables(process) {
    return [
      element('h3', {}, 'Calls by thread'),
      sums('Calls', text_columns('thread', 'call'), process.calls, (row) => [row.thread, row.call]),
      element('h3', {}, 'Copies by kind of memory'),
      sums('Copies', [...text_columns('from', 'to', 'call'), ['bytes'], ['GB/s']], process.copies, (row) => [
        row.from,
        row.to,
        row.asynchronous ? 'async' : 'sync',
        numbers.bytes(row.bytes ?? 0),
        row.time_ns ? numbers.plain((row.bytes ?? 0) / row.time_ns) : numbers.none,
      ]),
      element('h3', {}, 'Kernels'),
      sums('Kernels', text_columns('kernel'), process.kernels, (row) => [row.name]),
      element('h3', {}, 'Streams'),
      plain_table(
        'Streams',
        [...text_columns('stream', 'waits for the legacy one'), ['works'], ['busy']],
        (process.streams ?? []).map((row) => [
          row.stream,
          row.blocking ? 'yes' : 'no',
          count(row.works),
          time(row.busy_ns),
        ]),
      ),
    ];
  }

  function timeline(process) {
    if (!process.timeline?.passages?.length) return [remark('The times of single calls are in the log alone.')];
    return timeline_of({points: [], axes: []}, process.timeline, `keys-${process.process}`);
  }

  function parts_of(process, several) {
    const name = (part) => (several ? `${part}-${process.process}` : part);
    return [
      several ? element('h2', {}, `Process ${process.process}, ${process.program}`) : null,
      element('p', {class: several ? 'note' : 'finding-sentence'}, verdict(process)),
      ...missing(process),
      figures(process),
      section(name('faults'), 'Faults, the costliest first', ...faults(process)),
      section(name('gaps'), 'When nothing ran', ...gaps(process)),
      section(name('order'), 'What only the legacy default stream keeps in order', ...order_parts(process.hazards)),
      section(name('timeline'), 'When what ran', ...timeline(process)),
      section(name('tables'), 'What was asked for, and what ran', ...tables(process)),
    ].filter(Boolean);
  }

  function parts(all) {
    const shown = used(all);
    return [
      element('h1', {}, document.title),
      all.failure ? remark(all.failure) : null,
      ...(all.missing ?? []).map((sentence) => remark(sentence)),
      shown.length ? null : remark('The program gave a GPU nothing to do, or no process of it could be watched.'),
      ...shown.flatMap((process) => parts_of(process, shown.length > 1)),
      summary.facts(all),
    ].filter(Boolean);
  }

  return {parts};
})();
