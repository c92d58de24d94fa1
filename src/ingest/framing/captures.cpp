// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "ingest/framing/pcap.hpp"
#include "ingest/framing/pcapng.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {
namespace {

class Captures final : public Framing {
 public:
  std::optional<std::uint64_t> record_bytes(CaptureBytes) const override {
    refuse_capture("The first bytes of a capture say how its packets are: it is to be read by a FileSource.");
  }
  std::size_t head_bytes() const noexcept override { return PcapHead::bytes; }
  OfInput of_input(CaptureBytes first) const override {
    if (auto const head = PcapHead::of(first)) return {std::make_shared<Pcap>(*head), PcapHead::bytes};
    // The first section states its own byte order.
    if (first.size() >= PcapHead::bytes && Pcapng::begins(first)) return {std::make_shared<Pcapng>(false), 0};
    if (first.empty()) refuse_capture("This is no capture of packets: it is empty.");
    bool const begun = first.size() >= 4 && (PcapHead::may_begin(first) || Pcapng::may_begin(first));
    if (begun && first.size() < PcapHead::bytes) {
      refuse_capture("The capture is cut: it ends within its head, after " + std::to_string(first.size()) + " bytes.");
    }
    refuse_capture(
        "This is no capture of packets: neither pcap nor pcapng begins so. Give a capture of a tar "
        "archive by what `tar -xOf FILE MEMBER` prints.");
  }
};

}  // namespace

FramingRef captured_packets() {
  return std::make_shared<Captures>();
}

}  // namespace penstock
