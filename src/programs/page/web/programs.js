// SPDX-License-Identifier: Apache-2.0
'use strict';

// Two whole programs, or one in two ways: each run as a mark on a scale of time, and a table.
function programs_section(all) {
  const sides = all.sides.filter((side) => side.wall_s);
  if (!sides.length) return section('runs', 'All runs', remark(all.error ?? 'Nothing was measured.'));
  const times_of = (side) => side.samples?.wall_s ?? [];
  const longest = Math.max(...sides.flatMap(times_of));
  const seconds = (value) => numbers.nanoseconds(value * 1e9);

  function strip(side, index) {
    const marks = times_of(side).map((value, round) => {
      const mark = element('span', {class: 'run', title: `round ${round + 1}: ${seconds(value)}`});
      mark.style.left = `${(value / longest) * 100}%`;
      mark.style.background = `var(--series-${index})`;
      return mark;
    });
    const middle = element('span', {class: 'run-median'});
    middle.style.left = `${(side.wall_s.median / longest) * 100}%`;
    return element(
      'div',
      {class: 'runs', role: 'img', 'aria-label': `${side.name}: ${times_of(side).map(seconds).join(', ')}`},
      element('span', {class: 'runs-name'}, side.name),
      element('div', {class: 'runs-scale'}, middle, marks),
      element('span', {class: 'runs-value'}, seconds(side.wall_s.median)),
    );
  }

  const with_gpu = sides.some((side) => numbers.is_there(side.gpu_s));
  const line = (side) => [
    side.name,
    ...[side.wall_s, side.cpu_s].flatMap((spread) => ['median', 'min', 'max'].map((part) => seconds(spread?.[part]))),
    ...(with_gpu ? [seconds(side.gpu_s)] : []),
  ];
  return section(
    'runs',
    'All runs',
    element(
      'p',
      {class: 'note'},
      'Wall time from 0 on; each mark is a run, and the line is the median. The rounds took turns.',
    ),
    sides.map(strip),
    plain_table(
      'Table of times',
      [['', true], ['wall'], ['least'], ['most'], ['CPU'], ['least'], ['most'], ...(with_gpu ? [['GPU']] : [])],
      sides.map(line),
    ),
  );
}

// What only the legacy default stream keeps in order, if the program was watched.
function programs_order(all) {
  if (!numbers.is_there(all.watched?.hazards)) return null;
  const processes = all.watched.processes ?? [];
  return section(
    'order',
    'What only the legacy default stream keeps in order',
    processes.flatMap(({process, program, hazards}) => [
      processes.length > 1 ? element('h3', {}, `process ${process}, ${program}`) : null,
      ...order_parts(hazards),
    ]),
  );
}

// The figures that are read from afar.
function programs_figures(all) {
  const made = [];
  const figure = (...words) => made.push(key_figure(...words));
  if (numbers.is_there(all.ratio?.median)) {
    figure(
      numbers.times(all.ratio.median),
      'as fast',
      `${numbers.times(all.ratio.min)} to ${numbers.times(all.ratio.max)} in ${all.repeats} rounds`,
    );
  }
  const right = {true: 'yes', false: 'no'}[String(all.right)] ?? 'not known';
  figure(right, 'comes to the same', all.right === false ? 'see above' : null);
  if (numbers.is_there(all.watched?.hazards))
    figure(numbers.plain(all.watched.hazards, 9), 'pairs that only the legacy stream orders', 'copies and memsets');
  if (numbers.is_there(all.turned))
    figure(numbers.plain(all.turned, 6), 'look-ups turned', `of ${numbers.plain(all.look_ups, 6)}`);
  return element('dl', {class: 'figures-row key-figures'}, made);
}
