// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace penstock::lab {

/// Peak rates that a GPU's data sheet states: what can be predicted before anything is measured.
///
/// Units: bytes, and operations on tensor cores with halves that are not sparse, in a second.
/// Source: NVIDIA's data sheets of these names, which docs/models.md lists.
struct DataSheet {
  std::string_view device;  ///< A part of the device's name that no other kind's has.
  double memory = 0;
  double tensor = 0;

  /// Operations a byte at which the two take as long as each other.
  constexpr double meet() const { return tensor / memory; }
};

/// The sheet of a device, or of the one that it is a model of, by its name; empty if none is known here.
std::optional<DataSheet> data_sheet_of(std::string_view device) noexcept;

/// The A100 as the text of the course's first page has it, where the memory's rate is rounded.
constexpr DataSheet a100_of_the_text{"A100", 2e12, 312e12};

}  // namespace penstock::lab
