// SPDX-License-Identifier: Apache-2.0
'use strict';

// Makes an element out of text and other elements, never out of markup: nothing in the results can become part of the
// page's own code. A function as an attribute listens to the event of that name.
function element(kind, attributes = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ''));
  return made;
}

// A part of the page, with its heading.
function section(name, heading, ...children) {
  return element(
    'section',
    {id: name, 'aria-labelledby': `${name}-heading`},
    element('h2', {id: `${name}-heading`}, heading),
    ...children,
  );
}

// Instead of something that there is not.
function remark(sentence) {
  return element('p', {class: 'remark'}, sentence);
}

// A row of buttons of which one is on. `choices` are [value, text]; `chosen` is called with the value.
function switch_between(label, choices, now, chosen) {
  const buttons = choices.map(([value, text]) =>
    element(
      'button',
      {
        type: 'button',
        'aria-pressed': String(value === now),
        click: (event) => {
          for (const button of buttons) button.setAttribute('aria-pressed', String(button === event.currentTarget));
          chosen(value);
        },
      },
      text,
    ),
  );
  return element('div', {class: 'switch', role: 'group', 'aria-label': label}, buttons);
}

// A list to choose from, with its label before it.
function choice(label, choices, now, chosen) {
  const list = element(
    'select',
    {change: () => chosen(choices[list.selectedIndex][0])},
    choices.map(([value, text]) => element('option', {selected: value === now}, text)),
  );
  return element('label', {class: 'choice'}, element('span', {}, label), list);
}

// Has the browser save `text` as a file.
function download(name, kind, text) {
  const address = URL.createObjectURL(new Blob([text], {type: kind}));
  element('a', {href: address, download: name}).click();
  // Not at once: the browser may still be reading.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
