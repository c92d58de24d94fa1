// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>
#include <string>

#include "penstock/models/devices.hpp"
#include "programs/command/commands.hpp"
#include "programs/command/program.hpp"
#include "programs/doctor/doctor_command.hpp"
#include "programs/hash/hash_command.hpp"
#include "programs/work/work_command.hpp"
#ifdef PENSTOCK_MEASURING
#include "anyprogram/try/try_command.hpp"
#include "anyprogram/watch/watch_command.hpp"
#include "course/lab_command.hpp"
#include "programs/bench/bench_command.hpp"
#include "programs/compare/compare_command.hpp"
#include "programs/measure/pace_probe.hpp"
#include "programs/tune/tune_command.hpp"
#endif

int main(int count, char** arguments) try {
  using namespace penstock::cli;
  HashCommand hash;
  DoctorCommand doctor;
  WorkCommand work;
  hash.arguments.assign(arguments + 1, arguments + count);
  hash.command_line = doctor.command_line = command_text(count, arguments);
#ifdef PENSTOCK_MEASURING
  LabCommand lab;
  BenchCommand bench;
  CompareCommand compare;
  compare.choose_factor = penstock::measure::choose_factor;
  TuneCommand tune;
  TryCommand tried;
  WatchCommand watch;
  lab.command_line = bench.sweep.command_line = compare.sweep.command_line = tune.command_line = hash.command_line;
  tried.command_line = watch.command_line = hash.command_line;
#endif
  Commands commands("Feeds a GPU, or the CPU in its place, from many threads.",
                    penstock::flavour() == penstock::Flavour::legacy ? "penstock-legacy" : "penstock",
                    build_text(PENSTOCK_VERSION, penstock::flavour(), penstock::built_with_cuda()));
  commands.add("hash", "Print the BLAKE3 hash of files, as b3sum does",
               "a file could not be read, or a hash does not match", hash,
               "penstock hash /usr/include > sums\n"
               "penstock hash --check --quiet sums\n"
               "penstock hash --device cuda --trace trace.json large-file\n");
  commands.add("doctor", "Say what this machine is and what would hold a pipeline back", "", doctor,
               "penstock doctor\n"
               "penstock doctor --read large-file\n"
               "penstock doctor --list-models\n");
  commands.add("work", "Keep processes at work on a ledger, and replace those that fail",
               "a lease is parked, or the workers left some", work,
               "penstock work --ledger run.ledger --workers 4 -- ./program run.ledger\n"
               "penstock work --ledger run.ledger --metrics 127.0.0.1:9464 -- ./program run.ledger\n"
               "penstock work --ledger run.ledger --status --json\n");
#ifdef PENSTOCK_MEASURING
  commands.add("lab", "Try out how streams order and overlap what a device does",
               "an experiment did not go as expected, or could not be judged", lab,
               "penstock lab legacy-between\n"
               "penstock lab --device model:h200 --trace trace.json issue-order\n"
               "penstock lab --source streams\n");
  commands.add("bench", "Measure pipelines over named axes: threads, lanes, sizes, signals",
               "a point was not measured, or input is missing from it", bench,
               "penstock bench --producers 1,2,4 --tile 4KiB..1MiB*16 --html page.html\n"
               "penstock bench --fill file --file large-file --work hash --csv\n"
               "penstock bench --device model:h200 --lanes 1..4 --json\n");
  commands.add("compare", "Measure the legacy build against the per-thread one, in turn",
               "a point was not measured, a claim does not hold, or programs differ or cannot be compared", compare,
               "penstock compare --producers 1,4 --tile 4KiB --html page.html\n"
               "penstock compare --work busy:500us --expect 'speed_up >= 1.5'\n"
               "penstock compare --programs ./before ./after --result out.bin -- input\n");
  commands.add("tune", "Look for the best threads, lanes, sizes and signal for a job, and save them",
               "nothing was found within --memory", tune,
               "penstock tune --within 30 --save profile.json\n"
               "penstock tune --for latency --tile 64KiB --load 0.3\n"
               "penstock tune --device model:h200 --lanes 1,2 --json\n");
  commands.add("try", "Run any CUDA program as it is and with per-thread default streams, in turn",
               "results differ, cannot be compared, or are in order only by the legacy default stream", tried,
               "penstock try -- ./program input\n"
               "penstock try --repeats 9 --result out.bin --html page.html -- ./program\n");
  commands.add("watch", "Say where the time of any CUDA program goes, and if streams would help",
               "the program failed or used no GPU, or a claim does not hold", watch,
               "penstock watch -- python3 train.py\n"
               "penstock watch --expect 'overlap > 0.6' --trace trace.json -- ./program\n"
               "penstock watch --read logs/1234.watch --json\n");
#else
  commands.lacks({"lab", "bench", "compare", "tune", "try", "watch"},
                 "it is built with -D PENSTOCK_MEASURING=OFF, as ./dev demo does; ./dev build makes all commands");
#endif
  int const code = commands.run(count, arguments);
  // A driver that starts cannot be stopped. It is not needed, and none of our objects may end beside it.
  if (hash.leaves_device_starting()) std::_Exit(code);
  return code;
} catch (std::exception const& exception) {
  return penstock::cli::complain(exception);
}
