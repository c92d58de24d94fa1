# SPDX-License-Identifier: Apache-2.0
"""The mutants of a C++ source: the same text with one place broken."""
import dataclasses
import difflib
import re


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One place of one file, and what stands there instead."""

    path: str  # From the repository's root.
    text: str  # All of the file.
    begin: int
    end: int
    instead: str
    operator: str
    number: int = 0  # Of several of this operator in equal lines of a file, which one.

    @property
    def line(self):
        return self.text.count("\n", 0, self.begin) + 1

    @property
    def line_text(self):
        return self.text.splitlines()[self.line - 1].strip()

    @property
    def name(self):
        return f"{self.path}:{self.line}:{self.operator}" + (f"#{self.number}" if self.number else "")

    def mutated(self):
        return self.text[: self.begin] + self.instead + self.text[self.end :]

    def diff(self):
        lines = difflib.unified_diff(self.text.splitlines(), self.mutated().splitlines(), lineterm="", n=1)
        return "\n".join("    " + line for line in list(lines)[3:])


NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"""
    r"""|\bstatic_assert\(.*?\);|\balignas\(\d+\)|^[ \t]*(?:using|namespace|template|friend|extern)\b[^;{]*[;{>]""",
    re.S | re.M | re.X,
)


def code_of(text):
    """The text with blanks for all that is not to be mutated, so that places stay what they are."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


CLOSING = {"(": ")", "{": "}", "[": "]"}


def end_of_bracket(code, begin):
    """The place behind the bracket that closes the one at `begin`."""
    opened, closed, depth = code[begin], CLOSING[code[begin]], 0
    for place in range(begin, len(code)):
        depth += (code[place] == opened) - (code[place] == closed)
        if depth == 0:
            return place + 1
    return len(code)


def end_of_statement(code, begin):
    """The place behind the semicolon that ends the simple statement which begins there; None if it is not simple."""
    place = begin
    while place < len(code):
        if code[place] in "([{":
            place = end_of_bracket(code, place)
            continue
        if code[place] == ";":
            return place + 1
        if code[place] == "}":
            return None
        place += 1
    return None


# What begins a statement that may be left out: a call, an assignment, a step; no declaration, which has a type and a name.
EXPRESSION = re.compile(
    r"(?:\+\+|--)[\w.>\-\[\]()*]+;"
    r"|(?!(?:return|throw|delete|new|case|default|else|if|for|while|do|switch|break|continue|goto|try|catch|co_return)\b)"
    r"\*?[A-Za-z_](?:\w|::|\.|->|\[[^\]\n]*\]|\(\)|<[\w:]+>)*\s*(?:\(|=(?!=)|[-+*/|&^]=|<<=|\+\+|--)"
)


def statements(code):
    """Begin and end of the simple statements that may be left out."""
    for found in re.finditer(r"(?<=[;{})])\s+|(?<=else)\s+|(?<=:)\n\s+", code):
        begin = found.end()
        expression = EXPRESSION.match(code, begin)
        if not expression:
            continue
        # Behind a closed parenthesis only what an if, for or while governs.
        before = code[: found.start()].rstrip()
        if before.endswith(")") and not governed(code, len(before) - 1):
            continue
        # A list of initial values, or a function's head.
        end = end_of_statement(code, begin)
        if end is None or "\n\n" in code[begin:end]:
            continue
        if re.fullmatch(r"[A-Z]\w*\(.*\)(?: = (?:delete|default))?;", code[begin:end], re.S):
            continue
        yield begin, end


def governed(code, closing):
    """True if the parenthesis that closes there belongs to an if, for or while."""
    depth = 0
    for place in range(closing, -1, -1):
        depth += (code[place] == ")") - (code[place] == "(")
        if depth == 0:
            return re.search(r"\b(?:if|for|while|if constexpr)\s*$", code[:place]) is not None
    return False


def conditions(code):
    """Begin and end of what if and while ask, without what they declare."""
    for found in re.finditer(r"\b(?:if|while) \(", code):
        begin, end = found.end(), end_of_bracket(code, found.end() - 1) - 1
        inner = code.rfind("; ", begin, end)
        if inner >= 0:
            begin = inner + 2
        # A declaration asks for itself.
        if not re.match(r"(?:auto|[\w:<>]+(?: const)?[*&]* \w+ =(?!=))", code[begin:end]):
            yield begin, end


def drop_look(code, _):
    """An `if` that leaves: return, continue, break, throw."""
    for found in re.finditer(r"\bif \(", code):
        behind = end_of_bracket(code, found.end() - 1)
        jump = re.compile(r"\s+\{?\s*(?:return|continue|break|throw)\b").match(code, behind)
        if not jump:
            continue
        if "{" in jump.group():
            end = end_of_bracket(code, code.index("{", behind))
        else:
            end = end_of_statement(code, behind)
        if end is not None and not re.compile(r"\s*else\b").match(code, end):
            yield found.start(), end, ";"


def negate(code, text):
    for begin, end in conditions(code):
        yield begin, end, f"!({text[begin:end]})"


def drop_statement(code, _):
    for begin, end in statements(code):
        yield begin, end, ";"


# Where it matters to other threads what comes first.
HANDS_OVER = re.compile(
    r"(?:\.|->|::|\b)(?:store|exchange|fetch_\w+|compare_exchange\w*|notify\w*|wake\w*|ring\w*|push\w*|pop\w*|close|open|"
    r"submit|deliver|set_value|release|give_back|count_down|request_stop|lock|unlock|join)\(")
NAMES = re.compile(r"[A-Za-z_]\w*")


def independent(one, other):
    """True if it makes no difference which of the two steps comes first, as far as can be seen."""
    if HANDS_OVER.search(one) or HANDS_OVER.search(other):
        return False
    if "(" in one or "(" in other:
        return True
    written = [set(NAMES.findall(re.split(r"[-+*/|&^<]*=", step)[0])) for step in (one, other)]
    return not (written[0] & set(NAMES.findall(other)) or written[1] & set(NAMES.findall(one)))


def swap(code, text):
    all_of = list(statements(code))
    for (begin, end), (next_begin, next_end) in zip(all_of, all_of[1:]):
        governs = re.search(r"(?:\)|else)\s*$", code[:begin])
        if code[end:next_begin].strip() or governs or independent(code[begin:end], code[next_begin:next_end]):
            continue
        yield begin, next_end, text[next_begin:next_end] + text[end:next_begin] + text[begin:end]


def weaken(code, _):
    for found in re.finditer(r"std::memory_order_(seq_cst|acq_rel|acquire|release)\b", code):
        if found[1] == "seq_cst":
            name = re.search(r"(\w+)$", code[: code.rfind("(", 0, found.start())])
            weaker = {"load": "acquire", "store": "release"}.get(name[1] if name else "", "acq_rel")
            yield *found.span(), f"std::memory_order_{weaker}"
        yield *found.span(), "std::memory_order_relaxed"


def replacing(pattern, instead, alone=True):
    """What the pattern's group finds by what `instead` says; unless `alone`, not where it is all that an `if` asks, which
    is negated anyhow."""

    def places(code, _):
        simple = [span for span in conditions(code) if not re.search(r"&&|\|\|", code[slice(*span)])]
        for found in re.finditer(pattern, code):
            begin, end = found.span(1)
            other = instead(found)
            if other is not None and (alone or not any(first <= begin < last for first, last in simple)):
                yield begin, end, other

    return places


def other_of(*pairs):
    """Each of a pair stands for the other."""
    other = dict(pairs) | {second: first for first, second in pairs}
    return lambda found: other[found[1]]


def next_number(found):
    digits = found[1].rstrip("uUlLzZ")
    return str(int(digits.replace("'", ""), 10) + 1) + found[1][len(digits) :]


def early_return(code, _):
    """A function that says nothing does nothing."""
    for found in re.finditer(r"\bvoid (?:\w+(?:<[^>]*>)?::)*\w+(?=\()", code):
        head = re.compile(r"(?: const| noexcept| override| final)* \{(?!\})").match(code, end_of_bracket(code, found.end()))
        if head:
            yield head.end(), head.end(), " return;"


OPERATORS = {
    "order": weaken,
    "look": drop_look,
    "negate": negate,
    "drop": drop_statement,
    "swap": swap,
    "bound": replacing(r" (<=|>=|<|>) ", other_of(("<", "<="), (">", ">="))),
    "equal": replacing(r" (==|!=) ", other_of(("==", "!=")), alone=False),
    "logic": replacing(r"(?<=[\w)\]]) (&&|\|\|)\s", other_of(("&&", "||"))),
    "sign": replacing(r"(?<=[\w)\]]) ([+-]) (?=[\w(*])", other_of(("+", "-"))),
    "step": replacing(r"(?<!  )(\+\+|--)(?!\w+;)", other_of(("++", "--"))),
    "not": replacing(r"(!)(?![=(])", lambda _: "", alone=False),
    "truth": replacing(r"\b(true|false)\b", other_of(("true", "false"))),
    "number": replacing(r"(?<![\w.'])((?:0|[1-9][\d']*)[uUlLzZ]*)(?![\w.'])", next_number),
    "extreme": replacing(r"std::(min|max)\b", other_of(("min", "max"))),
    "return": early_return,
}


def mutants_of(path, text):
    """All mutants of a file, in the order of their places."""
    code = code_of(text)
    found, seen, numbers = [], set(), {}
    for operator, places in OPERATORS.items():
        for begin, end, instead in places(code, text):
            if text[:begin] + instead + text[end:] == text or (begin, end, instead) in seen:
                continue
            seen.add((begin, end, instead))
            found.append(Mutant(path, text, begin, end, instead, operator))
    found.sort(key=lambda mutant: (mutant.begin, list(OPERATORS).index(mutant.operator), mutant.instead))
    named = []
    for mutant in found:
        key = (mutant.line_text, mutant.operator)
        named.append(dataclasses.replace(mutant, number=numbers.get(key, 0)))
        numbers[key] = numbers.get(key, 0) + 1
    return named
