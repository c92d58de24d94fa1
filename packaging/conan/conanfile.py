# SPDX-License-Identifier: Apache-2.0
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir


class PenstockConan(ConanFile):
    name = "penstock"
    description = "Feeds GPUs from many host threads"
    license = "Apache-2.0"
    topics = ("cuda", "streams", "tbb", "pipeline")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"cuda": [True, False], "tools": [True, False]}
    default_options = {"cuda": False, "tools": False}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "..", "..", "CMakeLists.txt"))
        self.version = re.search(r"project\(penstock VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "*.md", "cmake/*", "include/*", "src/*", "kernels/*",
                        "docs/*", "examples/*", "third_party/*", "tests/support/tsan.supp"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        for headers in ("onetbb/2021.12.0", "hwloc/2.10.0", "boost/1.83.0", "nlohmann_json/3.11.3", "sqlite3/3.45.0"):
            self.requires(headers, transitive_headers=headers.startswith("onetbb"))
        if self.options.tools:
            self.requires("cli11/2.4.2")
            self.requires("tomlplusplus/3.4.0")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["PENSTOCK_CUDA"] = "ON" if self.options.cuda else "OFF"
        toolchain.cache_variables["PENSTOCK_TOOLS"] = bool(self.options.tools)
        toolchain.cache_variables["PENSTOCK_EVERY_GPU"] = True
        for left_out in ("PENSTOCK_SHARED", "PENSTOCK_TESTS", "PENSTOCK_BENCH", "PENSTOCK_EXAMPLES"):
            toolchain.cache_variables[left_out] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))

    def package_info(self):
        # penstock's own package of CMake is the one to use: it knows components and flavours.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "penstock")]
