// SPDX-License-Identifier: Apache-2.0
'use strict';

// A recording, sorted for drawing: rows from top to bottom, on each the passages side by side or, in a queue, how many.
function timeline_model(timeline) {
  const step_names = timeline.steps ?? [];
  const steps = step_names.map((name, index) => ({name, index, total: 0, durations: []}));
  const rows = (timeline.rows ?? []).map((row) => ({
    name: String(row?.name ?? ''),
    kind: row?.kind ?? 'thread',
    passages: [],
    lanes: 1,
  }));
  const tiles = new Map();
  const all = [];
  for (const [row, step, tile, begin, end] of timeline.passages) {
    if (!rows[row] || !steps[step] || !(end >= begin)) continue;
    const passage = {row, step, tile, begin, end, lane: 0};
    all.push(passage);
    rows[row].passages.push(passage);
    steps[step].total += end - begin;
    steps[step].durations.push(end - begin);
    if (tile === null) continue; // A span of the program's own, of no tile.
    if (!tiles.has(tile)) tiles.set(tile, []);
    tiles.get(tile).push(passage);
  }
  for (const step of steps) step.durations.sort((one, other) => one - other);
  for (const passages of tiles.values())
    passages.sort((one, other) => one.begin - other.begin || one.step - other.step);
  for (const row of rows) {
    row.passages.sort((one, other) => one.begin - other.begin || other.end - one.end);
    if (row.kind === 'queue') row.levels = levels(row.passages, steps.length);
    else row.lanes = side_by_side(row.passages);
  }
  const begin = all.reduce((least, passage) => Math.min(least, passage.begin), Infinity);
  const end = all.reduce((greatest, passage) => Math.max(greatest, passage.end), -Infinity);

  // What overlaps gets a lane of its own, up to four.
  function side_by_side(passages) {
    const free_from = [];
    for (const passage of passages) {
      let lane = free_from.findIndex((time) => time <= passage.begin);
      if (lane < 0) lane = Math.min(free_from.length, 3);
      free_from[lane] = Math.max(free_from[lane] ?? 0, passage.end);
      passage.lane = lane;
    }
    return Math.max(1, free_from.length);
  }

  // How many tiles wait in each step, from each moment at which that changes.
  function levels(passages, step_count) {
    const changes = passages.flatMap(({begin, end, step}) =>
      end > begin
        ? [
            [begin, step, 1],
            [end, step, -1],
          ]
        : [],
    );
    changes.sort((one, other) => one[0] - other[0]);
    const now = new Array(step_count).fill(0);
    const found = [];
    let most = 0;
    for (const [time, step, change] of changes) {
      now[step] += change;
      if (found.at(-1)?.time === time) found.at(-1).counts = [...now];
      else found.push({time, counts: [...now]});
    }
    for (const {counts} of found)
      most = Math.max(
        most,
        counts.reduce((sum, count) => sum + count, 0),
      );
    return {found, most};
  }

  // What a number in a passage counts.
  const unit = String(timeline.unit ?? 'tile');
  return {
    unit,
    Unit: unit.charAt(0).toUpperCase() + unit.slice(1),
    rows: rows.filter((row) => row.passages.length),
    steps: steps.filter((step) => step.durations.length),
    step_name: (index) => step_names[index],
    tiles,
    tile_numbers: [...tiles.keys()].sort((one, other) => one - other),
    begin: all.length ? begin : 0,
    end: all.length ? Math.max(end, begin + 1) : 1,
    count: all.length,
  };
}

// The value below which the given share of a sorted list lies.
function quantile(sorted, share) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] : null;
}
