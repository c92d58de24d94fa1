// SPDX-License-Identifier: Apache-2.0
// How a pool whose borrowers watch hands out its tiles: a thread that takes a tile back leaves it to the borrower
// that watches, which may give up at any moment. No tile may lie at home while a thread sleeps for one and none is on its way.
//
// Sinks bring the tiles home. A borrower hands its tile on to them or keeps it for ever, as one does whose source
// takes long: so nothing heals later what was missed. That the tile which ends the overtaking goes past the queue is left to
// chance, as it may come at any time.

// A borrower that gave up watching sleeps without another look at what was left to it.
#define NO_LOOK_BEFORE_SLEEP 1
// A borrower that gives up does not say so.
#define WATCHED_FOR_EVER 2
// A borrower that watched leaves with its tile and wakes none for another that is home.
#define NOBODY_IS_SERVED 3
// A borrower that is woken wakes none in turn.
#define NO_CHAIN 4
// A thread that takes a tile back looks for sleepers before the tile is home.
#define SEES_NO_SLEEPER 5

// TileQueue: a push takes a place, and then writes there; a pop sees nothing behind a place that is not written.
#define PLACES (8)
bool written[PLACES];
byte first, last;
#define HOME (written[first])

byte out = TILES;  // On the way home.
byte sleepers;  // Waiters
bool watched;
bool locked;
byte queue[BORROWERS];
bool given[BORROWERS];

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }
inline pop(got) {
  atomic {
    if
    :: HOME -> written[first] = false; first = (first + 1) % PLACES; got = true
    :: else -> got = false
    fi
  }
}
// Under the lock, to the first that sleeps.
inline give() {
  d_step {
    given[queue[0]] = true;
    for (i : 1 .. BORROWERS - 1) { queue[i - 1] = queue[i] }
    sleepers--
  }
}
// Under the lock.
inline serve(at_most) {
  served = 0;
  do
  :: served < at_most && sleepers > 0 ->
    pop(found);
    if
    :: found -> give(); served++
    :: else -> break
    fi
  :: else -> break
  od
}
inline serve_next() {
  if
  :: sleepers == 0
  :: else ->
    if
    :: watched || !HOME
    :: else -> lock(); serve(1); unlock()
    fi
  fi
}
inline take_back() {
  seen = sleepers;
  if
  :: seen != 0 ->  // It may be the one that ends the overtaking.
    lock();
    if
    :: sleepers > 0 -> give(); unlock(); goto done
    :: else -> unlock()
    fi
  :: true
  fi;
  d_step { place = last; last = (last + 1) % PLACES }
  written[place] = true;
  if
  :: MISTAKE != SEES_NO_SLEEPER -> seen = sleepers
  :: else
  fi;
  if
  :: seen == 0
  :: else ->
    if
    :: watched
    :: else -> lock(); serve(TILES); unlock()
    fi
  fi
}

active [BORROWERS] proctype borrower() {
  byte i, served, rounds;
  bool got, found, other;
  do
  :: rounds == ROUNDS -> break
  :: else ->
    rounds++;
    got = false;
    if
    :: sleepers == 0 -> pop(got)
    :: else
    fi;
    if
    :: got -> goto have
    :: else
    fi;
    atomic { other = watched; watched = true }
    if
    :: other
    :: else ->
      do
      :: pop(got) -> if :: got -> break :: else fi
      :: break  // It gives up.
      od;
      if
      :: got || MISTAKE != WATCHED_FOR_EVER -> watched = false
      :: else
      fi;
      if
      :: got && MISTAKE != NOBODY_IS_SERVED -> serve_next()
      :: else
      fi
    fi;
    if
    :: got -> goto have
    :: else
    fi;
    lock();
    d_step { queue[sleepers] = _pid; sleepers++ }
    if
    :: MISTAKE != NO_LOOK_BEFORE_SLEEP -> serve(TILES)
    :: else
    fi;
    unlock();
end_asleep:
    given[_pid] -> given[_pid] = false;
    if
    :: MISTAKE != NO_CHAIN -> serve_next()
    :: else
    fi;
have:
    if
    :: true -> break  // It keeps it.
    :: out++
    fi
  od
}

active [SINKS] proctype sink() {
  byte i, served, seen, place;
  bool found;
  do
  :: atomic { out > 0 -> out-- }
    take_back();
done:
    skip
  :: timeout -> assert((!HOME && first == last) || sleepers == 0); break
  od
}
