// SPDX-License-Identifier: Apache-2.0
// penstock_ledger_simulation: processes on a ledger that are killed, stopped and cut from their disk as a seed says.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/scenarios.hpp"
#include "lease/simulation/ledger_run.hpp"
#include "lease/simulation/mistakes.hpp"
#include <unistd.h>

namespace penstock::simulation {
namespace {

char const* const usage =
    "usage: penstock_ledger_simulation [--seed N] [--count M] [--seconds S] [--trace] [--mistakes]\n"
    "  runs M seeds from N on, for at most S seconds, and says what was wrong with the first that is not clean\n"
    "  --mistakes shows after how many of the seeds each seeded mistake is found; --trace prints each step\n"
    "  exit: 0 all is well, 1 a seed is not clean or a mistake is not found, 2 these words\n";

struct Arguments {
  std::uint64_t seed = 1, count = 1, seconds = 0;
  bool trace = false, mistakes = false;
};

bool parse(int count, char** words, Arguments& all) {
  for (int i = 1; i < count; ++i) {
    std::string_view const word = words[i];
    if (word == "--trace" || word == "--mistakes") {
      (word == "--trace" ? all.trace : all.mistakes) = true;
      continue;
    }
    std::uint64_t* const number = word == "--seed"      ? &all.seed
                                  : word == "--count"   ? &all.count
                                  : word == "--seconds" ? &all.seconds
                                                        : nullptr;
    auto const given = i + 1 < count ? chaos::number_in(words[++i]) : std::nullopt;
    if (number == nullptr || !given) return false;
    *number = *given;
  }
  return true;
}

/// A folder in memory, if the system has one: what is on the disk is the simulation's affair.
std::string folder() {
  std::filesystem::path const memory = "/dev/shm";
  auto const parent = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return parent / ("penstock-ledger-" + std::to_string(getpid()));
}

/// Runs seeds until one is not clean. Returns that one, or nothing; `finding` is the first of what was wrong.
std::optional<std::uint64_t> first_unclean(Arguments const& arguments, std::string& finding, std::uint64_t& done) {
  auto const began = std::chrono::steady_clock::now();
  for (done = 0; done < arguments.count; ++done) {
    if (arguments.seconds != 0 && std::chrono::steady_clock::now() - began > std::chrono::seconds(arguments.seconds))
      break;
    LedgerRun run(arguments.seed + done, folder(), arguments.trace);
    if (auto const& findings = run.run(); !findings.empty()) return finding = findings.front(), arguments.seed + done;
  }
  return std::nullopt;
}

int find_mistakes(Arguments const& arguments) {
  std::printf("%-26s %6s  %s\n", "mistake", "seeds", "what it was found by");
  bool all_found = true;
  for (Mistake const& mistake : all_mistakes()) {
    make_mistake(&mistake);
    std::string finding;
    std::uint64_t done = 0;
    auto const seed = first_unclean(arguments, finding, done);
    bool const found = seed && mistake_was_made();
    all_found = all_found && found;
    std::printf("%-26.*s %6s  %s\n", static_cast<int>(mistake.name.size()), mistake.name.data(),
                found ? std::to_string(done + 1).c_str() : ("> " + std::to_string(done)).c_str(),
                found                ? finding.c_str()
                : mistake_was_made() ? "NOT FOUND"
                                     : "NOT MADE: no statement has its text");
  }
  return all_found ? 0 : 1;
}

int run(Arguments const& arguments) {
  if (arguments.mistakes) return find_mistakes(arguments);
  std::string finding;
  std::uint64_t done = 0;
  auto const seed = first_unclean(arguments, finding, done);
  if (!seed) return std::printf("%llu seeds are clean\n", static_cast<unsigned long long>(done)), 0;
  std::printf("FAILED, seed %llu: %s\n  again: penstock_ledger_simulation --seed %llu --trace\n",
              static_cast<unsigned long long>(*seed), finding.c_str(), static_cast<unsigned long long>(*seed));
  return 1;
}

}  // namespace
}  // namespace penstock::simulation

int main(int count, char** words) {
  using namespace penstock::simulation;
  Arguments arguments;
  if (!parse(count, words, arguments)) return std::fputs(usage, stderr), 2;
  int code = 1;
  try {
    code = run(arguments);
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "penstock_ledger_simulation: %s\n", failure.what());
  }
  std::error_code problem;
  std::filesystem::remove_all(folder(), problem);
  return code;
}
