// SPDX-License-Identifier: Apache-2.0
// A library that a program must not load: its constructor leaves a file in the current directory, as foreign code would
// run there.
#include <fcntl.h>
#include <unistd.h>

namespace {

__attribute__((constructor)) void leave_a_mark() {
  close(open("loaded_from_here", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int marked_library() {
  return 42;
}
