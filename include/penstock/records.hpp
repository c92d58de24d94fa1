// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `Records`: work that is smaller than a tile, packed into tiles, with a completion for each record.
#include "penstock/records/record_reply.hpp"
#include "penstock/records/records.hpp"
