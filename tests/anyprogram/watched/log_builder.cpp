// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/log_builder.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::cli {

using namespace watch_log;

LogBuilder& LogBuilder::call(WatchCall what, std::uint64_t stream, std::uint64_t first, std::uint64_t bytes,
                             std::uint8_t flags) {
  WatchRecord record;
  record.kind = Kind::call;
  record.what = static_cast<std::uint8_t>(what);
  record.flags = flags;
  record.thread = thread_;
  record.correlation = static_cast<std::uint32_t>(records_.size() + 1);
  record.device = 1;
  record.function = static_cast<std::uint16_t>(what);
  record.begin = now_ + 10;
  record.end = now_ = now_ + 20;
  record.stream = stream;
  record.first = first;
  record.bytes = bytes;
  records_.push_back(record);
  return *this;
}

LogBuilder& LogBuilder::thread(std::uint32_t number) {
  thread_ = number;
  return *this;
}
LogBuilder& LogBuilder::stream(std::uint64_t handle, bool blocking) {
  call(Call::stream_create, handle);
  records_.back().second = blocking ? 0 : 1;
  return *this;
}
LogBuilder& LogBuilder::copy(std::uint64_t stream, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  call(Call::copy, stream, to, bytes);
  records_.back().second = from;
  return *this;
}
LogBuilder& LogBuilder::waiting_copy(std::uint8_t way, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                                     std::uint64_t stream) {
  copy(stream, to, from, bytes);
  records_.back().flags |= waits;
  return did(Kind::copy, now_ - began - 10, now_ - began, way);
}
LogBuilder& LogBuilder::fill(std::uint64_t stream, std::uint64_t to, std::uint64_t bytes) {
  return call(Call::fill, stream, to, bytes);
}
LogBuilder& LogBuilder::launch(std::uint64_t stream) {
  return call(Call::launch, stream);
}
void LogBuilder::node(WatchKind kind, std::uint64_t executable, std::uint64_t node, std::uint8_t how, std::uint64_t to,
                      std::uint64_t from, std::uint64_t bytes) {
  WatchRecord record;
  record.kind = kind;
  record.what = how;
  record.begin = now_;
  record.end = node;
  record.stream = executable;
  record.first = to;
  record.second = from;
  record.bytes = bytes;
  records_.push_back(record);
}
LogBuilder& LogBuilder::graph(std::uint64_t executable, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                              std::uint64_t number) {
  call(Call::instantiate, 0, executable);
  node(Kind::graph_copy, executable, number, 0, to, from, bytes);
  return *this;
}
LogBuilder& LogBuilder::graph_update(std::uint64_t executable, std::uint64_t number, std::uint64_t to,
                                     std::uint64_t from, std::uint64_t bytes) {
  call(Call::graph_update, 0, executable);
  records_.back().second = 1;
  node(Kind::graph_copy, executable, number, 0, to, from, bytes);
  return *this;
}
LogBuilder& LogBuilder::node_update(std::uint64_t executable, std::uint64_t number, std::uint64_t to,
                                    std::uint64_t from, std::uint64_t bytes) {
  call(Call::graph_update, 0, executable);
  node(Kind::graph_copy, executable, number, 1, to, from, bytes);
  return *this;
}
LogBuilder& LogBuilder::node_unknown(std::uint64_t executable, std::uint64_t number) {
  call(Call::graph_update, 0, executable);
  node(Kind::graph_unknown, executable, number, 1);
  return *this;
}
LogBuilder& LogBuilder::graph_launch(std::uint64_t stream, std::uint64_t executable) {
  return call(Call::graph_launch, stream, executable);
}
LogBuilder& LogBuilder::record(std::uint64_t stream, std::uint64_t event) {
  return call(Call::event_record, stream, event);
}
LogBuilder& LogBuilder::wait(std::uint64_t stream, std::uint64_t event) {
  return call(Call::event_wait, stream, event);
}
LogBuilder& LogBuilder::by_handle() {
  records_.back().flags |= watch_log::by_handle;
  return *this;
}
LogBuilder& LogBuilder::until(std::uint64_t nanoseconds) {
  now_ = std::max(now_, began + nanoseconds);
  auto const last = std::find_if(records_.rbegin(), records_.rend(),
                                 [](WatchRecord const& record) { return record.kind == Kind::call; });
  last->end = now_;
  return *this;
}
LogBuilder& LogBuilder::did(WatchKind kind, std::uint64_t begin, std::uint64_t end, std::uint8_t way, unsigned from,
                            unsigned to, std::uint64_t device_stream) {
  std::size_t last = records_.size() - 1;
  while (records_[last].kind != Kind::call) --last;
  WatchRecord record;
  record.kind = kind;
  record.what = way;
  record.from = static_cast<std::uint8_t>(from) & 15U;
  record.to = static_cast<std::uint8_t>(to) & 15U;
  record.correlation = records_[last].correlation;
  record.begin = began + begin;
  record.end = began + end;
  record.stream = device_stream;
  record.bytes = records_[last].bytes;
  records_.push_back(record);
  return *this;
}

std::vector<std::byte> LogBuilder::bytes() const {
  Header header;
  header.magic = magic;
  header.process = 42;
  header.began = began;
  header.ended = now_ + 10;
  header.chunks = 2 + records_.size() / records_in_chunk;
  header.most_chunks = 4096;
  std::vector<std::byte> all(chunk_bytes * header.chunks);
  std::memcpy(all.data(), &header, sizeof header);
  std::memcpy(all.data() + chunk_bytes, records_.data(), records_.size() * sizeof(WatchRecord));
  return all;
}

LogBuilder& LogBuilder::name(std::uint32_t number, std::string_view text) {
  for (std::uint8_t part = 0; !text.empty(); ++part) {
    std::string_view const piece = text.substr(0, watch_log::text_bytes);
    text.remove_prefix(piece.size());
    WatchRecord record{};
    record.kind = WatchKind::name;
    record.what = part;
    record.correlation = number;
    std::memcpy(reinterpret_cast<char*>(&record) + watch_log::text_at, piece.data(), piece.size());
    records_.push_back(record);
  }
  return *this;
}

WatchLog LogBuilder::log() const {
  return read_watch_log(bytes());
}

}  // namespace penstock::cli
