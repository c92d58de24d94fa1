// SPDX-License-Identifier: Apache-2.0
// The first program of the emulated machine: runs /tests with the arguments that the kernel hands on, says how they
// ended and switches the machine off.
#include <cstdio>
#include <cstdlib>
#include <vector>

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

int run_tests(std::vector<char*> const& arguments) {
  pid_t const child = fork();
  if (child == 0) {
    execv("/tests", arguments.data());
    std::perror("/tests");
    _exit(127);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int count, char** values) {
  mount_system("proc", "/proc");
  mount_system("sysfs", "/sys");
  mount_system("tmpfs", "/tmp");
  char brief[] = "--gtest_brief=1", plain[] = "--gtest_color=no";
  std::vector<char*> arguments(values, values + count);
  for (char* const more : {brief, plain, static_cast<char*>(nullptr)}) arguments.push_back(more);
  int const status = run_tests(arguments);
  std::printf("two_nodes: %s\n", status == 0 ? "PASS" : "FAIL");
  std::fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
  return 1;
}
