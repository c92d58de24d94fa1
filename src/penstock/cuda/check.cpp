// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/check.hpp"

#include <cstdio>
#include <string_view>

#include "penstock/cuda/remedy.hpp"

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
  std::fprintf(stderr, "penstock: %s failed while cleaning up: %s (%s) at %.*s:%d.\n", what, cudaGetErrorName(result),
               cudaGetErrorString(result), static_cast<int>(file.size()), file.data(), where.line);
}

}  // namespace penstock::cuda
