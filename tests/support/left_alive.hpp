// SPDX-License-Identifier: Apache-2.0
// What a test process leaves alive when it ends.
#pragma once

namespace penstock::support {

/// Set by a process that ends while threads of a device or pipeline still use what it made: these objects are left on
/// purpose, and the leak sanitizer has nothing to say of them.
inline bool ends_with_live_threads = false;

}  // namespace penstock::support

/// The leak sanitizer asks this when the process ends; without it nobody does.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" [[gnu::used, gnu::visibility("default")]] inline int __lsan_is_turned_off() {
  return penstock::support::ends_with_live_threads ? 1 : 0;
}
