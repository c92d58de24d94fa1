// SPDX-License-Identifier: Apache-2.0
'use strict';

// Draws a timeline on a canvas, and knows what lies where on it.
function timeline_drawing(model, canvas) {
  const pen = canvas.getContext('2d');
  const head = 26,
    lane_height = 15,
    gap = 7,
    queue_height = 30;
  let width = 0,
    gutter = 0,
    colours = {},
    font = '';
  const tops = [];

  const step_colour = (step) => colours.steps[step];
  const names_above = () => gutter === 0;
  const row_height = (row) =>
    (row.kind === 'queue' ? queue_height : row.lanes * lane_height) + gap + (names_above() ? 15 : 0);

  function read_colours() {
    const known = model.steps.map((step) => [
      step.index,
      theme.colour(`step-${step.name}`) || theme.colour(`series-${step.index % 8}`),
    ]);
    colours = {steps: Object.fromEntries(known)};
    for (const name of ['ink', 'quiet', 'faint', 'rule', 'grid', 'paper', 'sunken']) colours[name] = theme.colour(name);
    font = getComputedStyle(document.body).fontFamily;
  }

  // Takes the width that the canvas has, and the height that all rows need.
  function resize() {
    read_colours();
    width = canvas.clientWidth;
    pen.font = `12px ${font}`;
    const longest = Math.max(...model.rows.map((row) => pen.measureText(row.name).width));
    gutter = width < 560 ? 0 : Math.min(170, Math.ceil(longest) + 16);
    let top = head;
    model.rows.forEach((row, index) => {
      if (index && model.rows[index - 1].kind !== row.kind) top += 8;
      tops[index] = top;
      top += row_height(row);
    });
    const ratio = devicePixelRatio || 1;
    canvas.style.height = `${top + 4}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round((top + 4) * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  const time_to_x = (view, time) => gutter + ((time - view.from) / (view.to - view.from)) * (width - gutter);
  const x_to_time = (view, x) => view.from + ((x - gutter) / (width - gutter)) * (view.to - view.from);

  // Round times, about one each hundred pixels.
  function ticks(view) {
    const about = (view.to - view.from) / Math.max(2, (width - gutter) / 110);
    const power = 10 ** Math.floor(Math.log10(about));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= about);
    const found = [];
    for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) found.push(time);
    return found;
  }

  function draw_axis(view) {
    pen.textBaseline = 'middle';
    pen.font = `12px ${font}`;
    pen.textAlign = 'center';
    for (const time of ticks(view)) {
      const x = Math.round(time_to_x(view, time)) + 0.5;
      pen.strokeStyle = colours.grid;
      pen.beginPath();
      pen.moveTo(x, head - 6);
      pen.lineTo(x, canvas.clientHeight);
      pen.stroke();
      const text = numbers.nanoseconds(time, 6);
      const half = pen.measureText(text).width / 2;
      pen.fillStyle = colours.quiet;
      if (x - half > gutter - 10 && x + half < width) pen.fillText(text, x, 9);
    }
    pen.textAlign = 'left';
  }

  function draw_passages(row, top, view, state) {
    let drawn_to = [];
    for (const passage of row.passages) {
      if (passage.end < view.from || passage.begin > view.to) continue;
      const left = Math.max(gutter, time_to_x(view, passage.begin));
      const right = Math.min(width, Math.max(time_to_x(view, passage.end), left + 1));
      // Many short ones in one pixel look like one.
      if (right <= (drawn_to[passage.lane] ?? -1) && state.tile === null) continue;
      drawn_to[passage.lane] = right;
      const pale =
        (state.tile !== null && passage.tile !== state.tile) || (state.step !== null && passage.step !== state.step);
      pen.globalAlpha = pale ? 0.22 : 1;
      pen.fillStyle = step_colour(passage.step);
      const y = top + passage.lane * lane_height;
      const wide = right - left;
      pen.fillRect(left, y, wide > 3 ? wide - 0.75 : wide, lane_height - 1);
      const text = passage.tile === null ? model.step_name(passage.step) : String(passage.tile);
      if (wide > text.length * 7 + 8) {
        pen.font = `10.5px ${font}`;
        pen.fillStyle = text_on(step_colour(passage.step));
        pen.fillText(text, left + 4, y + lane_height / 2);
      }
    }
    pen.globalAlpha = 1;
  }

  // Black or white, whichever is easier to read on a colour.
  function text_on(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    return red * 0.299 + green * 0.587 + blue * 0.114 > 140 ? '#111' : '#fff';
  }

  function draw_levels(row, top, view) {
    const {found, most} = row.levels;
    const scale = (queue_height - 2) / Math.max(1, most);
    found.forEach(({time, counts}, index) => {
      const until = found[index + 1]?.time ?? time;
      if (until < view.from || time > view.to) return;
      const left = Math.max(gutter, time_to_x(view, time));
      const right = Math.min(width, time_to_x(view, until));
      let bottom = top + queue_height - 1;
      counts.forEach((count, step) => {
        if (!count) return;
        pen.fillStyle = step_colour(step);
        pen.fillRect(left, bottom - count * scale, Math.max(0.5, right - left + 0.3), count * scale);
        bottom -= count * scale;
      });
    });
  }

  function draw_name(row, top) {
    pen.textBaseline = 'middle';
    pen.font = `12px ${font}`;
    pen.fillStyle = colours.ink;
    const most = row.kind === 'queue' ? `up to ${row.levels.most}` : '';
    const middle = top + (row_height(row) - gap) / 2;
    if (names_above()) {
      pen.fillText(row.name, 0, top + 7);
    } else {
      pen.fillText(shortened(row.name), 0, most ? middle - 7 : middle);
    }
    pen.fillStyle = colours.quiet;
    pen.textAlign = names_above() ? 'right' : 'left';
    pen.fillText(most, names_above() ? width : 0, names_above() ? top + 7 : middle + 7);
    pen.textAlign = 'left';
  }

  // Follows one tile from row to row.
  function draw_way(view, tile) {
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 1.25;
    pen.beginPath();
    let is_first = true;
    for (const passage of model.tiles.get(tile) ?? []) {
      const index = model.rows.findIndex((row) => row.passages.includes(passage));
      const row = model.rows[index];
      const y =
        content_top(index) + (row.kind === 'queue' ? queue_height / 2 : passage.lane * lane_height + lane_height / 2);
      const [left, right] = [time_to_x(view, passage.begin), time_to_x(view, passage.end)];
      if (is_first) pen.moveTo(left, y);
      else pen.lineTo(left, y);
      pen.lineTo(right, y);
      is_first = false;
    }
    pen.stroke();
  }

  const content_top = (index) => tops[index] + (names_above() ? 15 : 0);

  // state: tile (of which the way is shown) and step (that is brought out), or null each.
  function draw(view, state) {
    pen.clearRect(0, 0, width, canvas.clientHeight);
    draw_axis(view);
    model.rows.forEach((row, index) => {
      draw_name(row, tops[index]);
      pen.fillStyle = colours.sunken;
      pen.fillRect(
        gutter,
        content_top(index) - 1,
        width - gutter,
        row_height(row) - gap + 1 - (names_above() ? 15 : 0),
      );
      if (row.kind === 'queue') draw_levels(row, content_top(index), view);
      else draw_passages(row, content_top(index), view, state);
    });
    if (state.tile !== null) {
      pen.save();
      pen.beginPath();
      pen.rect(gutter, 0, width - gutter, canvas.clientHeight);
      pen.clip();
      draw_way(view, state.tile);
      pen.restore();
    }
  }

  function shortened(name) {
    while (name.length > 3 && pen.measureText(name).width > gutter - 12) name = `${name.slice(0, -2)}…`;
    return name;
  }

  // The passage at a place, or for a queue {row, counts}; null where nothing is.
  function find(view, x, y) {
    const index = model.rows.findLastIndex((_, at) => tops[at] <= y);
    const row = model.rows[index];
    if (!row || x < gutter) return null;
    const time = x_to_time(view, x);
    if (row.kind === 'queue') {
      const level = row.levels.found.findLast((one) => one.time <= time);
      return level && level.counts.some(Boolean) ? {row, counts: level.counts} : null;
    }
    const lane = Math.floor((y - content_top(index)) / lane_height);
    const near = ((view.to - view.from) / (width - gutter)) * 2;
    const passage =
      row.passages.find((one) => one.lane === lane && one.begin <= time && one.end >= time) ??
      row.passages.find((one) => one.lane === lane && one.begin - near <= time && one.end + near >= time);
    return passage ? {row, passage} : null;
  }

  return {draw, find, resize, step_colour, gutter: () => gutter, x_to_time};
}
