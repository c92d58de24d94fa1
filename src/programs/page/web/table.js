// SPDX-License-Identifier: Apache-2.0
'use strict';

// All points, a line for each, to be sorted by any column.
function table_section(all, pick) {
  const at_first = 30;
  const with_latency = all.points.some((point) => point.latency_us);
  // Each: heading, unit, what to sort by, what to write.
  const columns = [
    ...all.axes.map((axis) => [
      axis.name,
      axis.unit === 'us' ? 'µs' : '',
      (point) => point.axes[axis.name],
      (point) => (axis.name in point.axes ? results.value_text(axis, point.axes[axis.name]) : numbers.none),
    ]),
    [
      'throughput',
      'GB/s',
      (point) => point.gb_per_s?.median,
      (point) => [numbers.plain(point.gb_per_s?.median), range_of(point.gb_per_s)],
    ],
    ['of ceiling', '', results.share_of_ceiling, (point) => numbers.per_cent(results.share_of_ceiling(point))],
    ['tiles', 'per s', (point) => point.tiles_per_s?.median, (point) => numbers.plain(point.tiles_per_s?.median)],
    ['CPU', 's/GB', (point) => point.cpu_s_per_gb?.median, (point) => numbers.plain(point.cpu_s_per_gb?.median)],
    ...(with_latency
      ? [
          ['p50', 'p50'],
          ['p99', 'p99'],
          ['p999', 'p99.9'],
        ].map(([member, name]) => [
          name,
          '',
          (point) => point.latency_us?.[member],
          (point) => numbers.microseconds(point.latency_us?.[member]),
        ])
      : []),
    ['pinned', '', (point) => point.pinned_bytes, (point) => numbers.bytes(point.pinned_bytes)],
    ['device', '', (point) => point.device_bytes, (point) => numbers.bytes(point.device_bytes)],
    ['bound by', '', (point) => point.verdict?.bound, (point) => point.verdict?.bound ?? numbers.none],
  ];
  const state = {by: null, falling: false, everything: all.points.length <= at_first + 10};
  const text_columns = new Set([
    ...all.axes.filter((axis) => !results.is_numeric(axis)).map((axis) => axis.name),
    'bound by',
  ]);

  function range_of(spread) {
    return numbers.is_there(spread?.min)
      ? element('span', {class: 'range'}, `${numbers.plain(spread.min)}–${numbers.plain(spread.max)}`)
      : '';
  }

  // What is missing comes last, whichever way.
  function sorted() {
    if (state.by === null) return all.points;
    const [, , value_of] = columns[state.by];
    return [...all.points].sort((one, other) => {
      const [left, right] = [value_of(one) ?? null, value_of(other) ?? null];
      if (left === null || right === null) return (left === null) - (right === null);
      const order =
        typeof left === 'number' && typeof right === 'number'
          ? left - right
          : String(left).localeCompare(String(right));
      return state.falling ? -order : order;
    });
  }

  const heading = (column, index) =>
    element(
      'th',
      {scope: 'col', class: text_columns.has(column[0]) ? 'text' : null},
      element(
        'button',
        {
          type: 'button',
          click: () => {
            state.falling =
              state.by === index ? !state.falling : !text_columns.has(column[0]) && index >= all.axes.length;
            state.by = index;
            show();
          },
        },
        column[0],
        column[1] ? element('small', {}, column[1]) : null,
      ),
    );
  const head = element('tr', {}, columns.map(heading));
  const body = element('tbody');
  const more = element(
    'button',
    {
      type: 'button',
      class: 'more',
      click: () => {
        state.everything = true;
        show();
      },
    },
    `Show all ${all.points.length} points`,
  );

  function line(point) {
    const row = element(
      'tr',
      {class: point.error ? 'failed' : null, click: () => pick(point)},
      columns.map(([name, , , write]) => element('td', {class: text_columns.has(name) ? 'text' : null}, write(point))),
    );
    if (!point.error) return [row];
    return [
      row,
      element('tr', {class: 'error'}, element('td', {colspan: columns.length}, element('span', {}, point.error))),
    ];
  }

  function show() {
    head.childNodes.forEach((cell, index) => {
      if (index === state.by) cell.setAttribute('aria-sort', state.falling ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
    const shown = state.everything ? sorted() : sorted().slice(0, at_first);
    body.replaceChildren(...shown.flatMap(line));
    more.hidden = state.everything;
  }

  if (!all.points.length) return section('points', 'All points', remark('Nothing was measured.'));
  show();
  return section(
    'points',
    'All points',
    element(
      'p',
      {class: 'note'},
      'Medians; beside the throughput its least and greatest. A click on a heading sorts, one on a line shows what ' +
        'bounded it.',
    ),
    element(
      'div',
      {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of all points'},
      element('table', {}, element('thead', {}, head), body),
    ),
    more,
  );
}
