// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/check.hpp"

#include <string_view>

#include "engine/core/say.hpp"

namespace penstock::cuda {
namespace {

/// The file and its folder: enough to find it, and the same on every machine that builds it.
std::string_view short_path(std::string_view path) noexcept {
  auto const name = path.rfind('/');
  if (name == std::string_view::npos || name == 0) return path;
  auto const folder = path.rfind('/', name - 1);
  return folder == std::string_view::npos ? path : path.substr(folder + 1);
}

/// CUDA keeps a refusal for the next caller of cudaGetLastError; our check has dealt with it.
void forget_refusal() noexcept {
  static_cast<void>(cudaGetLastError());
}

std::string_view remedy_for_kind(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::no_driver:
      return "Install the NVIDIA driver and see that nvidia-smi works, or use the CPU device (open_device(\"cpu\"), "
             "--device cpu).";
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

bool is_sticky(cudaError_t error) noexcept {
  switch (error) {
    // "The process must be terminated and relaunched", says CUDA 13.0's driver_types.h.
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    // The header does not say so of these, but results before them cannot be trusted, or no context is left to ask.
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorCudartUnloading:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

ErrorKind kind_of(cudaError_t error) noexcept {
  if (is_sticky(error)) return ErrorKind::device_lost;
  switch (error) {
    case cudaErrorInsufficientDriver: {
      // CUDA has one error for an old driver and for a missing driver; for a missing driver it says version 0.
      int version = 0;
      static_cast<void>(cudaDriverGetVersion(&version));
      return version == 0 ? ErrorKind::no_driver : ErrorKind::driver_too_old;
    }
    case cudaErrorCallRequiresNewerDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorUnsupportedPtxVersion:
      return ErrorKind::driver_too_old;
    case cudaErrorStubLibrary:
    case cudaErrorInitializationError:
    case cudaErrorStartupFailure:
    case cudaErrorSystemNotReady:
      return ErrorKind::no_driver;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceNotLicensed:
      return ErrorKind::no_device;
    case cudaErrorMemoryAllocation:
      return ErrorKind::out_of_device_memory;
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return ErrorKind::unsupported;
    case cudaErrorOperatingSystem:
      return ErrorKind::system;
    default:
      return ErrorKind::device_refused;
  }
}

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

Error failure(cudaError_t error, char const* what, CallSite where) {
  ErrorKind const kind = kind_of(error);
  forget_refusal();
  std::string sentence = what;
  sentence += kind == ErrorKind::device_lost ? ": the device is lost: " : " was refused: ";
  sentence += cudaGetErrorName(error);
  sentence += " (";
  sentence += cudaGetErrorString(error);
  sentence += ')';
  if (where.file != nullptr) {
    sentence += " at ";
    sentence += short_path(where.file);
    sentence += ':';
    sentence += std::to_string(where.line);
  }
  sentence += ". ";
  sentence += remedy_for(error);
  return Error(kind, sentence);
}

void report(cudaError_t result, char const* what, CallSite where) noexcept {
  if (result == cudaSuccess || result == cudaErrorCudartUnloading) return;
  forget_refusal();
  std::string_view const file = short_path(where.file);
  say("%s failed while cleaning up: %s (%s) at %.*s:%d.", what, cudaGetErrorName(result), cudaGetErrorString(result),
      static_cast<int>(file.size()), file.data(), where.line);
}

}  // namespace penstock::cuda
