# SPDX-License-Identifier: Apache-2.0
"""Fields of lines as Python's csv, mawk and gawk find them, and lines that grep chooses."""
import csv
import io
import pathlib
import re
import shutil
import subprocess

from differential import BAD, Case, kind, unread


@kind
def csv_fields(random):
    """Quotes wherever they may be, but closed in their line."""
    def field():
        number = str(random.choice([1, 200, 404, 1200, random.randrange(10**6)]))
        return random.choice([number, number, f'"{number}"', f'{number}"', f'2"0"{number}', f'"{number}"0', f'3.{number}" disk', f'"a,{number}"',
                              '""', '""""', '"a ""b"","', f' "{number}"', 'x', '', 'a"b"c', '"a"b"c', f'""{number}""', '"[,"', "\\", '"\\"'])

    key, number = random.sample(range(4), 2)
    rows = [[field() for _ in range(random.randrange(1, 6))] for _ in range(random.randrange(1, 200))]
    end = random.choice(["\n", "\r\n"])
    data = "".join(",".join(row) + end for row in rows)
    records, others = [], []
    for raw, row in zip(rows, csv.reader(io.StringIO(data, newline="")), strict=True):
        row = row or [""]  # An empty line has an empty field.
        digits = [bool(re.fullmatch("[0-9]+", row[k])) if k < len(row) else False for k in (key, number)]
        whole = [bool(re.fullmatch('[0-9]+|"[0-9]+"', raw[k])) if k < len(raw) else False for k in (key, number)]
        record = (str(int(row[key])) if digits[0] and int(row[key]) < 1000 else "other", int(row[number]) if digits[1] and whole[1] else
                  unread(row[number]) if number < len(row) else BAD)
        # A number of which only a part is in quotes need not be one.
        (records if digits[0] == whole[0] else others).append(record)
    return Case(data.encode(), ["--format", "csv", "--key", str(key + 1), "--sum", str(number + 1)], records, others=others)


@kind
def csv_breaks(random):
    """Line breaks within quotes: Python's reader, of each line alone, says which end within them."""
    def field():
        return random.choice(["1", "200", "404", '"5"', 'x"y', '"a,b"', '"a\nb"', '"\n"', '"say ""hi""\n7"', '""', ""])

    key, number = random.sample(range(3), 2)
    end = random.choice(["\n", "\r\n"])
    text = "".join(",".join(field() for _ in range(random.randrange(1, 5))) + end for _ in range(random.randrange(1, 200)))
    records, cut = [], 0
    for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        # A quote that is still open swallows the mark behind it.
        row, marked = (next(csv.reader([line + more]), []) for more in ("", ",mark"))
        is_open = marked[-1:] != ["mark"]
        cut += is_open
        at_key, at_number = ((row or [""])[k] if k < len(row or [""]) else "missing" for k in (key, number))
        records.append((str(int(at_key)) if re.fullmatch("[0-9]+", at_key) else "other",
                        int(at_number) if re.fullmatch("[0-9]+", at_number) else
                        BAD if is_open and number == len(row) - 1 else unread(at_number)))  # An open quote is not an empty field.
    return Case(text.encode(), ["--format", "csv", "--key", str(key + 1), "--sum", str(number + 1)], records, cut=cut)


@kind
def words(random):
    def blanks(least):
        return "".join(random.choice(" \t") for _ in range(random.choice([least, 1, 1, 2, random.randrange(1, 70)])))

    key, number = random.sample(range(1, 5), 2)
    lines = []
    for _ in range(random.randrange(1, 300)):
        some = [random.choice(["1", "200", "404", "1200", "x", '"200"', '"a', "[b", "-", str(random.randrange(10**6))])
                for _ in range(random.randrange(6))]
        lines.append(blanks(0) + "".join(word + blanks(1) for word in some[:-1]) + "".join(some[-1:]) + random.choice(["", "", blanks(0)]))
    data = ("\n".join(lines) + random.choice(["\n", ""])).encode()
    program = (f'{{ k = $({key}) ~ /^[0-9]+$/ && $({key}) + 0 < 1000 ? $({key}) + 0 : "other"; '
               f'print k, $({number}) ~ /^[0-9]+$/ ? $({number}) : $({number}) == "-" ? "-" : "bad" }}')
    said = {awk: subprocess.run([awk, program], input=data, capture_output=True, check=True).stdout for awk in ("mawk", "gawk")
            if shutil.which(awk)}
    assert len(set(said.values())) == 1, said
    records = [(group, int(units) if units.isdigit() else unread(units)) for group, units in
               (line.split() for line in next(iter(said.values())).decode().splitlines())]
    assert len(records) == len(lines) - (data == b"\n".join(line.encode() for line in lines) and lines[-1] == "")
    return Case(data, ["--format", "words", "--key", str(key), "--sum", str(number)], records)


@kind
def patterns(random):
    """Many that are much alike, or share what they begin or end with, or few."""
    letters = random.choice(["a", "ab", "abc", "abcdefghijklmnopqrstuvwxyz0123456789"])
    some = lambda most: "".join(random.choice(letters) for _ in range(random.randrange(1, most)))
    alike = some(random.choice([5, 40, 200]))
    made = [lambda: some(30), lambda: alike + some(9), lambda: some(9) + alike, lambda: some(9) + alike + some(9), lambda: some(3) * random.randrange(1, 80),
            lambda: letters[0] * random.randrange(20, 400)]
    chosen = random.sample(made, random.randrange(1, 4))
    literals = [random.choice(chosen)() for _ in range(random.choice([1, 3, 100, 1000]))]
    lines = []
    for number in range(random.randrange(1, 300)):
        parts = [random.choice([some(60), alike, some(20) + alike[:random.randrange(len(alike))], random.choice(literals)[:-1], random.choice(made)()])
                 for _ in range(random.randrange(4))]
        lines.append(f"{number % 900} {number} " + "".join(parts) + ("" if random.random() < 0.9 else random.choice(literals)))
    data = ("\n".join(lines) + "\n").encode()
    path = pathlib.Path("literals")
    path.write_text("\n".join(literals) + random.choice(["\n", ""]))
    found = subprocess.run(["grep", "-a", "-F", "-f", path], input=data, capture_output=True, env={"LC_ALL": "C"}, check=False).stdout
    records = [(line.split(" ")[0], int(line.split(" ")[1])) for line in found.decode().splitlines()]
    return Case(data, ["--format", "words", "--key", "1", "--sum", "2", "--patterns", str(path)], records)
