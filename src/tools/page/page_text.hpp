// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace penstock {

/// The page without what is told to it: web/ and uPlot, put together by assemble.cmake when penstock is built.
struct PageText {
  std::string_view before_title;    ///< As far as `<title>`.
  std::string_view before_results;  ///< From `</title>` into the script element that is data.
  std::string_view after_results;   ///< From `</script>` to the end.
};

/// Threads: any.
PageText page_text() noexcept;

}  // namespace penstock
