// SPDX-License-Identifier: Apache-2.0
'use strict';

// The parts of the page that show the sweep, and the controls that they share.
function sweep_sections(all, pick) {
  if (!all.axes.length) return [];
  const layout = series.first_layout(all.axes, all.kind);
  const state = {layout, measure: 'gb_per_s', chosen: series.first_choice(all.axes, layout, results.best(all.points))};
  const controls = element('div', {class: 'controls'});
  const about = element('p', {class: 'note', 'aria-live': 'polite'});
  const places = Object.fromEntries(
    ['throughput', 'speedup', 'latency'].map((name) => [name, element('div', {class: 'figures'})]),
  );
  const threads_gain = all.points.some((point) => point.thread_speed_up);
  let drawn = [];

  function put(name, group, otherwise) {
    places[name].replaceChildren(
      ...(group.charts.length ? sweep.figure_group(group, drawn, pick).filter(Boolean) : [remark(otherwise)]),
    );
  }

  function draw() {
    for (const chart of drawn) chart.destroy();
    drawn = [];
    const failed = all.points.filter((point) => !results.has_figures(point)).length;
    put(
      'throughput',
      sweep.throughput_charts(all, state),
      failed === all.points.length
        ? 'No point has figures; the table says why.'
        : 'None of the points that are chosen above has figures.',
    );
    if (all.compare) {
      put(
        'speedup',
        sweep.speedup_charts(all, state),
        'There is no speed-up to show: no point was measured in both flavours.',
      );
    } else if (threads_gain) {
      put(
        'speedup',
        sweep.thread_speedup_charts(all, state),
        'There is no speed-up to show: none of the points that are chosen above has one.',
      );
    }
    put('latency', sweep.latency_charts(all, state), 'Latency was not measured for the points that are shown.');
    about.textContent = sweep.left_out(all, state);
    for (const chart of drawn) chart.draw();
  }

  // The values of one axis as buttons; the last one that is on stays on.
  function values_control(axis) {
    const buttons = axis.values.map((value) =>
      element(
        'button',
        {
          type: 'button',
          'aria-pressed': String(state.chosen[axis.name].has(value)),
          click: (event) => {
            const shown = state.chosen[axis.name];
            if (shown.has(value) && shown.size > 1) shown.delete(value);
            else shown.add(value);
            event.currentTarget.setAttribute('aria-pressed', String(shown.has(value)));
            draw();
          },
        },
        results.value_text(axis, value),
      ),
    );
    return element(
      'div',
      {class: 'values', role: 'group', 'aria-label': `Which ${axis.name}`},
      element('span', {}, axis.name),
      buttons,
    );
  }

  function lay_out() {
    const {across, each} = state.layout;
    const named = (axis) => [axis.name, axis.name];
    const others = all.axes.filter((axis) => axis.name !== across);
    controls.replaceChildren(
      element(
        'div',
        {class: 'choices'},
        choice(
          'Show',
          Object.entries(sweep.measures).map(([name, measure]) => [name, measure.name]),
          state.measure,
          (value) => {
            state.measure = value;
            draw();
          },
        ),
        all.axes.length > 1
          ? choice('against', all.axes.map(named), across, (value) => {
              state.layout = {across: value, each: each === value ? null : each};
              lay_out();
            })
          : null,
        others.length
          ? choice(
              'in',
              [[null, 'one chart'], ...others.map((axis) => [axis.name, `one chart for each ${axis.name}`])],
              each,
              (value) => {
                state.layout.each = value;
                lay_out();
              },
            )
          : null,
      ),
      ...others.map(values_control),
    );
    draw();
  }

  theme.when_changed(draw);
  watch_width(controls, draw);
  const latency_measured = all.points.some((point) => point.latency_us);
  const sections = [
    section('throughput', 'Throughput', controls, about, places.throughput),
    all.compare || threads_gain ? section('speedup', 'Speed-up', places.speedup) : null,
    section(
      'latency',
      'Latency',
      latency_measured ? places.latency : remark('Latency was not measured in this sweep.'),
    ),
  ];
  queueMicrotask(lay_out);
  return sections.filter(Boolean);
}

// Calls `changed` when `watched` gets another width, at most once a frame.
function watch_width(watched, changed) {
  let width = null,
    waiting = false;
  new ResizeObserver(() => {
    if (width === watched.clientWidth || waiting) return;
    const first = width === null;
    width = watched.clientWidth;
    if (first) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      width = watched.clientWidth;
      changed();
    });
  }).observe(watched);
}
