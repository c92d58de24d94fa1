// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/injection/graph_nodes.hpp"

#include <cstdlib>
#include <cstring>

#include "anyprogram/injection/call_record.hpp"
#include "anyprogram/injection/log_writer.hpp"

namespace penstock::injection {
namespace {

using namespace watch_log;
using cupti::field;

constexpr unsigned most_levels = 64;
constexpr std::uint8_t as_made = 0, as_changed = 1;

/// A record of what a node of an executable graph touches from now on; at first, that this is not known.
Record node_record(std::uint64_t executable, void const* node, std::uint8_t how) noexcept {
  Record record{};
  record.kind = Kind::graph_unknown;
  record.what = how;
  record.begin = log_time();
  record.end = reinterpret_cast<std::uint64_t>(node);
  record.stream = executable;
  return record;
}

void write_copy(Record record, void const* copy) noexcept {
  record.kind = Kind::graph_copy;
  read_copy_3d(copy, record);
  write_record(record);
}

void write_fill(Record record, void const* fill) noexcept {
  record.kind = Kind::graph_fill;
  read_fill_node(fill, record);
  write_record(record);
}

void write_level(Driver const& driver, std::uint64_t executable, void* graph, unsigned level) noexcept;

void write_node(Driver const& driver, std::uint64_t executable, void* node, unsigned level) noexcept {
  Record const record = node_record(executable, node, as_made);
  int type = -1;
  unsigned char words[copy_3d::size] = {};
  void* child = nullptr;
  if (driver.node_type(node, &type) != 0) {
    write_record(record);
    return;
  }
  switch (type) {
    case copy_type:
      if (driver.copy_node != nullptr && driver.copy_node(node, words) == 0) return write_copy(record, words);
      break;
    case fill_type:
      if (driver.fill_node != nullptr && driver.fill_node(node, words) == 0) return write_fill(record, words);
      break;
    case graph_type:
      if (driver.child_graph != nullptr && driver.child_graph(node, &child) == 0)
        return write_level(driver, executable, child, level + 1);
      break;
    case conditional_type:
      break;
    default:
      return;
  }
  write_record(record);
}

void write_level(Driver const& driver, std::uint64_t executable, void* graph, unsigned level) noexcept {
  std::size_t count = 0;
  bool const known = level < most_levels && driver.graph_nodes != nullptr && driver.node_type != nullptr &&
                     driver.graph_nodes(graph, nullptr, &count) == 0;
  if (known && count == 0) return;
  // The array is allocated for each call: several threads may make graphs executable at once.
  auto** const nodes = known ? static_cast<void**>(std::calloc(count, sizeof(void*))) : nullptr;
  if (nodes != nullptr && driver.graph_nodes(graph, nodes, &count) == 0) {
    for (std::size_t i = 0; i < count; ++i) write_node(driver, executable, nodes[i], level);
  } else {
    write_record(node_record(executable, nullptr, as_made));
  }
  std::free(nodes);
}

void write_any(Record record, std::uint8_t const* any) noexcept {
  switch (field<int>(any, any_node::type)) {
    case copy_type:
      write_copy(record, any + any_node::copy);
      break;
    case fill_type:
      write_fill(record, any + any_node::fill);
      break;
    case graph_type:
    case conditional_type:
      record.end = 0;
      write_record(record);
      break;
    default:
      break;
  }
}

}  // namespace

void write_nodes(Driver const& driver, std::uint64_t executable, void* graph) noexcept {
  write_level(driver, executable, graph, 0);
}

void write_change(Driver const& driver, WatchedCall const& call, void const* parameters) noexcept {
  auto const* const words = static_cast<std::uint8_t const*>(parameters);
  auto const executable = field<std::uint64_t>(words, 0);
  void* const node_or_graph = field<void*>(words, 8);
  auto const* const behind = field<std::uint8_t const*>(words, 16);
  Record record = node_record(executable, node_or_graph, as_changed);
  switch (call.shape) {
    case Shape::graph:
      write_nodes(driver, executable, node_or_graph);
      break;
    case Shape::node_copy:
      write_copy(record, behind);
      break;
    case Shape::node_fill:
      write_fill(record, behind);
      break;
    case Shape::node_any:
      write_any(record, behind);
      break;
    case Shape::node_graph:
      // Its nodes have been written one by one, and it is not known which of them belong to it.
      record.end = 0;
      write_record(record);
      break;
    default:
      write_record(record);
      break;
  }
}

}  // namespace penstock::injection
