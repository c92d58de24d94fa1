// SPDX-License-Identifier: Apache-2.0
'use strict';

// One chart of lines with their spreads and ceilings, drawn by uPlot and by painter.js.
//
// spec: title; across (the axis) with `at` (the positions of its values) and joined (whether lines join them); series
// with name, colour, dash, mark, place and `values`: {median, min, max, ceiling, lines, point} or null for each position;
// write (how a value is written); range ([least, greatest]); log; reference ({value, name} or null); unit; summary (for
// readers that do not see it); pick(point), when the reader chooses a point.
function make_chart(spec) {
  const plot_holder = element('div', {class: 'plot', tabindex: '0', role: 'img', 'aria-label': spec.summary});
  const tip = element('div', {class: 'tip', hidden: true});
  const holder = element(
    'figure',
    {class: 'chart'},
    element('figcaption', {}, element('strong', {}, spec.title || ''), element('span', {class: 'unit'}, spec.unit)),
    element('div', {class: 'plot-frame'}, plot_holder, tip),
  );
  const state = {spec, emphasis: null};
  let plot = null;

  const greatest = spec.at.at(-1),
    least = spec.at[0];
  const margin = (greatest - least || 1) * (spec.joined ? 0.05 : (0.5 / Math.max(1, spec.at.length - 1)) * 0.9);
  const across_range = [least - margin, greatest + margin];

  // Leaves out labels that would touch the one before.
  function labels_that_fit(width) {
    const per_unit = (width - 70) / (across_range[1] - across_range[0]);
    let free_from = -Infinity;
    return spec.across.values.map((value, index) => {
      const text = results.value_text(spec.across, value);
      const half = text.length * 3.6 + 4;
      const middle = (spec.at[index] - across_range[0]) * per_unit;
      if (middle - half < free_from) return '';
      free_from = middle + half;
      return text;
    });
  }

  function log_splits() {
    const found = [];
    for (let power = Math.floor(Math.log10(spec.range[0])); power <= Math.log10(spec.range[1]); ++power) {
      for (const digit of [1, 2, 5]) found.push(digit * 10 ** power);
    }
    return found.filter((value) => value >= spec.range[0] * 0.999 && value <= spec.range[1] * 1.001);
  }

  function options(width, height) {
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const quiet = theme.colour('quiet');
    return {
      width,
      height,
      padding: [10, spec.end_names ? 46 : 8, 0, 0],
      legend: {show: false},
      cursor: {y: false, drag: {x: false, y: false}, points: {show: false}},
      scales: {x: {time: false, range: () => across_range}, y: {distr: spec.log ? 3 : 1, range: () => spec.range}},
      axes: [
        {
          stroke: quiet,
          font,
          size: 32,
          gap: 6,
          grid: {show: false},
          ticks: {stroke: theme.colour('rule'), width: 1, size: 5},
          label: results.axis_title(spec.across),
          labelFont: font,
          labelSize: 18,
          labelGap: 0,
          splits: () => spec.at,
          values: (self) => labels_that_fit(self.width),
        },
        {
          stroke: quiet,
          font,
          gap: 8,
          ticks: {show: false},
          grid: {stroke: theme.colour('grid'), width: 1},
          size: (_, texts) => 18 + 7 * Math.max(2, ...(texts ?? []).map((text) => String(text ?? '').length)),
          values: (_, splits) => splits.map(spec.write_axis),
          space: 34,
          ...(spec.log ? {splits: log_splits, filter: (_, splits) => splits} : {}),
        },
      ],
      series: [
        {},
        ...spec.series.map((line) => ({
          stroke: theme.colour(line.colour),
          width: 2,
          dash: line.dash,
          points: {show: false},
          ...(spec.joined ? {} : {paths: () => null}),
        })),
      ],
      hooks: {
        drawAxes: [(self) => painter.under(self, state)],
        draw: [(self) => painter.over(self, state)],
        setCursor: [show_tip],
      },
    };
  }

  function show_tip(self) {
    const index = self.cursor.idx;
    const there = index !== null && index !== undefined && self.cursor.left >= 0;
    const lines = there ? spec.series.map((line) => [line, line.values[index]]).filter(([, value]) => value) : [];
    tip.hidden = lines.length === 0;
    if (tip.hidden) return;
    lines.sort(([, one], [, other]) => other.median - one.median);
    tip.replaceChildren(
      element('strong', {}, results.value_in_words(spec.across, spec.across.values[index])),
      ...lines.map(([line, value]) =>
        element(
          'div',
          {class: 'tip-line'},
          swatch(line),
          element(
            'div',
            {},
            line.name ? element('span', {class: 'tip-name'}, line.name) : null,
            element('span', {class: 'tip-value'}, numbers.spread(value, spec.write)),
            (value.lines ?? []).map((text) => element('span', {class: 'tip-more'}, text)),
          ),
        ),
      ),
    );
    const left = self.over.offsetLeft + self.valToPos(spec.at[index], 'x');
    const to_the_left = left + 18 + tip.offsetWidth > plot_holder.clientWidth;
    tip.style.left = `${Math.max(0, to_the_left ? left - 14 - tip.offsetWidth : left + 14)}px`;
    tip.style.top = '10px';
  }

  function pick_here(self) {
    const index = self.cursor.idx;
    if (index === null || index === undefined || !spec.pick) return;
    const here = spec.series.map((line) => line.values[index]).filter((value) => value?.point);
    const height = self.posToVal(self.cursor.top, 'y');
    here.sort((one, other) => Math.abs(one.median - height) - Math.abs(other.median - height));
    if (here.length) spec.pick(here[0].point);
  }

  function draw() {
    plot?.destroy();
    const width = plot_holder.clientWidth;
    if (width < 40) return;
    const data = [spec.at, ...spec.series.map((line) => line.values.map((value) => value?.median ?? null))];
    plot = new uPlot(options(width, spec.height ?? 280), data, plot_holder);
    plot.over.addEventListener('click', () => pick_here(plot));
  }

  plot_holder.addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!plot || (!step && event.key !== 'Escape')) return;
    event.preventDefault();
    const from = plot.cursor.idx ?? (step > 0 ? -1 : spec.at.length);
    const to = Math.min(spec.at.length - 1, Math.max(0, from + (step ?? 0)));
    plot.setCursor(step ? {left: plot.valToPos(spec.at[to], 'x'), top: 20} : {left: -10, top: -10});
  });
  plot_holder.addEventListener('blur', () => plot?.setCursor({left: -10, top: -10}));

  return {
    holder,
    draw,
    // Makes the others pale; null for none.
    emphasise(key) {
      state.emphasis = key;
      spec.series.forEach((line, index) => {
        plot.series[index + 1].alpha = painter.is_pale(state, line) ? 0.2 : 1;
      });
      plot?.redraw();
    },
    destroy: () => plot?.destroy(),
  };
}

// A short piece of a series' line, with its mark.
function swatch(line) {
  const canvas = element('canvas', {class: 'swatch', width: 52, height: 24, 'aria-hidden': 'true'});
  const pen = canvas.getContext('2d');
  pen.scale(2, 2);
  pen.strokeStyle = theme.colour(line.colour);
  pen.fillStyle = pen.strokeStyle;
  pen.lineWidth = 2;
  pen.setLineDash(line.dash);
  pen.beginPath();
  pen.moveTo(0, 6);
  pen.lineTo(26, 6);
  pen.stroke();
  if (line.mark !== null) painter.mark(pen, line.mark, 13, 6, 3.6);
  return canvas;
}
