# SPDX-License-Identifier: Apache-2.0
"""Where mutants are built and tried: a copy of the tree, and a build of its own."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

# Which test programs run what lies in a folder of src: its own first, then those of layers above it.
PROGRAMS = {
    "core": ["core", "flow", "records"],
    "plan": ["plan", "flow", "observe"],
    "lane": ["lane", "flow", "records"],
    "flow": ["flow", "records"],
    "records": ["records"],
}
# Units that components above use, and the programs that test them by that.
OF_UNIT = {
    "producers": ["flow_failures"],
    "packing": ["records_failures"],
    "between_processes": ["ring"],
    "clock": ["models", "modelled_gpu"],
    "atomics": ["modelled_gpu"],
    "descriptor": ["file", "ring"],
    "host_time": ["modelled_gpu"],
}
# Orders weaker than the machine's own make no difference when tests run on it: programs that know the memory model do.
MODEL_PROGRAMS = ["memory_model"]
# Most tests of a contract are run with each lane or pipeline that there is: first the others, then with a few of them.
MANY = "*/callback*:*/host_func*:*/event_*:*/flag_*"
FEW = ["callback_own_split", "callback_in_stream_own_single", "event_block_own_split", "event_poll_own_single",
       "flag_own_split_automatic", "host_func_own_single", "callback_split", "event_block_single", "flag_single"]


class Yard:
    def __init__(self, root, folder, jobs):
        self.root, self.tree, self.build = root, folder, folder / "build/release"
        self.jobs = jobs
        self.targets = set()

    def prepare(self):
        """Brings the copy up to date with the tree, and the build with the copy."""
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root, check=True, capture_output=True).stdout.decode().split("\0")
        wanted = {name for name in listed if name and (self.root / name).is_file()}
        for name in wanted:
            here, there = self.root / name, self.tree / name
            if not there.exists() or there.read_bytes() != here.read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(here, there)
        for there in self.tree.rglob("*"):
            name = str(there.relative_to(self.tree))
            if there.is_file() and name not in wanted and not name.startswith("build/"):
                there.unlink()
        if not (self.build / "build.ninja").exists():
            # As ./dev builds it, and where it would: so a compiler cache knows all that is not broken.
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            subprocess.run(
                ["cmake", "--preset", "release", "-DPENSTOCK_CUDA=OFF", "-DPENSTOCK_BOTH_FLAVOURS=OFF",
                 "-DPENSTOCK_BENCH=OFF", *launcher],
                cwd=self.tree, check=True, stdout=subprocess.DEVNULL)
        self.ninja("build.ninja")
        listing = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"], capture_output=True, text=True)
        self.targets = set(re.findall(r"^(penstock_\w+_tests): phony", listing.stdout, re.M))

    def ninja(self, *targets):
        return subprocess.run(["ninja", "-C", self.build, "-j", str(self.jobs), *targets], capture_output=True, text=True)

    def program(self, name):
        return self.build / "bin" / f"penstock_{name}_tests"

    def put(self, path, text):
        (self.tree / path).write_text(text)

    def run(self, name, tests, patience):
        """What kills it: a name of a test, a hang, or nothing."""
        command = [self.program(name), "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={tests}"]
        with open(self.build / "said", "w+b") as said:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
            stuck = wait(child, patience)
            said.seek(0)
            text = said.read().decode(errors="replace")
        if stuck:
            return stuck
        if child.returncode == 0:
            return None
        failed = re.search(r"^\[  FAILED  \] ([\w/.]+)", text, re.M)
        return failed[1] if failed else f"{name} ended with {child.returncode}"

    def suites(self, path):
        """The tests beside which this source lies: those of the file of the same name."""
        # A unit that is a part of one class only is tested with that.
        whole = re.sub(r"records/(desk|late_watch)", "records/departures", path)
        beside = self.tree / re.sub(r"^src/(.*)\.[hc]pp$", r"tests/\1_test.cpp", whole)
        if not beside.exists():
            return []
        names = re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+),", beside.read_text(), re.M)
        return sorted(set(names))


def processor_time(process):
    """Ticks that the threads of a group of processes have run for, and whether one of them wants to run."""
    ticks, wants = 0, False
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[2]) != process:
                continue
            ticks += int(fields[11]) + int(fields[12])
            for thread in (entry / "task").iterdir():
                wants = wants or (thread / "stat").read_text().rsplit(")", 1)[1].split()[0] in "RD"
        except (OSError, IndexError):
            continue
    return ticks, wants


def wait(child, patience):
    """Until it ends; or says in what way it does not: it sleeps, or goes on for ever."""
    begun, ticks, asleep_since = time.monotonic(), -1, None
    while True:
        try:
            child.wait(timeout=0.5 if time.monotonic() - begun > 1 else 0.02)
            return None
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        if now - begun < 1:
            continue
        ran, wants = processor_time(child.pid)
        # A lane that waits looks after its device now and then; that is no work.
        if wants or ran > ticks + 2:
            ticks, asleep_since = ran, None
        elif asleep_since is None:
            asleep_since = now
        slept = asleep_since is not None and now - asleep_since > patience / 10
        if slept or now - begun > patience:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return "hang" if slept else "no end"
