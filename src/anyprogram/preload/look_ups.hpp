// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::preload {

/// The system's dlsym.
using Look = void* (*)(void* handle, char const* name);
Look real_look();

/// The driver's entry point of this name in `handle`, by PENSTOCK_TURN: for "turn" its per-thread variant, for "look" a
/// trampoline that counts calls. Null if the driver has no such entry point.
///
/// Threads: any.
void* entry_point(void* handle, char const* name);

/// True for the entry points that this library exports to programs that are linked with the driver.
bool is_export_of_ours(void const* address);

/// True for "cuInit", false for "cudaMalloc" and "cublasCreate".
bool is_name_of_driver(char const* name);

}  // namespace penstock::preload
