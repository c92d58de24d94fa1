// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>

namespace penstock::support {

/// A stage is called while its tile is still being uploaded. Data that it could read then is not there yet, so none of
/// this may compile for its argument.
template <class Span>
concept ReadByTheHost = std::ranges::range<Span> || std::convertible_to<Span, std::span<std::byte const>> ||
    requires(Span span) {
  span[0];
} || requires(Span span) {
  *span;
} || requires(Span span) {
  span.data();
} || requires(Span span) {
  span.begin();
};

}  // namespace penstock::support
