// SPDX-License-Identifier: Apache-2.0
'use strict';

// How figures are written. What is not there is a dash; a unit stays on the line of its number.
const numbers = (() => {
  const none = '–';
  const gap = '\u00a0';
  const is_there = (value) => typeof value === 'number' && Number.isFinite(value);

  // Three digits that count, and no more than the figure has: 41.2, 0.091, 11,349.
  function plain(value, digits = 3) {
    if (!is_there(value)) return none;
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
    return String(Number(value.toPrecision(digits)));
  }

  function bytes(value) {
    if (!is_there(value)) return none;
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (value >= 1024 && unit + 1 < units.length) {
      value /= 1024;
      ++unit;
    }
    return `${Math.round(value * 10) / 10}${gap}${units[unit]}`;
  }

  function nanoseconds(value, digits = 3) {
    if (!is_there(value)) return none;
    const size = Math.abs(value);
    if (size >= 1e9) return `${plain(value / 1e9, digits)}${gap}s`;
    if (size >= 1e6) return `${plain(value / 1e6, digits)}${gap}ms`;
    if (size >= 1e3) return `${plain(value / 1e3, digits)}${gap}µs`;
    return `${plain(value, digits)}${gap}ns`;
  }

  const per_cent = (value) => (is_there(value) ? `${Math.round(value * 100)}${gap}%` : none);
  const times = (value) => (is_there(value) ? `${value.toFixed(value < 10 ? 2 : 1)}×` : none);
  const microseconds = (value) => (is_there(value) ? nanoseconds(value * 1000) : none);
  const gb = (value) => (is_there(value) ? `${plain(value)}${gap}GB/s` : none);

  // A median with its least and greatest, "16.8 GB/s (16.6 to 16.9)"; only the median where these are the same.
  function spread(of, write = plain) {
    if (!of || !is_there(of.median)) return none;
    const [least, greatest] = [plain(of.min), plain(of.max)];
    return least === greatest ? write(of.median) : `${write(of.median)} (${least} to ${greatest})`;
  }

  // "a", "a and b", "a, b and c".
  function list(words) {
    return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
  }

  return {bytes, gb, is_there, list, microseconds, nanoseconds, none, per_cent, plain, spread, times};
})();
