// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `FileSource`: files, pipes and sockets as the source of a pipeline.
#include "penstock/file/file_source.hpp"
