// SPDX-License-Identifier: Apache-2.0
#include "programs/command/program_file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

[[noreturn]] void refuse(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

/// The first file of that name in the folders of PATH that can be started, else `name`.
std::string path_of(std::string const& name) {
  if (name.find('/') != std::string::npos) return name;
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string whole = (folder.empty() ? "." : folder) + "/" + name;
    struct stat status {};
    if (stat(whole.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(whole.c_str(), X_OK) == 0) return whole;
  }
  refuse(name + " is in no folder of PATH: name the program with its path, like ./" + name + ".");
}

#ifdef __x86_64__
constexpr Elf64_Half machine_here = EM_X86_64;
#else
constexpr Elf64_Half machine_here = EM_AARCH64;
#endif

/// Reads the file's first bytes, and the list of its segments.
ProgramKind kind_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 2> mark{};
  file.read(mark.data(), mark.size());
  // A program that may be run and not read is assumed to be dynamic, as most are.
  if (!file) return ProgramKind::dynamic;
  if (std::string_view(mark.data(), mark.size()) == "#!") return ProgramKind::script;
  Elf64_Ehdr header{};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return ProgramKind::script;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != machine_here) return ProgramKind::foreign;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (file && segment.p_type == PT_INTERP) return ProgramKind::dynamic;
  }
  return ProgramKind::linked_whole;
}

}  // namespace

ProgramFile find_program(std::string const& name) {
  if (name.empty()) refuse("'' names no program: name one behind --, like -- ./program.");
  ProgramFile found{.path = path_of(name)};
  struct stat status {};
  if (stat(found.path.c_str(), &status) != 0)
    refuse(found.path + ": " + std::strerror(errno) + ". Name a program that is there.");
  if (S_ISDIR(status.st_mode)) refuse(found.path + " is a folder: name a program in it.");
  if (!S_ISREG(status.st_mode)) refuse(found.path + " is no file: name a program.");
  if (access(found.path.c_str(), X_OK) != 0)
    refuse(found.path + " may not be run (" + std::strerror(errno) + "): name its interpreter, or chmod +x it.");
  found.kind = kind_of(found.path);
  bool const set_id = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  found.takes_rights = set_id || getxattr(found.path.c_str(), "security.capability", nullptr, 0) > 0;
  return found;
}

std::string find_loading_program(std::string const& name) {
  ProgramFile const file = find_program(name);
  if (file.takes_rights) {
    refuse(file.path +
           " is set-uid or set-gid or has capabilities, so the system loads no library of ours into it: name a copy "
           "without these rights.");
  }
  if (file.kind == ProgramKind::linked_whole) {
    refuse(file.path +
           " is linked with -static, so no library of ours can be loaded into it: link it with the C library as it is "
           "shared.");
  }
  if (file.kind == ProgramKind::foreign)
    refuse(file.path + " is for another kind of processor or of 32 bits: build it for this one.");
  return file.path;
}

}  // namespace penstock::cli
