// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "anyprogram/injection/watch_log.hpp"

/// The calls of the driver that are watched, and the offsets of their parameters.
///
/// Source: cupti_driver_cbid.h, generated_cuda_meta.h, cuda.h of CUDA 13.0. Numbers and structures of calls never
///         change: a new form of a call gets a new name. Where these headers are installed, a test compares the table
///         with them.
namespace penstock::injection {

using watch_log::Call;

/// Form in which the parameters of a call give the bytes that it touches.
enum class Shape : std::uint8_t {
  plain,    ///< Addresses and a number of elements.
  rows,     ///< A memset of rows, by address, pitch, value, width and height, at offsets 0, 8, 16, 24 and 32.
  copy_2d,  ///< A pointer to a CUDA_MEMCPY2D.
  copy_3d,  ///< A pointer to a CUDA_MEMCPY3D.
  unknown,  ///< Batches, and 3D copies between peers: their bytes are not read.
  // Changes of an executable graph. The graph whose nodes it takes over is at offset 8; else the node is at offset 8,
  // and parameters follow it, of
  graph,
  node_copy,   ///< a copy: CUDA_MEMCPY3D,
  node_fill,   ///< a memset: CUDA_MEMSET_NODE_PARAMS,
  node_any,    ///< any node: CUgraphNodeParams,
  node_graph,  ///< a child graph,
  node_switch  ///< or whether the node does anything.
};

/// The offset of a value that the call does not have.
inline constexpr std::int8_t absent = -1;

/// A call, and the offsets of its parameters, in bytes from their begin.
struct WatchedCall {
  std::uint16_t number;  ///< CUPTI_DRIVER_TRACE_CBID_...
  Call call;
  std::int8_t stream = absent;
  std::int8_t first = absent;
  std::int8_t second = absent;
  std::int8_t bytes = absent;
  std::uint8_t unit = 1;          ///< Bytes of an element.
  bool per_thread = false;        ///< Its stream 0 is the per-thread default stream.
  bool waits = false;             ///< It has no Async in its name, and works in stream 0.
  bool by_pointer = false;        ///< The value at `first` (or `stream` of stream_create) points to the result.
  bool stream_in_config = false;  ///< The stream is in a CUlaunchConfig, to which the first parameter points.
  Shape shape = Shape::plain;
};

std::span<WatchedCall const> watched_calls() noexcept;

/// Offsets of members of CUDA_MEMCPY2D_v2 and CUDA_MEMCPY3D_v2, in bytes.
namespace copy_2d {
inline constexpr std::size_t from_x = 0, from_kind = 16, from_host = 24, from_device = 32, from_pitch = 48, to_x = 56,
                             to_kind = 72, to_host = 80, to_device = 88, to_pitch = 104, width = 112, height = 120;
inline constexpr std::size_t from_y = 8, to_y = 64;
}  // namespace copy_2d
namespace copy_3d {
inline constexpr std::size_t from_x = 0, from_y = 8, from_z = 16, from_kind = 32, from_host = 40, from_device = 48,
                             from_pitch = 72, from_height = 80, to_x = 88, to_y = 96, to_z = 104, to_kind = 120,
                             to_host = 128, to_device = 136, to_pitch = 160, to_height = 168, width = 176, height = 184,
                             depth = 192, size = 200;
}  // namespace copy_3d
inline constexpr std::size_t config_stream = 32;  ///< The offset of the stream in CUlaunchConfig.
inline constexpr std::uint32_t memory_host = 1, memory_device = 2, memory_array = 3;
/// Offsets of members of CUDA_MEMSET_NODE_PARAMS.
namespace fill_node {
inline constexpr std::size_t to = 0, pitch = 8, element = 20, width = 24, height = 32, size = 40;
}
/// Offsets of members of CUgraphNodeParams.
namespace any_node {
inline constexpr std::size_t type = 0, copy = 32, fill = 16;
}
/// CUgraphNodeType.
inline constexpr int copy_type = 1, fill_type = 2, graph_type = 4, conditional_type = 13;

}  // namespace penstock::injection
