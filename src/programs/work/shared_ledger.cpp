// SPDX-License-Identifier: Apache-2.0
#include "programs/work/shared_ledger.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include "engine/core/failure_text.hpp"
#include "engine/core/fnv.hpp"
#include "penstock/error.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {

void put_text(std::string& to, std::string_view text) {
  to += text;
  to += '\0';
}

std::string_view take_text(std::string_view& from) {
  std::size_t const end = std::min(from.find('\0'), from.size());
  std::string_view const text = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return text;
}

std::string quoted_word(std::string_view word) {
  std::string text = "'";
  for (char const letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string purpose_of(std::string_view command, std::string const& part, std::string const& words,
                       std::string const& count) {
  constexpr std::size_t longest = 300;
  std::string const text = std::string(command) + ", in " + std::filesystem::current_path().string() + ", of" + part;
  if (words.size() <= longest) return text + words;
  std::uint64_t const sum = fnv(std::as_bytes(std::span(words)));
  return text + words.substr(0, longest) + " ... " + count + ", " + std::to_string(sum);
}

bool is_shortage(std::string_view problem) {
  constexpr std::array<int, 3> numbers{EMFILE, ENFILE, ENOMEM};
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](int number) { return problem.find(system_problem(number)) != std::string_view::npos; });
}

std::vector<std::string> worker_command(std::vector<std::string> const& arguments) {
  std::vector<std::string> command{this_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // Behind the command's name: what follows "--" is no option.
  command.insert(command.begin() + 2, "--as-worker");
  return command;
}

void each_result(Ledger& ledger, std::size_t page, std::function<void(LeaseAnswer const&)> const& answered,
                 std::function<void(ParkedLease const&)> const& parked) {
  constexpr std::size_t parked_page = 256;
  std::map<std::uint64_t, ParkedLease> apart;
  for (std::uint64_t after = 0;;) {
    auto some = ledger.parked(after, parked_page);
    if (some.empty()) break;
    after = some.back().number;
    for (ParkedLease& one : some) apart.emplace(one.number, std::move(one));
  }
  auto const parked_before = [&](std::uint64_t number) {
    while (!apart.empty() && apart.begin()->first < number) {
      parked(apart.begin()->second);
      apart.erase(apart.begin());
    }
  };
  for (std::uint64_t after = 0;;) {
    auto const some = ledger.answers(after, page);
    if (some.empty()) break;
    for (LeaseAnswer const& one : some) {
      parked_before(one.number);
      answered(one);
    }
    after = some.back().number;
  }
  parked_before(~std::uint64_t{0});
}

void refuse_ledgers() {
  throw Error(ErrorKind::unsupported,
              "This build has no ledgers, as SQLite was not there: install libsqlite3-dev, and build penstock again.");
}

}  // namespace penstock::cli
