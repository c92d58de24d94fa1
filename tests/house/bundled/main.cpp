// SPDX-License-Identifier: Apache-2.0
// Has an array on its stack, and prints, so that each protection leaves its mark in the program.
#include <cstdio>

int main(int count, char** arguments) {
  char text[64];
  std::snprintf(text, sizeof text, "%d arguments for %s", count - 1, arguments[0]);
  return std::puts(text) < 0 ? 1 : 0;
}
