// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcupti.so.13, for the stand-in of the driver: calls the subscriber, and hands over what the device
// did when it is asked to or has a hundred of it. STAND_IN_CUPTI_REFUSES is the code with which it refuses.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "penstock/cupti/activity_records.hpp"
#include "tools/stand_in/stand_in.hpp"

namespace {

using namespace penstock::cupti;

using Callback = void (*)(void*, std::uint32_t, std::uint32_t, void const*);
Callback subscriber = nullptr;
bool enabled[1024];
Calls::Time time_now = nullptr;
Calls::Request request = nullptr;
Calls::Complete complete = nullptr;
std::mutex mutex;
std::vector<std::vector<std::uint8_t>> records;

int refusal() {
  char const* const code = std::getenv("STAND_IN_CUPTI_REFUSES");
  return code == nullptr ? 0 : std::atoi(code);
}

std::size_t size_of(std::uint8_t const* record) {
  return field<Kind>(record, 0) == Kind::kernel ? kernel_record::size : memcpy_record::size;
}

void hand_over() {
  std::size_t next = 0;
  while (next < records.size()) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, used = 0;
    request(&buffer, &size, &most);
    for (; next < records.size() && used + records[next].size() <= size; ++next) {
      std::memcpy(buffer + used, records[next].data(), records[next].size());
      used += records[next].size();
    }
    complete(nullptr, 0, buffer, size, used);
  }
  records.clear();
}

void on_call(std::uint32_t number, bool at_end, void const* parameters, int const* result, std::uint64_t* own,
             std::uint32_t correlation) {
  if (subscriber == nullptr || number >= 1024 || !enabled[number]) return;
  std::uint8_t data[128] = {};
  std::uint32_t const site = at_end ? 1 : 0, context = 1;
  std::memcpy(data + callback_data::site, &site, sizeof site);
  std::memcpy(data + callback_data::parameters, &parameters, sizeof parameters);
  std::memcpy(data + callback_data::result, &result, sizeof result);
  std::memcpy(data + callback_data::context, &context, sizeof context);
  std::memcpy(data + callback_data::own_data, &own, sizeof own);
  std::memcpy(data + callback_data::correlation, &correlation, sizeof correlation);
  subscriber(nullptr, driver_calls, number, data);
}

void on_work(std::uint32_t kind, std::uint32_t correlation, std::uint32_t stream, std::uint64_t begin,
             std::uint64_t end, std::uint64_t bytes, int way, int from, int to) {
  std::scoped_lock const lock(mutex);
  bool const kernel = static_cast<Kind>(kind) == Kind::kernel;
  std::vector<std::uint8_t> record(kernel ? kernel_record::size : memcpy_record::size);
  auto const put = [&](std::size_t at, auto value) { std::memcpy(record.data() + at, &value, sizeof value); };
  put(0, kind);
  put(kernel ? kernel_record::begin : memcpy_record::begin, begin);
  put(kernel ? kernel_record::end : memcpy_record::end, end);
  put(kernel ? kernel_record::stream : memcpy_record::stream, stream);
  put(kernel ? kernel_record::correlation : memcpy_record::correlation, correlation);
  if (kernel) {
    static char const name[] = "a_kernel_with_a_name_that_is_longer_than_what_a_single_record_has_room_for(float*)";
    put(kernel_record::name, &name[0]);
    for (std::size_t i = 0; i < 3; ++i) {
      put(kernel_record::grid + 4 * i, i == 0 ? static_cast<std::uint32_t>(bytes) : 1U);
      put(kernel_record::block + 4 * i, 1U);
    }
  } else {
    put(memcpy_record::way, static_cast<std::uint8_t>(way));
    put(memcpy_record::from, static_cast<std::uint8_t>(from));
    put(memcpy_record::to, static_cast<std::uint8_t>(to));
    put(memcpy_record::bytes, bytes);
  }
  records.push_back(std::move(record));
  if (records.size() >= 100) hand_over();
}

std::uint64_t now() {
  return time_now == nullptr ? 0 : time_now();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): these are CUPTI's names.
#pragma GCC visibility push(default)
extern "C" {
StandIn penstock_stand_in{on_call, on_work, now};

int cuptiSubscribe(void** handle, Callback callback, void*) {
  if (refusal() != 0) return refusal();
  *handle = &penstock_stand_in;
  subscriber = callback;
  return 0;
}
int cuptiEnableCallback(std::uint32_t on, void*, std::uint32_t, std::uint32_t number) {
  enabled[number] = on != 0;
  return 0;
}
int cuptiGetCallbackName(std::uint32_t, std::uint32_t number, char const** name) {
  switch (number) {
    case 277:
      *name = "cuMemcpyHtoDAsync_v2";
      break;
    case 278:
      *name = "cuMemcpyDtoH_v2";
      break;
    case 279:
      *name = "cuMemcpyDtoHAsync_v2";
      break;
    case 307:
      *name = "cuLaunchKernel";
      break;
    default:
      *name = nullptr;
  }
  return *name == nullptr ? 1 : 0;
}
int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* count) {
  *count = 0;
  return 0;
}
int cuptiActivityRegisterTimestampCallback(Calls::Time time) {
  time_now = time;
  return 0;
}
int cuptiActivityRegisterCallbacks(Calls::Request wanted, Calls::Complete full) {
  request = wanted;
  complete = full;
  return 0;
}
int cuptiActivityEnable(Kind) {
  return 0;
}
int cuptiActivityFlushAll(std::uint32_t) {
  std::scoped_lock const lock(mutex);
  hand_over();
  return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record) {
  std::uint8_t* const next = *record == nullptr ? buffer : *record + size_of(*record);
  if (next >= buffer + valid) return 12;
  *record = next;
  return 0;
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
