// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/ledger_text.hpp"

#include <cstddef>
#include <cstdint>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"
#include "programs/work/shared_ledger.hpp"

namespace penstock::cli {
namespace {

HashedFile take_result(std::string_view& answer) {
  HashedFile file;
  file.path = take_text(answer);
  std::string_view const hex = take_text(answer);
  if (!hex.empty()) {
    Blake3Digest& digest = file.digest.emplace();
    for (std::size_t k = 0; k < digest.size() && 2 * k < hex.size(); ++k)
      digest[k] = std::byte{number_of<std::uint8_t>(hex.substr(2 * k, 2), 16)};
  }
  file.bytes = number_of<std::uint64_t>(take_text(answer));
  file.problem = take_text(answer);
  return file;
}

}  // namespace

void put_wanted(std::string& payload, std::string_view path, std::string_view problem) {
  put_text(payload, path);
  put_text(payload, problem);
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
  put_text(answer, file.path);
  put_text(answer, file.digest ? blake3_hex(*file.digest) : "");
  put_text(answer, std::to_string(file.bytes));
  put_text(answer, file.problem);
}

std::vector<HashedFile> results_of(std::string_view answer) {
  std::vector<HashedFile> files;
  while (!answer.empty()) files.push_back(take_result(answer));
  return files;
}

std::string purpose_of(std::vector<std::string> const& paths, Shard const& shard) {
  std::string all;
  for (std::string const& path : paths) {
    if (path == "-")
      throw Error(ErrorKind::bad_argument, "--ledger is for files that can be read again, and '-' is not: name files.");
    all += " " + quoted_word(path);
  }
  std::string const part =
      shard.is_all() ? "" : " shard " + std::to_string(shard.number) + " of " + std::to_string(shard.count) + " of";
  return purpose_of("penstock hash", part, all, count_text(paths.size(), "path"));
}

}  // namespace penstock::cli
