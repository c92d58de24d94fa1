// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/cuda/health.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/flavour.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// A number in pinned memory of its own, which streams write by the driver's stream memory operations.
class CudaFlag final : public FlagBackend {
 public:
  /// Throws: Error; of kind unsupported, if driver or GPU cannot have streams write 64 bits.
  explicit CudaFlag(Health& health);
  ~CudaFlag() override;

  /// The flag behind a backend.
  ///
  /// Throws: Error, if it is another kind of device's.
  static CudaFlag& of(FlagBackend& backend);

  /// Has `stream` write `number` behind all that was put in.
  ///
  /// Throws: Error.
  void write(cudaStream_t stream, std::uint64_t number);

 private:
  /// The driver's cuStreamWriteValue64, which the runtime library has no name for.
  using WriteValue = int (*)(cudaStream_t stream, unsigned long long address, std::uint64_t value, unsigned flags);
  static WriteValue find_write(Health& health);
  void try_out();

  Health& health_;
  WriteValue write_;
  unsigned long long address_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
