// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "engine/core/number_text.hpp"
#include "penstock/lease/ledger.hpp"

namespace penstock {

/// Makes a settlement one that a ledger takes: one that it refused would hold up all others of its exchange.
inline void fit(Settlement& settlement) {
  constexpr std::size_t longest_reason = 4096;
  std::string& text = settlement.text;
  if (settlement.kind == Settlement::Kind::acknowledge) {
    if (text.size() <= Settlement::most_bytes) return;
    settlement.kind = Settlement::Kind::park;
    text = "Its answer has " + count_text(text.size(), "byte") +
           ", and a ledger takes 64 MiB. Put it into a file, and answer by its name.";
  } else if (text.size() > longest_reason) {
    std::size_t end = longest_reason;
    // No character is cut: the bytes of one but its first are 10xxxxxx.
    while (end > longest_reason - 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    text += " ...";
  }
}

}  // namespace penstock
