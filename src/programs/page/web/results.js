// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the results say: read once, and asked by all parts of the page. docs/results.md has the form.
const results = (() => {
  const as_object = (value) => (value && typeof value === 'object' && !Array.isArray(value) ? value : {});
  const as_list = (value) => (Array.isArray(value) ? value : []);

  function read_point(point) {
    const read = {...as_object(point)};
    for (const name of ['axes', 'ceilings']) read[name] = as_object(read[name]);
    for (const name of ['gb_per_s', 'tiles_per_s', 'cpu_s_per_gb', 'latency_us', 'verdict']) {
      read[name] = read[name] && typeof read[name] === 'object' ? read[name] : null;
    }
    read.remarks = as_list(read.remarks);
    return read;
  }

  // Bears with what is missing; throws an Error with a sentence if there is nothing to show.
  function read(text) {
    let all;
    try {
      all = JSON.parse(text);
    } catch (problem) {
      throw new Error(`The results in this page are no JSON: ${problem.message}`);
    }
    if (as_object(all).schema !== 1) {
      throw new Error(`This page shows results of schema 1, and these are of schema ${as_object(all).schema}.`);
    }
    for (const name of ['penstock', 'machine', 'device', 'options']) all[name] = as_object(all[name]);
    all.points = as_list(all.points).map(read_point);
    all.axes = as_list(all.axes).filter((axis) => as_list(as_object(axis).values).length > 1);
    for (const name of ['sides', 'sentences', 'processes', 'lines']) all[name] = as_list(all[name]);
    const read_timeline = (timeline) => (as_object(timeline).passages?.length ? timeline : null);
    all.timeline = read_timeline(all.timeline);
    all.compare = all.compare && typeof all.compare === 'object' ? {...all.compare} : null;
    if (all.compare) all.compare.baseline_timeline = read_timeline(all.compare.baseline_timeline);
    return all;
  }

  const is_numeric = (axis) => axis.values.every((value) => typeof value === 'number');
  // What an axis counts, in words.
  const units_in_words = {B: 'bytes', us: 'microseconds'};
  function axis_title(axis) {
    return axis.unit && axis.unit !== 'B' ? `${axis.name}, ${units_in_words[axis.unit] ?? axis.unit}` : axis.name;
  }
  function value_text(axis, value) {
    if (typeof value !== 'number') return String(value);
    return axis.unit === 'B' ? numbers.bytes(value) : numbers.plain(value, 6);
  }
  // "8 producers" or "tile 1 MiB".
  function value_in_words(axis, value) {
    if (axis.name === 'producers' && typeof value === 'number') return `${value} producer${value === 1 ? '' : 's'}`;
    if (axis.name === 'flavour') return String(value);
    if (axis.unit === 'us') return `${axis.name} ${value_text(axis, value)} µs`;
    return `${axis.name} ${value_text(axis, value)}`;
  }
  function place_in_words(axes, place) {
    return axes
      .filter((axis) => axis.name in place)
      .map((axis) => value_in_words(axis, place[axis.name]))
      .join(', ');
  }

  const has_figures = (point) => numbers.is_there(point.gb_per_s?.median);
  // This machine was too slow for the clock of a model, so its figures are not the model's.
  const is_late = (point) => Boolean(point.too_slow);
  // The point of the greatest throughput, or null.
  function best(points) {
    return points
      .filter((point) => has_figures(point) && !is_late(point))
      .reduce(
        (best_yet, point) => (!best_yet || point.gb_per_s.median > best_yet.gb_per_s.median ? point : best_yet),
        null,
      );
  }
  // How much of what the machine can do, or null.
  function share_of_ceiling(point) {
    const ceiling = point.ceilings.gb_per_s;
    return has_figures(point) && !is_late(point) && numbers.is_there(ceiling) && ceiling > 0
      ? point.gb_per_s.median / ceiling
      : null;
  }
  const ceiling_names = {
    upload_gb_per_s: 'uploads',
    download_gb_per_s: 'downloads',
    both_gb_per_s: 'both ways at once',
    batched_upload_gb_per_s: 'uploads of a batch',
    batched_download_gb_per_s: 'downloads of a batch',
    batched_both_gb_per_s: 'batches both ways at once',
    fill_gb_per_s: 'filling',
    kernel_gb_per_s: 'the kernel',
  };
  // Whose ceiling is the lowest, in words, or nothing.
  function ceiling_in_words(point) {
    const found = Object.entries(ceiling_names).find(
      ([name]) => numbers.is_there(point.ceilings[name]) && point.ceilings[name] === point.ceilings.gb_per_s,
    );
    return found ? found[1] : '';
  }

  // What a size is among the options.
  function option_text(name, value) {
    if (value === null || value === undefined) return 'not set';
    return name === 'tile' && typeof value === 'number' ? numbers.bytes(value) : String(value);
  }

  return {
    axis_title,
    best,
    ceiling_in_words,
    ceiling_names,
    has_figures,
    is_late,
    is_numeric,
    option_text,
    place_in_words,
    read,
    share_of_ceiling,
    value_in_words,
    value_text,
  };
})();
