// SPDX-License-Identifier: Apache-2.0
'use strict';

// What bounded a point, in words: how fast it was beside its ceilings, the evidence, and what to change. Of a comparison
// both flavours of the point, one below the other.
function verdict_section(all) {
  const points = all.points.filter((point) => results.has_figures(point) || point.error);
  const axes = all.compare ? all.axes.filter((axis) => axis.name !== 'flavour') : all.axes;
  const place_of = (point) => JSON.stringify(axes.map((axis) => point.axes[axis.name]));
  const groups = all.compare
    ? [...new Set(points.map(place_of))].map((place) => points.filter((point) => place_of(point) === place))
    : points.map((point) => [point]);
  const of_timeline = all.points[all.timeline?.point];
  const first = [of_timeline, results.best(all.points), points[0]].find((point) => point && points.includes(point));
  let shown = groups.find((group) => group.includes(first));
  const cards = element('div', {'aria-live': 'polite'});
  const name_of = ([point]) => results.place_in_words(axes, point.axes) || 'the only point';

  const bounds = {
    upload: 'uploads',
    download: 'downloads',
    kernel: 'the kernel',
    fill: 'filling',
    sink: 'the sink',
    'serialising stream': 'a serialising stream',
    CPUs: 'the CPUs of the host',
  };
  const bound_in_words = (bound) => bounds[bound] ?? bound;

  function bars(point) {
    const found = Object.entries(results.ceiling_names)
      .filter(([name]) => numbers.is_there(point.ceilings[name]))
      .map(([name, words]) => [words, point.ceilings[name], name]);
    if (!found.length) return remark('No ceiling was measured beside this point.');
    const reached = point.gb_per_s.median;
    // What is far beyond all that matters would make the rest too short to compare.
    const longest = Math.min(
      Math.max(reached, ...found.map(([, value]) => value)),
      3 * Math.max(reached, point.ceilings.gb_per_s ?? 0),
    );
    const bar = (words, value, kind) => {
      const filled = element('span', {class: 'bar-fill'});
      filled.style.width = `${Math.min(1, value / longest) * 100}%`;
      if (value > longest) filled.classList.add('beyond');
      return [
        element('dt', {class: kind}, words),
        element(
          'dd',
          {class: kind},
          element('span', {class: 'bar'}, filled),
          element('span', {class: 'bar-value'}, numbers.gb(value)),
        ),
      ];
    };
    return element(
      'dl',
      {class: 'bars'},
      bar('this run', reached, 'reached'),
      found.flatMap(([words, value]) =>
        bar(
          `${words} alone`.replace('both ways at once alone', 'both ways at once'),
          value,
          value === point.ceilings.gb_per_s ? 'lowest' : '',
        ),
      ),
    );
  }

  function advice(verdict) {
    const entries = verdict.advice ?? [];
    return [
      element('h3', {}, entries.length === 1 ? 'What should help' : 'What should help most'),
      entries.length
        ? element(
            'ol',
            {class: 'advice'},
            entries.map((entry) =>
              element(
                'li',
                {},
                numbers.is_there(entry.gain)
                  ? element(
                      'span',
                      {class: 'gain', title: 'expected throughput, as a multiple of this'},
                      numbers.times(entry.gain),
                    )
                  : null,
                element('div', {}, element('strong', {}, entry.change), element('span', {}, entry.why)),
              ),
            ),
          )
        : element('p', {}, verdict.no_advice || 'Nothing that is known here.'),
      verdict.streams_will_not_help
        ? element('p', {class: 'streams'}, verdict.streams_will_not_help)
        : null,
    ];
  }

  // What a tile took of the device, and what was gained because it did several things at once.
  function on_the_device(times) {
    if (!times) return null;
    const steps = ['upload', 'kernel', 'download']
      .filter((step) => numbers.is_there(times[`${step}_us`]))
      .map((step) => `${step} ${numbers.microseconds(times[`${step}_us`])}`);
    if (!steps.length)
      return times.overlap === 0 ? element('p', {class: 'evidence'}, 'All work waits in one stream: overlap is 0 %.') : null;
    const sentences = [`A tile takes ${numbers.list(steps)} of the device.`];
    if (numbers.is_there(times.speedup) && numbers.is_there(times.possible_speedup))
      sentences.push(
        `Together that is ${numbers.times(times.speedup)} of one after the other, ` +
          `and ${numbers.times(times.possible_speedup)} is possible.`,
      );
    return element('p', {class: 'evidence'}, sentences.join(' '));
  }

  // How lanes learned that tiles were done.
  function completions(ways) {
    if (!ways) return null;
    const part = (way) => numbers.per_cent(ways[way] / 100);
    return element(
      'p',
      {class: 'evidence'},
      `Completions came ${part('by_callback')} by callback, ${part('by_look')} by looking, ` +
        `${part('by_watchdog')} by the watchdog.`,
    );
  }

  function words_on(point) {
    const {verdict} = point;
    if (point.error || !results.has_figures(point))
      return [element('p', {class: 'remark bad'}, `${point.error ?? 'There are no figures for this point.'}`)];
    const share = results.share_of_ceiling(point);
    return [
      element(
        'div',
        {class: 'finding'},
        element(
          'p',
          {class: 'bound'},
          verdict ? ['Bound by ', element('em', {}, bound_in_words(verdict.bound))] : 'No verdict',
        ),
        element(
          'p',
          {},
          `${numbers.spread(point.gb_per_s, numbers.gb)}` +
            `${share === null ? '' : `, ${numbers.per_cent(share)} of the lowest ceiling`}.`,
        ),
        verdict
          ? (verdict.evidence ?? []).map((sentence) => element('p', {class: 'evidence'}, sentence))
          : element(
              'p',
              {},
              results.is_late(point)
                ? 'Its clock was late, so it is not judged.'
                : 'This point was measured without looking for what bounded it.',
            ),
        on_the_device(verdict?.device_times),
        completions(point.completions_percent),
        point.remarks.map((sentence) => element('p', {class: 'evidence'}, sentence)),
      ),
      element('div', {class: 'ceilings'}, element('h3', {}, 'Beside what each part can do'), bars(point)),
      ...(verdict ? [element('div', {class: 'help'}, advice(verdict).filter(Boolean))] : []),
    ];
  }

  function show() {
    cards.replaceChildren(
      ...shown.flatMap((point) => [
        all.compare ? element('h3', {class: 'another'}, String(point.axes.flavour ?? '')) : null,
        element('div', {class: 'verdict'}, words_on(point)),
      ]).filter(Boolean),
    );
  }

  // How many points are bound by what: "Of 12 points 8 are bound by filling and 4 are bound by uploads."
  function across(judged) {
    const counts = new Map();
    for (const {verdict} of judged) counts.set(verdict.bound, (counts.get(verdict.bound) ?? 0) + 1);
    const ordered = [...counts].sort(([, one], [, other]) => other - one);
    if (judged.length < 2) return '';
    if (ordered.length === 1)
      return `All ${judged.length} points that were judged are bound by ${bound_in_words(ordered[0][0])}.`;
    const parts = ordered.map(
      ([bound, count]) => `${count} ${count === 1 ? 'is' : 'are'} bound by ${bound_in_words(bound)}`,
    );
    return `Of ${judged.length} points ${numbers.list(parts)}.`;
  }
  function across_the_sweep() {
    const judged = all.points.filter(({verdict}) => verdict);
    if (!all.compare) return across(judged);
    return [all.compare.baseline, all.compare.candidate]
      .map((flavour) => [flavour, across(judged.filter((point) => point.axes.flavour === flavour))])
      .filter(([, sentence]) => sentence)
      .map(([flavour, sentence]) => `${flavour}: ${sentence}`)
      .join(' ');
  }

  if (!shown)
    return {part: section('verdict', 'What bounded it', remark('There is no point to judge.')), show: () => {}};
  const list = element(
    'select',
    {
      change: () => {
        shown = groups[list.selectedIndex];
        show();
      },
    },
    groups.map((group) => element('option', {selected: group === shown}, name_of(group))),
  );
  const chooser =
    groups.length > 1
      ? element('div', {class: 'choices'}, element('label', {class: 'choice'}, element('span', {}, 'Point'), list))
      : null;
  show();
  const overall = across_the_sweep();
  return {
    part: section('verdict', 'What bounded it', overall ? element('p', {class: 'note'}, overall) : null, chooser, cards),
    show(point) {
      if (!points.includes(point)) return;
      shown = groups.find((group) => group.includes(point));
      list.selectedIndex = groups.indexOf(shown);
      show();
    },
  };
}
