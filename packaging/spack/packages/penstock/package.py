# SPDX-License-Identifier: Apache-2.0
from spack.package import *


class Penstock(CMakePackage, CudaPackage):
    """Feeds GPUs from many host threads: pinned tiles, lanes with CUDA streams of their own, a graph of oneTBB."""

    license("Apache-2.0")
    version("main")

    variant("tools", default=True, description="The command penstock")
    variant("shared", default=True, description="libpenstock.so, the interface for C")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.74:")
    depends_on("hwloc@2.5:")
    depends_on("intel-oneapi-tbb@2021.8:")
    depends_on("nlohmann-json")
    depends_on("sqlite@3.40:")
    depends_on("cli11", when="+tools")
    depends_on("tomlplusplus", when="+tools")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("PENSTOCK_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define_from_variant("PENSTOCK_TOOLS", "tools"),
            self.define_from_variant("PENSTOCK_SHARED", "shared"),
            self.define("PENSTOCK_TESTS", False),
            self.define("PENSTOCK_BENCH", False),
            self.define("PENSTOCK_EXAMPLES", False),
        ]
        architectures = self.spec.variants["cuda_arch"].value
        if self.spec.satisfies("+cuda") and "none" not in architectures:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", list(architectures)))
        else:
            args.append(self.define("PENSTOCK_EVERY_GPU", True))
        return args
