// SPDX-License-Identifier: Apache-2.0
// penstock_chaos: runs small scenarios under schedules that follow from a seed.
#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/chaos_case.hpp"
#include "chaos/crash_note.hpp"
#include "chaos/delays.hpp"
#include "chaos/scenarios.hpp"
#include "chaos/watchdog.hpp"
#include <time.h>

namespace penstock::chaos {
namespace {

constexpr std::array scenarios{
    Scenario{"pipelines", run_pipelines, 8}, Scenario{"faults", run_faulty_pipelines, 3},
    Scenario{"records", run_records, 5},     Scenario{"files", run_files, 2},
    Scenario{"pools", run_pools, 6},         Scenario{"rundowns", run_rundowns, 3},
};

char const* const usage =
    "usage: penstock_chaos [--scenario NAME|all] [--seed N] [--count M] [--seconds S] [--same] [--until-found]\n"
    "  runs M seeds from N on, for at most S seconds; --same runs seed N again and again;\n"
    "  --until-found ends with the first seed that fails\n"
    "  scenarios: pipelines faults records files pools rundowns\n";

struct Arguments {
  std::string scenario = "all";
  std::uint64_t seed = 1;
  std::uint64_t count = 1;
  std::uint64_t seconds = 0;
  bool same = false;
  bool until_found = false;
};

std::optional<Arguments> parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    std::string_view const word = words[i];
    if (word == "--same" || word == "--until-found") {
      (word == "--same" ? arguments.same : arguments.until_found) = true;
      continue;
    }
    if (i + 1 == count) return std::nullopt;
    std::string_view const value = words[++i];
    if (word == "--scenario") {
      arguments.scenario = value;
      continue;
    }
    std::uint64_t* const number = word == "--seed"      ? &arguments.seed
                                  : word == "--count"   ? &arguments.count
                                  : word == "--seconds" ? &arguments.seconds
                                                        : nullptr;
    if (number == nullptr) return std::nullopt;
    auto const given = number_in(value);
    if (!given) return std::nullopt;
    *number = *given;
  }
  if (choose(scenarios, arguments.scenario, 0) == nullptr) return std::nullopt;
  return arguments;
}

/// True if nothing was found.
bool run_one(Scenario const& scenario, std::uint64_t seed, Watchdog& watchdog) {
  Case the_case(std::string(scenario.name), seed);
  note_command(command_for(the_case));
  watchdog.watch(&the_case);
  try {
    scenario.run(the_case);
  } catch (std::exception const& exception) {
    the_case.expect(false, std::string("it threw: ") + exception.what());
  }
  std::string const schedule = describe_schedule();
  calm();
  watchdog.watch(nullptr);
  auto const findings = the_case.findings();
  if (findings.empty()) return true;
  std::fprintf(stderr, "\nFAILED\n  options: %s\n  schedule: %s\n  again: %s\n", the_case.options().c_str(),
               schedule.c_str(), command_for(the_case).c_str());
  for (auto const& finding : findings) std::fprintf(stderr, "  %s\n", finding.c_str());
  return false;
}

int run_all(Arguments const& arguments) {
  Watchdog watchdog;
  std::array<std::uint64_t, scenarios.size()> runs{};
  std::uint64_t failures = 0, number = 0;
  timespec began{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (; number < arguments.count; ++number) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (arguments.seconds > 0 && static_cast<std::uint64_t>(now.tv_sec - began.tv_sec) >= arguments.seconds) break;
    std::uint64_t const seed = arguments.seed + (arguments.same ? 0 : number);
    Scenario const& scenario = *choose(scenarios, arguments.scenario, seed);
    ++runs[static_cast<std::size_t>(&scenario - scenarios.data())];
    if (run_one(scenario, seed, watchdog)) continue;
    ++failures;
    if (arguments.until_found) break;
  }
  std::printf("%llu seeds and %llu operations in %ld s, %llu failed:", static_cast<unsigned long long>(number),
              static_cast<unsigned long long>(operations()), static_cast<long>(now.tv_sec - began.tv_sec),
              static_cast<unsigned long long>(failures));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::printf(" %s %llu", scenarios[i].name.data(), static_cast<unsigned long long>(runs[i]));
  }
  std::printf("\n");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace penstock::chaos

int main(int count, char** words) {
  auto const arguments = penstock::chaos::parse(count, words);
  if (!arguments) {
    std::fputs(penstock::chaos::usage, stderr);
    return 2;
  }
  penstock::chaos::print_command_on_crash();
  return penstock::chaos::run_all(*arguments);
}
