// SPDX-License-Identifier: Apache-2.0
// Includes what is not for users.
#include <engine/lane/lane.hpp>
#include <penstock/pipeline.hpp>

namespace penstock {

struct Lane {};
JobWork const work{.stages = {.make = nothing}, .digest = nothing};

}  // namespace penstock
