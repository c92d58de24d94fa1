// SPDX-License-Identifier: Apache-2.0
'use strict';

// What uPlot does not draw: the spread of each series, the ceilings, the marks. Sizes are in CSS pixels; uPlot's canvas
// has more of them on a dense screen.
const painter = (() => {
  // Filled: circle, square, diamond, triangle.
  function mark(pen, kind, x, y, radius) {
    pen.setLineDash([]);
    pen.beginPath();
    switch (kind % 4) {
      case 0:
        pen.arc(x, y, radius, 0, 2 * Math.PI);
        break;
      case 1:
        pen.rect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8);
        break;
      case 2:
        pen.moveTo(x, y - radius * 1.3);
        pen.lineTo(x + radius * 1.3, y);
        pen.lineTo(x, y + radius * 1.3);
        pen.lineTo(x - radius * 1.3, y);
        break;
      default:
        pen.moveTo(x, y - radius * 1.2);
        pen.lineTo(x + radius * 1.2, y + radius);
        pen.lineTo(x - radius * 1.2, y + radius);
    }
    pen.closePath();
    pen.fill();
  }

  // Calls `draw` with a pen in CSS pixels that stays inside the plot, and functions from values to places.
  function with_pen(plot, state, draw) {
    const pen = plot.ctx,
      ratio = devicePixelRatio || 1;
    pen.save();
    pen.beginPath();
    pen.rect(
      plot.bbox.left - 6 * ratio,
      plot.bbox.top - 6 * ratio,
      plot.bbox.width + 60 * ratio,
      plot.bbox.height + 12 * ratio,
    );
    pen.clip();
    pen.scale(ratio, ratio);
    const {spec} = state;
    // Where nothing joins them, series stand beside each other; each knows its place.
    const places = Math.max(...spec.series.map((line) => line.place)) + 1;
    const apart = spec.joined ? 0 : Math.min(16, 60 / places);
    const x = (index, line) =>
      plot.valToPos(spec.at[index], 'x', true) / ratio + (line ? (line.place - (places - 1) / 2) * apart : 0);
    const y = (value) => plot.valToPos(value, 'y', true) / ratio;
    draw(pen, x, y);
    pen.restore();
  }

  const is_pale = (state, line) => state.emphasis !== null && !line.key.startsWith(state.emphasis);

  // Ceilings are the same for many series: each different one once, and its series.
  function different_ceilings(spec) {
    const found = new Map();
    for (const line of spec.series) {
      const values = line.values.map((value) => value?.ceiling ?? null);
      if (!values.some(numbers.is_there)) continue;
      const key = JSON.stringify(values);
      if (!found.has(key)) found.set(key, {values, lines: []});
      found.get(key).lines.push(line);
    }
    return [...found.values()];
  }

  function draw_ceiling(pen, x, y, ceiling, joined) {
    pen.setLineDash([5, 4]);
    pen.lineWidth = 1.5;
    pen.beginPath();
    let drawing = false;
    const count = ceiling.values.filter(numbers.is_there).length;
    ceiling.values.forEach((value, index) => {
      if (!numbers.is_there(value)) {
        drawing = false;
      } else if (joined && count > 1) {
        if (drawing) pen.lineTo(x(index), y(value));
        else pen.moveTo(x(index), y(value));
        drawing = true;
      } else {
        pen.moveTo(x(index) - 24, y(value));
        pen.lineTo(x(index) + 24, y(value));
      }
    });
    pen.stroke();
  }

  // From zero to each value.
  function draw_columns(pen, x, y, line) {
    line.values.forEach((value, index) => {
      if (value) pen.fillRect(x(index, line) - 6, y(value.median), 12, y(0) - y(value.median));
    });
  }

  // Behind the lines: bands from least to greatest, ceilings, the line to compare with.
  function under(plot, state) {
    const {spec} = state;
    with_pen(plot, state, (pen, x, y) => {
      if (spec.reference) {
        pen.strokeStyle = theme.colour('faint');
        pen.setLineDash([]);
        pen.lineWidth = 1;
        pen.beginPath();
        pen.moveTo(plot.bbox.left / (devicePixelRatio || 1), y(spec.reference.value));
        pen.lineTo((plot.bbox.left + plot.bbox.width) / (devicePixelRatio || 1), y(spec.reference.value));
        pen.stroke();
      }
      const ceilings = different_ceilings(spec);
      for (const ceiling of ceilings) {
        const own = ceilings.length > 1 && ceiling.lines.length === 1;
        pen.strokeStyle = theme.colour(own ? ceiling.lines[0].colour : 'quiet');
        pen.globalAlpha = ceiling.lines.every((line) => is_pale(state, line)) ? 0.15 : own ? 0.75 : 1;
        draw_ceiling(pen, x, y, ceiling, spec.joined);
      }
      for (const line of spec.series) {
        pen.fillStyle = theme.colour(line.colour);
        pen.globalAlpha = is_pale(state, line) ? 0.03 : 0.16;
        if (!spec.joined) {
          if (!spec.log) draw_columns(pen, x, y, line);
          continue;
        }
        pen.beginPath();
        const there = line.values
          .map((value, index) => [value, index])
          .filter(([value]) => numbers.is_there(value?.min));
        there.forEach(([value, index], at) =>
          at ? pen.lineTo(x(index), y(value.max)) : pen.moveTo(x(index), y(value.max)),
        );
        for (const [value, index] of there.toReversed()) pen.lineTo(x(index), y(value.min));
        pen.fill();
      }
    });
  }

  // Before the lines: whiskers and marks.
  function over(plot, state) {
    const {spec} = state;
    with_pen(plot, state, (pen, x, y) => {
      for (const line of spec.series) {
        pen.globalAlpha = is_pale(state, line) ? 0.2 : 1;
        pen.strokeStyle = pen.fillStyle = theme.colour(line.colour);
        pen.lineWidth = 1.5;
        line.values.forEach((value, index) => {
          if (!value) return;
          const [low, high] = value.whisker ?? [value.min, value.max];
          if (numbers.is_there(low) && numbers.is_there(high)) {
            pen.setLineDash([]);
            pen.beginPath();
            pen.moveTo(x(index, line), y(low));
            pen.lineTo(x(index, line), y(high));
            pen.stroke();
          }
          if (line.mark !== null) mark(pen, line.mark, x(index, line), y(value.median), 3.6);
        });
      }
      if (spec.end_names) name_ends(pen, x, y, spec);
    });
  }

  // Names lines at their right end, one below the other where they would touch.
  function name_ends(pen, x, y, spec) {
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    pen.textAlign = 'left';
    pen.textBaseline = 'middle';
    pen.globalAlpha = 1;
    const ends = spec.series
      .filter((line) => line.end_name && line.values.some(Boolean))
      .map((line) => {
        const index = line.values.findLastIndex(Boolean);
        return {line, left: x(index, line) + 8, top: y(line.values[index].median)};
      })
      .sort((one, other) => one.top - other.top);
    let free_from = -Infinity;
    for (const end of ends) {
      end.top = Math.max(end.top, free_from);
      free_from = end.top + 14;
      pen.fillStyle = theme.colour(end.line.colour);
      pen.fillText(end.line.end_name, end.left, end.top);
    }
  }

  return {different_ceilings, is_pale, mark, over, under};
})();
