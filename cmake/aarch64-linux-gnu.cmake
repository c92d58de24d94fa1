# SPDX-License-Identifier: Apache-2.0
# Builds for 64-bit Arm on a machine of another kind, with Debian's g++-aarch64-linux-gnu and its libraries of arm64. What is built runs
# under qemu-user, where that is installed; CONTRIBUTING.md has the commands.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
find_program(PENSTOCK_QEMU NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(PENSTOCK_QEMU)
if(PENSTOCK_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PENSTOCK_QEMU})
endif()
