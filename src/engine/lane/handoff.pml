// SPDX-License-Identifier: Apache-2.0
// How tiles get to a lane and tickets back, step by step, for the model checker spin. tests/support/model.sh runs it: as it is,
// and with each MISTAKE, which spin must find.
//
// What it holds: no tile is lost, retired twice, out of order or before the device has passed it, and no thread sleeps for
// ever, in whatever order their steps come. There is no watchdog in it and no spinning: the bell alone must do.
//
// Each statement is one step, so this is the code with sequentially consistent atomics; EventCount and Lane use these
// where it matters. What weaker orders could do the thread sanitizer and the contract tests look for.
// Two steps are one where no other process can undo what the first has waited for. What is only counted for the last assertions
// is no step of its own.

#ifndef TILES
#define TILES 3  // Submitted in all, by two threads; the second submits one.
#define SLOTS 2  // In flight at once.
#define EXTRA 0  // Tickets that are not owed: early or doubled.
#endif
#define CALLS 2  // Callbacks under way at once; the code has four for any number of slots.

#define NO_MISTAKE 0
#define SLEEPS_WITHOUT_LOOKING_AGAIN 1
#define RINGS_BEFORE_IT_PUTS 2
#define COUNTS_AFTER_IT_LOOKED 3
#define BELIEVES_EVERY_TICKET 4
#define TAKES_EVERY_TICKET_FOR_ONE_TILE 5
#define ARMS_NOTHING_BEFORE_IT_SLEEPS 6
#define SAYS_NOTHING_WHEN_IT_GIVES_BACK 7
#ifndef MISTAKE
#define MISTAKE NO_MISTAKE
#endif

#include "event_count.pml"

// LaneState, LanePost and Intake: what a lane shares with others.
EventCount bell;
// The inbox: a writer claims a place and then writes it; the lane sees nothing behind a place that is not written.
byte claimed = 0;
local byte taken = 0;
bool written[TILES + 1] = false;  // The last one never is.
chan tickets = [8] of { byte };
byte load = 0;
bool closed = false;

// The device: it passes the tiles that were put on it in turn, and calls back for those it was asked to.
byte put = 0;
byte passed = 0;
chan calls = [CALLS] of { byte };

// What the lane has done, and what must come of it.
local byte retired = 0;
byte submitted = 0;
byte refused = 0;
local byte completed = 0;
bool lane_ended = false;
local byte extra = EXTRA;

// The second step of Mailbox::push. The first comes with the look at `closed`: it shows nothing.
inline put_into_inbox() {
  atomic { written[place] = true; place = 0 }
}

// Lane::submit.
inline submit() {
#if MISTAKE != COUNTS_AFTER_IT_LOOKED
  load++;
#endif
  if
  :: closed ->
#if MISTAKE != COUNTS_AFTER_IT_LOOKED
    load--;
#endif
    refused++;
#if MISTAKE != SAYS_NOTHING_WHEN_IT_GIVES_BACK
    notify(bell)
#endif
  :: atomic { !closed -> place = claimed; claimed++; submitted++ };
#if MISTAKE == COUNTS_AFTER_IT_LOOKED
    load++;
#endif
#if MISTAKE == RINGS_BEFORE_IT_PUTS
    notify(bell);
    put_into_inbox()
#else
    put_into_inbox();
    notify(bell)
#endif
  fi
}

proctype submitter(byte count) {
  byte place;
  do
  :: count > 0 -> submit(); count--
  :: else -> break
  od
}

// Lane::stop_taking, at any moment.
proctype closer() {
  closed = true;
  notify(bell)
}

proctype device() {
  do
  :: atomic { passed < put -> passed++ }
  :: lane_ended -> break
  od
}

// A ticket that is not owed.
inline perhaps_ticket_too_many() {
  if
  :: extra > 0 -> extra--; tickets ! number; notify(bell)
  :: true
  fi
}

// The side stream: calls back in turn, once the device has passed what the call waits for.
proctype caller() {
  byte number;
  do
  :: calls ? <number> ->
    perhaps_ticket_too_many();
    if
    :: atomic { passed >= number -> tickets ! number }; notify(bell)
    :: passed < number && lane_ended
    fi;
    calls ? number
  :: lane_ended -> break
  od
}

inline retire_one() {
  retired++;
  assert(retired <= put);
  assert(retired <= passed);  // Never while the device may still write to it.
  completed++;
  load--
}

#if MISTAKE == SLEEPS_WITHOUT_LOOKING_AGAIN
#define WORK_WAITS false
#else
#define WORK_WAITS (len(tickets) > 0 || (written[taken] && put - retired < SLOTS) || (closed && load == 0))
#endif

// SideStream::arm: sees to it that a call is under way if a tile is in flight.
inline arm() {
  do
  :: atomic { asked < put && asked - heard < CALLS && len(calls) < CALLS -> asked++; calls ! asked }
  :: else -> break
  od
}

// Lane::serve.
active proctype lane() {
  byte number = 0;
  byte key = 0;
  byte asked = 0;  // The youngest tile that a call was asked for.
  byte heard = 0;  // The oldest of which the lane need not be called any more.
  run submitter(TILES - 1);
  run submitter(1);
  run closer();
  run device();
  run caller();
  do
  :: tickets ? number ->
#if MISTAKE == BELIEVES_EVERY_TICKET
    do
    :: retired < number -> retire_one()
    :: else -> break
    od
#elif MISTAKE == TAKES_EVERY_TICKET_FOR_ONE_TILE
    retire_one()
#else
    do  // As far as the device confirms, whatever the ticket says.
    :: retired < put && passed > retired -> retire_one()
    :: else -> break
    od
#endif
    ;
    heard = (retired > heard -> retired : heard);
    asked = (retired > asked -> retired : asked)
  :: len(tickets) == 0 && written[taken] && put - retired < SLOTS ->
    taken++;
    put++
  :: len(tickets) == 0 && !(written[taken] && put - retired < SLOTS) ->
    if
    :: closed && load == 0 -> break
    :: else
    fi;
#if MISTAKE != ARMS_NOTHING_BEFORE_IT_SLEEPS
    arm();
#endif
    await(bell, WORK_WAITS)
  od;
  lane_ended = true;
  (submitted + refused == TILES);
  assert(completed == submitted);
  assert(load == 0 && taken == claimed)
}
