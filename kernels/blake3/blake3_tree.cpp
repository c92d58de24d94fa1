// SPDX-License-Identifier: Apache-2.0
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

bool is_empty(Blake3Node const& node) {
  return node.length == 0;
}

}  // namespace

void Blake3Tree::add(std::uint64_t index, Blake3Node const& node) {
  if (index < taken_ || early_.contains(index)) {
    throw Error(ErrorKind::bad_argument,
                "Tile " + std::to_string(index) + " was added to its file's tree twice: each tile belongs there once.");
  }
  if (index != taken_) {
    early_.emplace(index, node);
    return;
  }
  append(node);
  for (auto next = early_.begin(); next != early_.end() && next->first == taken_; next = early_.erase(next)) {
    append(next->second);
  }
}

void Blake3Tree::append(Blake3Node const& node) {
  ++taken_;
  if (is_empty(node) && taken_ > 1) return;
  if (last_) {
    Blake3Value value = blake3_value(*last_);
    // This is binary counting: each trailing 0 of the number of tiles is a pair of equal subtrees that can be joined.
    for (std::uint64_t tiles = appended_; tiles % 2 == 0; tiles /= 2) {
      value = blake3_value(blake3_parent(stack_.back(), value));
      stack_.pop_back();
    }
    stack_.push_back(value);
  }
  last_ = node;
  ++appended_;
}

Blake3Digest Blake3Tree::finish(std::uint64_t tiles) const {
  if (tiles == 0) {
    throw Error(ErrorKind::bad_argument, "A file has at least one tile: add an empty one for an empty file.");
  }
  if (taken_ < tiles) {
    throw Error(ErrorKind::bad_argument, "Tile " + std::to_string(taken_) + " of " + std::to_string(tiles) +
                                             " is missing: add every tile before finishing the tree.");
  }
  if (taken_ > tiles || !early_.empty()) {
    throw Error(ErrorKind::bad_argument,
                "More than the " + std::to_string(tiles) + " tiles of the file were added to its tree.");
  }
  Blake3Node node = *last_;
  for (auto left = stack_.rbegin(); left != stack_.rend(); ++left) node = blake3_parent(*left, blake3_value(node));
  return blake3_root(node);
}

std::string blake3_hex(Blake3Digest const& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (std::byte const byte : digest) {
    hex += digits[std::to_integer<std::size_t>(byte >> 4)];
    hex += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return hex;
}

}  // namespace penstock
