// SPDX-License-Identifier: Apache-2.0
'use strict';

// The top of the page: what was measured, on what, and what came out in a sentence and a few figures.
const summary = (() => {
  // The sentence for a reader of only one.
  function finding(all) {
    const answers = (all.enough_threads ?? []).map((one) => one.sentence);
    return [late(all.points), ...answers, found(all)].filter(Boolean).join(' ');
  }

  // Which of the points are not judged, and why: said once, before all else.
  function late(points) {
    const some = points.filter(results.is_late);
    if (!some.length) return '';
    const which = points.length === 1 ? 'The only point is' : `${some.length} of ${points.length} points are`;
    return `${which} not judged. ${some[0].too_slow}`;
  }

  function found(all) {
    if (all.compare?.sentence) return all.compare.sentence;
    const best = results.best(all.points);
    if (!best && all.points.some(results.is_late)) return '';
    if (!best)
      return all.points.length ? `None of ${all.points.length} points could be measured.` : 'Nothing was measured.';
    const place = results.place_in_words(all.axes, best.axes);
    const share = results.share_of_ceiling(best);
    const whose = results.ceiling_in_words(best);
    const failed = all.points.filter((point) => !results.has_figures(point)).length;
    return [
      `${place ? `Fastest with ${place}` : 'One point was measured'}: ${numbers.gb(best.gb_per_s.median)}`,
      share === null ? '.' : `, ${numbers.per_cent(share)} of what ${whose || 'the slowest part'} can do alone.`,
      failed ? ` ${failed} of ${all.points.length} points could not be measured.` : '',
    ].join('');
  }

  function key_figures(all) {
    const best = results.best(all.points);
    if (!best) return null;
    const place = results.place_in_words(all.axes, best.axes);
    const made = [];
    const speedups = (all.compare?.speedups ?? []).filter((one) => numbers.is_there(one.median));
    if (speedups.length) {
      const most = speedups.reduce((one, other) => (other.median > one.median ? other : one));
      made.push(
        key_figure(
          numbers.times(most.median),
          'greatest speed-up',
          joined(
            results.place_in_words(all.axes, most.axes ?? {}),
            `${numbers.times(most.min)} to ${numbers.times(most.max)}`,
          ),
        ),
      );
    }
    made.push(key_figure(numbers.gb(best.gb_per_s.median), 'greatest throughput', place));
    const share = results.share_of_ceiling(best);
    if (share !== null)
      made.push(
        key_figure(
          numbers.per_cent(share),
          'of its ceiling',
          `${numbers.gb(best.ceilings.gb_per_s)}, ${results.ceiling_in_words(best) || 'the slowest part alone'}`,
        ),
      );
    if (best.latency_us)
      made.push(
        key_figure(
          numbers.microseconds(best.latency_us.p99),
          'latency p99',
          `same point, offered ${numbers.plain(best.latency_us.load_tiles_per_s)} tiles/s`,
        ),
      );
    if (best.cpu_s_per_gb)
      made.push(key_figure(`${numbers.plain(best.cpu_s_per_gb.median)} s`, 'CPU time per GB', 'same point'));
    return element('dl', {class: 'figures-row key-figures'}, made);
  }

  const joined = (...parts) => parts.filter((part) => part !== null && part !== undefined && part !== '').join(', ');

  const counted = (count, noun) => (numbers.is_there(count) ? `${count} ${noun}${count === 1 ? '' : 's'}` : '');

  function facts(all) {
    const {machine, device, penstock} = all;
    const date = new Date(all.date ?? NaN);
    const rows = [
      [
        'Device',
        joined(
          device.name ?? device.kind,
          device.model ? `model:${device.model}` : '',
          counted(device.host_cpus, 'CPU'),
          numbers.is_there(device.slower) ? `${device.slower} times slower` : '',
          device.link,
          numbers.is_there(device.memory_bytes) ? numbers.bytes(device.memory_bytes) : '',
        ),
      ],
      ['Driver', joined(device.driver, device.runtime ? `runtime ${device.runtime}` : '')],
      [
        'Machine',
        joined(
          machine.host,
          machine.cpu,
          counted(machine.cpus, 'CPU'),
          counted(machine.nodes, 'NUMA node'),
          numbers.is_there(machine.memory_bytes) ? numbers.bytes(machine.memory_bytes) : '',
        ),
      ],
      ['System', machine.kernel ?? ''],
      [
        'penstock',
        joined(
          penstock.version,
          penstock.commit ? `commit ${penstock.commit}` : '',
          penstock.cuda === false ? 'without CUDA' : '',
        ),
      ],
      ['Stream 0', all.kind === 'compare' ? 'legacy and per-thread, in turn' : (penstock.flavour ?? '')],
      [
        'Date',
        Number.isNaN(date.getTime()) ? (all.date ?? '') : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      ],
      [
        'Options',
        // A 0 was left to the machine.
        Object.entries(all.options)
          .filter(([, value]) => value !== 0)
          .map(([name, value]) => `${name} ${results.option_text(name, value)}`)
          .join(', '),
      ],
    ].filter(([, value]) => value);
    const list = element(
      'dl',
      {class: 'facts'},
      rows.map(([name, value]) =>
        element('div', {class: name === 'Options' ? 'wide' : null}, element('dt', {}, name), element('dd', {}, value)),
      ),
    );
    const command = all.command
      ? element('pre', {class: 'command', tabindex: '0', 'aria-label': 'Command'}, element('code', {}, all.command))
      : null;
    if (!command && !rows.length)
      return section('conditions', 'How it was measured', remark('The results do not say.'));
    return section('conditions', 'How it was measured', command, list);
  }

  return {facts, finding, key_figures};
})();
