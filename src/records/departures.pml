// SPDX-License-Identifier: Apache-2.0
// When packs of records leave, step by step, for the model checker spin: writers put them on their desks, sinks bring
// tiles back, each looks whether something should leave, and one may drain it all. tests/support/model.sh runs it: as it is,
// and with each MISTAKE, which spin must find.
//
// What it holds: once all is quiet no pack that is enough for hungry lanes lies on a desk, though no thread watches a
// clock; each record is sent once; and once it was drained no thread adds one or sends one. Each statement is one step, so this
// is the code with its sequentially consistent atomics.

#ifndef WRITERS
#define WRITERS 2  // Each with a desk.
#define RECORDS 2  // Of each writer.
#define ROOM 2     // Records in a tile.
#define HUNGRY 1   // Departures::hungry_below_
#define SINKS 1    // Threads that bring tiles back.
#define DRAINS 0   // 1: a thread may drain, at any moment.
#endif

#ifndef LEAST
#define LEAST 1  // Records that are enough for hungry lanes: Departures::least_bytes_
#endif

#define NO_MISTAKE 0
// A thread that puts a pack down does not look again whether it could leave.
#define NO_SECOND_LOOK 1
// A thread that brings a tile back looks before it has counted it.
#define LOOKS_BEFORE_IT_IS_BACK 2
// A thread that finds that the writer was quicker does not look once more.
#define GIVES_UP_TOO_SOON 3
// A sender takes the pack first and puts it back if the lanes are not hungry.
#define PUTS_IT_BACK 4
// The thread that drains does not wait for those at work.
#define DRAINS_PAST_THE_WRITER 5
// A writer looks whether records are still let in before it takes its pack up.
#define LOOKS_BEFORE_IT_IS_AT_WORK 6
// The thread that drains does not wait for those that took a pack and have not sent it yet.
#define DRAINS_PAST_WHO_SENDS 7
// A writer leaves its desk before its pack is sent.
#define LEAVES_BEFORE_IT_IS_SENT 8
// The thread that drains does not look again at a desk whose writer was quicker.
#define LOOKS_ONCE 9
#ifndef MISTAKE
#define MISTAKE NO_MISTAKE
#endif

#define NOTHING (0)
#define PACK (1)
#define AT_WORK (2)

byte desk[WRITERS];
byte count[WRITERS];  // Records of the pack on the desk, or at work.
byte under_way;
byte sending;  // Departures::sending_
byte sent;     // Tiles that no sink has brought back yet.
bool closed, drained;
byte written, left, writing = WRITERS;

inline enter(entered) {
  atomic {
    entered = under_way < HUNGRY;
    if
      ::entered->under_way++ ::else fi
  }
}
inline take_from(number, taken) {
  atomic {
    taken = desk[number] == PACK;
    if
      ::taken->desk[number] = NOTHING;
    records = count[number];
    count[number] = 0 ::else fi
  }
}
// What comes behind the end of the input would be refused.
inline go() {
  atomic {
    assert(!drained);
    sent++;
    left = left + records;
    records = 0
  }
}
inline look() {
  do ::under_way < HUNGRY->found = WRITERS;
  i = 0;
  do ::i < WRITERS->if ::desk[i] == PACK&& count[i] >= LEAST->found = i ::else fi;
  i++ ::else->break od;
  if
    ::found == WRITERS->break ::else fi;
  if
    ::MISTAKE == PUTS_IT_BACK->take_from(found, got);
  if
    ::!got->break ::else fi;
  enter(entered);
  if
    ::entered->go()::else->atomic {
      desk[found] = PACK;
      count[found] = records;
      records = 0
    }
  fi ::else->enter(entered);
  if
    ::!entered->break ::else fi;
  sending++;
  take_from(found, got);
  if
    ::got->go();
  sending-- ::else->under_way--;
  sending--;
  if
    ::MISTAKE == GIVES_UP_TOO_SOON->break ::else fi fi fi ::else->break od;
  skip;
  d_step {
    i = 0;
    found = 0;
    got = false;
    entered = false
  }  // Fewer states.
}
// With `had` records in the pack, or none for no pack.
inline put_down() {
  entered = false;
  if
    ::had >= LEAST->enter(entered)::else fi;
  if
    ::entered&& MISTAKE == LEAVES_BEFORE_IT_IS_SENT->atomic {
      desk[me] = NOTHING;
      records = had
    };
  go()::entered&& MISTAKE != LEAVES_BEFORE_IT_IS_SENT->records = had;
  go();
  desk[me] = NOTHING ::had == 0->desk[me] = NOTHING ::else->atomic {
    desk[me] = PACK;
    count[me] = had
  };
  if
    ::MISTAKE != NO_SECOND_LOOK->look()::else fi fi;
  skip;
  d_step {
    entered = false;
    had = 0
  }
}

proctype writer(byte me) {
  byte i, found, records, had, round;
  bool entered, got;
  do ::round == RECORDS->break ::else->round++;
  if
    ::MISTAKE == LOOKS_BEFORE_IT_IS_AT_WORK && closed->break ::else fi;
  // A pack that was put back on a writer at work is lost with what the writer puts down.
  atomic {
    had = (desk[me] == PACK->count[me] : 0);
    desk[me] = AT_WORK;
    count[me] = 0
  };
  if
    ::MISTAKE != LOOKS_BEFORE_IT_IS_AT_WORK && closed->put_down();
  break ::else fi;
  if
    ::had == ROOM->under_way++;
  atomic {
    records = had;
    had = 0
  };
  go()::else fi;
  atomic {
    had++;
    written++;
    assert(!drained)
  };
  put_down() od;
  writing--
}

active[SINKS] proctype sink() {
  byte i, found, records;
  bool entered, got;
end_waits:
  do ::atomic {
      sent > 0->sent--
    }
  if
    ::MISTAKE == LOOKS_BEFORE_IT_IS_BACK->look();
  under_way-- ::else->under_way--;
  look() fi od
}

proctype drainer() {
  byte number, records;
  bool got;
  closed = true;
  do
    ::number == WRITERS->break ::else->do ::desk[number] == NOTHING->break ::desk[number] == AT_WORK&& MISTAKE ==
        DRAINS_PAST_THE_WRITER->break ::desk[number] == AT_WORK&& MISTAKE != DRAINS_PAST_THE_WRITER->desk[number] !=
        AT_WORK ::desk[number] == PACK->take_from(number, got);
  if
    ::got->under_way++;
  go()::!got && MISTAKE == LOOKS_ONCE->break ::!got && MISTAKE != LOOKS_ONCE fi od;
  number++ od;
  if
    ::MISTAKE != DRAINS_PAST_WHO_SENDS->sending == 0 ::else fi;
  drained = true
}

init {
  byte number;
  atomic {
    do ::number < WRITERS->run writer(number);
    number++ ::else->break od;
    if
      ::DRAINS == 1->run drainer()::true fi
  }
  timeout;
  number = 0;
  do ::number < WRITERS->assert(desk[number] == NOTHING || (desk[number] == PACK && count[number] < LEAST && !drained));
  left = left + count[number];
  number++ ::else->break od;
  assert(writing == 0 && sent == 0 && under_way == 0 && left == written)
}
