# SPDX-License-Identifier: Apache-2.0
"""Mutants that may survive, each with its reason."""
import dataclasses
import fnmatch
import pathlib


@dataclasses.dataclass
class Reason:
    path: str  # These three are patterns as the shell's.
    operator: str
    line: str
    text: str
    used: bool = False

    def fits(self, mutant):
        """A line is told by what stands in it, not by its number, which moves."""
        return (
            self.path == mutant.path
            and fnmatch.fnmatchcase(f"{mutant.operator}#{mutant.number}", self.operator)
            and fnmatch.fnmatchcase(escaped(mutant.line_text), escaped(self.line))
        )


def escaped(line):
    """Brackets stand for themselves; a star is a pattern only as `***`, since C++ has many."""
    star = "\0"
    line = line.replace("***", star).replace("[", "\1").replace("*", "\2").replace("?", "\3")
    return line.replace(star, "*")


def read(path):
    """`FILE | OPERATOR | LINE` and below it, indented, why. OPERATOR may end in #N: the N-th such in equal lines."""
    reasons = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            if not reasons:
                raise SystemExit(f"{path}:{number}: a reason of nothing")
            reasons[-1].text = (reasons[-1].text + " " + line.strip()).strip()
            continue
        parts = [part.strip() for part in line.split(" | ", 2)]
        if len(parts) != 3:
            raise SystemExit(f"{path}:{number}: not FILE | OPERATOR | LINE")
        operator = parts[1] if "#" in parts[1] else parts[1] + "#*"
        reasons.append(Reason(parts[0], operator, parts[2], ""))
    for reason in reasons:
        if not reason.text:
            raise SystemExit(f"{path}: '{reason.line}' survives without a reason")
    return reasons
