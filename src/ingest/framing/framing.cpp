// SPDX-License-Identifier: Apache-2.0
#include "penstock/ingest/framing.hpp"

#include <cstring>
#include <utility>

namespace penstock {
namespace {

[[noreturn]] void refuse(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

/// True if `text` begins and ends with the same part.
bool overlaps_itself(std::string const& text) {
  for (std::size_t shift = 1; shift < text.size(); ++shift) {
    if (text.compare(shift, std::string::npos, text, 0, text.size() - shift) == 0) return true;
  }
  return false;
}

class Delimited final : public Framing {
 public:
  explicit Delimited(std::string delimiter) : delimiter_(std::move(delimiter)) {
    if (delimiter_.empty() || delimiter_.size() > most_bytes) {
      refuse("A delimiter has 1 to " + std::to_string(most_bytes) + " bytes: name those that end a record.");
    }
    if (overlaps_itself(delimiter_)) {
      refuse("A delimiter that overlaps with itself leaves open where a record ends: write a Framing of your own.");
    }
  }

  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    void const* const found = delimiter_.size() == 1
                                  ? std::memchr(bytes.data(), delimiter_.front(), bytes.size())
                                  : memmem(bytes.data(), bytes.size(), delimiter_.data(), delimiter_.size());
    if (found == nullptr) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<std::byte const*>(found) - bytes.data()) + delimiter_.size();
  }
  std::size_t whole_bytes(std::span<std::byte const> bytes) const override {
    for (std::size_t end = bytes.size(); end >= delimiter_.size(); --end) {
      void const* const last =
          memrchr(bytes.data() + delimiter_.size() - 1, delimiter_.back(), end - delimiter_.size() + 1);
      if (last == nullptr) return 0;
      end = static_cast<std::size_t>(static_cast<std::byte const*>(last) - bytes.data()) + 1;
      if (std::memcmp(bytes.data() + end - delimiter_.size(), delimiter_.data(), delimiter_.size()) == 0) return end;
    }
    return 0;
  }
  std::size_t delimiter_bytes() const noexcept override { return delimiter_.size(); }

 private:
  static constexpr std::size_t most_bytes = 256;
  std::string const delimiter_;
};

class Equal final : public Framing {
 public:
  explicit Equal(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) refuse("A record has at least one byte: say how many.");
  }
  std::optional<std::uint64_t> record_bytes(std::span<std::byte const>) const override { return bytes_; }
  std::size_t whole_bytes(std::span<std::byte const> bytes) const override { return bytes.size() / bytes_ * bytes_; }
  std::size_t equal_bytes() const noexcept override { return bytes_; }

 private:
  std::size_t const bytes_;
};

class Prefixed final : public Framing {
 public:
  explicit Prefixed(LengthPrefix prefix)
      : prefix_(prefix),
        head_(prefix.before + prefix.bytes),
        more_(prefix.more.value_or(static_cast<std::int64_t>(head_))) {
    if (prefix.bytes < 1 || prefix.bytes > 8) refuse("A length has 1 to 8 bytes: say how many.");
    if (prefix.before > most_before) {
      refuse("There are at most " + std::to_string(most_before) + " bytes before a length.");
    }
    if (prefix.most < head_) refuse("Records of so few bytes have no room for their length: allow longer ones.");
  }

  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    if (bytes.size() < head_) return std::nullopt;
    std::uint64_t length = 0;
    for (std::size_t k = 0; k < prefix_.bytes; ++k) {
      std::size_t const at = prefix_.order == ByteOrder::big ? k : prefix_.bytes - 1 - k;
      length = length << 8U | std::to_integer<std::uint64_t>(bytes[prefix_.before + at]);
    }
    // A sum that overflows 64 bits exceeds the limit as well.
    std::uint64_t const all = length + static_cast<std::uint64_t>(more_);
    bool const wraps = more_ < 0 ? all > length : all < length;
    if (wraps || all < head_ || all > prefix_.most) {
      throw Error(ErrorKind::bad_argument, "A record says that its length is " + std::to_string(length) +
                                               ", but it can be " + std::to_string(head_) + " to " +
                                               std::to_string(prefix_.most) +
                                               " bytes with it: the input is damaged, or its framing is another.");
    }
    return all;
  }

 private:
  static constexpr std::size_t most_before = 4096;
  LengthPrefix const prefix_;
  std::size_t const head_;
  std::int64_t const more_;
};

}  // namespace

std::size_t Framing::whole_bytes(std::span<std::byte const> bytes) const {
  Framing const* now = this;
  FramingRef changed;
  std::size_t whole = 0;
  try {
    while (whole < bytes.size()) {
      auto const rest = bytes.subspan(whole);
      auto const length = now->record_bytes(rest);
      if (!length || *length > rest.size()) break;
      if (*length == 0) refuse("A framing says that a record has no bytes: it has at least one.");
      auto const record = rest.first(static_cast<std::size_t>(*length));
      if (now->change(record) != Change::none) {
        changed = now->behind(record);
        now = changed.get();
      }
      whole += record.size();
    }
  } catch (Error const&) {
    if (whole == 0) throw;
  }
  return whole;
}

FramingRef delimited_by(std::string delimiter) {
  return std::make_shared<Delimited>(std::move(delimiter));
}
FramingRef lines() {
  return delimited_by("\n");
}
FramingRef equal_records(std::size_t bytes) {
  return std::make_shared<Equal>(bytes);
}
FramingRef length_prefixed(LengthPrefix prefix) {
  return std::make_shared<Prefixed>(prefix);
}

std::vector<LeftOut> left_out_of(RecordLoss const& loss, bool stopped) {
  std::vector<LeftOut> all;
  std::array const entries{
      LeftOut{.unit = "record", .reason = "too long for a tile", .count = loss.refused, .remedy = "make tiles larger"},
      LeftOut{.unit = "record",
              .reason = "cut to what fits into a tile",
              .count = loss.truncated,
              .remedy = "make tiles larger"},
      LeftOut{.unit = "record",
              .reason = stopped ? "not finished when the input was stopped" : "not finished where the input ends",
              .count = loss.unfinished,
              .lost = !stopped}};
  add_left_out(all, entries);
  return all;
}

}  // namespace penstock
