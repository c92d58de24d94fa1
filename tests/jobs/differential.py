# SPDX-License-Identifier: Apache-2.0
"""What the kinds of lines_differential.py have in common."""
import collections
import dataclasses
import subprocess

kinds = {}


def kind(make):
    """Registers a function that makes a Case of a random generator, by its name."""
    kinds[make.__name__.replace("_", "-")] = make
    return make


@dataclasses.dataclass
class Case:
    """A file, the options of `lines run` that read it, and the records that another reader has of it.

    A record is (group, number): the name of a row, and the text of a number, or None if it has none that can be added. `units` is how many
    units of a sum are 1. A record of `others` need not be read: it may be in the row `other` if the program says why.
    """

    data: bytes
    options: list
    records: list
    places: int = 0
    decimal: bool = False
    others: list = dataclasses.field(default_factory=list)

    def rows(self):
        """The rows that are expected if all records are read: the name, and its lines, sum, and lines without a number."""
        rows = collections.defaultdict(lambda: [0, 0, 0])
        for group, units in [*self.records, *self.others]:
            row = rows[group]
            row[0] += 1
            row[1] += units or 0
            row[2] += units is None
        return rows

    def printed(self, run):
        rows = {}
        for line in run.stdout.splitlines():
            name, lines, total, *without = line.split(" ")
            whole, _, part = total.lstrip("-").partition(".")
            units = int(whole + part.ljust(self.places, "0")) * (-1 if total.startswith("-") else 1)
            rows[name] = [int(lines), units, int(without[0]) if without else 0]
        return rows

    def refused(self, run):
        """How many lines are in the row `other` that another reader has in another one."""
        return self.printed(run).get("other", [0])[0] - self.rows().get("other", [0])[0]

    def differences(self, run: subprocess.CompletedProcess):
        """What is wrong, or an empty text."""
        if run.returncode != 0:
            return f"exit code {run.returncode}"
        printed, expected = self.printed(run), self.rows()
        if not self.decimal:
            for row in expected.values():
                row[2] = 0
        if sum(row[0] for row in printed.values()) != sum(row[0] for row in expected.values()):
            return f"{run.stdout} has other lines than {dict(expected)}"
        refused = self.refused(run)
        if not 0 <= refused <= len(self.others) or (refused > 0 and "other" not in run.stderr):
            return f"{refused} lines are refused, {len(self.others)} may be: {run.stdout}"
        # A line that is refused is missing in one row.
        wrong = [name for name in {*printed, *expected} - {"other"}
                 if (printed.get(name) != expected.get(name) if refused == 0
                     else printed.get(name, [0])[0] > expected.get(name, [0])[0])]
        if refused == 0 and printed.get("other") != expected.get("other"):
            wrong.append("other")
        return "\n".join(f"{name}: {printed.get(name)}, expected {expected.get(name)}" for name in sorted(wrong))
