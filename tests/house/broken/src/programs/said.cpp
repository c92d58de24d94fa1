// SPDX-License-Identifier: Apache-2.0
void said() {
  std::fprintf(stderr, "penstock: %s\n", "It is gone.");
  write_page("penstock bench");
}
