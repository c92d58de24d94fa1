// SPDX-License-Identifier: Apache-2.0
// Questions that tests ask inside a page. Each runs there, alone: it may use nothing of this file.

export function theme_in_force() {
  const [red] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).map(Number);
  return red > 128 ? 'light' : 'dark';
}

// Elements that reach beyond the right edge of the window, but for those inside something that scrolls or cuts off.
export function what_sticks_out() {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth)
    found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const element of document.body.querySelectorAll('*')) {
    const {right, width} = element.getBoundingClientRect();
    if (width === 0 || right <= innerWidth + 0.5 || element.closest('.scroll, pre, .plot, .skip')) continue;
    found.push(`${element.tagName}.${element.className} to ${right}`);
  }
  return found;
}

// Each chart and timeline: how many of its pixels have a colour that is no grey, and how many different such colours.
export function charts() {
  return [...document.querySelectorAll('.uplot canvas, #timeline canvas')].map((canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    const fills = Math.abs(canvas.clientWidth - canvas.closest('.plot-frame').clientWidth) <= 1;
    let coloured = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue, opaque] = data.subarray(at, at + 4);
      if (opaque < 128) continue;
      colours.add((red << 16) | (green << 8) | blue);
      if (Math.max(red, green, blue) - Math.min(red, green, blue) > 60) ++coloured;
    }
    return {
      of: `${canvas.closest('section').id} ${canvas.closest('figure')?.innerText ?? ''}`.trim(),
      coloured,
      colours: colours.size,
      fills,
    };
  });
}

// Sections that have a heading and nothing to read or to see below it.
export function empty_sections() {
  return [...document.querySelectorAll('section')]
    .filter(
      (section) =>
        section.innerText.trim() === section.querySelector('h2').innerText.trim() && !section.querySelector('canvas'),
    )
    .map(({id}) => id);
}

// [text, ground, contrast] as WCAG 2 has it, for all that is written or drawn on something.
export function contrasts() {
  const style = getComputedStyle(document.documentElement);
  const lightness = (name) => {
    const colour = style.getPropertyValue(`--${name}`).trim();
    const [red, green, blue] = [1, 3, 5]
      .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return red * 0.2126 + green * 0.7152 + blue * 0.0722;
  };
  const pairs = ['ink', 'quiet', 'faint', 'accent', 'bad'].flatMap((text) =>
    ['paper', 'raised', 'sunken'].map((ground) => [text, ground]),
  );
  for (let series = 0; series < 8; ++series) pairs.push([`series-${series}`, 'paper']);
  for (const step of ['fill', 'upload', 'stage', 'download']) pairs.push([`step-${step}`, 'sunken']);
  return pairs.map(([text, ground]) => {
    const [one, other] = [lightness(text), lightness(ground)];
    return [text, ground, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
  });
}

// Presses the button that begins with this text.
export async function press(text) {
  const button = [...document.querySelectorAll('button')].find((one) => one.innerText.trim().startsWith(text));
  if (!button) throw new Error(`there is no button '${text}'`);
  button.click();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}

// Chooses from the list with this label.
export function choose(label, text) {
  const list = [...document.querySelectorAll('.choice')]
    .find((one) => one.firstChild.textContent === label)
    ?.querySelector('select');
  const index = [...(list?.options ?? [])].findIndex((option) => option.text === text);
  if (index < 0) throw new Error(`'${label}' has no '${text}'`);
  list.selectedIndex = index;
  list.dispatchEvent(new Event('change'));
}

export function middle_of(selector) {
  const {left, top, width, height} = document.querySelector(selector).getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}
export function top_left_of(selector) {
  const {left, top} = document.querySelector(selector).getBoundingClientRect();
  return [left, top];
}

// Has the page note how it is when it is printed.
export function watch_printing() {
  addEventListener('beforeprint', () => {
    const [red] = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).map(Number);
    const widths = [...document.querySelectorAll('.uplot canvas, #timeline canvas')].map(
      (canvas) => canvas.clientWidth,
    );
    window.printed = {theme: red > 128 ? 'light' : 'dark', widest: Math.max(...widths) <= 700 || Math.max(...widths)};
  });
}
