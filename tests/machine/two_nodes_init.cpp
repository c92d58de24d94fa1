// SPDX-License-Identifier: Apache-2.0
// The first program of the emulated machine: runs /tests, says how they ended and switches the machine off.
#include <cstdio>
#include <cstdlib>

#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void mount_system(char const* type, char const* where) {
  mkdir(where, 0755);
  if (mount(type, where, type, 0, nullptr) != 0) std::perror(where);
}

int run_tests() {
  pid_t const child = fork();
  if (child == 0) {
    execl("/tests", "/tests", "--gtest_color=no", "--gtest_brief=1", nullptr);
    std::perror("/tests");
    _exit(127);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main() {
  mount_system("proc", "/proc");
  mount_system("sysfs", "/sys");
  mount_system("tmpfs", "/tmp");
  int const status = run_tests();
  std::printf("two_nodes: %s\n", status == 0 ? "PASS" : "FAIL");
  std::fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
  return 1;
}
