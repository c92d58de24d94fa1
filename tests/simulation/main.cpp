// SPDX-License-Identifier: Apache-2.0
// penstock_simulation: runs small scenarios in one thread of the system, each as its seed says, to the byte.
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/chaos_case.hpp"
#include "chaos/crash_note.hpp"
#include "chaos/delays.hpp"
#include "chaos/scenarios.hpp"
#include "simulation/calls.hpp"
#include "simulation/machine_once.hpp"
#include "simulation/simulated_run.hpp"
#include <errno.h>
#include <time.h>
#include <unistd.h>

namespace penstock::simulation {
namespace {

using chaos::Case;
using chaos::Scenario;

/// None has files: reads and pipes are the system's, and take its time.
constexpr std::array scenarios{
    Scenario{"pipelines", chaos::run_pipelines, 8}, Scenario{"faults", chaos::run_faulty_pipelines, 3},
    Scenario{"records", chaos::run_records, 5},     Scenario{"pools", chaos::run_pools, 6},
    Scenario{"rundowns", chaos::run_rundowns, 3},   Scenario{"calls", run_calls, 1},
    Scenario{"deadlock", run_deadlock, 0},
};

char const* const usage =
    "usage: penstock_simulation [--scenario NAME|all] [--seed N] [--count M] [--seconds S] [--same] [--trace] "
    "[--quiet]\n"
    "                           [--until-found]\n"
    "  runs M seeds from N on, for at most S seconds, and prints a digest of each; --quiet prints the sum only\n"
    "  --same runs each seed twice: the digests must be the same; --trace prints each decision of the scheduler\n"
    "  --until-found ends with the first seed that fails\n"
    "  scenarios: pipelines faults records pools rundowns calls, and deadlock, which hangs\n"
    "  exit: 0 nothing was found, 1 a seed fails or hangs, 2 these words\n";

struct Arguments {
  std::string_view scenario = "all";
  std::uint64_t seed = 1;
  std::uint64_t count = 1;
  std::uint64_t seconds = 0;
  bool same = false;
  bool trace = false;
  bool quiet = false;
  bool until_found = false;
};

std::optional<Arguments> parse(int count, char** words) {
  Arguments all;
  for (int i = 1; i < count; ++i) {
    std::string_view const word = words[i];
    bool* const flag = word == "--same"          ? &all.same
                       : word == "--trace"       ? &all.trace
                       : word == "--quiet"       ? &all.quiet
                       : word == "--until-found" ? &all.until_found
                                                 : nullptr;
    if (flag != nullptr) {
      *flag = true;
      continue;
    }
    if (i + 1 == count) return std::nullopt;
    std::string_view const value = words[++i];
    if (word == "--scenario") {
      all.scenario = value;
      continue;
    }
    std::uint64_t* const number = word == "--seed"      ? &all.seed
                                  : word == "--count"   ? &all.count
                                  : word == "--seconds" ? &all.seconds
                                                        : nullptr;
    auto const given = chaos::number_in(value);
    if (number == nullptr || !given) return std::nullopt;
    *number = *given;
  }
  if (chaos::choose(scenarios, all.scenario, 0) == nullptr) return std::nullopt;
  return all;
}

/// One run of a seed. What outlives it is plain data: what the run allocates is gone.
struct Job {
  Scenario const* scenario = nullptr;
  std::uint64_t seed = 0;
  Case* now = nullptr;
  std::uint64_t digest = 0;
  std::array<char, 8192> failure{};  ///< A text; empty if nothing was found.

  void print_to_failure(char const* headline) {
    std::string text = std::string("\nFAILED, ") + headline + "\n  options: " + now->options() +
                       "\n  schedule: " + chaos::describe_schedule() + "\n  again: " + chaos::command_now.data() + '\n';
    for (auto const& finding : now->findings()) text += "  " + finding + '\n';
    std::snprintf(failure.data(), failure.size(), "%s", text.c_str());
  }
};

void run_job(void* given) {
  Job& job = *static_cast<Job*>(given);
  Case the_case(std::string(job.scenario->name), job.seed);
  job.now = &the_case;
  chaos::note_command("build/simulation/bin/" + std::string(program_invocation_short_name) + " --scenario " +
                      the_case.scenario() + " --seed " + std::to_string(job.seed) + " --trace");
  try {
    job.scenario->run(the_case);
  } catch (std::exception const& exception) {
    the_case.expect(false, std::string("it threw: ") + exception.what());
  }
  if (auto const findings = the_case.findings(); !findings.empty()) job.print_to_failure(findings.front().c_str());
  job.digest = the_case.digest();
}

void tell_where_it_is_stuck(void* given, char const* why) {
  Job& job = *static_cast<Job*>(given);
  job.print_to_failure(why);
  std::fprintf(stderr, "%s  addr2line -Cfipe PROGRAM shows what the stacks mean\n", job.failure.data());
}

struct Done {
  Ended ended;
  std::uint64_t digest = 0;
  bool good = true;
};

Done run_seed(Scenario const& scenario, std::uint64_t seed, bool trace) {
  Job job{.scenario = &scenario, .seed = seed};
  Done done{.ended = run(run_job, &job, tell_where_it_is_stuck, trace)};
  done.digest = chaos::Draw(done.ended.digest ^ job.digest).next();
  if (job.failure.front() != '\0') std::fputs(job.failure.data(), stderr), done.good = false;
  if (done.ended.left != 0) {
    std::fprintf(stderr, "\nFAILED, seed %llu: %llu threads are left at the end\n",
                 static_cast<unsigned long long>(seed), static_cast<unsigned long long>(done.ended.left));
    done.good = false;
  }
  return done;
}

double seconds_since(timespec const& began) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec - began.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - began.tv_nsec);
}

int run_all(Arguments const& arguments) {
  std::uint64_t number = 0, runs = 0, failures = 0, operations = 0, switches = 0;
  timespec began{};
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (; number < arguments.count; ++number) {
    if (arguments.seconds > 0 && seconds_since(began) >= static_cast<double>(arguments.seconds)) break;
    std::uint64_t const seed = arguments.seed + number;
    Scenario const& scenario = *chaos::choose(scenarios, arguments.scenario, seed);
    Done const done = run_seed(scenario, seed, arguments.trace);
    bool good = done.good;
    if (!arguments.quiet) {
      std::printf(
          "seed %llu %s digest %016llx operations %llu switches %llu threads %llu time %.3f ms\n",
          static_cast<unsigned long long>(seed), scenario.name.data(), static_cast<unsigned long long>(done.digest),
          static_cast<unsigned long long>(done.ended.operations), static_cast<unsigned long long>(done.ended.switches),
          static_cast<unsigned long long>(done.ended.fibers), 1e-6 * static_cast<double>(done.ended.nanoseconds));
    }
    if (arguments.same) {
      std::uint64_t const again = run_seed(scenario, seed, arguments.trace).digest;
      if (again != done.digest) {
        std::fprintf(stderr, "\nFAILED, seed %llu has two digests: %016llx %016llx\n",
                     static_cast<unsigned long long>(seed), static_cast<unsigned long long>(done.digest),
                     static_cast<unsigned long long>(again));
        good = false;
      }
    }
    runs += arguments.same ? 2 : 1;
    operations += done.ended.operations;
    switches += done.ended.switches;
    failures += good ? 0 : 1;
    if (!good && arguments.until_found) break;
  }
  double const seconds = seconds_since(began);
  std::fprintf(stderr,
               "%llu seeds, %llu runs, %llu operations, %llu switches in %.2f s, %.0f runs a second; %llu failed\n",
               static_cast<unsigned long long>(number), static_cast<unsigned long long>(runs),
               static_cast<unsigned long long>(operations), static_cast<unsigned long long>(switches), seconds,
               static_cast<double>(runs) / seconds, static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace penstock::simulation

int main(int count, char** words) {
  auto const arguments = penstock::simulation::parse(count, words);
  if (!arguments) {
    std::fputs(penstock::simulation::usage, stderr);
    return 2;
  }
  penstock::chaos::print_command_on_crash();
  penstock::simulation::look_at_machines();
  penstock::simulation::prepare();
  int const code = penstock::simulation::run_all(*arguments);
  std::fflush(nullptr);
  // It does not return: the destructors of variables that only runs have made would find nothing.
  _exit(code);
}
