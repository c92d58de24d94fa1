// SPDX-License-Identifier: Apache-2.0
// Runs small programs again and again, each time refusing them one thing that a system may refuse, and holds every end
// to the same laws: no signal, no hang, no exit code but those that are documented, whole lines, a sentence, no tile
// lost.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "resources/cases.hpp"
#include <CLI/CLI.hpp>
#include <fnmatch.h>
#include <unistd.h>

namespace penstock::sweep {
namespace {

struct Options {
  Programs programs;
  std::string expected;
  std::vector<std::string> cases, axes;
  std::uint64_t every = 1;
  std::uint64_t first = 1;
  unsigned jobs = 2;
  std::int64_t patience = 120;
  bool verbose = false;
};

/// Findings of a sweep, by case, axis and fault.
class Findings {
 public:
  void add(std::string const& key, std::uint64_t number, Order const& order, Ended const& ended, bool verbose) {
    std::lock_guard const lock(mutex_);
    std::vector<std::uint64_t>& numbers = of_[key];
    if (numbers.empty() || verbose) {
      std::printf("%s at %llu:\n  %s\n%s%s", key.c_str(), static_cast<unsigned long long>(number),
                  shell_line(order).c_str(), ended.err.c_str(), ended.report.c_str());
      std::fflush(stdout);
    }
    numbers.push_back(number);
  }
  std::map<std::string, std::vector<std::uint64_t>> const& all() const { return of_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::uint64_t>> of_;
};

/// Tries one axis on one case, with several children at once.
std::uint64_t sweep(Options const& options, Case const& one, Axis const& axis, Findings& findings) {
  std::atomic<std::uint64_t> next{axis.first + (axis.last == 0 ? options.first - 1 : 0)}, runs{0};
  std::atomic<bool> over{false};
  // There are many calls to refuse, and few limits.
  std::uint64_t const every = options.every * (axis.name.starts_with("memory") || axis.last > 100 ? one.every : 1);
  auto const work = [&] {
    while (!over) {
      std::uint64_t const number = next.fetch_add(every);
      if (axis.last != 0 && number > axis.last) return;
      Order order = one.order;
      axis.refuse(order, number);
      Ended const ended = run_child(order, std::chrono::seconds(options.patience));
      ++runs;
      for (std::string const& fault : faults_of(ended, one.allowed)) {
        if (axis.tears && fault == "torn line") continue;
        findings.add(one.name + ' ' + axis.name + ": " + fault, number, order, ended, options.verbose);
      }
      // A program that met no refusal to its end meets none later either.
      if (axis.last == 0 && ended.report.find("refused") == std::string::npos) over = true;
    }
  };
  std::vector<std::jthread> threads;
  unsigned const jobs = axis.alone ? 1 : options.jobs;
  for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  return runs;
}

/// Findings that wait for a mending which is under way, a pattern as the shell's in each line.
std::vector<std::string> expected_in(std::string const& path) {
  std::vector<std::string> patterns;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') patterns.push_back(line);
  }
  return patterns;
}

bool chosen(std::vector<std::string> const& names, std::string const& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

int run(Options const& options) {
  std::filesystem::path const folder =
      std::filesystem::temp_directory_path() / ("penstock-sweep-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  struct Removal {
    std::filesystem::path folder;
    ~Removal() { std::filesystem::remove_all(folder); }
  } const removal{folder};

  Findings findings;
  for (Case const& one : all_cases(options.programs, folder, std::chrono::seconds(options.patience))) {
    if (!chosen(options.cases, one.name)) continue;
    for (Axis const& axis : all_axes()) {
      if (!chosen(options.axes, axis.name) || (!axis.only.empty() && !axis.only.contains(one.name))) continue;
      auto const started = std::chrono::steady_clock::now();
      std::uint64_t const runs = sweep(options, one, axis, findings);
      auto const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - started);
      std::printf("%-14s %-16s %6llu runs %8.1f s\n", one.name.c_str(), axis.name.c_str(),
                  static_cast<unsigned long long>(runs), took.count());
      std::fflush(stdout);
    }
  }
  std::vector<std::string> const expected = expected_in(options.expected);
  bool well = true;
  for (auto const& finding : findings.all()) {
    std::string const& key = finding.first;
    std::vector<std::uint64_t> const& numbers = finding.second;
    bool const known = std::ranges::any_of(
        expected, [&](std::string const& pattern) { return fnmatch(pattern.c_str(), key.c_str(), 0) == 0; });
    well = well && known;
    std::printf("%s  %s  %zu times, at", known ? "expected" : "FAULT   ", key.c_str(), numbers.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(numbers.size(), 12); ++i) {
      std::printf(" %llu", static_cast<unsigned long long>(numbers[i]));
    }
    std::printf("\n");
  }
  return well ? 0 : 1;
}

}  // namespace
}  // namespace penstock::sweep

int main(int count, char** words) try {
  CLI::App app("Refuses small programs one thing each time, and looks at how they end.");
  penstock::sweep::Options options;
  app.add_option("--penstock", options.programs.penstock, "The command")->required();
  app.add_option("--worlds", options.programs.worlds, "penstock_resource_worlds")->required();
  app.add_option("--lines", options.programs.lines, "The job that adds up lines")->required();
  app.add_option("--refusals", options.programs.refusals, "The library to preload")->required();
  app.add_option("--expected", options.expected, "A file of findings that wait for a mending");
  app.add_option("--case", options.cases, "Only these programs");
  app.add_option("--axis", options.axes, "Only these refusals");
  app.add_option("--every", options.every, "Only one number in so many")->check(CLI::PositiveNumber);
  app.add_option("--first", options.first, "Where calls are counted: the first to refuse")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "Programs at once")->check(CLI::PositiveNumber);
  app.add_option("--patience", options.patience, "Seconds until a program counts as hung")->check(CLI::PositiveNumber);
  app.add_flag("--verbose", options.verbose, "Show each finding, not only the first of its kind");
  CLI11_PARSE(app, count, words);
  return penstock::sweep::run(options);
} catch (std::exception const& error) {
  return std::fprintf(stderr, "sweep: %s\n", error.what()), 2;
}
