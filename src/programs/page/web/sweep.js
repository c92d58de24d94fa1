// SPDX-License-Identifier: Apache-2.0
'use strict';

// The sweep as charts: throughput, speed-up, latency, along the same axis and with the same choice of series.
const sweep = (() => {
  const measures = {
    gb_per_s: {name: 'Throughput', unit: 'GB/s', write: numbers.gb},
    tiles_per_s: {name: 'Tiles', unit: 'tiles per second', write: (value) => `${numbers.plain(value)} tiles/s`},
    cpu_s_per_gb: {name: 'CPU time', unit: 'CPU seconds per GB', write: (value) => `${numbers.plain(value)} s/GB`},
  };
  const percentiles = [
    ['p50', 'p50', []],
    ['p99', 'p99', [7, 4]],
    ['p999', 'p99.9', [2, 3]],
  ];

  function share_line(point) {
    const share = results.share_of_ceiling(point);
    if (share === null) return [];
    const whose = results.ceiling_in_words(point);
    return [
      `${numbers.per_cent(share)} of ${numbers.gb(point.ceilings.gb_per_s)}${whose ? `, the ceiling of ${whose}` : ''}`,
    ];
  }

  // A range from zero whose end leaves some air, for all that is to be seen.
  function range_from_zero(charts, at_least = 0) {
    const tops = charts.flatMap((chart) =>
      chart.series.flatMap((line) =>
        line.values.filter(Boolean).flatMap((value) => [value.max ?? value.median, value.ceiling ?? 0]),
      ),
    );
    return [0, Math.max(at_least, ...tops) * 1.06 || 1];
  }

  // Charts share a scale unless the smallest would be hard to read on it. True if they do.
  function set_ranges(charts, at_least) {
    const own = charts.map((chart) => range_from_zero([chart], at_least)[1]);
    const shared = Math.max(...own) <= 3 * Math.min(...own);
    charts.forEach((chart, index) => {
      chart.range = [0, shared ? Math.max(...own) : own[index]];
    });
    return shared;
  }

  function summary(chart, name) {
    const found = chart.series.flatMap((line) => line.values.filter(Boolean).map((value) => value.median));
    return (
      `${name} against ${chart.across.name}${chart.title ? `, ${chart.title}` : ''}: ${chart.series.length} series, ` +
      `from ${chart.write(Math.min(...found))} to ${chart.write(Math.max(...found))}. Arrow keys go through the values; ` +
      'the table of all points has the same figures.'
    );
  }

  function fill_values(charts, value_of) {
    for (const chart of charts) {
      for (const line of chart.series) line.values = line.items.map((item) => item && value_of(item));
      chart.series = chart.series.filter((line) => line.values.some(Boolean));
      chart.series.forEach((line, index) => {
        line.place = index;
      });
    }
    return charts.filter((chart) => chart.series.length);
  }

  function throughput_charts(all, state) {
    const measure = measures[state.measure];
    const charts = fill_values(series.arrange(all.points, all.axes, state.layout, state.chosen), (point) => {
      const spread = point[state.measure];
      if (!numbers.is_there(spread?.median)) return null;
      const in_gb = state.measure === 'gb_per_s';
      return {...spread, point, ceiling: in_gb ? point.ceilings.gb_per_s : null, lines: in_gb ? share_line(point) : []};
    });
    for (const chart of charts)
      Object.assign(chart, {unit: measure.unit, write: measure.write, write_axis: (value) => numbers.plain(value, 4)});
    const shared = set_ranges(charts);
    return {charts, shared, name: measure.name};
  }

  function speedup_charts(all, state) {
    const axes = all.axes.filter((axis) => axis.name !== 'flavour');
    const items = (all.compare?.speedups ?? []).map((item) => ({...item, axes: item.axes ?? {}}));
    const charts = fill_values(series.arrange(items, axes, state.layout, state.chosen), (item) =>
      numbers.is_there(item.median) ? {median: item.median, min: item.min, max: item.max} : null,
    );
    for (const chart of charts) {
      Object.assign(chart, {
        unit: `${all.compare.candidate} / ${all.compare.baseline}`,
        write: numbers.times,
        write_axis: (value) => `${numbers.plain(value)}×`,
        reference: {value: 1, name: 'no difference'},
      });
    }
    const shared = set_ranges(charts, 1.2);
    return {charts, shared, name: 'Speed-up'};
  }

  // Of a bench over numbers of threads: the speed-up against the fewest, beside the ideal, which is as many times the
  // throughput as there are times the threads.
  function thread_speedup_charts(all, state) {
    const charts = fill_values(series.arrange(all.points, all.axes, state.layout, state.chosen), (point) => {
      const {times, of_ideal} = point.thread_speed_up ?? {};
      if (!numbers.is_there(times) || !(of_ideal > 0)) return null;
      return {median: times, min: null, max: null, point, lines: [`${numbers.per_cent(of_ideal)} of the ideal`]};
    });
    for (const chart of charts) {
      const ideal = chart.across.values.map((_, index) => {
        const value = chart.series.map((line) => line.values[index]).find(Boolean);
        return value
          ? {median: value.median / value.point.thread_speed_up.of_ideal, min: null, max: null, lines: []}
          : null;
      });
      chart.series.push({
        key: 'ideal',
        name: 'ideal',
        colour: 'quiet',
        dash: [2, 3],
        mark: null,
        place: chart.series.length,
        values: ideal,
      });
      Object.assign(chart, {
        unit: 'times the throughput with the fewest threads',
        write: numbers.times,
        write_axis: (value) => `${numbers.plain(value)}×`,
      });
    }
    return {charts, shared: set_ranges(charts, 1.2), name: 'Speed-up'};
  }

  function latency_charts(all, state) {
    const charts = fill_values(
      series.arrange(all.points, all.axes, state.layout, state.chosen),
      (point) => point.latency_us && {point},
    );
    for (const chart of charts) {
      chart.series = chart.series.flatMap((line) =>
        percentiles.map(([member, name, dash]) => ({
          ...line,
          key: `${line.key} ${member}`,
          legend_key: line.key,
          legend: line.name,
          legend_dash: [],
          dash,
          end_name: line === chart.series[0] ? name : '',
          name: line.name ? `${line.name}, ${name}` : name,
          values: line.values.map((value) =>
            value && numbers.is_there(value.point.latency_us[member])
              ? {
                  median: value.point.latency_us[member],
                  min: null,
                  max: null,
                  point: value.point,
                  whisker:
                    member === 'p50' && !chart.joined
                      ? [value.point.latency_us.p50, value.point.latency_us.p999]
                      : null,
                  lines:
                    member === 'p50' ? [`at ${numbers.plain(value.point.latency_us.load_tiles_per_s)} tiles/s`] : [],
                }
              : null,
          ),
        })),
      );
      const found = chart.series.flatMap((line) => line.values.filter(Boolean).map((value) => value.median));
      Object.assign(chart, {
        unit: 'from when a tile was due to when the sink had it',
        write: numbers.microseconds,
        write_axis: numbers.microseconds,
        log: true,
        end_names: true,
        range: [Math.min(...found) * 0.7, Math.max(...found) * 1.5],
      });
    }
    return {
      charts,
      shared: true,
      name: 'Latency',
      more_keys: charts[0]?.joined ? percentiles.map(([, name, dash]) => [name, dash]) : [],
    };
  }

  // Axes of which one value is shown, though there are more.
  function left_out(all, state) {
    const words = all.axes
      .filter((axis) => axis.name !== state.layout.across && state.chosen[axis.name].size < axis.values.length)
      .map((axis) => {
        const shown = axis.values.filter((value) => state.chosen[axis.name].has(value));
        return `${axis.name} ${numbers.list(shown.map((value) => results.value_text(axis, value)))}`;
      });
    return words.length ? `Shown is only ${numbers.list(words)}; more can be chosen above.` : '';
  }

  // Charts side by side with their legend; `drawn` collects them, to be drawn once they are in the page.
  function figure_group({charts, shared, name, more_keys = []}, drawn, pick) {
    const lines = new Map(charts.flatMap((chart) => chart.series.map((line) => [line.legend_key ?? line.key, line])));
    const made = charts.map((chart) =>
      make_chart({
        ...chart,
        summary: summary(chart, name),
        pick,
        height: charts.length > 2 ? 250 : charts.length > 1 ? 300 : 350,
      }),
    );
    drawn.push(...made);
    const ceilings = charts.some((chart) => painter.different_ceilings(chart).length);
    const legend = element(
      'ul',
      {class: 'legend'},
      [...lines]
        .filter(([, line]) => line.legend ?? line.name)
        .map(([key, line]) =>
          element(
            'li',
            {
              pointerenter: () => made.forEach((chart) => chart.emphasise(key)),
              pointerleave: () => made.forEach((chart) => chart.emphasise(null)),
            },
            swatch({...line, dash: line.legend_dash ?? line.dash}),
            line.legend ?? line.name,
          ),
        ),
      more_keys.map(([name, dash]) => element('li', {}, swatch({colour: 'quiet', dash, mark: null}), name)),
      ceilings ? element('li', {class: 'ceiling-key'}, element('span', {}), 'ceiling: the slowest part alone') : null,
    );
    const notes = [
      charts.some((chart) => chart.series.some((line) => line.values.some((value) => value && value.max > value.min)))
        ? `${charts[0].joined ? 'Lines join medians; bands and whiskers' : 'Marks are medians; whiskers'} go from the ` +
          'slowest to the fastest repeat.'
        : '',
      shared ? '' : 'Each chart has a scale of its own.',
      charts.some((chart) => chart.reference) ? 'The thin line is no difference.' : '',
    ].filter(Boolean);
    const note = notes.length ? element('p', {class: 'note'}, notes.join(' ')) : null;
    const holders = element(
      'div',
      {class: `charts charts-${Math.min(charts.length, 3)}`},
      made.map((chart) => chart.holder),
    );
    if (!legend.children.length && !note) return [holders];
    return charts.length === 1
      ? [element('div', {class: 'chart-and-key'}, holders, element('div', {}, legend, note))]
      : [legend, holders, note];
  }

  return {
    figure_group,
    latency_charts,
    left_out,
    measures,
    speedup_charts,
    thread_speedup_charts,
    throughput_charts,
  };
})();
