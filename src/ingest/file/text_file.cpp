// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "ingest/file/decoded_stream.hpp"
#include "ingest/file/open_file.hpp"
#include "ingest/file/text_head.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30U;

std::string read_all(std::string const& path, std::stop_token const& stop) {
  auto const file = std::make_shared<OpenFile>(path);
  DecodedStream stream(file);
  std::string text;
  for (bool ended = false; !ended;) {
    std::size_t const held = text.size();
    if (held >= most_bytes) throw FileProblem("it has more than 1 GiB of text; make it smaller");
    text.resize(held + DecodedStream::read_bytes);
    auto const got = stream.gather(std::as_writable_bytes(std::span(text)).subspan(held), {}, stop);
    text.resize(held + got.bytes);
    ended = got.ended;
    if (stop.stop_requested()) throw FileProblem("a stop was requested before all of it had been read");
  }
  file->expect_unchanged();
  return text;
}

}  // namespace

std::string read_text(std::string const& path, std::stop_token const& stop) try {
  std::string text = read_all(path, stop);
  auto const all = std::as_writable_bytes(std::span(text));
  auto const first = all.first(std::min(all.size(), text_head_bytes));
  auto const head = text_head_of(has_end_of_line(first) ? first : all, true);
  if (head->ends_by_cr) end_lines_by_lf(all);
  return text.substr(head->mark);
} catch (FileProblem const& problem) {
  throw FileProblem(path, problem);
}

}  // namespace penstock
