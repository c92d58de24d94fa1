// SPDX-License-Identifier: Apache-2.0
// Marks a test process that leaves objects alive when it ends.
#pragma once

namespace penstock::support {

/// Set by a process that ends while threads of a device or pipeline still use its objects: these are left on purpose,
/// and the leak sanitizer must not report them.
inline bool ends_with_live_threads = false;

}  // namespace penstock::support

/// Only the leak sanitizer calls this, when the process ends.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" [[gnu::used, gnu::visibility("default")]] inline int __lsan_is_turned_off() {
  return penstock::support::ends_with_live_threads ? 1 : 0;
}
