// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ingest/framing/capture_numbers.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {

/// Head of a pcap file.
struct PcapHead {
  static constexpr std::size_t bytes = 24;
  /// Returns nothing if it is no head of a pcap file.
  static std::optional<PcapHead> of(CaptureBytes first);
  /// True if a head can begin with these four bytes.
  static bool may_begin(CaptureBytes first);

  CaptureNotes notes;
  std::uint32_t longest = 0;  ///< Maximum packet length as stated in the file.
};

/// The packets of a pcap file.
///
/// Threads: any.
class Pcap final : public Framing {
 public:
  explicit Pcap(PcapHead const& head);

  std::optional<std::uint64_t> record_bytes(CaptureBytes bytes) const override;
  bool finds_records() const noexcept override { return true; }
  std::optional<std::size_t> find_record(CaptureBytes all, std::size_t from, bool end) const override;
  Notes notes() const noexcept override { return notes_.words(); }

 private:
  struct Lengths {
    std::uint32_t captured, original;
  };
  Lengths lengths(CaptureBytes record) const;

  CaptureNotes const notes_;
  CaptureNumbers const numbers_;
  std::size_t const in_front_;  ///< Size of the header of a packet.
  std::uint32_t const usual_;   ///< Maximum packet size in the search for records.
  std::uint32_t const most_;    ///< Maximum valid packet size.
};

}  // namespace penstock
