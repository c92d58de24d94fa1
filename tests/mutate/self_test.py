# SPDX-License-Identifier: Apache-2.0
"""Holds the operators to the mutants of a small source that are known, and the reasons to what they fit."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mutants
import survivors

HERE = pathlib.Path(__file__).resolve().parent
FIXTURE = "src/engine/core/limited.hpp"
TEXT = (HERE / "fixture/limited.hpp").read_text()
# What a test sees that only adds 2 of 3, then 2 more, and then closes.
TEST = """
bool passes() {
  Limited limited(3);
  bool const well = limited.add(2) && limited.count() == 2 && !limited.add(2) && limited.add(1);
  limited.close();
  return well && !limited.add(-1) && limited.count() == 3;
}
"""


def all_of():
    return mutants.mutants_of(FIXTURE, TEXT)


class Mutants(unittest.TestCase):
    def test_are_these_and_no_others(self):
        self.assertEqual(
            [(mutant.line, mutant.operator, mutant.instead) for mutant in all_of()],
            [
                (13, "look", ";"),
                (13, "negate", "!(!open_)"),
                (13, "truth", "true"),
                (14, "order", "std::memory_order_relaxed"),
                (15, "look", ";"),
                (15, "negate", "!(before + steps > most_)"),
                (15, "sign", "-"),
                (15, "bound", ">="),
                (15, "truth", "true"),
                (16, "drop", ";"),
                (16, "swap", "looked_ = true;\n    count_.store(before + steps, std::memory_order_release);"),
                (16, "sign", "-"),
                (16, "order", "std::memory_order_relaxed"),
                (17, "drop", ";"),
                (17, "truth", "false"),
                (18, "truth", "false"),
                (20, "return", " return;"),
                (20, "drop", ";"),
                (20, "truth", "true"),
                (21, "extreme", "min"),
                (21, "number", "1"),
                (21, "order", "std::memory_order_acquire"),
                (21, "order", "std::memory_order_relaxed"),
                (27, "truth", "false"),
                (27, "truth", "true"),
                (28, "number", "1"),
            ],
        )

    def test_differ_from_the_source_in_one_place_and_have_names_of_their_own(self):
        names = [mutant.name for mutant in all_of()]
        self.assertEqual(len(names), len(set(names)))
        for mutant in all_of():
            self.assertNotEqual(mutant.mutated(), TEXT)
            self.assertIn("    +", mutant.diff())

    def test_leave_alone_what_a_test_does_not_see_and_only_that(self):
        """All are compiled as one source, each in a namespace."""
        tried = [mutant for mutant in all_of() if mutant.operator != "order"]
        source = "#include <algorithm>\n#include <atomic>\n#include <cstdio>\n"
        for number, mutant in enumerate(tried):
            code = "".join(line for line in mutant.mutated().splitlines(True) if not line.startswith("#"))
            source += f"namespace mutant_{number} {{\n{code}{TEST}}}\n"
        passed = "".join(f'  if (mutant_{number}::passes()) std::puts("{number}");\n' for number in range(len(tried)))
        with tempfile.TemporaryDirectory() as folder:
            test = pathlib.Path(folder) / "test"
            subprocess.run(["c++", "-std=c++20", "-w", "-x", "c++", "-", "-o", test], check=True, text=True,
                           input=f"{source}int main() {{\n{passed}}}\n")
            survived = subprocess.run([test], check=True, capture_output=True, text=True).stdout.split()
        # What is never read, and what the test does not come to.
        self.assertEqual([(tried[int(number)].line, tried[int(number)].operator) for number in survived],
                         [(16, "swap"), (17, "drop"), (17, "truth"), (21, "number"), (27, "truth")])


class Reasons(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return survivors.read(file.name)

    def test_fit_by_line_and_operator_wherever_the_line_is(self):
        (reason,) = self.read(f"{FIXTURE} | drop | looked_ = true;\n  It is not read.\n")
        self.assertEqual([mutant.name for mutant in all_of() if reason.fits(mutant)], [f"{FIXTURE}:17:drop"])
        moved = mutants.mutants_of(FIXTURE, "\n\n" + TEXT)
        self.assertEqual([mutant.name for mutant in moved if reason.fits(mutant)], [f"{FIXTURE}:19:drop"])

    def test_fit_one_of_several_by_its_number_and_many_by_a_pattern(self):
        one, many = self.read(
            f"{FIXTURE} | truth#1 | bool open_ = true, looked_ = false;\n  Why.\n\n{FIXTURE} | order | ***\n  Why.\n")
        self.assertEqual([mutant.instead for mutant in all_of() if one.fits(mutant)], ["true"])
        self.assertEqual(len([mutant for mutant in all_of() if many.fits(mutant)]), 4)

    def test_are_refused_without_words(self):
        with self.assertRaises(SystemExit):
            self.read(f"{FIXTURE} | drop | looked_ = true;\n")

    def test_of_survivors_that_are_listed_have_words(self):
        for reason in survivors.read(HERE / "survivors.txt"):
            self.assertTrue(reason.path.startswith("src/"), reason.path)
            self.assertTrue((HERE.parents[1] / reason.path).is_file(), f"{reason.path} is not there")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
