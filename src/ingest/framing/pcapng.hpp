// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ingest/framing/capture_numbers.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {

/// Framing of the blocks of a pcapng file behind those that described the interfaces of its section so far.
///
/// Threads: any.
class Pcapng final : public Framing {
 public:
  /// True if a section begins with these bytes, in either byte order. There are at least twelve bytes.
  static bool begins(CaptureBytes bytes);
  /// True if a section can begin with these four bytes.
  static bool may_begin(CaptureBytes first);

  /// Makes the framing of a section without interfaces.
  explicit Pcapng(bool swapped) : numbers_(swapped) {}

  std::optional<std::uint64_t> record_bytes(CaptureBytes bytes) const override;
  bool finds_records() const noexcept override { return true; }
  std::optional<std::size_t> find_record(CaptureBytes all, std::size_t from, bool end) const override;
  Change change(CaptureBytes bytes) const noexcept override;
  FramingRef behind(CaptureBytes block) const override;
  bool is_missed(CaptureBytes bytes) const noexcept override;
  Notes notes() const noexcept override;
  std::size_t write_more(CaptureBytes records, std::span<std::uint32_t const> places, Notes& notes,
                         std::span<std::byte> more) const override;

 private:
  void add_interface(CaptureBytes block);
  void check_block(CaptureBytes block) const;
  std::optional<std::uint32_t> interface_of(CaptureBytes block) const;

  CaptureNumbers numbers_;
  std::uint32_t longest_ = 0;          ///< Maximum packet length of the first interface, to which simple packets
                                       /// belong.
  std::vector<CaptureKind> kinds_;     ///< Different kinds, each once.
  std::vector<std::uint8_t> kind_of_;  ///< Index of each interface's kind.
};

}  // namespace penstock
