// SPDX-License-Identifier: Apache-2.0
// EventCount for the models of this folder: one waits, and any number notify.

typedef EventCount {
  byte epoch;
  byte waiters;
  bool asleep
}

inline notify(count) {
  count.epoch++;
  if
  :: count.waiters != 0 -> count.asleep = false
  :: else
  fi
}

// One turn of await: takes a key, looks once more, and sleeps until it is notified. A thread that waits has a byte `key`.
inline await(count, ready) {
  count.waiters++;
  key = count.epoch;
  if
  :: ready -> count.waiters--
  :: else ->
    atomic {  // The futex compares and sleeps in one step.
      if
      :: count.epoch == key -> count.asleep = true
      :: else
      fi
    }
    (!count.asleep);
    count.waiters--
  fi
}
