// SPDX-License-Identifier: Apache-2.0
// There is no `#pragma once`: each header that differs between the flavours checks again that there is one, whichever
// header came before.
#if !defined(PENSTOCK_PER_THREAD) && !defined(PENSTOCK_LEGACY) && defined(PENSTOCK_NO_FLAVOUR) && \
    !defined(PENSTOCK_FLAVOUR_OPTIONAL)
// clang-format off
#error "penstock: this header is not the same in both flavours, and this file is compiled for none. \
Link its target to penstock::penstock (per-thread) or penstock::legacy."
// clang-format on
#endif

#ifndef PENSTOCK_FLAVOUR_HPP
#define PENSTOCK_FLAVOUR_HPP

#include "penstock/device.hpp"

// Stops the compiler where a source file and the penstock library that it will be linked to mean different default
// streams by "0". The check relies on definitions that penstock's targets and pkg-config files supply. Where no
// compiler can see it, since objects of both kinds are linked, the linker stops.
// clang-format off
#if defined(PENSTOCK_PER_THREAD) && defined(PENSTOCK_LEGACY)
#error "penstock: this file is compiled for both flavours. Link its target to penstock::penstock or to penstock::legacy."

#elif defined(PENSTOCK_PER_THREAD) && !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "penstock: CUDA means the legacy default stream in this file, but its penstock the per-thread ones. \
Compile it with -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1 (nvcc: --default-stream per-thread), or link penstock::legacy."

// A definition that comes too late has no effect: nvcc includes CUDA's header before the first line of a file.
#elif defined(PENSTOCK_PER_THREAD) && defined(__CUDA_RUNTIME_API_H__) && \
    !defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM)
#error "penstock: CUDA's header came before CUDA_API_PER_THREAD_DEFAULT_STREAM and means the legacy default stream. \
Define it where the compiler is called (nvcc: --default-stream per-thread)."

#elif defined(PENSTOCK_LEGACY) && defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "penstock: CUDA means per-thread default streams in this file, but its penstock the legacy one. \
Compile it without CUDA_API_PER_THREAD_DEFAULT_STREAM (nvcc: --default-stream legacy), or link penstock::penstock."

// A file that uses only layers without a flavour needs none; but a file that speaks to CUDA has one.
#elif !defined(PENSTOCK_PER_THREAD) && !defined(PENSTOCK_LEGACY) && \
    (!defined(PENSTOCK_NO_FLAVOUR) || defined(__CUDACC__) || defined(__CUDA_RUNTIME_API_H__))
#error "penstock: this file does not say which default stream it means by 0. \
Link its target to penstock::penstock (per-thread) or penstock::legacy; \
without CMake, compile it with what pkg-config --cflags penstock (or penstock-legacy) says."
#endif
// clang-format on

/// A file that includes this needs the library of the flavour that it is compiled for, also if it uses nothing else of
/// it. The two libraries do not go into one program (engine/flavour/linked.cpp). A linker then reports their names.
#if defined(PENSTOCK_PER_THREAD)
namespace penstock {
inline namespace per_thread {
extern char const link_with_penstock_penstock;
[[gnu::used]] static char const* const needs_its_flavour = &link_with_penstock_penstock;
}  // namespace per_thread
}  // namespace penstock
#elif defined(PENSTOCK_LEGACY)
namespace penstock {
inline namespace legacy {
extern char const link_with_penstock_legacy;
[[gnu::used]] static char const* const needs_its_flavour = &link_with_penstock_legacy;
}  // namespace legacy
}  // namespace penstock
#endif

/// The inline namespace of all code that is compiled once for each flavour, so that the two never meet at link time.
#if defined(PENSTOCK_PER_THREAD)
#define PENSTOCK_FLAVOUR per_thread
#elif defined(PENSTOCK_LEGACY)
#define PENSTOCK_FLAVOUR legacy
#endif

#ifdef PENSTOCK_FLAVOUR
namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// The default stream that "0" means in this build and in all code that is linked to it.
///
/// Threads: any.
constexpr Flavour flavour() noexcept {
#ifdef PENSTOCK_LEGACY
  return Flavour::legacy;
#else
  return Flavour::per_thread;
#endif
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
#endif

#endif  // PENSTOCK_FLAVOUR_HPP
