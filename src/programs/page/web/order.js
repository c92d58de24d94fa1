// SPDX-License-Identifier: Apache-2.0
'use strict';

// What only the legacy default stream keeps in order in a process: `hazards` of docs/commands/watch.md.
function order_parts(hazards) {
  const most = 100;
  const pairs = hazards?.pairs ?? [];
  const counted = (count, one, many) => (count ? `${numbers.plain(count, 9)} ${count === 1 ? one : many}` : null);
  const side = ({call, thread, stream, correlation, writes}) => [
    element('strong', {}, call),
    ` of ${thread} in ${stream}, which ${writes ? 'writes' : 'reads'} (correlation ${correlation})`,
  ];
  const launches = numbers.list(
    [
      counted(hazards?.launches, 'pair of launches', 'pairs of launches'),
      counted(hazards?.launches_and_copies, 'pair of a launch and a copy', 'pairs of a launch and a copy'),
    ].filter(Boolean),
  );
  const sentences = [
    launches && `Of kernels it is not known which bytes they touch: only the legacy stream keeps ${launches} in order.`,
    hazards?.told &&
      `${counted(hazards.told, 'pair is', 'pairs are')} in order if the thread that waited told the other one, which ` +
        'is not seen.',
    hazards?.unordered &&
      `${counted(hazards.unordered, 'pair', 'pairs')} on the same bytes have no order as the program is.`,
    hazards?.unknown_bytes &&
      `${counted(hazards.unknown_bytes, 'copy or graph was', 'copies or graphs were')} left out: it is not known which bytes ` +
        'they touch.',
    hazards?.complete === false && 'The log does not have all calls, so there may be more.',
    pairs.length > most && `${pairs.length - most} more are in the data.`,
  ].filter(Boolean);
  return [
    pairs.length
      ? plain_table(
          'Table of pairs',
          [['times'], ['first', true], ['then', true], ['bytes they share']],
          pairs
            .slice(0, most)
            .map((pair) => [
              numbers.plain(pair.count, 9),
              side(pair.first ?? {}),
              side(pair.second ?? {}),
              numbers.plain(pair.bytes, 9),
            ]),
        )
      : remark('No copies, memsets or graphs on the same bytes.'),
    ...sentences.map((sentence) => element('p', {class: 'note'}, sentence)),
  ];
}
