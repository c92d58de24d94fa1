// SPDX-License-Identifier: Apache-2.0
// libpenstock-watch.so: the driver loads it into a program that has its path in CUDA_INJECTION64_PATH. It writes the
// calls of the driver, and what the device does, to the log that PENSTOCK_WATCH names.
#include <cstdlib>
#include <cstring>

#include "anyprogram/injection/activities.hpp"
#include "anyprogram/injection/call_record.hpp"
#include "anyprogram/injection/graph_nodes.hpp"
#include "anyprogram/injection/log_writer.hpp"
#include "anyprogram/injection/profiler.hpp"

namespace penstock::injection {
namespace {

using namespace watch_log;
using cupti::field;

constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 20;
/// Interval at which CUPTI hands over activities. A crash loses those that it still holds.
constexpr std::uint32_t flush_milliseconds = 100;
/// One more than the highest number of a watched call.
constexpr std::size_t call_numbers = 1024;

Profiler profiler;
Driver driver;
WatchedCall const* call_of[call_numbers];
std::uint32_t captures = 0;

void give(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  give_buffer(buffer, size, most_records);
}
void take(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*size*/, std::size_t valid) {
  read_buffer(profiler, driver, context, stream, buffer, valid);
}
std::uint64_t now() {
  return log_time();
}

/// True if a call enqueues something, which a stream that captures puts into a graph. The stream of other calls may be
/// destroyed already.
bool works_in_stream(Call call) noexcept {
  switch (call) {
    case Call::launch:
    case Call::copy:
    case Call::fill:
    case Call::graph_launch:
    case Call::host_function:
    case Call::event_record:
    case Call::event_wait:
    case Call::allocate:
    case Call::release:
      return true;
    default:
      return false;
  }
}

bool goes_into_a_graph(Record const& record) noexcept {
  // Relaxed: a thread that captures sees its own increment.
  if (__atomic_load_n(&captures, __ATOMIC_RELAXED) == 0 || driver.is_capturing == nullptr || record.stream == 0)
    return false;
  constexpr int active = 1;  // CU_STREAM_CAPTURE_STATUS_ACTIVE
  int status = 0;
  return driver.is_capturing(record.stream, &status) == 0 && status == active;
}

void note(WatchedCall const& call, std::uint8_t const* data, std::uint64_t begin) noexcept {
  int result = 0;
  if (void const* const at = field<void const*>(data, cupti::callback_data::result))
    std::memcpy(&result, at, sizeof result);
  void const* const parameters = field<void const*>(data, cupti::callback_data::parameters);
  Record record = call_record(call, parameters, result == 0);
  record.begin = begin;
  record.end = log_time();
  record.correlation = field<std::uint32_t>(data, cupti::callback_data::correlation);
  record.device = static_cast<std::uint16_t>(field<std::uint32_t>(data, cupti::callback_data::context));
  bool const query = call.call == Call::event_query || call.call == Call::stream_query;
  if (query && result != 0) {
    write_poll(record);
    return;
  }
  if (call.call == Call::begin_capture && result == 0) __atomic_fetch_add(&captures, 1, __ATOMIC_RELAXED);
  if (call.call == Call::end_capture && __atomic_load_n(&captures, __ATOMIC_RELAXED) > 0)
    __atomic_fetch_sub(&captures, 1, __ATOMIC_RELAXED);
  if (works_in_stream(call.call) && goes_into_a_graph(record)) record.flags |= captured;
  write_record(record);
  if (call.call == Call::instantiate && result == 0)
    write_nodes(driver, record.first, field<void*>(static_cast<std::uint8_t const*>(parameters), 8));
  if (call.call == Call::graph_update && result == 0) write_change(driver, call, parameters);
}

void on_call(void* /*own*/, std::uint32_t domain, std::uint32_t number, void const* data) {
  if (domain != cupti::driver_calls || number >= call_numbers || call_of[number] == nullptr || !log_is_open()) return;
  auto const* const bytes = static_cast<std::uint8_t const*>(data);
  auto* const own = field<std::uint64_t*>(bytes, cupti::callback_data::own_data);
  if (field<std::uint32_t>(bytes, cupti::callback_data::site) == cupti::site_enter) {
    *own = log_time();
  } else {
    note(*call_of[number], bytes, *own);
  }
}

void end() {
  if (!log_is_open()) return;
  constexpr std::uint32_t also_what_is_not_complete = 1;
  profiler.activity.flush_all(also_what_is_not_complete);
  note_end();
}

bool expect(int code, Refusal why = Refusal::cupti_refuses) noexcept {
  if (code == 0) return true;
  note_refusal(code == cupti::refused_second_user ? Refusal::cupti_is_taken : why, static_cast<std::uint64_t>(code));
  return false;
}

void start() noexcept {
  if (!load_profiler(profiler)) {
    note_refusal(Refusal::no_cupti, 0);
    return;
  }
  find_driver(driver);
  // CUPTI uses our clock, so that the times of the device can be compared with those of calls.
  void* subscriber = nullptr;
  if (!expect(profiler.subscribe(&subscriber, on_call, nullptr)) ||
      !expect(profiler.activity.register_timestamp(now)) || !expect(profiler.activity.register_callbacks(give, take)))
    return;
  for (cupti::Kind const kind : {cupti::Kind::memcpy, cupti::Kind::memset, cupti::Kind::kernel})
    if (!expect(profiler.activity.enable(kind))) return;
  profiler.activity.enable(cupti::Kind::peer_copy);
  if (profiler.flush_period != nullptr) profiler.flush_period(flush_milliseconds);
  for (WatchedCall const& call : watched_calls()) {
    call_of[call.number] = &call;
    // An older CUPTI knows fewer calls.
    if (profiler.enable_callback(1, subscriber, cupti::driver_calls, call.number) != 0) continue;
    char const* name = nullptr;
    if (profiler.callback_name(cupti::driver_calls, call.number, &name) == 0 && name != nullptr)
      write_text(Kind::call_name, call.number, 0, name);
  }
  std::atexit(end);
}

}  // namespace
}  // namespace penstock::injection

/// The driver calls this when it has loaded this library.
///
/// Returns: 1, always: a program runs as usual, even if it cannot be watched.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {  // NOLINT(readability-identifier-naming)
  using namespace penstock::injection;
  char const* const to = secure_getenv(penstock::watch_log::folder_variable);
  if (to == nullptr || *to == 0 || log_is_open()) return 1;
  std::uint64_t longest = usual_bytes;
  if (char const* const limit = secure_getenv(penstock::watch_log::limit_variable))
    longest = std::strtoull(limit, nullptr, 10);
  if (int const problem = open_log(to, longest); problem == 0) {
    start();
  } else if (char const* const notes = secure_getenv(penstock::watch_log::notes_variable)) {
    note_no_log(notes, problem);
  }
  return 1;
}
