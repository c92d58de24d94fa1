// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/captures.hpp"
#include "penstock/framing/capture_numbers.hpp"

namespace penstock {

/// The blocks of a pcapng file behind those that said which interfaces its section has so far.
///
/// Threads: any.
class Pcapng final : public Framing {
 public:
  /// True if a section begins there, of either byte order. There are twelve bytes at least.
  static bool begins(CaptureBytes bytes);
  /// True if these four bytes can begin one.
  static bool may_begin(CaptureBytes first);

  /// Of a section without interfaces.
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
  std::uint32_t longest_ = 0;          ///< Of the first interface, whose packets simple ones are.
  std::vector<CaptureKind> kinds_;     ///< Each once.
  std::vector<std::uint8_t> kind_of_;  ///< Of each interface.
};

}  // namespace penstock
