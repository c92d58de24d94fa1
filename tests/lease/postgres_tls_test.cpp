// SPDX-License-Identifier: Apache-2.0
// A ledger in PostgreSQL by TLS.
#include <cstdlib>
#include <memory>
#include <string>

#include "lease/ledger_world.hpp"
#include "lease/postgres_server.hpp"
#include "lease/until_there.hpp"
#include "support/folder_of_files.hpp"
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "penstock/error.hpp"
#include "penstock/lease/postgres_ledger.hpp"

namespace penstock {
namespace {

using support::settle_all;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Settlement::Kind;

/// An address that no other process has, as each number of a process is of one.
std::string own_address() {
  auto const number = static_cast<unsigned>(getpid());
  return "127." + std::to_string(1 + (number >> 16U)) + "." + std::to_string(number >> 8U & 255U) + "." +
         std::to_string(number & 255U);
}

/// False if another program listens at the port of PostgreSQL on all addresses.
bool is_free(std::string const& host) {
  Descriptor const socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(5432);
  inet_pton(AF_INET, host.c_str(), &at.sin_addr);
  return bind(socket.number, reinterpret_cast<sockaddr const*>(&at), sizeof at) == 0;
}

/// A server whose certificate is of db.example and signed by itself, and another certificate. A ledger of two leases,
/// which are answered once each at the end.
struct AServerWithTls : support::FolderOfFiles {
  std::string const host = own_address();
  bool const has_address = is_free(host);
  support::PostgresServer server{{"listen_addresses=" + (has_address ? host : "")}};
  std::string const name = server.address("tls");

  void SetUp() override {
    FolderOfFiles::SetUp();
    if (!has_address) GTEST_SKIP() << "the port 5432 is taken on all addresses: TLS is not tested";
    if (std::system("openssl version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no openssl: TLS is not tested";
    make_certificate("own");
    make_certificate("other");
    use_certificate("own");
    server.ask("alter system set ssl = on");
    server.ask("select pg_reload_conf()");
    server.await_none("select count(*) from pg_settings where name = 'ssl' and setting <> 'on'");
    PostgresLedger(name).enqueue(support::numbered_work(2), true);
  }
  void TearDown() override {
    if (!IsSkipped()) {
      PostgresLedger ledger(name);
      EXPECT_EQ(ledger.progress().done, 2U) << describe(ledger.progress());
    }
    FolderOfFiles::TearDown();
  }
  std::string file_of(std::string const& certificate) const { return server.folder() + "/" + certificate + ".crt"; }
  void use_certificate(std::string const& certificate) const {
    for (std::string const kind : {"cert", "key"})
      server.ask("alter system set ssl_" + kind + "_file = '" + server.folder() + "/" + certificate +
                 (kind == "key" ? ".key'" : ".crt'"));
  }
  void make_certificate(std::string const& certificate) const {
    std::string const file = server.folder() + "/" + certificate;
    ASSERT_EQ(std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=db.example -keyout " + file +
                           ".key -out " + file + ".crt >/dev/null 2>&1")
                              .c_str()),
              0);
    // The server wants its key to be its own, and to be read by none else.
    struct stat folder {};
    ASSERT_EQ(stat(server.folder().c_str(), &folder), 0);
    ASSERT_EQ(chmod((file + ".key").c_str(), 0600), 0);
    ASSERT_EQ(chown((file + ".key").c_str(), folder.st_uid, folder.st_gid), 0);
  }
  std::string address(std::string const& root, std::string const& as = "db.example") const {
    return "postgresql:///postgres?host=" + as + "&hostaddr=" + host +
           "&user=penstock&sslmode=verify-full&sslrootcert=" + root + "&ledger=tls";
  }
  static std::string refusal(std::string const& address) {
    try {
      until_there([&] {
        PostgresLedger(address).join();
        return 0;
      });
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument) << error.what();
      return error.what();
    }
    return {};
  }
  void answer_all(std::string const& address) const {
    auto const ledger = until_there([&] { return std::make_unique<PostgresLedger>(address); });
    auto const owner = ledger->join();
    EXPECT_TRUE(owner->exchange(settle_all(owner->exchange({}, 2).taken, Kind::acknowledge), 1).finished);
  }
};

TEST_F(AServerWithTls, IsUsedWithTheCertificateOfItsAuthority) {
  answer_all(address(file_of("own")));
}

/// Seen to fail, by waiting for ever, where this was taken for a server that is gone.
TEST_F(AServerWithTls, IsRefusedOnceWithTheRemedyIfItIsNotTheOneThatIsWanted) {
  EXPECT_THAT(refusal(address(file_of("other"))),
              AllOf(HasSubstr("certificate verify failed"), HasSubstr("by sslrootcert in the address")));
  EXPECT_THAT(refusal(address(file_of("own"), "other.example")),
              AllOf(HasSubstr("does not match host name"), HasSubstr("the host as the certificate has it")));
  EXPECT_THAT(refusal(address(file_of("none"))), AllOf(HasSubstr("does not exist"), HasSubstr("sslrootcert")));
  answer_all(address(file_of("own")));
}

/// The certificate is replaced while an owner has a lease: the owner cannot come back, and says why. What it had goes
/// to another.
TEST_F(AServerWithTls, ThatGetsAnotherCertificateRefusesItsOwnersAndLosesNothing) {
  PostgresLedger ledger(address(file_of("own")));
  auto owner = ledger.join();
  auto const taken = owner->exchange({}, 1).taken;
  use_certificate("other");
  server.ask("update tls.ledger set grace = -1");
  server.kill();
  server.start();
  try {
    until_there([&] { return owner->exchange(settle_all(taken, Kind::acknowledge), 1); });
    ADD_FAILURE() << "no error";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("certificate verify failed"));
  }
  owner.reset();
  auto const other = until_there([&] { return PostgresLedger(name).join(); });
  for (int k = 0; k < 2; ++k) {
    auto const next = other->exchange({}, 1).taken;
    EXPECT_THAT(other->exchange(settle_all(next, Kind::acknowledge), 0).refused, IsEmpty());
  }
}

}  // namespace
}  // namespace penstock
