// SPDX-License-Identifier: Apache-2.0
// A child of fork has a copy of the records that a sink has not written yet.
#include <string>

#include "support/child_of_fork.hpp"
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "engine/core/descriptor.hpp"
#include "engine/machine/net_address.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

using support::numbered;

using ASinkOfAParent = support::FolderOfSinks;

/// Seen to fail where the child wrote its copy.
TEST_F(ASinkOfAParent, WritesEachRecordOnceToAFile) {
  FileSink sink(path("out"));
  sink.append(numbered(0, 10));
  EXPECT_EQ(support::exit_code_of_child_that_destroys(sink), 7);
  EXPECT_EQ(content("out"), "");
  sink.close();
  EXPECT_EQ(content("out"), numbered(0, 10));
}

/// Seen to fail where the child wrote its copy.
TEST_F(ASinkOfAParent, WritesEachRecordOnceToFilesThatRoll) {
  RollingFiles files(path("{number}.log"), {});
  files.append(numbered(0, 10));
  EXPECT_EQ(support::exit_code_of_child_that_destroys(files), 7);
  EXPECT_EQ(content("000001.log"), "");
  files.close();
  EXPECT_EQ(content("000001.log"), numbered(0, 10));
}

/// Seen to fail where the child sent its copy, and ended the connection.
TEST_F(ASinkOfAParent, SendsEachRecordOnce) {
  NetAddress const where = unix_address(path("socket"));
  Descriptor const server(socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(server.number, where.raw(), where.bytes), 0);
  ASSERT_EQ(listen(server.number, 1), 0);
  SocketSink sink("unix:" + path("socket"), {.patience = {}});
  Descriptor const peer(accept4(server.number, nullptr, nullptr, SOCK_CLOEXEC));
  sink.append(numbered(0, 10));
  EXPECT_EQ(support::exit_code_of_child_that_destroys(sink), 7);
  sink.append(numbered(10, 10));
  sink.close();
  std::string text(4096, '\0');
  ssize_t const got = recv(peer.number, text.data(), text.size(), MSG_WAITALL);
  EXPECT_EQ(text.substr(0, static_cast<std::size_t>(got)), numbered(0, 20));
}

}  // namespace
}  // namespace penstock
