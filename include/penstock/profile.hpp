// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `load_profile`, `Profile`: settings that `penstock tune --save` wrote.
#include "penstock/profile/profile.hpp"
