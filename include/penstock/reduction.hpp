// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `Reduction`: arrays that the lanes of several devices keep, merged into one.
#include "penstock/collective/reduction.hpp"
