// SPDX-License-Identifier: Apache-2.0
#include "engine/core/shared_library.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace penstock {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace files = std::filesystem;

/// A current directory with libraries that leave a mark there when they are loaded.
struct HostileFolder : testing::Test {
  files::path const before = files::current_path();
  files::path const folder = files::path(testing::TempDir()) / ("hostile_" + std::to_string(::getpid()));

  void SetUp() override {
    files::create_directories(folder / "lib64");
    for (char const* const name : {"libpenstock_marked.so", "lib64/libpenstock_marked.so"})
      files::create_symlink(PENSTOCK_MARKED_LIBRARY, folder / name);
    files::current_path(folder);
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("CUDA_HOME");
  }
  void TearDown() override {
    files::current_path(before);
    files::remove_all(folder);
  }
  bool something_was_loaded() const { return files::exists(folder / "loaded_from_here"); }
};

TEST_F(HostileFolder, IsNotWhereANameIsLookedFor) {
  SharedLibrary const library({"libpenstock_marked.so"});
  EXPECT_FALSE(library.loaded());
  EXPECT_FALSE(something_was_loaded());
}

TEST_F(HostileFolder, IsNotWhatARelativePathMeans) {
  SharedLibrary const library({"./libpenstock_marked.so", "lib64/libpenstock_marked.so", ""});
  EXPECT_FALSE(library.loaded());
  EXPECT_FALSE(something_was_loaded());
  EXPECT_THAT(library.reasons(),
              AllOf(HasSubstr("./libpenstock_marked.so: neither the name of a library nor an absolute path"),
                    HasSubstr("; lib64/libpenstock_marked.so: neither"), HasSubstr("; : neither")));
}

TEST_F(HostileFolder, IsNotWhatARelativeCudaHomeMeans) {
  for (char const* const home : {".", "lib64/..", "nowhere/.."}) {
    setenv("CUDA_HOME", home, 1);
    SharedLibrary const library(cuda_library_names({}, "libpenstock_marked.so", {"lib64"}));
    EXPECT_FALSE(library.loaded()) << home;
  }
  EXPECT_FALSE(something_was_loaded());
}

TEST_F(HostileFolder, IsTakenWhereItIsNamedFromTheRoot) {
  setenv("CUDA_HOME", folder.c_str(), 1);
  SharedLibrary const library(cuda_library_names({"libpenstock_marked.so"}, "libpenstock_marked.so", {"lib64"}));
  EXPECT_TRUE(library.loaded());
  EXPECT_TRUE(something_was_loaded());
  EXPECT_THAT(library.reasons(), IsEmpty());
  int (*function)() = nullptr;
  library.find(function, "marked_library");
  ASSERT_NE(function, nullptr);
  EXPECT_EQ(function(), 42);
}

TEST(CudaLibraryNames, AreThoseOfTheLoaderThenThoseOfTheFolders) {
  setenv("CUDA_HOME", "/opt/cuda", 1);
  EXPECT_THAT(cuda_library_names({"libone.so.2"}, "libone.so", {"lib64", "lib"}),
              ElementsAre("libone.so.2", "/opt/cuda/lib64/libone.so", "/opt/cuda/lib/libone.so",
                          "/usr/local/cuda/lib64/libone.so", "/usr/local/cuda/lib/libone.so"));
  setenv("CUDA_HOME", "", 1);
  EXPECT_THAT(cuda_library_names({}, "libone.so", {"lib64"}), ElementsAre("/usr/local/cuda/lib64/libone.so"));
  unsetenv("CUDA_HOME");
}

TEST(IsRelativePath, HoldsForWhatTheCurrentDirectoryChanges) {
  EXPECT_TRUE(is_relative_path("./libone.so"));
  EXPECT_TRUE(is_relative_path("folder/libone.so"));
  EXPECT_FALSE(is_relative_path("libone.so"));
  EXPECT_FALSE(is_relative_path("/folder/libone.so"));
}

}  // namespace
}  // namespace penstock
