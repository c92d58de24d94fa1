// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::zlib {

/// The functions of the library that are called: those of zlib.h, whose interface has not changed since 1.2. zlib's
/// `unsigned long` has the size of its own size type.
///
/// Source: zlib 1.2.13, zlib.h.
struct Calls {
  // NOLINTBEGIN(google-runtime-int): zlib's types.
  unsigned long (*compress_bound)(unsigned long bytes) = nullptr;
  int (*compress)(unsigned char* to, unsigned long* to_bytes, unsigned char const* from, unsigned long bytes,
                  int level) = nullptr;
  unsigned long (*crc32)(unsigned long before, unsigned char const* from, unsigned bytes) = nullptr;
  // NOLINTEND(google-runtime-int)
};

}  // namespace penstock::zlib
