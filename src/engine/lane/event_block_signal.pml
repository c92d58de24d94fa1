// SPDX-License-Identifier: Apache-2.0
// How the signal event_block brings tickets, step by step, for the model checker spin: the lane, the thread beside it that
// waits for events, and the waits that go back and forth between them. tests/support/model.sh runs it: as it is, and with each
// MISTAKE, which spin must find.
//
// What it holds: the lane writes to no wait that the thread is at, neither sleeps for ever, and the thread ends when
// the signal does, in whatever order their steps come. There is no watchdog in it, so no wait ends early either: while the lane
// sleeps with a tile in flight, a ticket must be to come. How tiles get to the lane, and what it makes of tickets that are
// wrong, is in handoff.pml.
//
// Each statement is one step, so this is the code with sequentially consistent atomics, as EventCount has them. What the
// weaker ones of the signal could do the thread sanitizer and the contract tests look for.
// Two steps are one where no other process can undo what the first has waited for.

#ifndef TILES
#define TILES 3  // In all.
#define SLOTS 2  // In flight at once.
#define WAITS 2  // Under way at once; the code has four. With a single one no later ticket makes up for a mistake.
#endif

#define NO_MISTAKE 0
#define SLEEPS_WITHOUT_LOOKING_AGAIN 1
#define NOTIFIES_BEFORE_IT_COUNTS 2
#define COUNTS_BEFORE_IT_WRITES 3
#define TAKES_A_WAIT_AFTER_IT_COUNTS 4
#define WRITES_TO_A_WAIT_THAT_IS_NOT_FREE 5
#define FREES_THE_WAIT_AFTER_ITS_TICKET 6
#define RINGS_BEFORE_IT_PUTS_THE_TICKET 7
#define ENDS_WITHOUT_A_WORD 8
#define SLEEPS_THOUGH_IT_IS_TO_END 9
#ifndef MISTAKE
#define MISTAKE NO_MISTAKE
#endif

#include "event_count.pml"

// LanePost and Intake: what a lane shares with others.
EventCount bell;
byte inbox = 0;
chan tickets = [8] of { byte };

// EventBlockSignal: what the lane and the thread share. An event is passed when the device has passed its tile; one that
// was never recorded has none, and is passed.
EventCount work;
byte event[WAITS] = 0;
byte number[WAITS] = 0;
bool is_free[WAITS] = true;
byte recorded = 0;
bool ending = false;

// The device passes the tiles that were put on it in turn.
byte put = 0;
byte passed = 0;

// What must come of it.
#define NONE 255
byte at = NONE;  // The wait that the thread is at.
local byte retired = 0;
bool thread_ended = false;
bool lane_ended = false;

proctype submitter() {
  byte count = TILES;
  do
  :: count > 0 -> inbox++; notify(bell); count--
  :: else -> break
  od
}

proctype device() {
  do
  :: atomic { passed < put -> passed++ }
  :: lane_ended -> break
  od
}

#if MISTAKE == SLEEPS_WITHOUT_LOOKING_AGAIN
#define MORE false
#elif MISTAKE == SLEEPS_THOUGH_IT_IS_TO_END
#define MORE (recorded != done)
#else
#define MORE (recorded != done || ending)
#endif

inline put_ticket() {
#if MISTAKE == RINGS_BEFORE_IT_PUTS_THE_TICKET
  notify(bell);
  tickets ! own
#else
  tickets ! own;
  notify(bell)
#endif
}

// EventBlockSignal::body.
proctype waiter() {
  byte done = 0;
  byte own = 0;
  byte until = 0;
  byte key = 0;
  do
  :: recorded == done && !ending -> await(work, MORE)
  :: recorded == done && ending -> break
  :: recorded != done ->
    atomic {
      at = done % WAITS;
      own = number[at];
      done++
    }
    until = event[at];  // Its latest record, at the time of the call.
    (passed >= until);
#if MISTAKE == FREES_THE_WAIT_AFTER_ITS_TICKET
    put_ticket();
    atomic { is_free[at] = true; at = NONE }
#else
    atomic { is_free[at] = true; at = NONE };
    put_ticket()
#endif
  od;
  thread_ended = true
}

#define OLDEST under_way[asked % WAITS]
#define FURTHEST (youngest > retired -> youngest : retired)

// EventBlockSignal::arm, with any throttle.
inline arm() {
  do
  :: OLDEST <= retired && FURTHEST < put ->
#if MISTAKE != WRITES_TO_A_WAIT_THAT_IS_NOT_FREE
    if
    :: is_free[asked % WAITS]
    :: else -> break
    fi;
#endif
    atomic {  // The next tile, or any after it.
      next = FURTHEST + 1;
      do
      :: next < put -> next++
      :: true -> break
      od
    }
#if MISTAKE == COUNTS_BEFORE_IT_WRITES
    recorded++;
#endif
    assert(at != asked % WAITS);
    event[asked % WAITS] = next;
    assert(at != asked % WAITS);
    number[asked % WAITS] = next;
#if MISTAKE != TAKES_A_WAIT_AFTER_IT_COUNTS
    is_free[asked % WAITS] = false;
#endif
#if MISTAKE == NOTIFIES_BEFORE_IT_COUNTS
    notify(work);
#endif
#if MISTAKE != COUNTS_BEFORE_IT_WRITES
    recorded++;
#endif
#if MISTAKE == TAKES_A_WAIT_AFTER_IT_COUNTS
    is_free[asked % WAITS] = false;
#endif
#if MISTAKE != NOTIFIES_BEFORE_IT_COUNTS
    notify(work);
#endif
    atomic {
      OLDEST = next;
      youngest = next;
      asked++
    }
  :: youngest > retired -> break  // The throttle leaves the rest for later.
  :: !(OLDEST <= retired && FURTHEST < put) -> break
  od
}

#define MAY_TAKE (inbox > 0 && put - retired < SLOTS)

// Lane::serve, and the end of its signal.
active proctype lane() {
  byte key = 0;
  byte next = 0;
  byte asked = 0;             // Waits so far.
  byte under_way[WAITS] = 0;  // CallbackThrottle: the tiles that were asked for last,
  byte youngest = 0;          // and of these the last.
  run submitter();
  run device();
  run waiter();
  do
  :: tickets ? _ ->
    do  // As far as the device confirms, whatever the ticket says.
    :: passed > retired -> retired++
    :: else -> break
    od
  :: passed > retired -> retired++  // It may ask the device itself, at any time.
  :: len(tickets) == 0 && MAY_TAKE ->
    inbox--;
    put++;
    if  // A lane that is busy does not.
    :: arm()
    :: true
    fi
  :: len(tickets) == 0 && !MAY_TAKE ->
    if
    :: retired == TILES -> break
    :: else
    fi;
    arm();
    await(bell, (len(tickets) > 0 || MAY_TAKE))
  od;
  ending = true;
#if MISTAKE != ENDS_WITHOUT_A_WORD
  notify(work);
#endif
  (thread_ended);
  lane_ended = true
}
