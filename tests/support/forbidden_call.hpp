// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

namespace penstock::support {

/// Runs `body` on a thread of its own, in which the kernel answers this system call with this error: whatever its
/// arguments are, or only for this descriptor, if the first of them is one.
template <class Body>
void where_forbidden(unsigned call, unsigned error, Body const& body, std::optional<int> descriptor = {}) {
  std::jthread([&] {
    // The lower half of the first argument, on a little-endian machine.
    constexpr auto of_descriptor = offsetof(seccomp_data, args);
    auto const number = static_cast<unsigned>(descriptor.value_or(0));
    std::array<sock_filter, 6> filter{
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, of_descriptor),
         BPF_JUMP(BPF_JMP | (descriptor ? BPF_JEQ : BPF_JGE) | BPF_K, number, 0, 1),
         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
    sock_fprog const program{static_cast<unsigned short>(filter.size()), filter.data()};
    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) GTEST_SKIP() << "seccomp itself is forbidden";
    body();
  }).join();
}

}  // namespace penstock::support
