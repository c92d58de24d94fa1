// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/packet_ring.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Four packets of the largest size fit: 64 KiB of segments that a network card is to cut.
constexpr std::size_t block_bytes = std::size_t{1} << 18;
constexpr std::uint32_t linktype_ethernet = 1, linktype_raw = 101;

[[noreturn]] void refuse(std::string const& what, int problem) {
  std::string remedy;
  if (problem == EPERM || problem == EACCES) {
    remedy = "; it needs CAP_NET_RAW: run it as root, or give the program the right by `setcap cap_net_raw=ep PROGRAM`";
  } else if (problem == ENOMEM) {
    remedy = "; make rings smaller";
  } else if (problem == ENETDOWN) {
    remedy = "; bring it up by `ip link set`";
  }
  throw Error(ErrorKind::system, what + ": " + system_problem(problem) + remedy + ".");
}

/// It gets no packets before it is bound, since it has no protocol.
int open_socket(std::string const& interface) {
  int const number = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (number < 0) refuse("Packets of " + interface + " cannot be captured", errno);
  return number;
}

}  // namespace

CapturedInterface CapturedInterface::find(std::string const& name) {
  Descriptor const any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq asked{};
  if (name.empty() || name.size() >= sizeof asked.ifr_name || if_nametoindex(name.c_str()) == 0) {
    throw Error(ErrorKind::bad_argument, "There is no interface '" + name + "': `ip link` shows which there are.");
  }
  std::memcpy(asked.ifr_name, name.data(), name.size());
  CapturedInterface found{.name = name, .index = static_cast<int>(if_nametoindex(name.c_str()))};
  if (ioctl(any.number, SIOCGIFFLAGS, &asked) != 0) refuse("The interface " + name + " does not say how it is", errno);
  found.loopback = (asked.ifr_flags & IFF_LOOPBACK) != 0;
  if ((asked.ifr_flags & IFF_UP) == 0) refuse("The interface " + name + " brings nothing", ENETDOWN);
  if (ioctl(any.number, SIOCGIFHWADDR, &asked) != 0) refuse("The interface " + name + " does not say how it is", errno);
  unsigned const type = asked.ifr_hwaddr.sa_family;
  bool const ethernet = type == ARPHRD_ETHER || type == ARPHRD_LOOPBACK,
             raw = type == ARPHRD_NONE || type == ARPHRD_RAWIP;
  if (!ethernet && !raw) {
    throw Error(ErrorKind::bad_argument, "The packets of the interface " + name + " are of the kind " +
                                             std::to_string(type) +
                                             " (ARPHRD), neither of Ethernet nor of IP: "
                                             "capture them by `tcpdump -w -`, and read that.");
  }
  found.link = ethernet ? linktype_ethernet : linktype_raw;
  return found;
}

PacketRing::PacketRing(CapturedInterface const& interface, std::size_t bytes, unsigned wait_ms)
    : interface_(interface),
      socket_(open_socket(interface.name)),
      blocks_(std::max<std::size_t>(2, bytes / block_bytes)) {
  int const version = TPACKET_V3;
  set(SOL_PACKET, PACKET_VERSION, &version, sizeof version, "has no rings of this version");
  filter(0);
  tpacket_req3 const wanted{.tp_block_size = block_bytes,
                            .tp_block_nr = static_cast<unsigned>(blocks_),
                            .tp_frame_size = 2048,
                            .tp_frame_nr = static_cast<unsigned>(block_bytes / 2048 * blocks_),
                            .tp_retire_blk_tov = wait_ms,
                            .tp_sizeof_priv = 0,
                            .tp_feature_req_word = 0};
  set(SOL_PACKET, PACKET_RX_RING, &wanted, sizeof wanted, "gets no ring");
  void* const ring = mmap(nullptr, blocks_ * block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, socket_.number, 0);
  if (ring == MAP_FAILED) refuse("The ring for packets of " + interface.name + " cannot be mapped", errno);
  ring_ = static_cast<std::byte*>(ring);
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ETH_P_ALL);
  to.sll_ifindex = interface.index;
  if (bind(socket_.number, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0) return;
  int const problem = errno;
  munmap(ring_, blocks_ * block_bytes);
  refuse("Packets of " + interface.name + " cannot be captured", problem);
}

PacketRing::~PacketRing() {
  munmap(ring_, blocks_ * block_bytes);
}

std::uint16_t PacketRing::join(std::optional<std::uint16_t> group) {
  unsigned const how = PACKET_FANOUT_HASH | (group ? 0U : unsigned{PACKET_FANOUT_FLAG_UNIQUEID});
  unsigned wanted = how << 16U | group.value_or(0);
  set(SOL_PACKET, PACKET_FANOUT, &wanted, sizeof wanted, "shares no packets out");
  socklen_t bytes = sizeof wanted;
  if (getsockopt(socket_.number, SOL_PACKET, PACKET_FANOUT, &wanted, &bytes) != 0) {
    refuse("The rings for " + interface_.name + " have no group", errno);
  }
  return static_cast<std::uint16_t>(wanted);
}

void PacketRing::begin(std::size_t longest) {
  filter(static_cast<std::uint32_t>(longest));
}

void PacketRing::be_promiscuous() {
  packet_mreq wanted{};
  wanted.mr_ifindex = interface_.index;
  wanted.mr_type = PACKET_MR_PROMISC;
  set(SOL_PACKET, PACKET_ADD_MEMBERSHIP, &wanted, sizeof wanted, "cannot be made promiscuous");
}

/// Sets the number of bytes that are captured of each packet; with 0 no packets are captured. Packets sent by the
/// loopback interface are skipped, since it also receives them.
void PacketRing::filter(std::uint32_t longest) const {
  // The option for this (PACKET_IGNORE_OUTGOING) has no effect on a group of rings.
  std::uint32_t const sent = interface_.loopback ? 0 : longest;
  std::array<sock_filter, 4> program{{{.code = BPF_LD | BPF_W | BPF_ABS,
                                       .jt = 0,
                                       .jf = 0,
                                       .k = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)},
                                      {.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 1, .k = PACKET_OUTGOING},
                                      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = sent},
                                      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = longest}}};
  sock_fprog const all{.len = program.size(), .filter = program.data()};
  set(SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all, "takes no filter");
}

void PacketRing::set(int level, int name, void const* value, std::size_t bytes, char const* what) const {
  if (setsockopt(socket_.number, level, name, value, static_cast<socklen_t>(bytes)) == 0) return;
  refuse("The capture of " + interface_.name + " " + what, errno);
}

tpacket_block_desc* PacketRing::block() const noexcept {
  auto* const block = reinterpret_cast<tpacket_block_desc*>(ring_ + next_ * block_bytes);
  // Acquire: this thread sees the data that the system wrote before it released the block.
  std::uint32_t const status = std::atomic_ref(block->hdr.bh1.block_status).load(std::memory_order_acquire);
  return (status & TP_STATUS_USER) != 0 ? block : nullptr;
}

void PacketRing::give_back() noexcept {
  auto* const block = reinterpret_cast<tpacket_block_desc*>(ring_ + next_ * block_bytes);
  // Release: the system writes only after our reads.
  std::atomic_ref(block->hdr.bh1.block_status).store(TP_STATUS_KERNEL, std::memory_order_release);
  next_ = (next_ + 1) % blocks_;
}

void PacketRing::expect_up() const {
  int problem = 0;
  socklen_t bytes = sizeof problem;
  getsockopt(socket_.number, SOL_SOCKET, SO_ERROR, &problem, &bytes);
  if (problem != 0) refuse("The interface " + interface_.name + " brings nothing any more", problem);
}

bool PacketRing::ethernet() const noexcept {
  return interface_.link == linktype_ethernet;
}

PacketRing::Statistics PacketRing::statistics() const {
  tpacket_stats_v3 since{};
  socklen_t bytes = sizeof since;
  std::lock_guard const lock(mutex_);
  if (getsockopt(socket_.number, SOL_PACKET, PACKET_STATISTICS, &since, &bytes) == 0) {
    statistics_.captured += since.tp_packets - since.tp_drops;
    statistics_.dropped += since.tp_drops;
  }
  return statistics_;
}

}  // namespace penstock
