// SPDX-License-Identifier: Apache-2.0
'use strict';

// Light or dark: as the system has it, unless the reader chooses. On paper always light, and as wide as paper is.
const theme = (() => {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const listeners = [];
  let chosen = 'auto';
  let printing = false;

  function apply() {
    const dark = !printing && (chosen === 'dark' || (chosen === 'auto' && system.matches));
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    document.documentElement.classList.toggle('printing', printing);
    for (const listener of listeners) listener();
  }
  function print(now) {
    printing = now;
    apply();
  }
  system.addEventListener('change', apply);
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  apply();

  return {
    // A colour of colours.css by its name, for a canvas.
    colour: (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(),
    // Calls `listener` whenever all colours have changed.
    when_changed: (listener) => listeners.push(listener),
    control: () =>
      switch_between(
        'Colours',
        [
          ['auto', 'Auto'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ],
        chosen,
        (value) => {
          chosen = value;
          apply();
        },
      ),
  };
})();
