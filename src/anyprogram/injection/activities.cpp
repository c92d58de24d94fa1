// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/injection/activities.hpp"

#include <cstdlib>
#include <cstring>

#include <pthread.h>

#include "anyprogram/injection/log_writer.hpp"

namespace penstock::injection {
namespace {

using namespace watch_log;
using cupti::field;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t most_kept = 8;

pthread_mutex_t buffers_mutex = PTHREAD_MUTEX_INITIALIZER;
std::uint8_t* kept[most_kept];
std::size_t kept_count = 0;

/// Names and devices that the log has already. Guarded by reading_mutex.
struct Said {
  struct Name {
    char const* text;
    std::uint32_t number;
  };
  static constexpr std::size_t most_names = 4096;
  Name names[most_names];
  std::uint32_t name_count;
  std::uint64_t devices;
};
Said said;
pthread_mutex_t reading_mutex = PTHREAD_MUTEX_INITIALIZER;

/// The number of a kernel's name. CUPTI has one text for each name, so its address is the key. If the table is full, a
/// new name gets 0, which means no name.
std::uint32_t name_number(char const* text) noexcept {
  if (text == nullptr) return 0;
  std::size_t at = (reinterpret_cast<std::uintptr_t>(text) >> 3) * 0x9e37'79b9'7f4a'7c15U >> 52;
  while (said.names[at].text != nullptr && said.names[at].text != text) at = (at + 1) % Said::most_names;
  Said::Name& name = said.names[at];
  if (name.text == text) return name.number;
  if (said.name_count + 1 == Said::most_names) return 0;
  name = {text, ++said.name_count};
  std::size_t const length = std::strlen(text);
  constexpr std::uint8_t most_parts = 8;
  for (std::uint8_t part = 0; part < most_parts && part * text_bytes < length; ++part)
    write_text(Kind::name, name.number, part, text + part * text_bytes);
  return name.number;
}

void say_device(Driver const& driver, std::uint32_t device) noexcept {
  if (device >= 64 || (said.devices >> device & 1) != 0) return;
  said.devices |= std::uint64_t{1} << device;
  constexpr int multiprocessors = 16, threads_of_one = 39;  // CUdevice_attribute
  int handle = 0, count = 0, threads = 0;
  if (driver.device == nullptr || driver.device_attribute == nullptr ||
      driver.device(&handle, static_cast<int>(device)) != 0 ||
      driver.device_attribute(&count, multiprocessors, handle) != 0 ||
      driver.device_attribute(&threads, threads_of_one, handle) != 0)
    return;
  Record record{};
  record.kind = Kind::device;
  record.device = static_cast<std::uint16_t>(device);
  record.first = static_cast<std::uint64_t>(count);
  record.second = static_cast<std::uint64_t>(threads);
  write_record(record);
}

template <class Offsets>
Record activity(Kind kind, std::uint8_t const* record, Offsets) noexcept {
  Record written{};
  written.kind = kind;
  written.begin = field<std::uint64_t>(record, Offsets::begin);
  written.end = field<std::uint64_t>(record, Offsets::end);
  written.device = static_cast<std::uint16_t>(field<std::uint32_t>(record, Offsets::device));
  written.stream = field<std::uint32_t>(record, Offsets::stream);
  written.correlation = field<std::uint32_t>(record, Offsets::correlation);
  return written;
}

struct CopyOffsets {
  static constexpr std::size_t begin = cupti::memcpy_record::begin, end = cupti::memcpy_record::end,
                               device = cupti::memcpy_record::device, stream = cupti::memcpy_record::stream,
                               correlation = cupti::memcpy_record::correlation;
};
struct PeerCopyOffsets {
  static constexpr std::size_t begin = cupti::peer_copy_record::begin, end = cupti::peer_copy_record::end,
                               device = cupti::peer_copy_record::device, stream = cupti::peer_copy_record::stream,
                               correlation = cupti::peer_copy_record::correlation;
};
struct FillOffsets {
  static constexpr std::size_t begin = cupti::memset_record::begin, end = cupti::memset_record::end,
                               device = cupti::memset_record::device, stream = cupti::memset_record::stream,
                               correlation = cupti::memset_record::correlation;
};
struct KernelOffsets {
  static constexpr std::size_t begin = cupti::kernel_record::begin, end = cupti::kernel_record::end,
                               device = cupti::kernel_record::device, stream = cupti::kernel_record::stream,
                               correlation = cupti::kernel_record::correlation;
};

std::uint64_t product_of_three(std::uint8_t const* record, std::size_t at) noexcept {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < 3; ++i) product *= field<std::uint32_t>(record, at + i * sizeof(std::uint32_t));
  return product;
}

void read_activity(Driver const& driver, std::uint8_t const* record) noexcept {
  Record written{};
  switch (field<cupti::Kind>(record, 0)) {
    case cupti::Kind::memcpy:
    case cupti::Kind::peer_copy:
      written = field<cupti::Kind>(record, 0) == cupti::Kind::memcpy ? activity(Kind::copy, record, CopyOffsets())
                                                                     : activity(Kind::copy, record, PeerCopyOffsets());
      written.what = field<std::uint8_t>(record, cupti::memcpy_record::way);
      written.from = field<std::uint8_t>(record, cupti::memcpy_record::from) & 15U;
      written.to = field<std::uint8_t>(record, cupti::memcpy_record::to) & 15U;
      if ((field<std::uint8_t>(record, cupti::memcpy_record::flags) & 1U) != 0) written.flags |= async;
      written.bytes = field<std::uint64_t>(record, cupti::memcpy_record::bytes);
      break;
    case cupti::Kind::memset:
      written = activity(Kind::fill, record, FillOffsets());
      written.to = field<std::uint16_t>(record, cupti::memset_record::to) & 15U;
      written.bytes = field<std::uint64_t>(record, cupti::memset_record::bytes);
      break;
    case cupti::Kind::kernel:
      written = activity(Kind::kernel, record, KernelOffsets());
      written.first = name_number(field<char const*>(record, cupti::kernel_record::name));
      written.bytes = product_of_three(record, cupti::kernel_record::block);
      written.second = product_of_three(record, cupti::kernel_record::grid) * written.bytes;
      break;
    default:
      return;
  }
  // CUPTI gives 0 as the time of work that the device did not do.
  if (written.begin == 0 || written.end < written.begin) return;
  say_device(driver, written.device);
  write_record(written);
}

}  // namespace

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) noexcept {
  pthread_mutex_lock(&buffers_mutex);
  *buffer = kept_count > 0 ? kept[--kept_count] : nullptr;
  pthread_mutex_unlock(&buffers_mutex);
  if (*buffer == nullptr) *buffer = static_cast<std::uint8_t*>(std::malloc(buffer_bytes));
  *size = *buffer == nullptr ? 0 : buffer_bytes;
  *most_records = 0;
}

void read_buffer(Profiler const& profiler, Driver const& driver, void* context, std::uint32_t stream,
                 std::uint8_t* buffer, std::size_t valid) noexcept {
  pthread_mutex_lock(&reading_mutex);
  std::uint8_t* record = nullptr;
  while (profiler.activity.next_record(buffer, valid, &record) == 0) read_activity(driver, record);
  std::size_t lost = 0;
  if (profiler.dropped(context, stream, &lost) == 0 && lost != 0) {
    Record written{};
    written.kind = Kind::lost;
    written.bytes = lost;
    write_record(written);
  }
  pthread_mutex_unlock(&reading_mutex);
  pthread_mutex_lock(&buffers_mutex);
  if (kept_count < most_kept) {
    kept[kept_count++] = buffer;
    buffer = nullptr;
  }
  pthread_mutex_unlock(&buffers_mutex);
  std::free(buffer);
}

}  // namespace penstock::injection
