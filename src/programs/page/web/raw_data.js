// SPDX-License-Identifier: Apache-2.0
'use strict';

// The results as files: as they are, and as a table for other programs.
const raw_data = (() => {
  const spreads = ['gb_per_s', 'tiles_per_s', 'cpu_s_per_gb'];
  const latencies = ['load_tiles_per_s', 'p50', 'p99', 'p999'];
  const ceilings = [
    'upload_gb_per_s',
    'download_gb_per_s',
    'both_gb_per_s',
    'batched_upload_gb_per_s',
    'batched_download_gb_per_s',
    'batched_both_gb_per_s',
    'fill_gb_per_s',
    'kernel_gb_per_s',
    'gb_per_s',
  ];

  function cell(value) {
    if (value === null || value === undefined) return '';
    const text = String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  const lines_of = (lines) => lines.map((line) => line.map(cell).join(',')).join('\r\n') + '\r\n';

  // The lines that --csv prints.
  function csv_of_lines(all) {
    const names = Object.keys(all.lines[0]);
    const text = (value) => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : value);
    return lines_of([names, ...all.lines.map((line) => names.map((name) => text(line[name])))]);
  }

  // One line for each point, the names of the columns in the first.
  function csv(all) {
    if (all.lines.length) return csv_of_lines(all);
    const columns = [
      ...all.axes.map((axis) => [axis.name, (point) => point.axes[axis.name]]),
      ['repeats', (point) => point.repeats],
      ...spreads.flatMap((name) =>
        ['median', 'min', 'max'].map((part) => [`${name}_${part}`, (point) => point[name]?.[part]]),
      ),
      ...latencies.map((name) => [
        name === 'load_tiles_per_s' ? name : `latency_us_${name}`,
        (point) => point.latency_us?.[name],
      ]),
      ['pinned_bytes', (point) => point.pinned_bytes],
      ['device_bytes', (point) => point.device_bytes],
      ...['by_callback', 'by_look', 'by_watchdog'].map((way) => [
        `${way}_percent`,
        (point) => point.completions_percent?.[way],
      ]),
      ...ceilings.map((name) => [`ceiling_${name}`, (point) => point.ceilings[name]]),
      ['bound', (point) => point.verdict?.bound],
      ['error', (point) => point.error],
    ];
    const lines = [
      columns.map(([name]) => cell(name)),
      ...all.points.map((point) => columns.map(([, of]) => cell(of(point)))),
    ];
    return lines.map((line) => line.join(',')).join('\r\n') + '\r\n';
  }

  // "penstock-bench-2025-11-21.json"
  function file_name(all, kind) {
    const day = /^\d{4}-\d{2}-\d{2}/.exec(all.date ?? '');
    return [document.getElementById('program').textContent, all.kind ?? 'results', ...(day ?? [])].join('-') + `.${kind}`;
  }

  function buttons(all, text) {
    return [
      element(
        'button',
        {type: 'button', click: () => download(file_name(all, 'json'), 'application/json', text)},
        'JSON',
      ),
      element('button', {type: 'button', click: () => download(file_name(all, 'csv'), 'text/csv', csv(all))}, 'CSV'),
    ];
  }

  return {buttons, csv};
})();
