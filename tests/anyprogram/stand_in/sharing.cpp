// SPDX-License-Identifier: Apache-2.0
// Of a stand-in for a CUDA driver: where its GPU is, and the green contexts of it. STAND_IN_GREEN is the fewest
// multiprocessors of one, 0 if a driver is too old to say it; without it there are none.
#include <cstdlib>
#include <cstring>

extern "C" {
#pragma GCC visibility push(default)

// NOLINTBEGIN(readability-identifier-naming): these are the driver's names.
int cuDeviceGetByPCIBusId(int* handle, char const* id) {
  *handle = 0;
  return std::strcmp(id, "0000:1b:00.0") == 0 ? 0 : 101;
}

int cuDeviceGetDevResource(int, void* resource, int type) {
  char const* const least = std::getenv("STAND_IN_GREEN");
  if (least == nullptr || type != 1) return 801;
  unsigned const counts[] = {132, static_cast<unsigned>(std::atoi(least)), 8};
  std::memcpy(static_cast<char*>(resource) + 96, counts, sizeof counts);
  return 0;
}
// NOLINTEND(readability-identifier-naming)

#pragma GCC visibility pop
}
