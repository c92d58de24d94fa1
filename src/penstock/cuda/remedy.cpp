// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/remedy.hpp"

#include "penstock/cuda/check.hpp"

namespace penstock::cuda {
namespace {

std::string_view remedy_for_kind(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::no_driver:
      return "Install the NVIDIA driver and see that nvidia-smi works, or use the CPU device (--device cpu).";
    case ErrorKind::driver_too_old:
      return "Update the NVIDIA driver, or build with an older CUDA toolkit.";
    case ErrorKind::no_device:
      return "Compare the number with what nvidia-smi -L lists and with CUDA_VISIBLE_DEVICES.";
    case ErrorKind::out_of_device_memory:
      return "Use fewer --tiles or a smaller --tile.";
    case ErrorKind::unsupported:
      return "This GPU, driver or build cannot do it; penstock doctor says what they are.";
    case ErrorKind::device_lost:
      return "Restart the process; if it comes again, look for Xid lines in the kernel log.";
    default:
      return "The device is healthy: correct the call and go on.";
  }
}

}  // namespace

std::string_view remedy_for(cudaError_t error) noexcept {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorHardwareStackError:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorLaunchFailure:
      return "A kernel went wrong, now or earlier: run once under compute-sanitizer to see which, then restart.";
    case cudaErrorAssert:
      return "An assert in a kernel failed: its text is on stdout. Mend the kernel and restart.";
    case cudaErrorLaunchTimeout:
      return "A kernel ran longer than the display allows: use a smaller --tile or a GPU without a display.";
    case cudaErrorECCUncorrectable:
      return "The GPU's memory is damaged: results since its last good check are in doubt; see nvidia-smi -q -d ECC.";
    case cudaErrorNvlinkUncorrectable:
      return "The link between GPUs is damaged: see nvidia-smi nvlink -e.";
    case cudaErrorContextIsDestroyed:
      return "The application took the GPU's context away, as cudaDeviceReset does: do so only once each device of "
             "penstock is gone, or not at all, and restart.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return "The kernel was not compiled for this GPU: add its architecture to CMAKE_CUDA_ARCHITECTURES.";
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
      return "Launch smaller blocks, or with less shared memory.";
    case cudaErrorInvalidResourceHandle:
      return "The stream or event belongs to another device or is already gone: attach the thread to its device.";
    case cudaErrorDevicesUnavailable:
      return "Another process has the GPU for itself, or its compute mode forbids work: see nvidia-smi -q -d COMPUTE.";
    case cudaErrorSystemNotReady:
      return "A driver service is not up: on machines with NVSwitch start nvidia-fabricmanager.";
    case cudaErrorHostMemoryAlreadyRegistered:
      return "Pin each region once, and cut tiles from it.";
    case cudaErrorNotPermitted:
      return "Make no CUDA call in a callback: push to a mailbox there, and act on the lane's thread.";
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
      return "While a stream is captured enqueue in it alone, wait for nothing and allocate nothing.";
    default:
      return remedy_for_kind(kind_of(error));
  }
}

}  // namespace penstock::cuda
