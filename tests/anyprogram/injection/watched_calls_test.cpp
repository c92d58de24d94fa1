// SPDX-License-Identifier: Apache-2.0
// Tests that penstock says of the driver's calls what the headers of CUDA say, where they are.
#include "anyprogram/injection/watched_calls.hpp"

#include <algorithm>

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

namespace penstock::injection {
namespace {

constexpr std::size_t none = 255;

struct Expected {
  int number;
  std::size_t stream, first, second, bytes;
  bool per_thread;
};

constexpr Expected expected[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, none, offsetof(cuMemFreeHost_params, p), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, none, offsetof(cuMemHostAlloc_params, pp), none,
     offsetof(cuMemHostAlloc_params, bytesize), false},
    {CUPTI_DRIVER_TRACE_CBID_cuEventRecord, offsetof(cuEventRecord_params, hStream),
     offsetof(cuEventRecord_params, hEvent), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuEventQuery, none, offsetof(cuEventQuery_params, hEvent), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, none, offsetof(cuEventSynchronize_params, hEvent), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamCreate, offsetof(cuStreamCreate_params, phStream), none,
     offsetof(cuStreamCreate_params, Flags), none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, offsetof(cuStreamQuery_params, hStream), none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, offsetof(cuStreamSynchronize_params, hStream), none, none, none,
     false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, offsetof(cuMemsetD8Async_params, hStream),
     offsetof(cuMemsetD8Async_params, dstDevice), none, offsetof(cuMemsetD8Async_params, N), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async, offsetof(cuMemsetD16Async_params, hStream),
     offsetof(cuMemsetD16Async_params, dstDevice), none, offsetof(cuMemsetD16Async_params, N), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, offsetof(cuMemsetD32Async_params, hStream),
     offsetof(cuMemsetD32Async_params, dstDevice), none, offsetof(cuMemsetD32Async_params, N), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async, offsetof(cuMemsetD2D8Async_params, hStream),
     offsetof(cuMemsetD2D8Async_params, dstDevice), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async, offsetof(cuMemsetD2D16Async_params, hStream),
     offsetof(cuMemsetD2D16Async_params, dstDevice), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async, offsetof(cuMemsetD2D32Async_params, hStream),
     offsetof(cuMemsetD2D32Async_params, dstDevice), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, none, offsetof(cuMemAlloc_v2_params, dptr), none,
     offsetof(cuMemAlloc_v2_params, bytesize), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, none, offsetof(cuMemFree_v2_params, dptr), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, none, offsetof(cuMemsetD8_v2_params, dstDevice), none,
     offsetof(cuMemsetD8_v2_params, N), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2, none, offsetof(cuMemsetD16_v2_params, dstDevice), none,
     offsetof(cuMemsetD16_v2_params, N), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2, none, offsetof(cuMemsetD32_v2_params, dstDevice), none,
     offsetof(cuMemsetD32_v2_params, N), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2, none, offsetof(cuMemsetD2D8_v2_params, dstDevice), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2, none, offsetof(cuMemsetD2D16_v2_params, dstDevice), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2, none, offsetof(cuMemsetD2D32_v2_params, dstDevice), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, none, offsetof(cuMemcpyHtoD_v2_params, dstDevice),
     offsetof(cuMemcpyHtoD_v2_params, srcHost), offsetof(cuMemcpyHtoD_v2_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, offsetof(cuMemcpyHtoDAsync_v2_params, hStream),
     offsetof(cuMemcpyHtoDAsync_v2_params, dstDevice), offsetof(cuMemcpyHtoDAsync_v2_params, srcHost),
     offsetof(cuMemcpyHtoDAsync_v2_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, none, offsetof(cuMemcpyDtoH_v2_params, dstHost),
     offsetof(cuMemcpyDtoH_v2_params, srcDevice), offsetof(cuMemcpyDtoH_v2_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, offsetof(cuMemcpyDtoHAsync_v2_params, hStream),
     offsetof(cuMemcpyDtoHAsync_v2_params, dstHost), offsetof(cuMemcpyDtoHAsync_v2_params, srcDevice),
     offsetof(cuMemcpyDtoHAsync_v2_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, none, offsetof(cuMemcpyDtoD_v2_params, dstDevice),
     offsetof(cuMemcpyDtoD_v2_params, srcDevice), offsetof(cuMemcpyDtoD_v2_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, offsetof(cuMemcpyDtoDAsync_v2_params, hStream),
     offsetof(cuMemcpyDtoDAsync_v2_params, dstDevice), offsetof(cuMemcpyDtoDAsync_v2_params, srcDevice),
     offsetof(cuMemcpyDtoDAsync_v2_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, offsetof(cuMemcpy2DAsync_v2_params, hStream), none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2, offsetof(cuMemcpy3DAsync_v2_params, hStream), none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2, none, offsetof(cuMemAllocHost_v2_params, pp), none,
     offsetof(cuMemAllocHost_v2_params, bytesize), false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, offsetof(cuStreamWaitEvent_params, hStream),
     offsetof(cuStreamWaitEvent_params, hEvent), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemHostUnregister, none, offsetof(cuMemHostUnregister_params, p), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy, none, offsetof(cuMemcpy_params, dst), offsetof(cuMemcpy_params, src),
     offsetof(cuMemcpy_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, offsetof(cuMemcpyAsync_params, hStream),
     offsetof(cuMemcpyAsync_params, dst), offsetof(cuMemcpyAsync_params, src),
     offsetof(cuMemcpyAsync_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, offsetof(cuLaunchKernel_params, hStream), none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer, none, offsetof(cuMemcpyPeer_params, dstDevice),
     offsetof(cuMemcpyPeer_params, srcDevice), offsetof(cuMemcpyPeer_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, offsetof(cuMemcpyPeerAsync_params, hStream),
     offsetof(cuMemcpyPeerAsync_params, dstDevice), offsetof(cuMemcpyPeerAsync_params, srcDevice),
     offsetof(cuMemcpyPeerAsync_params, ByteCount), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync, offsetof(cuMemcpy3DPeerAsync_params, hStream), none, none, none,
     false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, offsetof(cuStreamDestroy_v2_params, hStream), none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback, offsetof(cuStreamAddCallback_params, hStream), none, none, none,
     false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamCreateWithPriority, offsetof(cuStreamCreateWithPriority_params, phStream), none,
     offsetof(cuStreamCreateWithPriority_params, flags), none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, none, offsetof(cuMemHostRegister_v2_params, p), none,
     offsetof(cuMemHostRegister_v2_params, bytesize), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, none, offsetof(cuMemAllocManaged_params, dptr), none,
     offsetof(cuMemAllocManaged_params, bytesize), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, none, offsetof(cuMemcpyHtoD_v2_ptds_params, dstDevice),
     offsetof(cuMemcpyHtoD_v2_ptds_params, srcHost), offsetof(cuMemcpyHtoD_v2_ptds_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, none, offsetof(cuMemcpyDtoH_v2_ptds_params, dstHost),
     offsetof(cuMemcpyDtoH_v2_ptds_params, srcDevice), offsetof(cuMemcpyDtoH_v2_ptds_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds, none, offsetof(cuMemcpyDtoD_v2_ptds_params, dstDevice),
     offsetof(cuMemcpyDtoD_v2_ptds_params, srcDevice), offsetof(cuMemcpyDtoD_v2_ptds_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds, none, none, none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds, none, none, none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds, none, none, none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds, none, offsetof(cuMemcpy_ptds_params, dst),
     offsetof(cuMemcpy_ptds_params, src), offsetof(cuMemcpy_ptds_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer_ptds, none, offsetof(cuMemcpyPeer_ptds_params, dstDevice),
     offsetof(cuMemcpyPeer_ptds_params, srcDevice), offsetof(cuMemcpyPeer_ptds_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds, none, offsetof(cuMemsetD8_v2_ptds_params, dstDevice), none,
     offsetof(cuMemsetD8_v2_ptds_params, N), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2_ptds, none, offsetof(cuMemsetD16_v2_ptds_params, dstDevice), none,
     offsetof(cuMemsetD16_v2_ptds_params, N), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds, none, offsetof(cuMemsetD32_v2_ptds_params, dstDevice), none,
     offsetof(cuMemsetD32_v2_ptds_params, N), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2_ptds, none, offsetof(cuMemsetD2D8_v2_ptds_params, dstDevice), none, none,
     true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2_ptds, none, offsetof(cuMemsetD2D16_v2_ptds_params, dstDevice), none, none,
     true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2_ptds, none, offsetof(cuMemsetD2D32_v2_ptds_params, dstDevice), none, none,
     true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, offsetof(cuMemcpyAsync_ptsz_params, hStream),
     offsetof(cuMemcpyAsync_ptsz_params, dst), offsetof(cuMemcpyAsync_ptsz_params, src),
     offsetof(cuMemcpyAsync_ptsz_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, offsetof(cuMemcpyHtoDAsync_v2_ptsz_params, hStream),
     offsetof(cuMemcpyHtoDAsync_v2_ptsz_params, dstDevice), offsetof(cuMemcpyHtoDAsync_v2_ptsz_params, srcHost),
     offsetof(cuMemcpyHtoDAsync_v2_ptsz_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, offsetof(cuMemcpyDtoHAsync_v2_ptsz_params, hStream),
     offsetof(cuMemcpyDtoHAsync_v2_ptsz_params, dstHost), offsetof(cuMemcpyDtoHAsync_v2_ptsz_params, srcDevice),
     offsetof(cuMemcpyDtoHAsync_v2_ptsz_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz, offsetof(cuMemcpyDtoDAsync_v2_ptsz_params, hStream),
     offsetof(cuMemcpyDtoDAsync_v2_ptsz_params, dstDevice), offsetof(cuMemcpyDtoDAsync_v2_ptsz_params, srcDevice),
     offsetof(cuMemcpyDtoDAsync_v2_ptsz_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz, offsetof(cuMemcpy2DAsync_v2_ptsz_params, hStream), none, none,
     none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz, offsetof(cuMemcpy3DAsync_v2_ptsz_params, hStream), none, none,
     none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz, offsetof(cuMemcpyPeerAsync_ptsz_params, hStream),
     offsetof(cuMemcpyPeerAsync_ptsz_params, dstDevice), offsetof(cuMemcpyPeerAsync_ptsz_params, srcDevice),
     offsetof(cuMemcpyPeerAsync_ptsz_params, ByteCount), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync_ptsz, offsetof(cuMemcpy3DPeerAsync_ptsz_params, hStream), none, none,
     none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, offsetof(cuMemsetD8Async_ptsz_params, hStream),
     offsetof(cuMemsetD8Async_ptsz_params, dstDevice), none, offsetof(cuMemsetD8Async_ptsz_params, N), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async_ptsz, offsetof(cuMemsetD16Async_ptsz_params, hStream),
     offsetof(cuMemsetD16Async_ptsz_params, dstDevice), none, offsetof(cuMemsetD16Async_ptsz_params, N), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz, offsetof(cuMemsetD32Async_ptsz_params, hStream),
     offsetof(cuMemsetD32Async_ptsz_params, dstDevice), none, offsetof(cuMemsetD32Async_ptsz_params, N), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async_ptsz, offsetof(cuMemsetD2D8Async_ptsz_params, hStream),
     offsetof(cuMemsetD2D8Async_ptsz_params, dstDevice), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async_ptsz, offsetof(cuMemsetD2D16Async_ptsz_params, hStream),
     offsetof(cuMemsetD2D16Async_ptsz_params, dstDevice), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async_ptsz, offsetof(cuMemsetD2D32Async_ptsz_params, hStream),
     offsetof(cuMemsetD2D32Async_ptsz_params, dstDevice), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz, offsetof(cuStreamWaitEvent_ptsz_params, hStream),
     offsetof(cuStreamWaitEvent_ptsz_params, hEvent), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback_ptsz, offsetof(cuStreamAddCallback_ptsz_params, hStream), none, none,
     none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz, offsetof(cuStreamQuery_ptsz_params, hStream), none, none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, offsetof(cuStreamSynchronize_ptsz_params, hStream), none, none,
     none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, offsetof(cuEventRecord_ptsz_params, hStream),
     offsetof(cuEventRecord_ptsz_params, hEvent), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, offsetof(cuLaunchKernel_ptsz_params, hStream), none, none, none,
     true},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, offsetof(cuLaunchCooperativeKernel_params, hStream), none, none,
     none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, offsetof(cuLaunchCooperativeKernel_ptsz_params, hStream),
     none, none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, offsetof(cuStreamEndCapture_params, hStream), none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz, offsetof(cuStreamEndCapture_ptsz_params, hStream), none, none,
     none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, offsetof(cuGraphLaunch_params, hStream),
     offsetof(cuGraphLaunch_params, hGraph), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, offsetof(cuGraphLaunch_ptsz_params, hStream),
     offsetof(cuGraphLaunch_ptsz_params, hGraphExec), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, offsetof(cuLaunchHostFunc_params, hStream), none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_ptsz, offsetof(cuLaunchHostFunc_ptsz_params, hStream), none, none, none,
     true},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, offsetof(cuStreamBeginCapture_v2_params, hStream), none, none,
     none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz, offsetof(cuStreamBeginCapture_v2_ptsz_params, hStream), none,
     none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2, none, offsetof(cuGraphInstantiate_v2_params, phGraphExec), none,
     none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, offsetof(cuEventRecordWithFlags_params, hStream),
     offsetof(cuEventRecordWithFlags_params, hEvent), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz, offsetof(cuEventRecordWithFlags_ptsz_params, hStream),
     offsetof(cuEventRecordWithFlags_ptsz_params, hEvent), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, offsetof(cuMemAllocAsync_params, hStream),
     offsetof(cuMemAllocAsync_params, dptr), none, offsetof(cuMemAllocAsync_params, bytesize), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz, offsetof(cuMemAllocAsync_ptsz_params, hStream),
     offsetof(cuMemAllocAsync_ptsz_params, dptr), none, offsetof(cuMemAllocAsync_ptsz_params, bytesize), true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync, offsetof(cuMemFreeAsync_params, hStream),
     offsetof(cuMemFreeAsync_params, dptr), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz, offsetof(cuMemFreeAsync_ptsz_params, hStream),
     offsetof(cuMemFreeAsync_ptsz_params, dptr), none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync, offsetof(cuMemAllocFromPoolAsync_params, hStream),
     offsetof(cuMemAllocFromPoolAsync_params, dptr), none, offsetof(cuMemAllocFromPoolAsync_params, bytesize), false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz, offsetof(cuMemAllocFromPoolAsync_ptsz_params, hStream),
     offsetof(cuMemAllocFromPoolAsync_ptsz_params, dptr), none, offsetof(cuMemAllocFromPoolAsync_ptsz_params, bytesize),
     true},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, none,
     offsetof(cuGraphInstantiateWithFlags_params, phGraphExec), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, none, none, none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams, none,
     offsetof(cuGraphInstantiateWithParams_params, phGraphExec), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, none, none, none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, offsetof(cuStreamBeginCaptureToGraph_params, hStream), none,
     none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
     offsetof(cuStreamBeginCaptureToGraph_ptsz_params, hStream), none, none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuGreenCtxStreamCreate, offsetof(cuGreenCtxStreamCreate_params, phStream), none,
     offsetof(cuGreenCtxStreamCreate_params, flags), none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2, offsetof(cuMemcpyBatchAsync_v2_params, hStream), none, none, none,
     false},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2_ptsz, offsetof(cuMemcpyBatchAsync_v2_ptsz_params, hStream), none,
     none, none, true},
    {CUPTI_DRIVER_TRACE_CBID_cuEventDestroy, none, offsetof(cuEventDestroy_params, hEvent), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2, none, offsetof(cuEventDestroy_v2_params, hEvent), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate, none, offsetof(cuGraphInstantiate_params, phGraphExec), none, none,
     false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz, none,
     offsetof(cuGraphInstantiateWithParams_ptsz_params, phGraphExec), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate, none, offsetof(cuGraphExecUpdate_params, hGraphExec), none, none,
     false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, none, offsetof(cuGraphExecUpdate_v2_params, hGraphExec), none, none,
     false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams, none,
     offsetof(cuGraphExecMemcpyNodeSetParams_params, hGraphExec), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams, none,
     offsetof(cuGraphExecMemsetNodeSetParams_params, hGraphExec), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams, none, offsetof(cuGraphExecNodeSetParams_params, hGraphExec),
     none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams, none,
     offsetof(cuGraphExecChildGraphNodeSetParams_params, hGraphExec), none, none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled, none, offsetof(cuGraphNodeSetEnabled_params, hGraphExec), none,
     none, false},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, none, none, none, none, false},
};

std::size_t offset(std::int8_t at) {
  return at == absent ? none : static_cast<std::size_t>(at);
}

TEST(WatchedCalls, LieAsTheHeadersSay) {
  for (Expected const& one : expected) {
    auto const calls = watched_calls();
    auto const found =
        std::find_if(calls.begin(), calls.end(), [&](WatchedCall const& call) { return call.number == one.number; });
    ASSERT_NE(found, calls.end()) << one.number;
    EXPECT_EQ(offset(found->stream), one.stream) << one.number;
    EXPECT_EQ(offset(found->first), one.first) << one.number;
    EXPECT_EQ(offset(found->second), one.second) << one.number;
    EXPECT_EQ(offset(found->bytes), one.bytes) << one.number;
    EXPECT_EQ(found->per_thread, one.per_thread) << one.number;
  }
  EXPECT_EQ(std::size(expected), watched_calls().size());
}

TEST(WatchedCalls, HaveTheGraphOrTheNodeThatTheyChangeBehindTheExecutableGraph) {
  EXPECT_EQ(offsetof(cuGraphInstantiateWithFlags_params, hGraph), 8u);
  EXPECT_EQ(offsetof(cuGraphInstantiateWithParams_ptsz_params, hGraph), 8u);
  EXPECT_EQ(offsetof(cuGraphExecUpdate_params, hGraph), 8u);
  EXPECT_EQ(offsetof(cuGraphExecUpdate_v2_params, hGraph), 8u);
  EXPECT_EQ(offsetof(cuGraphExecMemcpyNodeSetParams_params, hNode), 8u);
  EXPECT_EQ(offsetof(cuGraphExecMemcpyNodeSetParams_params, copyParams), 16u);
  EXPECT_EQ(offsetof(cuGraphExecMemsetNodeSetParams_params, hNode), 8u);
  EXPECT_EQ(offsetof(cuGraphExecMemsetNodeSetParams_params, memsetParams), 16u);
  EXPECT_EQ(offsetof(cuGraphExecNodeSetParams_params, hNode), 8u);
  EXPECT_EQ(offsetof(cuGraphExecNodeSetParams_params, nodeParams), 16u);
  EXPECT_EQ(offsetof(cuGraphExecChildGraphNodeSetParams_params, hNode), 8u);
  EXPECT_EQ(offsetof(cuGraphNodeSetEnabled_params, hNode), 8u);
}

}  // namespace
}  // namespace penstock::injection
