// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/decoding/members.hpp"
#include "ingest/file/open_file.hpp"
#include "ingest/file/text_head.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

constexpr std::size_t probe_bytes = std::size_t{64} << 10U;

/// True if lines end with "\n", as those of a text do that is read as it is.
bool may_be_divided(OpenFile const& file) {
  std::vector<std::byte> first(static_cast<std::size_t>(std::min<std::uint64_t>(text_head_bytes, file.size())));
  first.resize(file.read_at(0, first));
  if (compression_of(std::span(first).first(std::min(first.size(), input_magic_bytes)), true) != Compression::none)
    return false;
  add_first_end(file, first);
  auto const head = text_head_of(first, true);
  return head && !head->ends_by_cr;
}

/// Place behind the first "\n" from `from` on; the file's end if there is none.
std::uint64_t next_line(OpenFile const& file, std::uint64_t from) {
  std::vector<char> probe(probe_bytes);
  for (std::uint64_t at = from; at < file.size();) {
    auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(probe.size(), file.size() - at));
    std::size_t const got = file.read_at(at, std::as_writable_bytes(std::span(probe).first(wanted)));
    auto const* const end = static_cast<char const*>(std::memchr(probe.data(), '\n', got));
    if (end != nullptr) return at + static_cast<std::uint64_t>(end - probe.data()) + 1;
    if (got < wanted) break;
    at += got;
  }
  return file.size();
}

}  // namespace

std::vector<FileRange> line_ranges(std::string const& path, std::uint64_t bytes) try {
  OpenFile const file(path);
  if (!file.pieces() || file.size() <= bytes || !may_be_divided(file)) return {};
  std::vector<FileRange> ranges;
  for (std::uint64_t begin = 0; begin < file.size();) {
    std::uint64_t const rest = file.size() - begin;
    std::uint64_t const end = rest <= bytes ? file.size() : next_line(file, begin + bytes - 1);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
} catch (FileProblem const&) {
  return {};
}

}  // namespace penstock
