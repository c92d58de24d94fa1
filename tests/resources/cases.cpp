// SPDX-License-Identifier: Apache-2.0
#include "resources/cases.hpp"

#include <cstddef>
#include <fstream>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace penstock::sweep {
namespace {

void at_call(Order& order, char const* kind, std::uint64_t number, char const* how = "") {
  order.environment.push_back("PENSTOCK_REFUSE=" + std::string(kind) + ':' + std::to_string(number) + how);
}

}  // namespace

std::vector<Axis> all_axes() {
  constexpr std::uint64_t mib = 1U << 20U;
  auto const limit = [](int resource, std::uint64_t unit) {
    return [=](Order& order, std::uint64_t number) { order.limits.push_back({resource, number * unit}); };
  };
  // A user of its own, so that no other process counts.
  auto const processes = [](Order& order, std::uint64_t number) {
    order.user = 200'000 + static_cast<unsigned>(getpid()) % 50'000;
    order.limits.push_back({RLIMIT_NPROC, number});
  };
  std::vector<Axis> axes{
      {.name = "memory", .refuse = [](Order& order, std::uint64_t n) { at_call(order, "memory", n); }},
      {.name = "memory-for-good", .refuse = [](Order& order, std::uint64_t n) { at_call(order, "memory", n, "-"); }},
      {.name = "thread", .refuse = [](Order& order, std::uint64_t n) { at_call(order, "thread", n); }},
      {.name = "thread-for-good", .refuse = [](Order& order, std::uint64_t n) { at_call(order, "thread", n, "-"); }},
      {.name = "mapping", .refuse = [](Order& order, std::uint64_t n) { at_call(order, "mapping", n); }},
      // The C++ runtime has no memory left for an exception in 8 MiB, and ends the program at the first one.
      {.name = "address-space", .first = 9, .last = 1024, .refuse = limit(RLIMIT_AS, mib)},
      {.name = "descriptors", .first = 3, .last = 40, .refuse = limit(RLIMIT_NOFILE, 1)},
      {.name = "locked-memory", .first = 0, .last = 16, .refuse = limit(RLIMIT_MEMLOCK, 4096)},
      {.name = "file-size", .first = 0, .last = 150, .refuse = limit(RLIMIT_FSIZE, 1), .tears = true},
  };
  if (geteuid() == 0)
    axes.push_back(
        {.name = "processes",
         .last = 24,
         .refuse = processes,
         .only = {"hash", "hash-ordered", "check", "world-pull", "world-push", "world-records", "world-files"},
         .alone = true});
  return axes;
}

std::vector<Case> all_cases(Programs const& programs, std::filesystem::path const& folder,
                            std::chrono::seconds patience) {
  for (auto const& [name, bytes] : {std::pair("small", 700), std::pair("large", 70'000)}) {
    std::ofstream file(folder / name);
    for (int i = 0; i < bytes; ++i) file.put(static_cast<char>(i % 251));
  }
  {
    std::ofstream file(folder / "numbers");
    for (int i = 0; i < 2'000; ++i) file << i % 97 << ' ' << i << '\n';
  }
  auto const program = [&](std::string name, std::vector<std::string> words, std::set<int> codes) {
    return Case{std::move(name),
                {.words = std::move(words), .folder = folder.string(), .preload = programs.refusals},
                {.codes = std::move(codes)}};
  };
  auto const penstock = [&](std::string name, std::vector<std::string> const& words) {
    std::vector<std::string> all{programs.penstock};
    all.insert(all.end(), words.begin(), words.end());
    Case one = program(std::move(name), std::move(all), {0, 1, 4});
    // CLI11, which reads the options, ends a program that has no memory for one of its names.
    one.order.environment.emplace_back("PENSTOCK_REFUSE_FROM=thread");
    return one;
  };
  std::vector<Case> cases{
      penstock("hash", {"hash", "--device", "cpu", "--producers", "2", "--lanes", "2", "--consumers", "2", "--tile",
                        "16KiB", "small", "large"}),
      penstock("hash-one-lane", {"hash", "--device", "cpu", "--no-progress", "--producers", "1", "--lanes", "1",
                                 "--tile", "16KiB", "large", "small", "large"}),
      penstock("hash-ordered", {"hash", "--device", "cpu", "--producers", "2", "--lanes", "1", "--consumers", "3",
                                "--ordered", "yes", "--tile", "16KiB", "large", "small", "large"}),
      penstock("check", {"hash", "--device", "cpu", "--check", "sums"}),
      penstock("trace", {"hash", "--device", "cpu", "--trace", "trace.json", "small"}),
      penstock("doctor", {"doctor", "--device", "cpu"}),
      penstock("bench", {"bench", "--device", "cpu", "--window", "10", "--repeats", "1", "--one-process", "--tile",
                         "4KiB", "--load", "0", "--no-ceilings", "--no-verdict", "--csv"}),
      penstock("bench-children", {"bench", "--device", "cpu", "--window", "10", "--repeats", "1", "--tile", "4KiB",
                                  "--load", "0", "--no-ceilings", "--no-verdict", "--csv"}),
      // The defaults and no more, so that it ends at once; where it cannot measure them it ends with a sentence.
      penstock("tune",
               {"tune", "--device", "cpu", "--within", "0", "--tile", "4KiB", "--producers", "1", "--lanes", "1"}),
  };
  Case sums_of_lines = penstock("lines", {"run", "--device", "cpu", "--tile", "4KiB", "--input", "numbers"});
  sums_of_lines.order.words.front() = programs.lines;
  sums_of_lines.allowed.any_if_not_well = true;
  sums_of_lines.every = 2;
  cases.push_back(std::move(sums_of_lines));
  for (std::string const world : {"pull", "push", "records", "files"}) {
    std::vector<std::string> words{programs.worlds, world};
    if (world == "files") words.insert(words.end(), {"large", "small"});
    cases.push_back(program("world-" + world, words, {0, 3}));
  }
  for (Case& one : cases) {
    if (one.name == "doctor" || one.name == "tune" || one.name.starts_with("bench")) one.every = 20;
  }
  // A disturbed run may print what an undisturbed one prints.
  Ended const sums = run_child(cases.front().order, patience);
  std::ofstream(folder / "sums") << sums.out;
  for (Case& one : cases) {
    if (!one.name.starts_with("hash") && one.name != "lines") continue;
    std::string const out = run_child(one.order, patience).out;
    for (std::size_t from = 0, end = 0; (end = out.find('\n', from)) != std::string::npos; from = end + 1) {
      one.allowed.lines.insert(out.substr(from, end - from));
    }
  }
  return cases;
}

}  // namespace penstock::sweep
