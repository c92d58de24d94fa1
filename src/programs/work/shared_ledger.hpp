// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/lease/ledger.hpp"

// What commands have in common that share their work by a ledger: each fills it, works on it, and prints what it has.
//
// Threads: any.
namespace penstock::cli {

/// Part of a process in the work on a ledger.
enum class LedgerRole : std::uint8_t {
  alone,      ///< It works, and prints the results of all.
  worker,     ///< It works; the process that started it prints.
  supervisor  ///< It fills the ledger, and prints; its workers work.
};

/// LedgerOptions::most_tries. Users end processes often, so the end of a process is seldom the fault of its leases.
inline constexpr std::uint32_t most_tries_of_work = 100;
/// LeaseSourceOptions::leases.
inline constexpr std::size_t leases_at_once = 16;
/// A lease ends with the file that reaches one of these. Its files are read anew where a process ends, so they are not
/// many; a lease costs the ledger as much as several small files cost to read.
inline constexpr std::size_t most_files_of_lease = 128;
inline constexpr std::uint64_t most_bytes_of_lease = std::uint64_t{64} << 20;
inline constexpr std::size_t most_path_bytes_of_lease = std::size_t{64} << 10;

/// Adds a text to a lease or an answer. It ends with a zero, which no path has.
void put_text(std::string& to, std::string_view text);
/// Takes the first text from what is left of a lease or an answer.
std::string_view take_text(std::string_view& from);
/// The number in these digits; 0 for others.
template <class Number>
Number number_of(std::string_view digits, int base = 10) {
  Number number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return number;
}

/// As a shell has it, so that one path with a space is not two.
std::string quoted_word(std::string_view word);
/// What a ledger is for: "COMMAND, in FOLDER, of PART WORDS", with the folder of this process. Of many words a
/// checksum says which, and `count` says how many there are.
///
/// Shape: `part` and `words` each begin with a blank, if they are not empty.
std::string purpose_of(std::string_view command, std::string const& part, std::string const& words,
                       std::string const& count);

/// True for the problem of a process or a machine that has no descriptors or no memory left.
bool is_shortage(std::string_view problem);

/// The program's command line, as a worker of it has it. `arguments` are those of the program, its command first.
std::vector<std::string> worker_command(std::vector<std::string> const& arguments);

/// Goes through the leases of a ledger that is finished, in the order of their numbers. Answers come in pages of that
/// many, each of which may have LeaseWork::most_bytes.
///
/// Throws: as Ledger::answers, and what the functions throw.
void each_result(Ledger& ledger, std::size_t page, std::function<void(LeaseAnswer const&)> const& answered,
                 std::function<void(ParkedLease const&)> const& parked);

/// Throws: Error of kind unsupported: this build has no component `lease`.
[[noreturn]] void refuse_ledgers();

}  // namespace penstock::cli
