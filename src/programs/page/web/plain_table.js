// SPDX-License-Identifier: Apache-2.0
'use strict';

// A table as it stands. `columns` are [heading, is it text]; a row is a list of cells, each of them text or elements.
function plain_table(label, columns, rows) {
  const text_class = (index) => (columns[index][1] ? 'text' : null);
  return element(
    'div',
    {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label},
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          columns.map(([name], index) => element('th', {scope: 'col', class: text_class(index)}, name)),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map((cells) =>
          element(
            'tr',
            {},
            cells.map((cell, index) => element('td', {class: text_class(index)}, cell)),
          ),
        ),
      ),
    ),
  );
}

// A figure that is read from afar, what it is, and what there is to say beside it.
function key_figure(value, words, more) {
  return element(
    'div',
    {},
    element('dt', {}, words),
    element('dd', {}, value),
    more ? element('dd', {class: 'meaning'}, more) : null,
  );
}
