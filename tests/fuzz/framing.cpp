// SPDX-License-Identifier: Apache-2.0
// Whatever a stream or a file holds and however it comes, each record that fits into a tile is in one tile, whole, and
// the others are counted. An input is a line that says which framing, tile and pieces; the rest is the stream. C stands
// for captures.
#include "penstock/ingest/framing.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "fuzz/harness.hpp"

#include "ingest/file/chained_pieces.hpp"
#include "ingest/file/delimited_pieces.hpp"
#include "ingest/file/equal_pieces.hpp"
#include "ingest/framing/stream_cutter.hpp"
#include "penstock/error.hpp"

namespace penstock::fuzz {
namespace {

using Records = std::vector<std::string>;

std::span<std::byte const> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}
std::size_t at(std::string_view line, std::size_t place) {
  return place < line.size() ? static_cast<unsigned char>(line[place]) : 0;
}

FramingRef framing_of(std::string_view line) {
  switch (at(line, 0) % 5) {
    case 0:
      return lines();
    case 1:
      return delimited_by("<>");
    case 2:
      return equal_records(1 + at(line, 3) % 40);
    case 3:
      return length_prefixed({.bytes = 1, .more = 1});
    default:
      return length_prefixed({.bytes = 2, .order = ByteOrder::little, .before = 1, .more = 0, .most = 1000});
  }
}

/// All records of the stream one after the other, and whether it is damaged behind them.
struct Read {
  Records records;
  bool damaged = false;
};
Read read_all(Framing const& framing, std::string_view stream) {
  Read read;
  try {
    each_record(framing, bytes_of(stream), [&](auto record) { read.records.push_back(text_of(record)); });
  } catch (Error const&) {
    read.damaged = true;
  }
  return read;
}

/// True if the damage may be in a record that is too long for a tile: of that only the length is looked at.
bool may_pass(Read const& all, std::string_view stream, std::size_t tile_bytes) {
  std::size_t whole = 0;
  for (std::string const& record : all.records) whole += record.size();
  return all.damaged && stream.size() - whole > tile_bytes;
}

/// Checks what comes out of a StreamCutter.
void cut_stream(FramingRef const& framing, std::string_view stream, std::size_t tile_bytes, std::size_t piece) {
  Read const all = read_all(*framing, stream);
  StreamCutter cutter(framing, LongRecords::refuse);
  std::vector<std::byte> tile(tile_bytes);
  Records got;
  std::size_t taken = 0;
  try {
    for (bool ended = false; !ended || cutter.holds_rest();) {
      std::size_t held = cutter.begin(tile);
      for (bool ready = false; !ready;) {
        std::size_t const more = std::min({piece, tile_bytes - held, stream.size() - taken});
        std::copy_n(bytes_of(stream).begin() + static_cast<std::ptrdiff_t>(taken), more,
                    tile.begin() + static_cast<std::ptrdiff_t>(held));
        taken += more;
        ended = taken == stream.size();
        auto const cut = cutter.cut(tile, held + more, ended);
        held = cut.bytes;
        ready = cut.ready;
      }
      auto const whole = std::span(tile).first(held);
      require(held == 0 || text_of(whole) == stream.substr(static_cast<std::size_t>(cutter.offset()), held),
              "a tile is where the cutter says");
      // A record's statement about those behind it holds from tile to tile.
      TileRecords const records = cutter.take_records();
      each_record(records.framing != nullptr ? *records.framing : *framing, whole,
                  [&](auto record) { got.push_back(text_of(record)); });
    }
    require(!all.damaged || may_pass(all, stream, tile_bytes), "a damaged stream is refused");
    if (all.damaged) return;
  } catch (Error const& error) {
    require(all.damaged, (std::string("only a damaged stream is refused: ") + error.what()).c_str());
  }
  Records fit;
  std::ranges::copy_if(all.records, std::back_inserter(fit), [&](auto const& one) { return one.size() <= tile_bytes; });
  require(got == fit, "each record that fits comes once, whole, in order");
}

ChainedPieces::Read reader_of(std::string_view file) {
  return [file](std::uint64_t offset, std::span<std::byte> to) {
    auto const part = bytes_of(file.substr(static_cast<std::size_t>(offset), to.size()));
    std::ranges::copy(part, to.begin());
    return part.size();
  };
}

/// Checks what comes out of EqualPieces.
void cut_equal(FramingRef const& framing, std::string_view file, std::size_t tile_bytes) {
  EqualPieces const pieces(*framing, tile_bytes, 0);
  Records got;
  for (std::uint64_t begin = 0; begin < file.size();) {
    auto const piece = pieces.piece(begin, file.size());
    auto const records = bytes_of(file.substr(static_cast<std::size_t>(begin), piece.bytes));
    each_record(*framing, records, [&](auto record) { got.push_back(text_of(record)); });
    begin = piece.next;
  }
  require(got == read_all(*framing, file).records, "each record comes once, whole, in order");
}

/// Checks what comes out of DelimitedPieces.
void cut_delimited(FramingRef const& framing, std::string_view file, std::size_t tile_bytes) {
  DelimitedPieces const pieces(framing, tile_bytes, LongRecords::refuse);
  auto const read = reader_of(file);
  Records got;
  std::uint64_t refused = 0;
  for (DelimitedPieces::Place at; at.within_long || at.offset < file.size();) {
    auto const piece = pieces.next(read, at, file.size());
    require(piece.bytes <= tile_bytes, "a piece fits into a tile");
    require(piece.next.offset > at.offset || piece.next.within_long != at.within_long, "it goes on");
    auto const records = bytes_of(file.substr(static_cast<std::size_t>(piece.offset), piece.bytes));
    each_record(*framing, records, [&](auto record) { got.push_back(text_of(record)); });
    refused += piece.loss.refused;
    at = piece.next;
  }
  Records const all = read_all(*framing, file).records;
  Records fit;
  std::ranges::copy_if(all, std::back_inserter(fit), [&](auto const& one) { return one.size() <= tile_bytes; });
  require(got == fit, "each record that fits comes once, whole, in order");
  require(refused == all.size() - fit.size(), "each other one is counted");
}

/// Checks what comes out of the pieces of a capture.
void cut_capture(Framing::OfInput const& of, std::string_view file, std::size_t tile_bytes) {
  ChainedPieces pieces(of, tile_bytes, file.size(), LongRecords::refuse, true);
  auto const read = reader_of(file);
  std::vector<std::byte> tile(tile_bytes);
  Records got;
  RecordLoss loss;
  for (std::uint64_t number = 0; number < pieces.count() || pieces.more(); ++number) {
    auto const piece = pieces.read(read, number, tile);
    loss += piece.loss;
    auto const whole = std::span(tile).first(piece.bytes);
    require(text_of(whole) == file.substr(static_cast<std::size_t>(piece.offset), piece.bytes),
            "a piece is where it says");
    std::size_t const before = got.size();
    each_record(*piece.records.framing, whole, [&](auto record) { got.push_back(text_of(record)); });
    require(piece.records.places.size() == got.size() - before, "each record has a place");
  }
  Read all = read_all(*of.framing, file.substr(of.head));
  bool const passes = may_pass(all, file.substr(of.head), tile_bytes);
  std::erase_if(all.records, [&](auto const& one) { return one.size() > tile_bytes; });
  if (loss.refused == 0) {
    require(!all.damaged || pieces.problem() || passes, "a damaged capture is refused");
    require(all.damaged || pieces.problem() || got == all.records, "each packet comes once, whole, in order");
  }
  got.resize(std::min(got.size(), all.records.size()));
  require(loss.refused != 0 || got == all.records, "what is in front of damage comes");
}

void try_capture(std::string_view input, std::size_t tile_bytes, std::size_t piece) {
  Framing::OfInput of;
  try {
    of = captured_packets()->of_input(bytes_of(input.substr(0, captured_packets()->head_bytes())));
  } catch (Error const&) {
    return;
  }
  // A stream looks only at the length of a block that is too long for a tile, so what is behind it may be read
  // otherwise.
  std::string_view const blocks = input.substr(of.head);
  Read const all = read_all(*of.framing, blocks);
  auto const fits = [&](std::string const& one) { return one.size() <= tile_bytes; };
  if (std::ranges::all_of(all.records, fits) && !may_pass(all, blocks, tile_bytes)) {
    cut_stream(of.framing, blocks, tile_bytes, piece);
  }
  cut_capture(of, input, tile_bytes);
}

}  // namespace

void try_input(std::string_view input) {
  auto const line = take_until(input, '\n');
  if (at(line, 0) == 'C') {
    std::size_t const tile_bytes = 64 + 4 * at(line, 1);
    return try_capture(input, tile_bytes, 1 + at(line, 2));
  }
  auto const framing = framing_of(line);
  std::size_t const tile_bytes = 8 + at(line, 1);
  cut_stream(framing, input, tile_bytes, 1 + at(line, 2) % 64);
  if (DelimitedPieces::suit(*framing)) return cut_delimited(framing, input, tile_bytes);
  if (EqualPieces::suit(*framing) && framing->equal_bytes() <= tile_bytes) cut_equal(framing, input, tile_bytes);
}

}  // namespace penstock::fuzz
