// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/injection/watched_calls.hpp"

namespace penstock::injection {
namespace {

constexpr WatchedCall launch(std::uint16_t number, bool per_thread) {
  return {.number = number, .call = Call::launch, .stream = 40, .per_thread = per_thread};
}
constexpr WatchedCall launch_with_config(std::uint16_t number, bool per_thread) {
  return {.number = number, .call = Call::launch, .per_thread = per_thread, .stream_in_config = true};
}
constexpr WatchedCall copy(std::uint16_t number, bool per_thread) {
  return {.number = number,
          .call = Call::copy,
          .first = 0,
          .second = 8,
          .bytes = 16,
          .per_thread = per_thread,
          .waits = true};
}
constexpr WatchedCall copy_async(std::uint16_t number, bool per_thread) {
  return {.number = number,
          .call = Call::copy,
          .stream = 24,
          .first = 0,
          .second = 8,
          .bytes = 16,
          .per_thread = per_thread};
}
constexpr WatchedCall copy_peer(std::uint16_t number, bool per_thread) {
  return {.number = number,
          .call = Call::copy,
          .first = 0,
          .second = 16,
          .bytes = 32,
          .per_thread = per_thread,
          .waits = true};
}
constexpr WatchedCall copy_peer_async(std::uint16_t number, bool per_thread) {
  return {.number = number,
          .call = Call::copy,
          .stream = 40,
          .first = 0,
          .second = 16,
          .bytes = 32,
          .per_thread = per_thread};
}
constexpr WatchedCall copy_shaped(std::uint16_t number, bool per_thread, Shape shape) {
  return {.number = number, .call = Call::copy, .per_thread = per_thread, .waits = true, .shape = shape};
}
constexpr WatchedCall copy_shaped_async(std::uint16_t number, bool per_thread, Shape shape, std::int8_t stream) {
  return {.number = number, .call = Call::copy, .stream = stream, .per_thread = per_thread, .shape = shape};
}
constexpr WatchedCall fill(std::uint16_t number, bool per_thread, std::uint8_t unit) {
  return {.number = number,
          .call = Call::fill,
          .first = 0,
          .bytes = 16,
          .unit = unit,
          .per_thread = per_thread,
          .waits = true};
}
constexpr WatchedCall fill_async(std::uint16_t number, bool per_thread, std::uint8_t unit) {
  return {.number = number,
          .call = Call::fill,
          .stream = 24,
          .first = 0,
          .bytes = 16,
          .unit = unit,
          .per_thread = per_thread};
}
constexpr WatchedCall fill_rows(std::uint16_t number, bool per_thread, std::uint8_t unit) {
  return {.number = number,
          .call = Call::fill,
          .first = 0,
          .unit = unit,
          .per_thread = per_thread,
          .waits = true,
          .shape = Shape::rows};
}
constexpr WatchedCall fill_rows_async(std::uint16_t number, bool per_thread, std::uint8_t unit) {
  return {.number = number,
          .call = Call::fill,
          .stream = 40,
          .first = 0,
          .unit = unit,
          .per_thread = per_thread,
          .shape = Shape::rows};
}
constexpr WatchedCall in_stream(std::uint16_t number, Call call, std::int8_t stream, std::int8_t first,
                                bool per_thread) {
  return {.number = number, .call = call, .stream = stream, .first = first, .per_thread = per_thread};
}
constexpr WatchedCall plain(std::uint16_t number, Call call, std::int8_t first = absent, std::int8_t bytes = absent) {
  return {.number = number, .call = call, .first = first, .bytes = bytes};
}
constexpr WatchedCall makes(std::uint16_t number, Call call, std::int8_t bytes = absent) {
  return {.number = number, .call = call, .first = 0, .bytes = bytes, .by_pointer = true};
}
constexpr WatchedCall makes_in_stream(std::uint16_t number, std::int8_t bytes, std::int8_t stream, bool per_thread) {
  return {.number = number,
          .call = Call::allocate,
          .stream = stream,
          .first = 0,
          .bytes = bytes,
          .per_thread = per_thread,
          .by_pointer = true};
}
constexpr WatchedCall makes_stream(std::uint16_t number, std::int8_t flags) {
  return {.number = number, .call = Call::stream_create, .stream = 0, .second = flags, .by_pointer = true};
}

constexpr WatchedCall updates(std::uint16_t number, Shape shape) {
  return {.number = number, .call = Call::graph_update, .first = 0, .shape = shape};
}

constexpr bool zero_is_legacy = false, zero_is_per_thread = true;

constexpr WatchedCall calls[] = {
    launch(307, zero_is_legacy),
    launch(442, zero_is_per_thread),
    launch(477, zero_is_legacy),  // cuLaunchCooperativeKernel
    launch(478, zero_is_per_thread),
    launch_with_config(652, zero_is_legacy),
    launch_with_config(653, zero_is_per_thread),
    copy(276, zero_is_legacy),  // cuMemcpyHtoD_v2, DtoH, DtoD
    copy(278, zero_is_legacy),
    copy(280, zero_is_legacy),
    copy(397, zero_is_per_thread),
    copy(398, zero_is_per_thread),
    copy(399, zero_is_per_thread),
    copy(305, zero_is_legacy),  // cuMemcpy
    copy(408, zero_is_per_thread),
    copy_async(277, zero_is_legacy),  // cuMemcpyHtoDAsync_v2, DtoH, DtoD
    copy_async(279, zero_is_legacy),
    copy_async(281, zero_is_legacy),
    copy_async(421, zero_is_per_thread),
    copy_async(422, zero_is_per_thread),
    copy_async(423, zero_is_per_thread),
    copy_async(306, zero_is_legacy),  // cuMemcpyAsync
    copy_async(418, zero_is_per_thread),
    copy_peer(318, zero_is_legacy),
    copy_peer(409, zero_is_per_thread),
    copy_peer_async(319, zero_is_legacy),
    copy_peer_async(426, zero_is_per_thread),
    copy_shaped(287, zero_is_legacy, Shape::copy_2d),  // cuMemcpy2D_v2, cuMemcpy2DUnaligned_v2
    copy_shaped(288, zero_is_legacy, Shape::copy_2d),
    copy_shaped(405, zero_is_per_thread, Shape::copy_2d),
    copy_shaped(406, zero_is_per_thread, Shape::copy_2d),
    copy_shaped_async(289, zero_is_legacy, Shape::copy_2d, 8),
    copy_shaped_async(424, zero_is_per_thread, Shape::copy_2d, 8),
    copy_shaped(290, zero_is_legacy, Shape::copy_3d),  // cuMemcpy3D_v2
    copy_shaped(407, zero_is_per_thread, Shape::copy_3d),
    copy_shaped_async(291, zero_is_legacy, Shape::copy_3d, 8),
    copy_shaped_async(425, zero_is_per_thread, Shape::copy_3d, 8),
    copy_shaped_async(321, zero_is_legacy, Shape::unknown, 8),  // cuMemcpy3DPeerAsync
    copy_shaped_async(427, zero_is_per_thread, Shape::unknown, 8),
    copy_shaped_async(796, zero_is_legacy, Shape::unknown, 56),  // cuMemcpyBatchAsync_v2
    copy_shaped_async(797, zero_is_per_thread, Shape::unknown, 56),
    fill(249, zero_is_legacy, 1),  // cuMemsetD8_v2, D16, D32
    fill(250, zero_is_legacy, 2),
    fill(251, zero_is_legacy, 4),
    fill(411, zero_is_per_thread, 1),
    fill(412, zero_is_per_thread, 2),
    fill(413, zero_is_per_thread, 4),
    fill_async(216, zero_is_legacy, 1),
    fill_async(218, zero_is_legacy, 2),
    fill_async(220, zero_is_legacy, 4),
    fill_async(428, zero_is_per_thread, 1),
    fill_async(429, zero_is_per_thread, 2),
    fill_async(430, zero_is_per_thread, 4),
    fill_rows(252, zero_is_legacy, 1),  // cuMemsetD2D8_v2, D2D16, D2D32
    fill_rows(253, zero_is_legacy, 2),
    fill_rows(254, zero_is_legacy, 4),
    fill_rows(414, zero_is_per_thread, 1),
    fill_rows(415, zero_is_per_thread, 2),
    fill_rows(416, zero_is_per_thread, 4),
    fill_rows_async(222, zero_is_legacy, 1),
    fill_rows_async(224, zero_is_legacy, 2),
    fill_rows_async(226, zero_is_legacy, 4),
    fill_rows_async(431, zero_is_per_thread, 1),
    fill_rows_async(432, zero_is_per_thread, 2),
    fill_rows_async(433, zero_is_per_thread, 4),
    in_stream(514, Call::graph_launch, 8, 0, zero_is_legacy),
    in_stream(515, Call::graph_launch, 8, 0, zero_is_per_thread),
    in_stream(527, Call::host_function, 0, absent, zero_is_legacy),
    in_stream(528, Call::host_function, 0, absent, zero_is_per_thread),
    in_stream(346, Call::host_function, 0, absent, zero_is_legacy),  // cuStreamAddCallback
    in_stream(437, Call::host_function, 0, absent, zero_is_per_thread),
    in_stream(119, Call::event_record, 8, 0, zero_is_legacy),
    in_stream(441, Call::event_record, 8, 0, zero_is_per_thread),
    in_stream(587, Call::event_record, 8, 0, zero_is_legacy),  // cuEventRecordWithFlags
    in_stream(588, Call::event_record, 8, 0, zero_is_per_thread),
    in_stream(295, Call::event_wait, 0, 8, zero_is_legacy),
    in_stream(436, Call::event_wait, 0, 8, zero_is_per_thread),
    plain(122, Call::event_destroy, 0),
    plain(325, Call::event_destroy, 0),  // cuEventDestroy_v2
    plain(121, Call::event_sync, 0),
    plain(120, Call::event_query, 0),
    in_stream(126, Call::stream_sync, 0, absent, zero_is_legacy),
    in_stream(440, Call::stream_sync, 0, absent, zero_is_per_thread),
    in_stream(125, Call::stream_query, 0, absent, zero_is_legacy),
    in_stream(439, Call::stream_query, 0, absent, zero_is_per_thread),
    plain(17, Call::device_sync),   // cuCtxSynchronize
    plain(800, Call::device_sync),  // cuCtxSynchronize_v2
    makes_stream(124, 8),
    makes_stream(367, 8),   // cuStreamCreateWithPriority
    makes_stream(758, 16),  // cuGreenCtxStreamCreate
    in_stream(326, Call::stream_destroy, 0, absent, zero_is_legacy),
    makes(243, Call::allocate, 8),
    makes(371, Call::allocate, 8),  // cuMemAllocManaged
    makes_in_stream(598, 8, 16, zero_is_legacy),
    makes_in_stream(599, 8, 16, zero_is_per_thread),
    makes_in_stream(611, 8, 24, zero_is_legacy),  // cuMemAllocFromPoolAsync
    makes_in_stream(612, 8, 24, zero_is_per_thread),
    plain(245, Call::release, 0),
    in_stream(600, Call::release, 8, 0, zero_is_legacy),
    in_stream(601, Call::release, 8, 0, zero_is_per_thread),
    makes(294, Call::pin, 8),       // cuMemAllocHost_v2
    makes(39, Call::pin, 8),        // cuMemHostAlloc
    plain(379, Call::pin, 0, 8),    // cuMemHostRegister_v2
    plain(38, Call::unpin, 0),      // cuMemFreeHost
    plain(302, Call::unpin, 0),     // cuMemHostUnregister
    makes(643, Call::instantiate),  // cuGraphInstantiateWithFlags
    makes(656, Call::instantiate),  // cuGraphInstantiateWithParams
    makes(657, Call::instantiate),
    makes(513, Call::instantiate),  // cuGraphInstantiate, cuGraphInstantiate_v2
    makes(578, Call::instantiate),
    updates(561, Shape::graph),  // cuGraphExecUpdate, cuGraphExecUpdate_v2
    updates(696, Shape::graph),
    updates(562, Shape::node_copy),    // cuGraphExecMemcpyNodeSetParams
    updates(563, Shape::node_fill),    // cuGraphExecMemsetNodeSetParams
    updates(714, Shape::node_any),     // cuGraphExecNodeSetParams
    updates(586, Shape::node_graph),   // cuGraphExecChildGraphNodeSetParams
    updates(650, Shape::node_switch),  // cuGraphNodeSetEnabled
    plain(20, Call::load),             // cuModuleLoadDataEx
    plain(19, Call::load),             // cuModuleLoadData
    plain(678, Call::load),            // cuLibraryLoadData
    in_stream(539, Call::begin_capture, 0, absent, zero_is_legacy),
    in_stream(540, Call::begin_capture, 0, absent, zero_is_per_thread),
    in_stream(720, Call::begin_capture, 0, absent, zero_is_legacy),
    in_stream(721, Call::begin_capture, 0, absent, zero_is_per_thread),
    in_stream(497, Call::end_capture, 0, absent, zero_is_legacy),
    in_stream(498, Call::end_capture, 0, absent, zero_is_per_thread),
};

}  // namespace

std::span<WatchedCall const> watched_calls() noexcept {
  return calls;
}

}  // namespace penstock::injection
