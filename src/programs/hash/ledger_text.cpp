// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/ledger_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "engine/core/fnv.hpp"
#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// Texts in a lease or an answer end with a zero, which no path has.
void put(std::string& to, std::string_view text) {
  to += text;
  to += '\0';
}
std::string_view take_text(std::string_view& from) {
  std::size_t const end = std::min(from.find('\0'), from.size());
  std::string_view const text = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return text;
}

/// The number in these digits; 0 for others.
template <class Number>
Number number_of(std::string_view digits, int base) {
  Number number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return number;
}

HashedFile take_result(std::string_view& answer) {
  HashedFile file;
  file.path = take_text(answer);
  std::string_view const hex = take_text(answer);
  if (!hex.empty()) {
    Blake3Digest& digest = file.digest.emplace();
    for (std::size_t k = 0; k < digest.size() && 2 * k < hex.size(); ++k)
      digest[k] = std::byte{number_of<std::uint8_t>(hex.substr(2 * k, 2), 16)};
  }
  file.bytes = number_of<std::uint64_t>(take_text(answer), 10);
  file.problem = take_text(answer);
  return file;
}

/// As a shell has it, so that one path with a space is not two.
std::string quoted(std::string const& path) {
  std::string text = "'";
  for (char const letter : path) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

}  // namespace

void put_wanted(std::string& payload, std::string_view path, std::string_view problem) {
  put(payload, path);
  put(payload, problem);
}

std::vector<WantedFile> files_of(std::string_view payload) {
  std::vector<WantedFile> files;
  while (!payload.empty()) {
    WantedFile& file = files.emplace_back();
    file.path = take_text(payload);
    file.problem = take_text(payload);
  }
  return files;
}

void put_result(std::string& answer, HashedFile const& file) {
  put(answer, file.path);
  put(answer, file.digest ? blake3_hex(*file.digest) : "");
  put(answer, std::to_string(file.bytes));
  put(answer, file.problem);
}

std::vector<HashedFile> results_of(std::string_view answer) {
  std::vector<HashedFile> files;
  while (!answer.empty()) files.push_back(take_result(answer));
  return files;
}

std::string purpose_of(std::vector<std::string> const& paths, Shard const& shard) {
  constexpr std::size_t longest = 300;
  std::string all;
  for (std::string const& path : paths) {
    if (path == "-")
      throw Error(ErrorKind::bad_argument, "--ledger is for files that can be read again, and '-' is not: name files.");
    all += " " + quoted(path);
  }
  std::string text = "penstock hash, in " + std::filesystem::current_path().string() + ", of";
  if (!shard.is_all()) text += " shard " + std::to_string(shard.number) + " of " + std::to_string(shard.count) + " of";
  if (all.size() <= longest) return text + all;
  std::uint64_t const sum = fnv(std::as_bytes(std::span(all)));
  return text + all.substr(0, longest) + " ... " + count_text(paths.size(), "path") + ", " + std::to_string(sum);
}

}  // namespace penstock::cli
