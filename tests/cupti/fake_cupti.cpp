// SPDX-License-Identifier: Apache-2.0
// A library with CUPTI's entry points that logs an upload, a kernel and a download for each id that is pushed, from the
// push to the pop: each takes a third of that. FAKE_CUPTI_REFUSES is the code with which it refuses to log.
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "penstock/cupti/activity_records.hpp"

namespace {

using namespace penstock::cupti;

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
Calls::Time time_now = nullptr;
Calls::Request request = nullptr;
Calls::Complete complete = nullptr;
std::vector<Record> records;
std::uint32_t calls_made = 0;
bool enabled = false;
thread_local std::uint64_t pushed = 0, pushed_at = 0;
thread_local bool any_pushed = false;

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

void log_call(std::uint64_t id) {
  records.push_back(Record(Kind::external, external_record::size)
                        .put(external_record::kind, own_correlation)
                        .put(external_record::id, id)
                        .put(external_record::correlation, ++calls_made));
}

void log_copy(std::uint8_t way, std::uint64_t begin, std::uint64_t end) {
  records.push_back(Record(Kind::memcpy, memcpy_record::size)
                        .put(memcpy_record::way, way)
                        .put(memcpy_record::begin, begin)
                        .put(memcpy_record::end, end)
                        .put(memcpy_record::stream, std::uint32_t{7})
                        .put(memcpy_record::correlation, calls_made));
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): these are CUPTI's names.
#pragma GCC visibility push(default)
extern "C" {
int cuptiActivityRegisterTimestampCallback(Calls::Time time) {
  time_now = time;
  return 0;
}
int cuptiActivityRegisterCallbacks(Calls::Request wanted, Calls::Complete full) {
  request = wanted;
  complete = full;
  return 0;
}
int cuptiActivityEnable(Kind /*kind*/) {
  if (char const* const code = std::getenv("FAKE_CUPTI_REFUSES")) return std::atoi(code);
  enabled = true;
  return 0;
}
int cuptiActivityDisable(Kind /*kind*/) {
  enabled = false;
  return 0;
}
int cuptiActivityPushExternalCorrelationId(int /*kind*/, std::uint64_t id) {
  pushed = id;
  pushed_at = time_now();
  any_pushed = true;
  return 0;
}
int cuptiActivityPopExternalCorrelationId(int /*kind*/, std::uint64_t* /*last*/) {
  if (!any_pushed) return 18;
  any_pushed = false;
  std::scoped_lock const lock(mutex);
  if (!enabled) return 0;
  std::uint64_t const third = (time_now() - pushed_at) / 3;
  log_call(pushed);
  log_copy(copy_in, pushed_at, pushed_at + third);
  log_call(pushed);
  records.push_back(Record(Kind::kernel, kernel_record::size)
                        .put(kernel_record::begin, pushed_at + third)
                        .put(kernel_record::end, pushed_at + 2 * third)
                        .put(kernel_record::stream, std::uint32_t{8})
                        .put(kernel_record::correlation, calls_made));
  log_call(pushed);
  log_copy(copy_out, pushed_at + 2 * third, pushed_at + 3 * third);
  ++calls_made;
  log_copy(copy_in, pushed_at, pushed_at + 1);  // Of nobody.
  return 0;
}
int cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  std::scoped_lock const lock(mutex);
  for (std::size_t next = 0; next < records.size();) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, used = 0;
    request(&buffer, &size, &most);
    for (; next < records.size() && used + records[next].bytes.size() <= size; ++next) {
      std::copy(records[next].bytes.begin(), records[next].bytes.end(), buffer + used);
      used += records[next].bytes.size();
    }
    complete(nullptr, 0, buffer, size, used);
  }
  records.clear();
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
