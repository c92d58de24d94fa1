// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcupti.so.13. For the stand-in of the driver it calls the subscriber, and hands over what the device
// did when it is asked to or has a hundred of it. By itself it logs an upload, a kernel and a download for each id that
// is pushed, from the push to the pop: each takes a third of that. STAND_IN_CUPTI_REFUSES is the code with which it
// refuses.
#include "observe/cupti/stand_in.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "observe/cupti/activity_records.hpp"

namespace {

using namespace penstock::cupti;

using Callback = void (*)(void*, std::uint32_t, std::uint32_t, void const*);
Callback subscriber = nullptr;
bool watched[1024];
Calls::Time time_now = nullptr;
Calls::Request request = nullptr;
Calls::Complete complete = nullptr;
thread_local std::uint64_t pushed = 0, pushed_at = 0;
thread_local bool any_pushed = false;

struct Record {
  std::vector<std::uint8_t> bytes;
  Record(Kind kind, std::size_t size) : bytes(size) { put(0, kind); }
  template <class Value>
  Record& put(std::size_t at, Value value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return *this;
  }
};

std::mutex mutex;
bool enabled = false;
std::uint32_t calls_made = 0;
std::vector<Record> records;

int refusal() {
  char const* const code = std::getenv("STAND_IN_CUPTI_REFUSES");
  return code == nullptr ? 0 : std::atoi(code);
}

std::size_t size_of(std::uint8_t const* record) {
  switch (field<Kind>(record, 0)) {
    case Kind::memcpy:
      return memcpy_record::size;
    case Kind::kernel:
      return kernel_record::size;
    default:
      return external_record::size;
  }
}

void hand_over() {
  for (std::size_t next = 0; next < records.size();) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, used = 0;
    request(&buffer, &size, &most);
    for (; next < records.size() && used + records[next].bytes.size() <= size; ++next) {
      std::memcpy(buffer + used, records[next].bytes.data(), records[next].bytes.size());
      used += records[next].bytes.size();
    }
    complete(nullptr, 0, buffer, size, used);
  }
  records.clear();
}

Record copy(std::uint8_t way, std::uint64_t begin, std::uint64_t end, std::uint32_t stream, std::uint32_t correlation) {
  return Record(Kind::memcpy, memcpy_record::size)
      .put(memcpy_record::way, way)
      .put(memcpy_record::begin, begin)
      .put(memcpy_record::end, end)
      .put(memcpy_record::stream, stream)
      .put(memcpy_record::correlation, correlation);
}

Record kernel(std::uint64_t begin, std::uint64_t end, std::uint32_t stream, std::uint32_t correlation) {
  return Record(Kind::kernel, kernel_record::size)
      .put(kernel_record::begin, begin)
      .put(kernel_record::end, end)
      .put(kernel_record::stream, stream)
      .put(kernel_record::correlation, correlation);
}

void log_pushed_call() {
  records.push_back(Record(Kind::external, external_record::size)
                        .put(external_record::kind, own_correlation)
                        .put(external_record::id, pushed)
                        .put(external_record::correlation, ++calls_made));
}

void on_call(std::uint32_t number, bool at_end, void const* parameters, int const* result, std::uint64_t* own,
             std::uint32_t correlation) {
  if (subscriber == nullptr || number >= 1024 || !watched[number]) return;
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
  if (static_cast<Kind>(kind) == Kind::kernel) {
    static char const name[] = "a_kernel_with_a_name_that_is_longer_than_what_a_single_record_has_room_for(float*)";
    Record record = kernel(begin, end, stream, correlation);
    record.put(kernel_record::name, &name[0]);
    for (std::size_t i = 0; i < 3; ++i) {
      record.put(kernel_record::grid + 4 * i, i == 0 ? static_cast<std::uint32_t>(bytes) : 1U);
      record.put(kernel_record::block + 4 * i, 1U);
    }
    records.push_back(std::move(record));
  } else {
    records.push_back(copy(static_cast<std::uint8_t>(way), begin, end, stream, correlation)
                          .put(memcpy_record::from, static_cast<std::uint8_t>(from))
                          .put(memcpy_record::to, static_cast<std::uint8_t>(to))
                          .put(memcpy_record::bytes, bytes));
  }
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
  watched[number] = on != 0;
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
  std::scoped_lock const lock(mutex);
  if (refusal() != 0) return refusal();
  enabled = true;
  return 0;
}
int cuptiActivityDisable(Kind) {
  std::scoped_lock const lock(mutex);
  enabled = false;
  return 0;
}
int cuptiActivityPushExternalCorrelationId(int, std::uint64_t id) {
  pushed = id;
  pushed_at = now();
  any_pushed = true;
  return 0;
}
int cuptiActivityPopExternalCorrelationId(int, std::uint64_t*) {
  if (!any_pushed) return 18;
  any_pushed = false;
  std::scoped_lock const lock(mutex);
  if (!enabled) return 0;
  std::uint64_t const third = (now() - pushed_at) / 3;
  log_pushed_call();
  records.push_back(copy(copy_in, pushed_at, pushed_at + third, 7, calls_made));
  log_pushed_call();
  records.push_back(kernel(pushed_at + third, pushed_at + 2 * third, 8, calls_made));
  log_pushed_call();
  records.push_back(copy(copy_out, pushed_at + 2 * third, pushed_at + 3 * third, 7, calls_made));
  // Nothing was pushed for this call.
  records.push_back(copy(copy_in, pushed_at, pushed_at + 1, 7, ++calls_made));
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
