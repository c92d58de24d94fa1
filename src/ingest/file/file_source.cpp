// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "engine/core/own_process.hpp"
#include "ingest/file/file_source_parts.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

FileSource::NextFile one_by_one(std::vector<std::string> paths) {
  return [paths = std::move(paths), at = std::size_t{0}]() mutable -> std::optional<InputFile> {
    if (at == paths.size()) return std::nullopt;
    return InputFile{.path = paths[at++]};
  };
}

}  // namespace

FileSource::FileSource(NextFile next_file, Pool const& pool, FileSourceOptions options)
    : parts_(std::make_unique<Parts>(std::move(next_file), pool, std::move(options))) {}

FileSource::FileSource(std::vector<std::string> const& paths, Pool const& pool, FileSourceOptions options)
    : FileSource(one_by_one(paths), pool, std::move(options)) {}

FileSource::~FileSource() {
  left_to_parent(parts_);
}

void FileSource::serve(Pool const& pool) {
  parts_->serve(pool);
}

bool FileSource::next(Tile& tile) {
  return parts_->next(tile);
}

std::size_t FileSource::fill(Tile& tile) {
  return parts_->fill(tile);
}

std::vector<std::string> FileSource::remarks() const {
  return parts_->remarks();
}

std::vector<LeftOut> FileSource::left_out() const {
  return parts_->left_out();
}

RecordLoss FileSource::loss() const {
  return parts_->loss();
}

FileSource::Place FileSource::place_of(Tile const& tile) const {
  return parts_->place_of(tile);
}

}  // namespace penstock
