// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::preload {

/// The system's dlsym.
using Look = void* (*)(void* handle, char const* name);
Look real_look();

/// The driver's entry point of this name in `handle`, as the run's order has it: the per-thread variant where it is to
/// be turned, a way that counts where it is to be looked at. Null if the driver has none.
///
/// Threads: any.
void* entry_point(void* handle, char const* name);

/// True of what this library exports for programs that are linked with the driver.
bool is_export_of_ours(void const* address);

/// True of "cuInit", not of "cudaMalloc" or "cublasCreate".
bool is_name_of_driver(char const* name);

}  // namespace penstock::preload
