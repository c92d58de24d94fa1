// SPDX-License-Identifier: Apache-2.0
'use strict';

// Hands on the timeline's canvas. A wheel zooms with ctrl, or when the canvas has the focus; otherwise the page
// scrolls.
function timeline_hands(canvas, does) {
  let from = null,
    moved = false;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    from = event.offsetX;
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (from === null) {
      does.hover(event);
    } else if (moved || Math.abs(event.offsetX - from) > 3) {
      moved = true;
      does.move(event.offsetX - from);
      from = event.offsetX;
    }
  });
  canvas.addEventListener('pointerup', (event) => {
    if (from !== null && !moved) does.press(event);
    from = null;
  });
  canvas.addEventListener('pointercancel', () => {
    from = null;
  });
  canvas.addEventListener('pointerleave', does.leave);
  canvas.addEventListener('dblclick', does.see_all);
  canvas.addEventListener(
    'wheel',
    (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (sideways) does.move(-(event.deltaX || event.deltaY));
      else if (event.ctrlKey || event.metaKey || document.activeElement === canvas)
        does.zoom_at(1.0015 ** event.deltaY, event.offsetX);
      else return;
      event.preventDefault();
    },
    {passive: false},
  );
  canvas.addEventListener('keydown', (event) => {
    const action = does.keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}

// Three figures on how much happened at once.
function timeline_overlap(overlap) {
  const known = [
    ['speed_of_light', 'speed of light', 'how much of the time the busiest engine was busy'],
    ['overlap', 'overlap', 'how much was hidden behind something else, of what could be'],
    ['duplex', 'duplex', 'how much of the shorter copy direction ran beside the other'],
  ].filter(([name]) => numbers.is_there(overlap?.[name]));
  if (!known.length) return remark('How much overlapped was not worked out.');
  return element(
    'dl',
    {class: 'figures-row'},
    known.map(([name, title, meaning]) =>
      element(
        'div',
        {},
        element('dt', {}, title),
        element('dd', {}, numbers.per_cent(overlap[name])),
        element('dd', {class: 'meaning'}, meaning),
      ),
    ),
  );
}

// The legend, which is also a table of how long each step takes a tile. `bring_out` gets a step, or null.
function timeline_steps(model, bring_out) {
  const longest = Math.max(1, ...model.steps.map((step) => quantile(step.durations, 0.5)));
  const rows = model.steps.map((step) => {
    const colour = element('span', {class: 'step-colour'});
    colour.style.background = `var(--step-${CSS.escape(step.name)}, var(--series-${step.index % 8}))`;
    const median = quantile(step.durations, 0.5);
    const filled = element('span', {class: 'bar-fill'});
    filled.style.width = `${(median / longest) * 100}%`;
    filled.style.background = colour.style.background;
    return element(
      'tr',
      {pointerenter: () => bring_out(step.index), pointerleave: () => bring_out(null)},
      element('th', {scope: 'row'}, colour, step.name),
      element('td', {}, numbers.nanoseconds(median)),
      element('td', {}, numbers.nanoseconds(quantile(step.durations, 0.99))),
      element('td', {class: 'bar-cell'}, element('span', {class: 'bar'}, filled)),
    );
  });
  return element(
    'div',
    {class: 'scroll steps'},
    element(
      'table',
      {},
      element('caption', {}, `How long each step takes a ${model.unit}`),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ['step', 'median', 'p99', ''].map((text) => element('th', {scope: 'col'}, text)),
        ),
      ),
      element('tbody', {}, rows),
    ),
  );
}
