// SPDX-License-Identifier: Apache-2.0
'use strict';

// Puts the page together, from the results that are in it.
(() => {
  const content = document.getElementById('content');
  const text = document.getElementById('results').textContent;
  const actions = document.getElementById('actions');
  const kinds = {'compare programs': 'compare', ledger: 'work', models: 'doctor'};

  function fill() {
    const all = results.read(text);
    const kind = kinds[all.kind] ?? all.kind ?? '';
    document.getElementById('kind').textContent = kind;
    // The title is that of the program and its command: "count bench".
    if (kind && document.title.endsWith(` ${kind}`))
      document.getElementById('program').textContent = document.title.slice(0, -kind.length - 1);
    actions.append(
      element(
        'div',
        {class: 'switch', role: 'group', 'aria-label': 'Download the raw data'},
        element('span', {}, 'Data'),
        raw_data.buttons(all, text),
      ),
      theme.control(),
    );
    const verdict = verdict_section(all);
    const pick = (point) => {
      verdict.show(point);
      document.getElementById('verdict').scrollIntoView({block: 'nearest'});
    };
    if (figures_page.shows(all)) {
      content.append(...figures_page.parts(all));
      return;
    }
    if (all.kind === 'watch') {
      content.append(...watch_page.parts(all));
      return;
    }
    if (all.sides.length) {
      content.append(
        element('h1', {}, document.title),
        element('p', {class: 'finding-sentence'}, [all.error, ...all.sentences].filter(Boolean).join(' ')),
        programs_figures(all),
        programs_section(all),
        programs_order(all) ?? '',
        summary.facts(all),
      );
      return;
    }
    content.append(
      ...[
        element('h1', {}, document.title),
        element('p', {class: 'finding-sentence'}, summary.finding(all)),
        summary.key_figures(all),
        ...sweep_sections(all, pick),
        verdict.part,
        timeline_section(all),
        table_section(all, pick),
        summary.facts(all),
      ].filter(Boolean),
    );
  }

  content.replaceChildren();
  try {
    fill();
  } catch (problem) {
    actions.replaceChildren(theme.control());
    content.replaceChildren(element('h1', {}, document.title), remark(problem.message));
    if (!(problem instanceof Error) || problem.constructor !== Error) throw problem;
  }
})();
