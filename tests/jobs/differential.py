# SPDX-License-Identifier: Apache-2.0
"""What the kinds of lines_differential.py have in common."""
import collections
import dataclasses
import re
import subprocess

kinds = {}
BAD = "bad"  # What a record has for a number that is there and cannot be added: the program counts it in words.


def kind(make):
    """Registers a function that makes a Case of a random generator, by its name."""
    kinds[make.__name__.replace("_", "-")] = make
    return make


def unread(text):
    """What a record has for a number that is not one: an empty field and `-` are how logs write that there is none."""
    return None if text in ("", "-") else BAD


@dataclasses.dataclass
class Case:
    """A file, the options of `lines run` that read it, and the records that another reader has of it.

    A record is (group, number): the name of a row, and its number, in units of 10^-places. The number is None if
    none is there, and BAD if it cannot be added. A record of `others` need not be read: it may be in the row `other` if the program says why.
    `cut` is how many records are lost at line breaks within quotes.
    """

    data: bytes
    options: list
    records: list
    places: int = 0
    decimal: bool = False
    others: list = dataclasses.field(default_factory=list)
    cut: int = 0

    def rows(self):
        """The rows that are expected if all records are read: the name, and its lines, sum, and lines without a number."""
        rows = collections.defaultdict(lambda: [0, 0, 0])
        for group, units in [*self.records, *self.others]:
            row = rows[group]
            row[0] += 1
            row[1] += units if isinstance(units, int) else 0
            row[2] += self.decimal and not isinstance(units, int)
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

    def said(self, run):
        """What is counted in words: lines of the row `other`, numbers that add nothing, records that are cut, anything else."""
        counts = [0, 0, 0, 0]
        for entries in re.findall("^Left out: (.*)\\.$", run.stderr, re.MULTILINE):
            for count, unit, reason in re.findall("(?:^|; )([0-9]+) (lines?|records?|[a-z]+)(?: [(][^)]*[)])?, ([^;]*)", entries):
                cut = unit.startswith("record") and "line break within quotes" in reason
                line = unit.startswith("line")
                counts[1 if line and "adds nothing" in reason else 0 if line else 2 if cut else 3] += int(count)
        return counts

    def wrong_words(self, run, strict):
        """What the report or the exit code does not say of what was left out, or an empty text."""
        other, bad, cut, more = self.said(run)
        in_other, wanted = self.printed(run).get("other", [0])[0], sum(units == BAD for _, units in [*self.records, *self.others])
        if (other, cut, more) != (in_other, self.cut, 0):
            return f"Left out: {other} lines, {cut} cut, {more} others; but {in_other} are in the row other, and {self.cut} are cut"
        if bad != wanted:
            return f"Left out: {bad} numbers, but {wanted} cannot be added"
        code = 1 if cut or (strict and (other or bad)) else 0
        return f"exit code {run.returncode}, expected {code}" if run.returncode != code else ""

    def differences(self, run: subprocess.CompletedProcess, strict):
        """What is wrong, or an empty text."""
        if run.returncode not in (0, 1):
            return f"exit code {run.returncode}"
        printed, expected = self.printed(run), self.rows()
        if sum(row[0] for row in printed.values()) != sum(row[0] for row in expected.values()):
            return f"{run.stdout} has other lines than {dict(expected)}"
        refused = self.refused(run)
        if not 0 <= refused <= len(self.others) or (printed.get("other") and "The row `other` has" not in run.stderr):
            return f"{refused} lines are refused, {len(self.others)} may be: {run.stdout}"
        # A line that is refused is missing in one row.
        wrong = [name for name in {*printed, *expected} - {"other"}
                 if (printed.get(name) != expected.get(name) if refused == 0
                     else printed.get(name, [0])[0] > expected.get(name, [0])[0])]
        if refused == 0 and printed.get("other") != expected.get("other"):
            wrong.append("other")
        return "\n".join(f"{name}: {printed.get(name)}, expected {expected.get(name)}" for name in sorted(wrong)) or self.wrong_words(run, strict)
