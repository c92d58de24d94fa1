// SPDX-License-Identifier: Apache-2.0
'use strict';

// The timeline of one run, or of one by each flavour.
function timeline_section(all) {
  const heading = 'Where the tiles were';
  const baseline = all.compare?.baseline_timeline;
  const [first, ...more] = [all.timeline, baseline].filter(Boolean);
  const scale = timeline_scale([first, ...more].filter(Boolean).map(timeline_model));
  if (!first) return section('timeline', heading, remark('No run of this sweep was recorded.'));
  return section(
    'timeline',
    heading,
    ...(more.length ? [element('h3', {}, all.compare.candidate)] : []),
    ...timeline_of(all, first, 'timeline-keys', scale),
    ...more.flatMap((timeline) => [
      element('h3', {class: 'another'}, all.compare.baseline),
      ...timeline_of(all, timeline, 'baseline-timeline-keys', scale),
    ]),
  );
}

// What timelines above each other have in common: how long the longest is, how much of each is shown at first, and
// which timelines follow when one shows more or less. Nanoseconds.
function timeline_scale(models) {
  const drawn = models.filter((model) => model.count);
  const length = (model) => model.end - model.begin;
  const longest = Math.max(1, ...drawn.map(length));
  // All of short recordings; of long ones as much as can be told apart.
  const shares = drawn.map((model) => length(model) * Math.min(1, 700 / model.count));
  return {
    longest: longest * 1.02,
    first: Math.min(longest * 1.02, 1.02 * Math.max(1, Math.min(...shares))),
    followers: [],
  };
}

// One timeline: a chart to zoom and to move, with its steps as legend, and figures of overlap. Others of the same scale
// show as long a time.
function timeline_of(all, timeline, keys, scale = timeline_scale([timeline_model(timeline)])) {
  const model = timeline_model(timeline);
  if (!model.count) return [remark('The recording has no passages that could be drawn.')];

  const canvas = element('canvas', {
    tabindex: '0',
    role: 'img',
    'aria-describedby': keys,
    'aria-label':
      `Timeline of ${model.tiles.size} ${model.unit}s on ${model.rows.length} rows ` +
      `over ${numbers.nanoseconds(model.end - model.begin)}`,
  });
  const tip = element('div', {class: 'tip', hidden: true});
  const said = element('p', {class: 'said', 'aria-live': 'polite'});
  const drawing = timeline_drawing(model, canvas);
  const view = first_view();
  const state = {tile: null, step: null};
  let waiting = false;

  function around_middle(length) {
    const middle = (model.begin + model.end) / 2;
    return {from: middle - length / 2, to: middle + length / 2};
  }
  function first_view() {
    return around_middle(scale.first);
  }
  function whole() {
    return around_middle(scale.longest);
  }

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      drawing.draw(view, state);
    });
  }
  function look_at(from, to) {
    const length = Math.min(scale.longest, Math.max(50, to - from));
    show(from, length);
    for (const follow of scale.followers) if (follow !== follower) follow(length);
  }
  function follower(length) {
    show((view.from + view.to - length) / 2, length);
  }
  scale.followers.push(follower);
  function show(from, length) {
    const all_of_it = whole();
    view.from = Math.min(Math.max(from, all_of_it.from), all_of_it.to - length);
    view.to = view.from + length;
    tip.hidden = true;
    redraw();
  }
  function zoom(factor, around = (view.from + view.to) / 2) {
    look_at(around - (around - view.from) * factor, around + (view.to - around) * factor);
  }
  const move = (share) => look_at(view.from + (view.to - view.from) * share, view.to + (view.to - view.from) * share);
  const see_all = () => look_at(whole().from, whole().to);

  // Brings out one tile, and says where it was and for how long.
  function pick(tile) {
    state.tile = tile;
    if (tile === null) {
      said.textContent = '';
    } else {
      const way = model.tiles.get(tile);
      const [begin, end] = [way[0].begin, Math.max(...way.map((passage) => passage.end))];
      const steps = way.map(
        (passage) => `${model.step_name(passage.step)} ${numbers.nanoseconds(passage.end - passage.begin)}`,
      );
      said.textContent = `${model.Unit} ${tile}, ${numbers.nanoseconds(end - begin)}: ${steps.join(', ')}.`;
      if (end < view.from || begin > view.to)
        look_at((begin + end - view.to + view.from) / 2, (begin + end + view.to - view.from) / 2);
    }
    redraw();
  }
  function pick_next(step) {
    const at = model.tile_numbers.indexOf(state.tile);
    const first = model.tile_numbers.findIndex((tile) => model.tiles.get(tile)[0].begin >= view.from);
    const next = at < 0 ? Math.max(0, first) : Math.min(model.tile_numbers.length - 1, Math.max(0, at + step));
    pick(model.tile_numbers[next]);
  }

  function show_tip(event) {
    const found = drawing.find(view, event.offsetX, event.offsetY);
    tip.hidden = !found;
    if (!found) return;
    const {row, passage, counts} = found;
    tip.replaceChildren(
      ...(passage
        ? [
            element(
              'strong',
              {},
              (passage.tile === null ? '' : `${model.Unit} ${passage.tile}, `) + model.step_name(passage.step),
            ),
            element('div', {}, numbers.nanoseconds(passage.end - passage.begin)),
            element('div', {class: 'tip-more'}, `from ${numbers.nanoseconds(passage.begin, 6)}, on ${row.name}`),
          ]
        : [
            element('strong', {}, row.name),
            ...counts
              .map((count, step) =>
                count ? element('div', {}, `${count} tile${count === 1 ? '' : 's'} in ${model.step_name(step)}`) : null,
              )
              .filter(Boolean),
          ]),
    );
    const to_the_left = event.offsetX + 20 + tip.offsetWidth > canvas.clientWidth;
    tip.style.left = `${Math.max(0, to_the_left ? event.offsetX - 14 - tip.offsetWidth : event.offsetX + 14)}px`;
    tip.style.top = `${event.offsetY + 16}px`;
  }

  timeline_hands(canvas, {
    move: (pixels) => move(-pixels / (canvas.clientWidth - drawing.gutter())),
    zoom_at: (factor, x) => zoom(factor, drawing.x_to_time(view, x)),
    hover: show_tip,
    leave: () => {
      tip.hidden = true;
    },
    press: (event) => pick(drawing.find(view, event.offsetX, event.offsetY)?.passage?.tile ?? null),
    see_all,
    keys: {
      '+': () => zoom(0.6),
      '=': () => zoom(0.6),
      '-': () => zoom(1 / 0.6),
      0: see_all,
      Home: see_all,
      ArrowLeft: () => move(-0.2),
      ArrowRight: () => move(0.2),
      ArrowDown: () => pick_next(1),
      ArrowUp: () => pick_next(-1),
      Escape: () => pick(null),
    },
  });
  const button = (text, label, click) =>
    element('button', {type: 'button', 'aria-label': label, title: label, click}, text);
  const buttons = element(
    'div',
    {class: 'switch', role: 'group', 'aria-label': 'View'},
    button('←', 'Earlier', () => move(-0.5)),
    button('→', 'Later', () => move(0.5)),
    button('−', 'Zoom out', () => zoom(1 / 0.5)),
    button('+', 'Zoom in', () => zoom(0.5)),
    button('All', 'Whole recording', see_all),
  );

  const resize = () => {
    drawing.resize();
    drawing.draw(view, state);
  };
  theme.when_changed(resize);
  watch_width(canvas, resize);
  queueMicrotask(resize);

  const point = all.points[timeline.point];
  const where = point ? results.place_in_words(all.axes, point.axes) : '';
  return [
    element(
      'p',
      {class: 'note'},
      `${model.tiles.size} ${model.unit}s${where ? ` of the run with ${where}` : ''}, ` +
        `${numbers.nanoseconds(model.end - model.begin)} in all.`,
    ),
    timeline_overlap(timeline.overlap),
    element(
      'div',
      {class: 'choices'},
      buttons,
      element(
        'p',
        {class: 'note', id: keys},
        `Drag moves, ctrl and the wheel zoom, a click follows a ${model.unit}. Keys: + − ← → zoom and move, ↑ ↓ go from ` +
          `${model.unit} to ${model.unit}, 0 shows all.`,
      ),
    ),
    element('div', {class: 'plot-frame timeline-frame'}, canvas, tip),
    said,
    timeline_steps(model, (step) => {
      state.step = step;
      redraw();
    }),
  ];
}
