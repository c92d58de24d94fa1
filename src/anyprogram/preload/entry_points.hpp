// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::preload {

/// Position of the stream among the arguments of an entry point.
enum class StreamPlace : std::uint8_t {
  nowhere,     ///< It works in no stream, or it is not known which argument the stream is. Its calls are not counted.
  everywhere,  ///< It takes no stream and always works in the default stream.
  argument_0,
  argument_1,
  argument_2,
  argument_3,
  argument_4,
  argument_5,
  argument_8,
  in_config,  ///< Byte 32 of what its first argument points to.
};

/// An entry point of the driver that has two variants: for the legacy default stream and, with `suffix` after its name,
/// for per-thread default streams.
struct EntryPoint {
  char const* name;    ///< Name that the library exports.
  char const* suffix;  ///< "_ptds" or "_ptsz".
  StreamPlace stream;
};

// Source: cuda.h of CUDA 13.0, where it uses __CUDA_API_PTDS and __CUDA_API_PTSZ, and of 11.8 and 12.6 for interfaces
// that 13.0 no longer has. A test compares the list with the header that is installed. Calls that only query a property
// of a stream are not counted, nor those whose stream is a different argument in different versions of the same name.
// clang-format off
#define PENSTOCK_ENTRY_POINTS(ENTRY)                            \
  ENTRY(cuMemcpy, _ptds, everywhere)                            \
  ENTRY(cuMemcpyPeer, _ptds, everywhere)                        \
  ENTRY(cuMemcpyHtoD_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpyDtoH_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpyDtoD_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpyDtoA_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpyAtoD_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpyHtoA_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpyAtoH_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpyAtoA_v2, _ptds, everywhere)                     \
  ENTRY(cuMemcpy2D_v2, _ptds, everywhere)                       \
  ENTRY(cuMemcpy2DUnaligned_v2, _ptds, everywhere)              \
  ENTRY(cuMemcpy3D_v2, _ptds, everywhere)                       \
  ENTRY(cuMemcpy3DPeer, _ptds, everywhere)                      \
  ENTRY(cuMemsetD8_v2, _ptds, everywhere)                       \
  ENTRY(cuMemsetD16_v2, _ptds, everywhere)                      \
  ENTRY(cuMemsetD32_v2, _ptds, everywhere)                      \
  ENTRY(cuMemsetD2D8_v2, _ptds, everywhere)                     \
  ENTRY(cuMemsetD2D16_v2, _ptds, everywhere)                    \
  ENTRY(cuMemsetD2D32_v2, _ptds, everywhere)                    \
  ENTRY(cuMemcpyAsync, _ptsz, argument_3)                       \
  ENTRY(cuMemcpyPeerAsync, _ptsz, argument_5)                   \
  ENTRY(cuMemcpyHtoAAsync_v2, _ptsz, argument_4)                \
  ENTRY(cuMemcpyAtoHAsync_v2, _ptsz, argument_4)                \
  ENTRY(cuMemcpyHtoDAsync_v2, _ptsz, argument_3)                \
  ENTRY(cuMemcpyDtoHAsync_v2, _ptsz, argument_3)                \
  ENTRY(cuMemcpyDtoDAsync_v2, _ptsz, argument_3)                \
  ENTRY(cuMemcpy2DAsync_v2, _ptsz, argument_1)                  \
  ENTRY(cuMemcpy3DAsync_v2, _ptsz, argument_1)                  \
  ENTRY(cuMemcpy3DPeerAsync, _ptsz, argument_1)                 \
  ENTRY(cuMemcpyBatchAsync, _ptsz, nowhere)                     \
  ENTRY(cuMemcpyBatchAsync_v2, _ptsz, nowhere)                  \
  ENTRY(cuMemcpy3DBatchAsync, _ptsz, nowhere)                   \
  ENTRY(cuMemcpy3DBatchAsync_v2, _ptsz, nowhere)                \
  ENTRY(cuMemsetD8Async, _ptsz, argument_3)                     \
  ENTRY(cuMemsetD16Async, _ptsz, argument_3)                    \
  ENTRY(cuMemsetD32Async, _ptsz, argument_3)                    \
  ENTRY(cuMemsetD2D8Async, _ptsz, argument_5)                   \
  ENTRY(cuMemsetD2D16Async, _ptsz, argument_5)                  \
  ENTRY(cuMemsetD2D32Async, _ptsz, argument_5)                  \
  ENTRY(cuMemPrefetchAsync, _ptsz, nowhere)                     \
  ENTRY(cuMemPrefetchAsync_v2, _ptsz, nowhere)                  \
  ENTRY(cuMemPrefetchBatchAsync, _ptsz, nowhere)                \
  ENTRY(cuMemDiscardBatchAsync, _ptsz, argument_4)              \
  ENTRY(cuMemDiscardAndPrefetchBatchAsync, _ptsz, nowhere)      \
  ENTRY(cuMemMapArrayAsync, _ptsz, argument_2)                  \
  ENTRY(cuMemFreeAsync, _ptsz, argument_1)                      \
  ENTRY(cuMemAllocAsync, _ptsz, argument_2)                     \
  ENTRY(cuMemAllocFromPoolAsync, _ptsz, argument_3)             \
  ENTRY(cuMemBatchDecompressAsync, _ptsz, argument_4)           \
  ENTRY(cuStreamGetPriority, _ptsz, nowhere)                    \
  ENTRY(cuStreamGetId, _ptsz, nowhere)                          \
  ENTRY(cuStreamGetFlags, _ptsz, nowhere)                       \
  ENTRY(cuStreamGetDevice, _ptsz, nowhere)                      \
  ENTRY(cuStreamGetCtx, _ptsz, nowhere)                         \
  ENTRY(cuStreamGetCtx_v2, _ptsz, nowhere)                      \
  ENTRY(cuStreamWaitEvent, _ptsz, argument_0)                   \
  ENTRY(cuStreamBeginCapture, _ptsz, nowhere)                   \
  ENTRY(cuStreamBeginCapture_v2, _ptsz, nowhere)                \
  ENTRY(cuStreamBeginCaptureToGraph, _ptsz, nowhere)            \
  ENTRY(cuStreamEndCapture, _ptsz, nowhere)                     \
  ENTRY(cuStreamIsCapturing, _ptsz, nowhere)                    \
  ENTRY(cuStreamGetCaptureInfo, _ptsz, nowhere)                 \
  ENTRY(cuStreamGetCaptureInfo_v2, _ptsz, nowhere)              \
  ENTRY(cuStreamGetCaptureInfo_v3, _ptsz, nowhere)              \
  ENTRY(cuStreamUpdateCaptureDependencies, _ptsz, nowhere)      \
  ENTRY(cuStreamUpdateCaptureDependencies_v2, _ptsz, nowhere)   \
  ENTRY(cuStreamAddCallback, _ptsz, argument_0)                 \
  ENTRY(cuStreamAttachMemAsync, _ptsz, argument_0)              \
  ENTRY(cuStreamQuery, _ptsz, argument_0)                       \
  ENTRY(cuStreamSynchronize, _ptsz, argument_0)                 \
  ENTRY(cuStreamWriteValue32, _ptsz, argument_0)                \
  ENTRY(cuStreamWriteValue32_v2, _ptsz, argument_0)             \
  ENTRY(cuStreamWaitValue32, _ptsz, argument_0)                 \
  ENTRY(cuStreamWaitValue32_v2, _ptsz, argument_0)              \
  ENTRY(cuStreamWriteValue64, _ptsz, argument_0)                \
  ENTRY(cuStreamWriteValue64_v2, _ptsz, argument_0)             \
  ENTRY(cuStreamWaitValue64, _ptsz, argument_0)                 \
  ENTRY(cuStreamWaitValue64_v2, _ptsz, argument_0)              \
  ENTRY(cuStreamBatchMemOp, _ptsz, argument_0)                  \
  ENTRY(cuStreamBatchMemOp_v2, _ptsz, argument_0)               \
  ENTRY(cuStreamCopyAttributes, _ptsz, nowhere)                 \
  ENTRY(cuStreamGetAttribute, _ptsz, nowhere)                   \
  ENTRY(cuStreamSetAttribute, _ptsz, nowhere)                   \
  ENTRY(cuEventRecord, _ptsz, argument_1)                       \
  ENTRY(cuEventRecordWithFlags, _ptsz, argument_1)              \
  ENTRY(cuLaunchKernel, _ptsz, argument_8)                      \
  ENTRY(cuLaunchKernelEx, _ptsz, in_config)                     \
  ENTRY(cuLaunchCooperativeKernel, _ptsz, argument_8)           \
  ENTRY(cuLaunchHostFunc, _ptsz, argument_0)                    \
  ENTRY(cuGraphInstantiateWithParams, _ptsz, nowhere)           \
  ENTRY(cuGraphUpload, _ptsz, argument_1)                       \
  ENTRY(cuGraphLaunch, _ptsz, argument_1)                       \
  ENTRY(cuGraphicsMapResources, _ptsz, argument_2)              \
  ENTRY(cuGraphicsUnmapResources, _ptsz, argument_2)            \
  ENTRY(cuSignalExternalSemaphoresAsync, _ptsz, argument_3)     \
  ENTRY(cuWaitExternalSemaphoresAsync, _ptsz, argument_3)
// clang-format on

}  // namespace penstock::preload
