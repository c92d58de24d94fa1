// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/lane_on_a_faulty_device.hpp"

#include <thread>

#include "support/cpu_device_under_test.hpp"

namespace penstock {
namespace {

std::optional<cpu::Fault> fault_of_callback(Wrong way) {
  switch (way) {
    case Wrong::late:
      return cpu::Fault::late_callback;
    case Wrong::early:
      return cpu::Fault::early_callback;
    case Wrong::doubled:
      return cpu::Fault::double_callback;
    case Wrong::lost:
      return cpu::Fault::lost_callback;
    case Wrong::stray:
      return cpu::Fault::stray_callback;
    case Wrong::alarm:
      return cpu::Fault::false_alarm;
    case Wrong::loss:
      return cpu::Fault::false_loss;
  }
  return std::nullopt;
}

}  // namespace

std::optional<cpu::Fault> fault_of(SignalKind signal, Wrong way) {
  switch (signal) {
    case SignalKind::callback:
    case SignalKind::callback_in_stream:
      return fault_of_callback(way);
    case SignalKind::host_func:
      if (way == Wrong::alarm || way == Wrong::loss) return std::nullopt;
      return fault_of_callback(way);
    case SignalKind::event_block:
      if (way == Wrong::late) return cpu::Fault::late_wakeup;
      if (way == Wrong::early) return cpu::Fault::early_wakeup;
      if (way == Wrong::alarm) return cpu::Fault::false_wakeup;
      return std::nullopt;
    case SignalKind::flag:
      if (way == Wrong::early) return cpu::Fault::early_write;
      if (way == Wrong::lost) return cpu::Fault::lost_write;
      return std::nullopt;
    case SignalKind::event_poll:
      return std::nullopt;
  }
  return std::nullopt;
}

std::vector<LaneUnderTest> lanes_that_can_be(Wrong way) {
  auto lanes = every_transport_on(support::cpu_device_under_test());
  std::erase_if(lanes, [way](LaneUnderTest const& lane) { return !fault_of(lane.signal, way); });
  return lanes;
}

void LaneOnAFaultyDevice::open_and_spoil_the_third(Wrong way) {
  open_lane(add_one_and_hold(first_three_), watchful());
  make_wrong(way, 3);
  for (std::uint64_t i = 0; i < 3; ++i) submit(i);
  first_three_.await_came(3);
  first_three_.hold->open();
}

std::vector<Seen> LaneOnAFaultyDevice::run_with(Wrong way) {
  open_and_spoil_the_third(way);
  for (std::uint64_t i = 3; i < count; ++i) submit(i);
  auto all = await_seen(count);
  // A thread that waits for events gets to the third in its own time.
  while (cpu().armed_faults() != 0) std::this_thread::yield();
  return all;
}

}  // namespace penstock
