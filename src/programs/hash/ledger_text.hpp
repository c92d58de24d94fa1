// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "programs/hash/file_walk.hpp"
#include "programs/hash/hash_book.hpp"

// The texts that the ledger of `penstock hash` keeps. A lease is files that are wanted, and an answer is their results.
//
// Threads: any.
namespace penstock::cli {

/// Adds a file to the payload of a lease.
void put_wanted(std::string& payload, std::string_view path, std::string_view problem);
std::vector<WantedFile> files_of(std::string_view payload);

/// Adds the result of a file to an answer.
void put_result(std::string& answer, HashedFile const& file);
std::vector<HashedFile> results_of(std::string_view answer);

/// What the ledger is for: these paths, seen from this folder. Of many paths a checksum says which.
///
/// Throws: Error of kind bad_argument, if a path is standard input.
std::string purpose_of(std::vector<std::string> const& paths, Shard const& shard = {});

}  // namespace penstock::cli
