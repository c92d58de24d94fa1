// SPDX-License-Identifier: Apache-2.0
'use strict';

// How the points of a sweep become lines: one axis goes to the right, one may make a chart for each of its values, the
// others make the series.
const series = (() => {
  const palette = 8;
  const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

  const key_of = (axes, place) => JSON.stringify(axes.map((axis) => place[axis.name]));

  // Where values stand along an axis: numbers at their value, or at their logarithm if they are spread that far; texts
  // in a row.
  function positions(axis) {
    if (!results.is_numeric(axis)) return {at: axis.values.map((_, index) => index), joined: false};
    const least = Math.min(...axis.values),
      greatest = Math.max(...axis.values);
    const in_powers = least > 0 && greatest / least >= 6;
    return {at: axis.values.map((value) => (in_powers ? Math.log2(value) : value)), joined: true};
  }

  // Which values of each axis are shown at first. With more series than can be told apart, of the later axes only the
  // value of the best point.
  function first_choice(axes, layout, best) {
    const others = axes.filter((axis) => axis.name !== layout.across && axis.name !== layout.each);
    let lines = 1;
    const chosen = {};
    for (const axis of axes) chosen[axis.name] = new Set(axis.values);
    for (const axis of others) {
      if (axis.name !== 'flavour' && lines * axis.values.length > (lines === 1 ? palette : 6)) {
        chosen[axis.name] = new Set([best?.axes[axis.name] ?? axis.values[0]]);
      } else {
        lines *= axis.values.length;
      }
    }
    return chosen;
  }

  // Which axis goes to the right, and which has a chart for each value (or null).
  function first_layout(axes, kind) {
    const numeric = axes.filter(results.is_numeric);
    const across =
      axes.find((axis) => axis.name === 'producers') ??
      numeric[0] ??
      axes.find((axis) => axis.name !== 'flavour') ??
      axes[0];
    const rest = axes.filter((axis) => axis !== across && axis.name !== 'flavour');
    const split = kind === 'compare' ? rest[0] : rest[1];
    return {across: across?.name, each: split && split.values.length <= 6 ? split.name : null};
  }

  // The look of each series: the colour tells the first axis apart, dashes and marks the rest.
  function looks(axes) {
    const [first, ...rest] = axes.some((axis) => axis.name === 'flavour')
      ? [axes.find((axis) => axis.name === 'flavour'), ...axes.filter((axis) => axis.name !== 'flavour')]
      : axes;
    const seen = [];
    return (place) => {
      if (!first) return {colour: 'series-0', dash: dashes[0], mark: 0};
      const value = first.values.indexOf(place[first.name]);
      const key = key_of(rest, place);
      if (!seen.includes(key)) seen.push(key);
      // The per-thread flavour, the second, is blue on every page, and the legacy one orange.
      const colour = first.name === 'flavour' ? 1 - value : value;
      const other = seen.indexOf(key);
      return {
        colour: `series-${((colour % palette) + palette) % palette}`,
        dash: dashes[other % dashes.length],
        mark: value + other,
      };
    };
  }

  // Items have `axes` and whatever else; the answer is a list of charts, each with series whose `items` lie along
  // `across`, null where there is none.
  function arrange(items, axes, layout, chosen) {
    const across = axes.find((axis) => axis.name === layout.across);
    const each = axes.find((axis) => axis.name === layout.each) ?? null;
    const others = axes.filter((axis) => axis !== across && axis !== each);
    const shown = items.filter((item) =>
      axes.every((axis) => !(axis.name in item.axes) || axis === across || chosen[axis.name].has(item.axes[axis.name])),
    );
    const with_names = others.filter(
      (axis) => axis.values.some((value) => chosen[axis.name].has(value)) && [...chosen[axis.name]].length > 1,
    );
    const look = looks(others);
    const charts = new Map();
    for (const value of each ? each.values.filter((one) => chosen[each.name].has(one)) : [null])
      charts.set(value, new Map());
    for (const item of shown) {
      const lines = charts.get(each ? item.axes[each.name] : null);
      const at = across.values.indexOf(item.axes[across.name]);
      if (!lines || at < 0) continue;
      const key = key_of(others, item.axes);
      if (!lines.has(key)) {
        lines.set(key, {
          key,
          name: results.place_in_words(with_names, item.axes),
          ...look(item.axes),
          items: across.values.map(() => null),
        });
      }
      lines.get(key).items[at] = item;
    }
    return [...charts].map(([value, lines]) => ({
      title: each ? results.value_in_words(each, value) : '',
      each: value,
      across,
      ...positions(across),
      series: [...lines.values()],
    }));
  }

  return {arrange, first_choice, first_layout};
})();
