// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/hash_source.hpp"

#include <stdexcept>
#include <utility>

namespace penstock::cli {
namespace {

/// What is wrong with a file, as `penstock hash` says it.
std::string in_our_words(FileProblem const& problem) {
  char const* happened = nullptr;
  switch (problem.change()) {
    case FileChange::none:
      return problem.sentence();
    case FileChange::shrank:
      happened = "shrank";
      break;
    case FileChange::grew:
      happened = "grew";
      break;
    case FileChange::changed:
      happened = "changed";
      break;
    case FileChange::relinked:
      return "it was linked or removed while it was being hashed, which may hide a change; hash it again, if it is "
             "still there";
  }
  return std::string("it ") + happened + " while it was being hashed; hash it again when nobody writes to it";
}

}  // namespace

HashSource::HashSource(std::function<std::optional<WantedFile>()> next_file, Pool const& pool, HashBook& book,
                       std::stop_token stop)
    : next_file_(std::move(next_file)),
      tile_bytes_(pool.shape().input_bytes),
      book_(book),
      // Each tile but the last is a whole subtree of its file's tree, so they are full.
      files_([this] { return next_wanted(); }, pool, {.stop = std::move(stop), .observer = this, .linger = {}}) {}

std::optional<InputFile> HashSource::next_wanted() {
  auto wanted = next_file_();
  if (!wanted) return std::nullopt;
  expected_ = std::move(wanted->expected);
  shown_ = std::move(wanted->shown);
  InputFile input{.path = std::move(wanted->path), .folder = std::move(wanted->folder)};
  if (!wanted->problem.empty()) input.problem.emplace(wanted->problem);
  return input;
}

bool HashSource::next(Tile& tile) {
  if (!files_.next(tile)) return false;
  tile.tag = files_.place_of(tile).offset / blake3_chunk_bytes;
  return true;
}

std::size_t HashSource::fill(Tile& tile) {
  try {
    return files_.fill(tile);
  } catch (FileProblem const& problem) {
    throw std::runtime_error(in_our_words(problem));
  }
}

HashSource::Place HashSource::place_of(Tile const& tile) const {
  auto const place = files_.place_of(tile);
  return {place.file, place.offset / tile_bytes_};
}

void HashSource::opened(std::uint64_t /*file*/, InputFile const& input) {
  // The book numbers files as they come, as the source of files does.
  book_.open(input.path, std::move(expected_), std::move(shown_));
}

void HashSource::failed(std::uint64_t file, FileProblem const& problem) {
  book_.note(file, in_our_words(problem));
}

void HashSource::ended(std::uint64_t file, std::uint64_t tiles) {
  book_.close(file, tiles);
}

void HashSource::abandoned(std::uint64_t file, std::uint64_t tiles) {
  book_.abandon(file, tiles);
}

}  // namespace penstock::cli
