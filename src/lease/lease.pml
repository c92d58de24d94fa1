// SPDX-License-Identifier: Apache-2.0
// How leases change hands, step by step, for the model checker spin: processes take leases and settle them, die, are
// silent and wake late; a sweeper looks for owners that are gone and acts later, by what it saw. tests/support/model.sh
// runs it: as it is, and with each MISTAKE, which spin must find.
//
// What it holds: no lease is answered twice or by an owner that lost it; an owner that is heard from keeps what it has; a
// lease is parked only if it is to blame; and whatever happens, each lease is answered or parked at the end: a state that
// nothing leads out of is an error. An exchange is one step, as it is one transaction.

#ifndef OWNERS
#define OWNERS 2    // Processes at a time. One that dies is replaced.
#define TRIES 3     // LedgerOptions::most_tries
#define KILLS 0     // Processes that are killed for no reason.
#define SILENCES 1  // Times at which an owner's promise is over before it is heard from again.
#endif

#define NO_MISTAKE 0
// A settlement is taken from whoever has had the lease.
#define ASKS_FOR_NO_OWNER 1
// What a process had when it died stays out.
#define LEAVES_IT_OUT 2
// Leases of dead processes are no suspects.
#define MAKES_NO_SUSPECTS 3
// Suspects go out with others.
#define SUSPECTS_IN_BATCHES 4
// An owner that was heard from after the sweeper's look loses its leases.
#define TRUSTS_AN_OLD_LOOK 5
// A try is counted when it is settled.
#define COUNTS_LATE 6
// A process ends when nothing is ready.
#define ENDS_TOO_SOON 7
#ifndef MISTAKE
#define MISTAKE NO_MISTAKE
#endif

#define READY (0)
#define OUT (1)
#define DONE (2)
#define PARKED (3)

// Two leases. The first kills each process that works on it.
#define DEADLY (0)
#define LAST (1)
byte state[2], owner[2], try[2], charged[2], answers[2];
bool suspect[2];

// Numbers of owners are never given again.
#define IDS (OWNERS + KILLS + TRIES)
bool alive[IDS];    // Its lock is held.
bool known[IDS];    // It has a row.
bool overdue[IDS];  // It promised to be heard from, and was not.
bool heard[IDS];    // It was heard from since the sweeper looked.
byte ids, kills, silences, ended;

#define over(l) (state[l] == DONE || state[l] == PARKED)
#define is_gone(d) (known[d] && (!alive[d] || overdue[d]))
#define stuck(l) (state[l] == OUT && is_gone(owner[l]))
#define some_work (state[0] == READY || state[LAST] == READY || stuck(0) || stuck(LAST))

// Makes ready what an owner had, or parks it.
inline let_go(gone) {
  known[gone] = false;
  for (l : 0 .. LAST) {
    if
    :: state[l] == OUT && owner[l] == gone && MISTAKE != LEAVES_IT_OUT ->
       suspect[l] = (MISTAKE != MAKES_NO_SUSPECTS);
       state[l] = (charged[l] >= TRIES -> PARKED : READY);
       assert(state[l] == READY || l == DEADLY)  // Nothing else is to blame.
    :: else
    fi
  }
}

// A process says of some of its leases that they are answered, and hears which are no longer its own.
inline settle() {
  for (l : 0 .. LAST) {
    is_own = (state[l] == OUT && owner[l] == id && try[l] == own_try[l]) || MISTAKE == ASKS_FOR_NO_OWNER;
    if
    :: mine[l] && is_own ->
       if
       :: state[l] = DONE;
          answers[l]++;
          assert(answers[l] == 1);
          mine[l] = false
       :: skip
       fi
    :: mine[l] && !is_own ->
       assert(excused);
       mine[l] = false
    :: else
    fi
  }
  excused = false
}

// It takes a suspect alone, or of the others any number.
inline take() {
  has_suspect = (mine[0] && suspect[0]) || (mine[LAST] && suspect[LAST]);
  a_suspect = (state[0] == READY && suspect[0]) || (state[LAST] == READY && suspect[LAST]);
  for (l : 0 .. LAST) {
    if
    :: state[l] == READY && (MISTAKE == SUSPECTS_IN_BATCHES || (!a_suspect && !has_suspect) ||
                             (suspect[l] && !mine[0] && !mine[LAST])) ->
       if
       :: state[l] = OUT;
          owner[l] = id;
          try[l]++;
          charged[l] = charged[l] + (MISTAKE != COUNTS_LATE);
          own_try[l] = try[l];
          mine[l] = true
       :: skip
       fi
    :: else
    fi
  }
}

proctype Owner() {
  byte id, l, d, own_try[2];
  bool mine[2], is_own, has_suspect, a_suspect, excused;
born:
  atomic {
    assert(ids < IDS);  // The deadly lease kills no more than it may.
    id = ids;
    ids++;
    alive[id] = true;
    known[id] = true;
    mine[0] = false;
    mine[LAST] = false
  }
  do
  :: atomic {
       // It sleeps until an exchange would change something. If all sleep for ever, that is an error.
       (mine[0] || mine[LAST] || some_work) ->
       if
       :: mine[DEADLY] -> goto dies
       :: else
       fi;
       known[id] = true;
       heard[id] = true;
       overdue[id] = false;
       settle();
       for (d : 0 .. IDS - 1) {
         if
         :: is_gone(d) -> let_go(d)
         :: else
         fi
       }
       take()
     }
  :: atomic {
       (mine[0] || mine[LAST]) && kills < KILLS ->
       kills++;
       goto dies
     }
  :: atomic {
       (mine[0] || mine[LAST]) && silences < SILENCES ->
       silences++;
       overdue[id] = true;
       excused = true
     }
  :: (over(0) && over(LAST)) -> break
  :: (MISTAKE == ENDS_TOO_SOON && state[0] != READY && state[LAST] != READY && !mine[0] && !mine[LAST]) -> break
  od;
  atomic {
    ended++;
    assert(ended < OWNERS || (over(0) && over(LAST) && state[DEADLY] == PARKED));
    goto gone
  }
dies:
  atomic {
    alive[id] = false;
    goto born
  }
gone:
  skip
}

// Looks at one moment, and acts at another, by what it saw.
proctype Sweeper() {
  byte l, seen;
  do
  :: atomic {
       stuck(0) || stuck(LAST) ->
       seen = (stuck(0) -> owner[0] : owner[LAST]);
       heard[seen] = false
     }
     atomic {
       if
       :: known[seen] && (!heard[seen] || MISTAKE == TRUSTS_AN_OLD_LOOK) -> let_go(seen)
       :: else
       fi
     }
  :: ended == OWNERS -> break
  od
}

init {
  byte k;
  atomic {
    for (k : 1 .. OWNERS) {
      run Owner()
    }
    run Sweeper()
  }
}
