// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/injection/call_record.hpp"

#include <cstring>

namespace penstock::injection {
namespace {

using namespace watch_log;

template <class Value>
Value at(void const* begin, std::size_t offset) noexcept {
  Value value;
  std::memcpy(&value, static_cast<char const*>(begin) + offset, sizeof value);
  return value;
}

std::uint64_t word(void const* begin, std::int8_t offset) noexcept {
  return offset == absent ? 0 : at<std::uint64_t>(begin, static_cast<std::size_t>(offset));
}

/// A part of an image with rows of `pitch` bytes and layers of `height` rows.
struct Box {
  std::uint64_t begin, pitch, layer;
};

/// Number of bytes from the first to the last byte of a box, both included. `whole`: the box has all of them.
std::uint64_t span_of(Box const& box, std::uint64_t width, std::uint64_t height, std::uint64_t depth,
                      bool& whole) noexcept {
  if (width == 0 || height == 0 || depth == 0) return 0;
  whole = (height == 1 || box.pitch == width) && (depth == 1 || box.layer == width * height);
  return (depth - 1) * box.layer + (height - 1) * box.pitch + width;
}

std::uint64_t address(void const* copy, std::size_t kind, std::size_t host, std::size_t device) noexcept {
  // The address of managed memory, and a unified address, is in the field for device memory.
  return at<std::uint64_t>(copy, at<std::uint32_t>(copy, kind) == memory_host ? host : device);
}

void set_boxes(Box const& from, Box const& to, std::uint64_t width, std::uint64_t height, std::uint64_t depth,
               Record& record) noexcept {
  bool from_whole = true, to_whole = true;
  std::uint64_t const read = span_of(from, width, height, depth, from_whole);
  std::uint64_t const written = span_of(to, width, height, depth, to_whole);
  record.first = to.begin;
  record.second = from.begin;
  record.bytes = width * height * depth;
  // The two may span different numbers of bytes, but a record has room for one number.
  if (!from_whole || !to_whole || read != written) record.flags |= scattered;
}

}  // namespace

void read_rows(std::uint64_t begin, std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
               Record& to) noexcept {
  to.first = begin;
  to.bytes = width * height;
  if (height > 1 && pitch != width) to.flags |= scattered;
}

void read_fill_node(void const* fill, Record& to) noexcept {
  using namespace fill_node;
  read_rows(at<std::uint64_t>(fill, fill_node::to), at<std::uint64_t>(fill, pitch),
            at<std::uint64_t>(fill, width) * at<std::uint32_t>(fill, element), at<std::uint64_t>(fill, height), to);
}

void read_copy_2d(void const* copy, Record& to) noexcept {
  using namespace copy_2d;
  std::uint64_t const from_step = at<std::uint64_t>(copy, from_pitch), to_step = at<std::uint64_t>(copy, to_pitch);
  if (at<std::uint32_t>(copy, from_kind) == memory_array || at<std::uint32_t>(copy, to_kind) == memory_array)
    to.flags |= scattered;
  Box const read{address(copy, from_kind, from_host, from_device) + at<std::uint64_t>(copy, from_y) * from_step +
                     at<std::uint64_t>(copy, from_x),
                 from_step, 0};
  Box const written{address(copy, to_kind, to_host, to_device) + at<std::uint64_t>(copy, to_y) * to_step +
                        at<std::uint64_t>(copy, to_x),
                    to_step, 0};
  set_boxes(read, written, at<std::uint64_t>(copy, width), at<std::uint64_t>(copy, height), 1, to);
}

void read_copy_3d(void const* copy, Record& to) noexcept {
  using namespace copy_3d;
  auto const box = [&](std::uint64_t base, std::size_t x, std::size_t y, std::size_t z, std::size_t pitch,
                       std::size_t rows) {
    std::uint64_t const step = at<std::uint64_t>(copy, pitch), layer = step * at<std::uint64_t>(copy, rows);
    return Box{
        base + at<std::uint64_t>(copy, z) * layer + at<std::uint64_t>(copy, y) * step + at<std::uint64_t>(copy, x),
        step, layer};
  };
  if (at<std::uint32_t>(copy, from_kind) == memory_array || at<std::uint32_t>(copy, to_kind) == memory_array)
    to.flags |= scattered;
  set_boxes(box(address(copy, from_kind, from_host, from_device), from_x, from_y, from_z, from_pitch, from_height),
            box(address(copy, to_kind, to_host, to_device), to_x, to_y, to_z, to_pitch, to_height),
            at<std::uint64_t>(copy, width), at<std::uint64_t>(copy, height), at<std::uint64_t>(copy, depth), to);
}

Record call_record(WatchedCall const& call, void const* parameters, bool succeeded) noexcept {
  Record record{};
  record.kind = Kind::call;
  record.what = static_cast<std::uint8_t>(call.call);
  record.function = call.number;
  if (!succeeded) record.flags |= failed;
  if (call.waits) record.flags |= waits;
  record.stream = word(parameters, call.stream);
  if (call.stream_in_config) record.stream = at<std::uint64_t>(at<void const*>(parameters, 0), config_stream);
  record.first = word(parameters, call.first);
  record.second = call.call == Call::stream_create
                      ? at<std::uint32_t>(parameters, static_cast<std::size_t>(call.second))
                      : word(parameters, call.second);
  record.bytes = word(parameters, call.bytes) * call.unit;
  if (call.by_pointer) {
    std::uint64_t& result = call.call == Call::stream_create ? record.stream : record.first;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the program's own pointer, from the parameters of a driver call.
    result = succeeded && result != 0 ? at<std::uint64_t>(reinterpret_cast<void const*>(result), 0) : 0;
  }
  bool const in_a_stream =
      call.waits || call.stream_in_config || (call.stream != absent && call.call != Call::stream_create);
  if (in_a_stream && record.stream == legacy_stream) record.flags |= by_handle;
  if (in_a_stream && record.stream == 0) record.stream = call.per_thread ? per_thread_stream : legacy_stream;
  switch (call.shape) {
    case Shape::plain:
    case Shape::node_copy:
    case Shape::node_fill:
    case Shape::node_any:
    case Shape::node_graph:
    case Shape::node_switch:
      break;
    case Shape::graph:
      record.second = 1;
      break;
    case Shape::rows:
      read_rows(record.first, at<std::uint64_t>(parameters, 8), at<std::uint64_t>(parameters, 24) * call.unit,
                at<std::uint64_t>(parameters, 32), record);
      break;
    case Shape::copy_2d:
      read_copy_2d(at<void const*>(parameters, 0), record);
      break;
    case Shape::copy_3d:
      read_copy_3d(at<void const*>(parameters, 0), record);
      break;
    case Shape::unknown:
      record.flags |= scattered;
      break;
  }
  return record;
}

}  // namespace penstock::injection
