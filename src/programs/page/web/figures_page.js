// SPDX-License-Identifier: Apache-2.0
'use strict';

// Results whose figures are lines: those that --csv prints, as a table and for download, with what belongs to the kind
// of results around them.
const figures_page = (() => {
  const seconds = (value) => numbers.nanoseconds(value * 1e9);
  const in_words = (name) => name.replace('gb_per_s', 'GB/s').replaceAll('_', ' ');
  const is_scalar = (value) => value === null || typeof value !== 'object';

  function cell(name, value) {
    if (value === null || value === undefined) return numbers.none;
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (typeof value !== 'number') return String(value);
    if (name.endsWith('bytes')) return numbers.bytes(value);
    if (name.endsWith('_ns')) return numbers.nanoseconds(value);
    if (name.endsWith('_us')) return numbers.microseconds(value);
    if (/(^|_)s$/.test(name) && !name.endsWith('_per_s')) return seconds(value);
    return numbers.plain(value, Number.isInteger(value) ? 9 : 4);
  }

  // A table of objects with the same members. Columns that are empty in all of them are left out.
  function table_of(label, rows) {
    const names = Object.keys(rows[0] ?? {}).filter((name) =>
      rows.some((row) => is_scalar(row[name]) && row[name] !== null && row[name] !== ''),
    );
    if (!names.length) return remark('None.');
    const is_text = (name) => rows.some((row) => row[name] !== null && typeof row[name] !== 'number');
    return plain_table(
      label,
      names.map((name) => [in_words(name), is_text(name)]),
      rows.map((row) => names.map((name) => cell(name, row[name]))),
    );
  }

  // The members of an object that are neither lists nor objects, one below the other.
  function facts_of(object) {
    return element(
      'dl',
      {class: 'facts'},
      Object.entries(object ?? {})
        .filter(([, value]) => is_scalar(value) && value !== null && value !== '')
        .map(([name, value]) =>
          element('div', {}, element('dt', {}, in_words(name)), element('dd', {}, cell(name, value))),
        ),
    );
  }

  const sentences = (heading, list) =>
    list?.length ? section('remarks', heading, list.map((sentence) => element('p', {}, sentence))) : null;
  const text_block = (name, heading, text) =>
    text ? section(name, heading, element('pre', {class: 'command', tabindex: '0'}, element('code', {}, text))) : null;

  // Each line as a bar as long as its figure `name`.
  function bars(all, name, label) {
    const shown = all.lines.filter((line) => numbers.is_there(line[name]));
    const most = Math.max(0, ...shown.map((line) => line[name]));
    if (!(most > 0)) return null;
    return section(
      'bars',
      in_words(name),
      shown.map((line) => {
        const mark = element('span', {class: 'run-median'});
        mark.style.left = `${(line[name] / most) * 100}%`;
        return element(
          'div',
          {class: 'runs', role: 'img', 'aria-label': `${label(line)}: ${cell(name, line[name])}`},
          element('span', {class: 'runs-name'}, label(line)),
          element('div', {class: 'runs-scale'}, mark),
          element('span', {class: 'runs-value'}, cell(name, line[name])),
        );
      }),
    );
  }

  // The intervals of an experiment as a timeline: each piece of work is a passage, and each label a step.
  function timeline_of_experiment(experiment) {
    const intervals = experiment.intervals ?? [];
    const rows = [...new Set(intervals.map(({row}) => row))];
    const steps = [...new Set(intervals.map(({label}) => label))];
    return {
      unit: 'piece',
      rows: rows.map((name) => ({name, kind: 'stream'})),
      steps,
      passages: intervals.map(({row, label, start_ns, end_ns}, index) => [
        rows.indexOf(row),
        steps.indexOf(label),
        index,
        start_ns,
        end_ns,
      ]),
      overlap: null,
    };
  }

  function experiment_section(experiment, index) {
    const drawn = experiment.intervals?.length
      ? timeline_of({points: [], axes: []}, timeline_of_experiment(experiment), `keys-${index}`)
      : [];
    const judged = experiment.as_expected ? 'As expected' : experiment.late ? 'Cannot be told' : 'NOT as expected';
    return section(
      experiment.name,
      experiment.name,
      element('p', {}, experiment.expectation),
      ...drawn,
      element('p', {}, element('strong', {}, `${judged}: `), `${experiment.fact}.`),
      element('p', {class: 'note'}, experiment.why),
    );
  }

  // What a ledger has: its states, ages and tries, and the leases that no process gets any more.
  function ledger_parts(all) {
    const states = ['done', 'out', 'ready', 'parked'];
    const age = (name, words) => (numbers.is_there(all[name]) ? `${words} ${seconds(all[name])}` : '');
    const late = all.lost ? `${all.lost} of processes that ended` : '';
    return [
      element(
        'dl',
        {class: 'figures-row key-figures'},
        key_figure(all.leases ? numbers.per_cent(all.done / all.leases) : numbers.none, 'done', `${all.done} of ${all.leases} leases`),
        key_figure(numbers.plain(all.leases_per_s, 4), 'leases/s', `${all.owners} owners`),
        key_figure(String(all.out), 'out', [age('oldest_out_s', 'the oldest for'), late].filter(Boolean).join(', ')),
        key_figure(String(all.ready), 'ready', age('oldest_ready_s', 'the first has waited for')),
        key_figure(String(all.retries), 'tries beyond the first', `${all.suspects} leases to go alone`),
        key_figure(String(all.parked), 'parked', all.finished ? 'finished' : ''),
      ),
      bars({lines: states.map((state) => ({state, leases: all[state]}))}, 'leases', (line) => line.state),
      section('parked', 'Parked leases', table_of('Table of parked leases', all.parked_leases ?? [])),
    ];
  }

  // What each kind of results has beside its lines.
  const parts_of = {
    tune: (all) => [
      bars(all, all.for === 'latency' ? 'p99_us' : 'gb_per_s', (line) =>
        [line.found_by, line.best === true ? 'best' : ''].filter(Boolean).join(', '),
      ),
    ],
    lab: (all) => (all.experiments ?? []).map(experiment_section),
    doctor: (all) => [
      section('probe', 'Measured', all.probe ? facts_of(all.probe) : remark(all.probe_problem ?? 'Nothing was measured.')),
      section('gpus', 'GPUs', all.gpus?.length ? table_of('Table of GPUs', all.gpus) : remark(all.gpu ?? 'None.')),
      sentences('Remarks', all.remarks),
    ],
    hash: (all) => [section('summary', 'The run', facts_of(all.summary))],
    run: (all) => [
      text_block('report', 'Report', [all.report, all.placement].filter(Boolean).join('\n')),
      text_block('printed', 'Results', all.results),
    ],
    ledger: ledger_parts,
    models: () => [],
  };
  const headings = {
    tune: 'All settings that were tried',
    lab: 'All figures',
    hash: 'Files',
    run: 'Figures',
    ledger: 'All figures',
    models: 'Models of GPUs',
    doctor: 'All figures',
  };

  function parts(all) {
    return [
      element('h1', {}, document.title),
      all.sentences.length ? element('p', {class: 'finding-sentence'}, all.sentences.join(' ')) : null,
      ...parts_of[all.kind](all),
      section('lines', headings[all.kind], table_of(headings[all.kind], all.lines)),
      summary.facts(all),
    ].filter(Boolean);
  }

  return {parts, shows: (all) => all.kind in parts_of};
})();
