// SPDX-License-Identifier: Apache-2.0
// All of penstock. Each header can be included alone.
#pragma once

#include "penstock/all_reduce.hpp"
#include "penstock/captures.hpp"
#include "penstock/devices.hpp"
#include "penstock/files.hpp"
#include "penstock/kernels.hpp"
#include "penstock/line_sums.hpp"
#include "penstock/literals.hpp"
#include "penstock/messages.hpp"
#include "penstock/mode_s.hpp"
#include "penstock/own_memory.hpp"
#include "penstock/packet_sums.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/profile.hpp"
#include "penstock/records.hpp"
#include "penstock/reduction.hpp"
#include "penstock/report.hpp"
#include "penstock/sinks.hpp"
#include "penstock/snapshot.hpp"
#include "penstock/sockets.hpp"
#include "penstock/stop_signals.hpp"
