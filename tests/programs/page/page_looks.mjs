// SPDX-License-Identifier: Apache-2.0
// What a reader sees on a page of results. Each case is a test of its own; its name is the promise.
import assert from 'node:assert/strict';
import * as in_page from './in_page.mjs';
import {leave, page, sample_text} from './pages.mjs';

export async function LooksAsItShouldInBothThemesWideAndNarrow(browser) {
  for (const name of ['bench_small', 'bench_many', 'compare', 'texts']) {
    const file = page(name);
    // Made narrower in one theme, wider in the other.
    for (const [scheme, ...widths] of [
      ['light', 1600, 768, 390],
      ['dark', 390, 768, 1600],
    ]) {
      const tab = await browser.open(file, {width: widths[0], scheme});
      assert.equal(await tab.ask(in_page.theme_in_force), scheme, name);
      for (const width of widths) {
        const where = `${name}, ${scheme}, ${width} pixels`;
        await tab.resize(width);
        assert.deepEqual(await tab.ask(in_page.what_sticks_out), [], `${where}: wider than the window`);
        const charts = await tab.ask(in_page.charts);
        assert.ok(charts.length >= 2, `${where}: ${charts.length} charts`);
        for (const chart of charts) {
          assert.ok(chart.coloured > 150, `${where}: ${chart.of} shows next to nothing: ${JSON.stringify(chart)}`);
          assert.ok(chart.colours >= 2, `${where}: ${chart.of} has text and lines of one colour`);
          assert.ok(chart.fills, `${where}: ${chart.of} is not as wide as there is room for`);
        }
      }
      await leave(tab, `${name}, ${scheme}`);
    }
  }
}

export async function CanBeReadInBothThemes(browser) {
  for (const scheme of ['light', 'dark']) {
    const tab = await browser.open(page('bench_small'), {scheme});
    for (const [text, ground, contrast] of await tab.ask(in_page.contrasts)) {
      const enough = text.startsWith('series') || text.startsWith('step') ? 3 : 4.5;
      assert.ok(contrast >= enough, `${scheme}: ${text} on ${ground} has a contrast of ${contrast.toFixed(2)}`);
    }
    await leave(tab, scheme);
  }
}

export async function ShowsBothFlavoursOfAComparison(browser) {
  const all = JSON.parse(sample_text('compare'));
  const tab = await browser.open(page('compare'));
  const text = (selector) => tab.ask((wanted) => document.querySelector(wanted).innerText, selector);
  // At first the point that has timelines.
  const [legacy, per_thread] = all.points.slice(18, 20);
  const verdicts = () => tab.ask(() => [...document.querySelectorAll('.verdict')].map((card) => card.innerText));
  const says = (card, point) => {
    for (const sentence of [...point.verdict.evidence, ...point.verdict.advice.map(({why}) => why)])
      assert.ok(card.includes(sentence), `no '${sentence}' in: ${card}`);
  };
  assert.equal((await verdicts()).length, 2);
  says((await verdicts())[0], legacy);
  says((await verdicts())[1], per_thread);
  assert.match(
    (await verdicts())[0],
    /A tile takes upload 21\.4\sµs, kernel 9\.05\sµs and download 20\.9\sµs of the device\. Together that is 1\.22× of one after the other, and 2\.40× is possible\./,
  );
  assert.match(
    (await verdicts())[0],
    /Completions came 81\s%\sby callback, 19\s%\sby looking, 0\s%\sby the watchdog\./,
  );
  assert.doesNotMatch((await verdicts())[1], /of the device|Completions came/);
  assert.match(await text('#verdict'), /\nlegacy\n[^]*\nper-thread\n/);
  assert.match(await text('#verdict'), /legacy: (All|Of) 10 points .* per-thread: (All|Of) 10 points /);
  assert.equal(await tab.ask(() => document.querySelectorAll('#verdict option').length), all.points.length / 2);
  await tab.ask(() => document.querySelector('#points tbody tr').click());
  says((await verdicts())[0], all.points[0]);
  says((await verdicts())[1], all.points[1]);
  // A legend of both beside ceilings, and beside latency.
  for (const part of ['#throughput', '#latency']) {
    assert.match(await text(`${part} .legend`), /legacy/);
    assert.match(await text(`${part} .legend`), /per-thread/);
  }
  assert.match(await text('#throughput .legend'), /ceiling/);
  assert.match(await text('#timeline'), /\nper-thread\n+60 tiles [^]*\nlegacy\n+30 tiles /);
  assert.equal((await tab.ask(in_page.charts)).filter(({of}) => of.startsWith('timeline')).length, 2);
  await leave(tab, 'both flavours');
}

// As a comparison does of a point whose run for all but throughput failed.
export async function ShowsRemarksBesideTheVerdict(browser) {
  const all = JSON.parse(sample_text('compare'));
  all.points[19].remarks = ['It rained.'];
  all.points[19].verdict = null;
  all.compare.baseline_timeline = null;
  const tab = await browser.open(page('remarks', JSON.stringify(all)));
  assert.match(await tab.ask(() => document.querySelector('#verdict').innerText), /It rained\./);
  assert.equal((await tab.ask(in_page.charts)).filter(({of}) => of.startsWith('timeline')).length, 1);
  await leave(tab, 'remarks');
}

export async function ShowsEachRunOfWholePrograms(browser) {
  const tab = await browser.open(page('try'));
  const text = await tab.ask(() => document.querySelector('#content').innerText);
  for (const words of [
    'It gains: it is 4.000 times',
    'It is right',
    '6400 calls of it name no stream',
    '366',
    'of 440',
    '900\u00a0ms',
    'only the legacy stream keeps 26 pairs of launches and 78 pairs of a launch and a copy in order',
  ])
    assert.ok(text.includes(words), `no '${words}' in: ${text}`);
  const places = await tab.ask(() =>
    [...document.querySelectorAll('.runs')].map((strip) =>
      [...strip.querySelectorAll('.run')].map((mark) => Number.parseFloat(mark.style.left)),
    ),
  );
  assert.deepEqual(
    places.map((marks) => marks.length),
    [5, 5],
  );
  assert.equal(Math.max(...places[0]), 100);
  assert.ok(Math.max(...places[1]) < 30);
  await leave(tab, 'try');
  const unsafe = JSON.parse(sample_text('try'));
  const side = {
    thread: 'thread 2 (worker)',
    call: 'cuMemcpyHtoDAsync_v2',
    stream: 'the legacy default stream',
    correlation: 7,
  };
  const pair = {
    first: {...side, writes: true},
    second: {...side, thread: 'thread 1', writes: false},
    bytes: 4096,
    count: 3,
  };
  Object.assign(unsafe.watched.processes[0].hazards, {count: 3, pairs: [pair], complete: false});
  unsafe.watched.hazards = 3;
  const order = await browser.open(page('unsafe', JSON.stringify(unsafe)), {width: 390});
  const said = await order.ask(() => document.querySelector('#order').innerText);
  for (const words of [
    'cuMemcpyHtoDAsync_v2 of thread 2 (worker) in the legacy default stream, which writes',
    'there may be more',
  ])
    assert.ok(said.includes(words), `no '${words}' in: ${said}`);
  assert.deepEqual(await order.ask(in_page.what_sticks_out), []);
  await leave(order, 'unsafe');
  const failed = {...JSON.parse(sample_text('try')), error: 'It uses no GPU.', sentences: [], ratio: null, right: null};
  failed.sides = failed.sides.map(({name}) => ({name, wall_s: null, cpu_s: null}));
  const other = await browser.open(page('failed', JSON.stringify(failed)));
  assert.match(await other.ask(() => document.querySelector('#content').innerText), /It uses no GPU\./);
  await leave(other, 'failed');
}

export async function ShowsWhatAProgramWasWatchedDoing(browser) {
  const text = (tab) => tab.ask(() => document.querySelector('#content').innerText);
  const says = (content, ...sentences) => {
    for (const words of sentences) assert.ok(content.includes(words), `no '${words}' in: ${content}`);
  };
  for (const scheme of ['light', 'dark']) {
    const tab = await browser.open(page('watch'), {width: 1600, scheme});
    for (const width of [1600, 390]) {
      await tab.resize(width);
      assert.deepEqual(await tab.ask(in_page.what_sticks_out), [], `${scheme}, ${width} pixels`);
      const [timeline, ...more] = await tab.ask(in_page.charts);
      assert.deepEqual(more, []);
      assert.ok(timeline.coloured > 150 && timeline.colours >= 5 && timeline.fills, JSON.stringify(timeline));
    }
    assert.deepEqual(await tab.ask(in_page.empty_sections), []);
    await leave(tab, `watch, ${scheme}`);
  }
  const tab = await browser.open(page('watch'));
  says(
    await text(tab),
    'Copies and kernels took 3.59\u00a0ms; one after the other they take 3.31\u00a0ms, and 1.2\u00a0ms would be possible.',
    'Costliest: work in the legacy default stream',
    '3 pairs of copies or memsets on the same bytes would lose their order without the legacy default stream.',
    'cuMemcpyHtoDAsync_v2 of thread 2 (worker) in the legacy default stream, which writes (correlation 4)',
    '12 times a thread waited until all was done',
    'void step<float, 256>(float*, float const*, unsigned long)',
    '36 calls, 3.59\u00a0ms in all.',
  );
  const heads = await tab.ask(() => [...document.querySelectorAll('.faults strong')].map((one) => one.innerText));
  assert.match(heads[0], /^work in the legacy/);
  assert.match(heads[1], /not pinned/);
  await tab.ask(() => document.querySelector('#timeline canvas').focus());
  await tab.key('ArrowDown');
  assert.match(await tab.ask(() => document.querySelector('.said').innerText), /^Call 1, .* call that waits .* upload /);
  await leave(tab, 'watch');
  // As of what --json printed before, of a program with a child, of which the log was full.
  const all = JSON.parse(sample_text('watch'));
  const [process] = all.processes;
  delete process.timeline;
  all.failure = './simulate ended with exit code 7.';
  all.processes.push({
    ...process,
    process: 4243,
    full_after_ns: 1e9,
    counted_only: {calls: 5, works: 6},
    faults: [],
    gaps: [],
    calls: [],
  });
  const both = await browser.open(page('both', JSON.stringify(all)));
  says(
    await text(both),
    './simulate ended with exit code 7.',
    'Process 4243, /work/simulate',
    'The log was full after 1\u00a0s; what came later was counted only: 5 calls, 6 works of the device.',
    'The times of single calls are in the log alone.',
  );
  await leave(both, 'both');
  const none = await browser.open(page('none', JSON.stringify({...all, processes: []})));
  says(await text(none), 'The program gave a GPU nothing to do');
  await leave(none, 'none');
}

export async function SaysInSentencesWhatThereIsNot(browser) {
  const expected = {
    one_point: {
      without: ['throughput', 'latency'],
      says: ['One point was measured', 'No run of this sweep was recorded.'],
    },
    only_errors: {
      without: [],
      says: [
        'None of 2 points could be measured.',
        'No point has figures',
        'The device was lost',
        'Latency was not measured',
      ],
    },
    nothing: {
      without: ['throughput', 'latency'],
      says: ['Nothing was measured.', 'There is no point to judge.', 'The results do not say.'],
    },
  };
  for (const [name, {without, says}] of Object.entries(expected)) {
    const tab = await browser.open(page(name), {width: 390});
    const text = await tab.ask(() => document.body.innerText);
    for (const sentence of says) assert.ok(text.includes(sentence), `${name} does not say '${sentence}' but: ${text}`);
    for (const id of without)
      assert.equal(await tab.ask((wanted) => document.getElementById(wanted), id), null, `${name} has a part ${id}`);
    assert.deepEqual(await tab.ask(in_page.empty_sections), [], `${name} has headings with nothing below them`);
    assert.deepEqual(await tab.ask(in_page.charts), [], `${name} has charts of nothing`);
    assert.deepEqual(await tab.ask(in_page.what_sticks_out), [], `${name}: wider than the window`);
    await leave(tab, name);
  }
}

export async function SaysWhyItCannotReadResults(browser) {
  for (const [text, sentence] of [
    ['{"schema":', 'are no JSON'],
    ['{"schema":2}', 'schema 2'],
    ['[]', 'schema undefined'],
    ['null', 'schema undefined'],
  ]) {
    const tab = await browser.open(page('broken', text));
    const shown = await tab.ask(() => document.body.innerText);
    assert.ok(shown.includes(sentence), `of ${text} it says: ${shown}`);
    await leave(tab, text);
  }
}

export async function RunsNothingThatCameWithTheResults(browser) {
  const hostile = JSON.stringify(JSON.parse(sample_text('compare')), (key, value) =>
    typeof value === 'string' && !['schema', 'kind', 'name'].includes(key) && !['legacy', 'per-thread'].includes(value)
      ? `${value}</script><img src=x onerror="window.broken_into=1"><script>window.broken_into=2</script><!--`
      : value,
  );
  const tab = await browser.open(page('hostile', hostile));
  assert.equal(await tab.ask(() => window.broken_into ?? 'nobody'), 'nobody');
  assert.equal(await tab.ask(() => document.querySelectorAll('img').length), 0);
  assert.ok((await tab.ask(in_page.charts)).length >= 2);
  await tab.ask(() => {
    document.body.append(document.createRange().createContextualFragment('<script>window.broken_into = 3</script>'));
  });
  assert.equal(
    await tab.ask(() => window.broken_into ?? 'nobody'),
    'nobody',
    'the policy lets a script run that is not of the page',
  );
  assert.ok(
    tab.complaints.every((text) => text.includes('Content Security Policy')),
    tab.complaints.join('\n'),
  );
  tab.complaints.length = 0;
  await leave(tab, 'hostile');
}

export async function IsPrintedInLightColoursAndAsWideAsPaper(browser) {
  const tab = await browser.open(page('compare'), {width: 1600, scheme: 'dark'});
  await tab.ask(in_page.watch_printing);
  const {data} = await tab.send('Page.printToPDF', {});
  assert.equal(Buffer.from(data, 'base64').subarray(0, 5).toString(), '%PDF-');
  assert.deepEqual(await tab.ask(() => window.printed), {theme: 'light', widest: true});
  assert.equal(await tab.ask(in_page.theme_in_force), 'dark');
  await leave(tab, 'printed');
}
