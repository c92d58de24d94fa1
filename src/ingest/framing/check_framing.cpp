// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {
namespace {

using Bytes = std::span<std::byte const>;

/// The problem found, as a sentence.
struct Wrong {
  std::string sentence;
};
template <class... Parts>
[[noreturn]] void wrong(Parts const&... parts) {
  std::string sentence;
  auto const text = [](auto const& part) {
    if constexpr (requires { std::to_string(part); }) {
      return std::to_string(part);
    } else {
      return std::string(part);
    }
  };
  ((sentence += text(parts)), ...);
  throw Wrong{sentence + "."};
}

/// A record of the sample, with its framing.
struct Record {
  std::size_t begin, end;
  Framing const* framing;
};
/// A sample, after one walk over it from its beginning.
struct Sample {
  Bytes bytes;
  std::vector<Record> records = {};
  std::vector<FramingRef> changed = {};  ///< Framings that live as long as the records.
};

Sample walk(Framing const& framing, Bytes bytes) {
  Sample sample{bytes};
  Framing const* now = &framing;
  for (std::size_t at = 0; at < bytes.size();) {
    auto const rest = bytes.subspan(at);
    auto const length = now->record_bytes(rest);
    if (length && *length == 0) wrong("record_bytes says that the record at byte ", at, " has no bytes");
    if (!length || *length > rest.size()) break;
    auto const record = rest.first(static_cast<std::size_t>(*length));
    sample.records.push_back({at, at + record.size(), now});
    if (now->change(record) != Framing::Change::none) {
      sample.changed.push_back(now->behind(record));
      now = sample.changed.back().get();
      if (now == nullptr) wrong("behind gives no framing for what is behind the record at byte ", at);
    }
    at += record.size();
  }
  if (sample.records.empty()) wrong("The sample has no whole record: give it some");
  return sample;
}

/// Checks record_bytes when a tile, or a read, ends within a record, at any byte of it.
void check_beginnings(Sample const& sample) {
  for (Record const& record : sample.records) {
    std::size_t const length = record.end - record.begin;
    for (std::size_t bytes = 0; bytes < length; ++bytes) {
      auto const said = record.framing->record_bytes(sample.bytes.subspan(record.begin, bytes));
      if (said && *said != length) {
        wrong("record_bytes says of the first ", bytes, " bytes of the record at byte ", record.begin, " that it has ",
              *said, " bytes, and of all that it has ", length);
      }
    }
  }
}

/// Checks whole_bytes for the bytes in front of any byte.
void check_whole(Framing const& framing, Sample const& sample) {
  std::size_t whole = 0, next = 0;
  for (std::size_t bytes = 0; bytes <= sample.bytes.size(); ++bytes) {
    if (next < sample.records.size() && sample.records[next].end == bytes) whole = sample.records[next++].end;
    std::size_t const said = framing.whole_bytes(sample.bytes.first(bytes));
    if (said != whole) {
      wrong("whole_bytes says that ", said, " of the first ", bytes, " bytes are whole records, but record_bytes ",
            whole);
    }
  }
}

/// Checks that the end of a record with a delimiter is found from any of its bytes.
void check_ends(Framing const& framing, Sample const& sample) {
  std::size_t const delimiter = framing.delimiter_bytes();
  for (Record const& record : sample.records) {
    std::size_t const last = record.end - std::min(record.end, delimiter);
    for (std::size_t from = record.begin; from <= last; ++from) {
      auto const said = framing.record_bytes(sample.bytes.subspan(from));
      if (!said || from + *said != record.end) {
        wrong("delimiter_bytes says that records end with a delimiter, but from byte ", from,
              " on record_bytes does not find the end of its record, byte ", record.end);
      }
    }
  }
}

/// Checks that the first record behind any byte is found.
void check_found(Sample const& sample) {
  std::size_t next = 0;
  for (std::size_t from = 0; from < sample.bytes.size(); ++from) {
    while (next < sample.records.size() && sample.records[next].begin < from) ++next;
    if (next == sample.records.size()) return;
    Record const& record = sample.records[next];
    constexpr std::size_t aligned = Framing::find_aligned;
    std::size_t const seen = (from - std::min(from, Framing::find_back) + aligned - 1) / aligned * aligned;
    auto const said = record.framing->find_record(sample.bytes.subspan(seen), from - seen, true);
    if (!said || seen + *said == record.begin) continue;
    wrong("find_record says that the first record that does not begin in front of byte ", from, " begins at byte ",
          seen + *said, ", but it begins at byte ", record.begin);
  }
}

void check_all(Framing const& framing, Bytes sample) {
  Sample const walked = walk(framing, sample);
  std::size_t const one = framing.equal_bytes();
  for (Record const& record : walked.records) {
    if (one != 0 && record.end - record.begin != one)
      wrong("equal_bytes says ", one, ", and the record at byte ", record.begin, " has another size");
  }
  if (one == 0) check_beginnings(walked);
  check_whole(framing, walked);
  if (framing.delimiter_bytes() != 0) check_ends(framing, walked);
  if (framing.finds_records()) check_found(walked);
}

}  // namespace

std::string check_framing(Framing const& framing, Bytes sample) try {
  if (framing.head_bytes() == 0) {
    check_all(framing, sample);
    return {};
  }
  auto const of = framing.of_input(sample.first(std::min(sample.size(), framing.head_bytes())));
  if (of.framing == nullptr) wrong("of_input gives no framing");
  if (of.head > sample.size()) wrong("of_input says that ", of.head, " bytes are in front of the first record");
  check_all(*of.framing, sample.subspan(of.head));
  return {};
} catch (Wrong const& found) {
  return found.sentence;
} catch (Error const& error) {
  return std::string("The framing refuses the sample: ") + error.what();
}

}  // namespace penstock
