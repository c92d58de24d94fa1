// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/doctor_facts.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace penstock::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using UnorderedJson = nlohmann::json;

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// A machine with eight CPUs and one GPU that nothing holds back, and a probe of it.
struct DoctorFactsOfAGoodMachine : testing::Test {
  DoctorFacts facts{.version = "1.2.3",
                    .flavour = Flavour::per_thread,
                    .with_cuda = true,
                    .with_nvtx = true,
                    .host = {},
                    .topology = Topology::from_synthetic("numa:1 core:8 pu:1"),
                    .gpu_sentence = "One GPU: Example.",
                    .gpu_problem = {},
                    .gpus = {DeviceInfo{}},
                    .probed = "Example",
                    .probed_gpu = true,
                    .probe_problem = {},
                    .rates = ProbeRates{}};
  void SetUp() override {
    facts.host.hostname = "here";
    facts.host.kernel = "6.1";
    facts.host.memory_bytes = facts.host.memory_available_bytes = 64 * gibibyte;
    facts.host.transparent_huge_pages = "madvise";
    facts.gpus[0].name = "Example";
    facts.gpus[0].copy_engines = 2;
    facts.gpus[0].numa_node = 0;
    *facts.rates = {.upload = 50e9,
                    .download = 51e9,
                    .both_up = 45e9,
                    .both_down = 46e9,
                    .fill_one = 10e9,
                    .fill = 60e9,
                    .threads = 7,
                    .read = 80e9,
                    .read_bytes = 4 * gibibyte};
  }
  static std::vector<std::string> names_of(nlohmann::ordered_json const& row) {
    std::vector<std::string> names;
    for (auto const& member : row.items()) names.push_back(member.key());
    return names;
  }
  static std::size_t count(std::string const& text, std::string const& what) {
    std::size_t times = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
    return times;
  }
  void without_gpu() {
    facts.gpus.clear();
    facts.gpu_sentence = "No NVIDIA driver is installed.";
    facts.probed = "CPU device";
    facts.probed_gpu = false;
  }
};

TEST_F(DoctorFactsOfAGoodMachine, HaveNothingToRemark) {
  EXPECT_THAT(remarks_on(facts), IsEmpty());
  EXPECT_THAT(as_text(facts), HasSubstr("remarks    none"));
}

TEST_F(DoctorFactsOfAGoodMachine, AreALineEach) {
  std::string const text = as_text(facts);
  EXPECT_THAT(text, HasSubstr("penstock   1.2.3, per-thread default streams\n"));
  EXPECT_THAT(text, HasSubstr("host       here, Linux 6.1"));
  EXPECT_THAT(text, HasSubstr("memory     64 GiB, 64 GiB available, memlock unlimited"));
  EXPECT_THAT(text, HasSubstr("GPU 0      Example"));
  EXPECT_THAT(text, HasSubstr("  upload   50.0 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("  fill     10.0 GB/s by 1 thread, 60.0 GB/s by 7 threads\n"));
  EXPECT_THAT(text, HasSubstr("  read     80.0 GB/s by 7 threads\n"));
}

TEST_F(DoctorFactsOfAGoodMachine, RemarkOnALimitOfLockedMemoryThatIsTooSmall) {
  facts.host.memlock_bytes = 8 << 20;
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("memlock is 8 MiB")));
  facts.host.memlock_bytes = 4 * gibibyte;
  EXPECT_THAT(remarks_on(facts), IsEmpty());
  facts.host.memlock_bytes = 8 << 20;
  without_gpu();
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("no GPU"))) << "the CPU device locks nothing";
}

TEST_F(DoctorFactsOfAGoodMachine, RemarkOnTooLittleMemoryAndNoHugePages) {
  facts.host.memory_available_bytes = gibibyte;
  facts.host.cgroup_memory_bytes = gibibyte;
  facts.host.transparent_huge_pages = "never";
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("huge pages are off"), HasSubstr("Only 1 GiB of memory"),
                                             HasSubstr("cgroup allows 1 GiB")));
}

TEST_F(DoctorFactsOfAGoodMachine, CallUnknownWhatCouldNotBeRead) {
  facts.host = {};
  EXPECT_THAT(as_text(facts), HasSubstr("host       unknown, Linux unknown, unknown\n"));
  EXPECT_THAT(as_text(facts), HasSubstr("memory     unknown, unknown available"));
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("let more files be open (ulimit -n)")));
}

TEST_F(DoctorFactsOfAGoodMachine, RemarkOnWhatIsSlowerThanTheLink) {
  facts.rates->fill = 20e9;
  facts.rates->read = 30e9;
  facts.rates->both_up = facts.rates->both_down = 26e9;
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("Filling tiles (20.0 GB/s by 7 threads)"),
                                             HasSubstr("Reading that file (30.0 GB/s)"), HasSubstr("hardly overlap")));
}

TEST_F(DoctorFactsOfAGoodMachine, RemarkOnAFileThatIsTooSmallInsteadOfItsSpeed) {
  facts.rates->read = 1e6;
  facts.rates->read_bytes = 5;
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("only 5 B: too small for its speed to mean anything")));
  facts.rates->read_all = false;
  EXPECT_THAT(remarks_on(facts), testing::Not(testing::Contains(HasSubstr("too small")))) << "it is slow";
}

TEST_F(DoctorFactsOfAGoodMachine, SayHowItsGpuCanBeShared) {
  facts.sharing = {GpuSharing{.mps = false, .green_contexts = true, .least_green_context = 8}};
  EXPECT_THAT(as_text(facts), HasSubstr(", MPS is off, green contexts of 8 multiprocessors or more\n"));
  EXPECT_THAT(remarks_on(facts), IsEmpty());
  auto gpu = UnorderedJson::parse(as_json(facts)).at("gpus").at(0);
  EXPECT_EQ(gpu.at("mps"), false);
  EXPECT_EQ(gpu.at("green_context_multiprocessors"), 8);
  facts.sharing[0] = {.mps = true};
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("GPU 0 is shared by MPS")));
  facts.sharing.clear();
  gpu = UnorderedJson::parse(as_json(facts)).at("gpus").at(0);
  EXPECT_TRUE(gpu.at("mps").is_null() && gpu.at("green_contexts").is_null());
}

TEST_F(DoctorFactsOfAGoodMachine, HaveTheirFiguresInARow) {
  auto const row = row_of(facts);
  EXPECT_EQ(row.at("upload_gb_per_s"), 50.0);
  EXPECT_EQ(row.at("probed"), "Example");
  EXPECT_EQ(row.at("gpu"), "Example");
  facts.rates.reset();
  auto const without = row_of(facts);
  EXPECT_TRUE(without.at("upload_gb_per_s").is_null());
  EXPECT_EQ(names_of(without), names_of(row));
}

TEST_F(DoctorFactsOfAGoodMachine, RemarkOnMoreThreadsThanCanBeBusyAtOnce) {
  facts.rates->threads = 8;
  EXPECT_THAT(remarks_on(facts), IsEmpty());
  facts.rates->threads = 1024;
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("1024 threads filled, of which 8 can be busy at once")));
}

TEST_F(DoctorFactsOfAGoodMachine, SayOnlyOnceWhyThereIsNoGpu) {
  without_gpu();
  EXPECT_EQ(count(as_text(facts), facts.gpu_sentence), 1u) << as_text(facts);
  facts.rates.reset();
  facts.probe_problem = facts.gpu_sentence;
  EXPECT_EQ(count(as_text(facts), facts.gpu_sentence), 1u) << as_text(facts);
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("CPU device"), HasSubstr("probe failed")));
}

TEST_F(DoctorFactsOfAGoodMachine, DescribeTheMachineWhenItsGpuFails) {
  facts.gpus.clear();
  facts.gpu_problem = facts.probe_problem = "The GPU fell off.";
  facts.rates.reset();
  EXPECT_THAT(as_text(facts), HasSubstr("host       here"));
  EXPECT_THAT(as_text(facts), HasSubstr("GPU        unknown"));
  EXPECT_THAT(remarks_on(facts), ElementsAre("The probe failed: The GPU fell off."));
  facts.probe_problem.clear();
  EXPECT_THAT(remarks_on(facts), ElementsAre(HasSubstr("The GPU fell off.")));
}

TEST_F(DoctorFactsOfAGoodMachine, HaveTheSameKeysInJsonWhateverIsKnown) {
  auto const keys = [](UnorderedJson const& object) {
    std::vector<std::string> all;
    for (auto const& entry : object.items()) all.push_back(entry.key());
    return all;
  };
  UnorderedJson const full = UnorderedJson::parse(as_json(facts));
  EXPECT_EQ(full["schema"], 1);
  EXPECT_EQ(full["kind"], "doctor");
  EXPECT_EQ(full["penstock"]["version"], "1.2.3");
  EXPECT_EQ(full["host"]["cpus"], 8);
  EXPECT_EQ(full["nodes"][0]["cpus"].size(), 8u);
  EXPECT_EQ(full["gpus"][0]["name"], "Example");
  EXPECT_EQ(full["probe"]["upload_gb_per_s"], 50);
  EXPECT_EQ(full["probe"]["threads"], 7);
  EXPECT_TRUE(full["probe_problem"].is_null());
  EXPECT_TRUE(full["remarks"].is_array());
  EXPECT_TRUE(full["host"]["memlock_bytes"].is_null());

  without_gpu();
  facts.rates.reset();
  facts.host = {};
  UnorderedJson const bare = UnorderedJson::parse(as_json(facts));
  EXPECT_EQ(keys(bare), keys(full));
  EXPECT_EQ(keys(bare["host"]), keys(full["host"]));
  EXPECT_TRUE(bare["probe"].is_null());
  EXPECT_EQ(bare["remarks"].size(), 2u) << "/proc says nothing, and there is no GPU";
}

}  // namespace
}  // namespace penstock::cli
