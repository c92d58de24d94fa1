# SPDX-License-Identifier: Apache-2.0
"""Numbers and times of lines, as Python's csv and json and GNU date read them."""
import calendar
import csv
import datetime
import decimal
import io
import json
import re
import subprocess

from differential import Case, kind, unread

decimal.getcontext().prec = 100
MOST = 2**64 - 1
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def units_of(text, places):
    """The number in units of 10^-places, or None if it is none, or cannot be added."""
    if not NUMBER.fullmatch(text):
        return None
    units = decimal.Decimal(text).scaleb(places)
    return int(units) if units == int(units) and abs(units) <= MOST else None


def number_of(random):
    """The text of a number, of something like it, or of nothing."""
    cents = random.choice([random.randrange(-10**6, 10**6), random.randrange(10**19), MOST, MOST + 1])
    return random.choice([
        str(cents), str(abs(cents)), f"{cents / 100:.2f}", f"{random.randrange(99)}e{random.randrange(18)}", f"{cents}.0", f"{cents}e-2",
        f"+{abs(cents)}", "0", "-0", "00012", "", "-", "x", "1,5", "1-2", "1.2.3", "0x10", "nan", "1 000", ".5", "5."])


@kind
def csv_numbers(random):
    places = random.choice([0, 0, 2, 4])
    is_decimal = places > 0 or random.random() < 0.5
    text, separator = io.StringIO(), random.choice([",", "\t"])
    quoting = csv.QUOTE_NONE if separator == "\t" else random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    writer = csv.writer(text, delimiter=separator, quoting=quoting, lineterminator=random.choice(["\n", "\r\n"]))
    key, number = random.sample(range(4), 2)
    for _ in range(random.randrange(1, 300)):
        row = ["".join(random.choice('ab;. 09' + ('",' if quoting != csv.QUOTE_NONE else "")) for _ in range(random.randrange(6)))
               for _ in range(random.randrange(3, 6))]
        for field, value in ((key, str(random.choice([1, 2, 404, 1200, 5000, "GET", "-1"]))), (number, number_of(random))):
            if field < len(row):
                row[field] = value
        writer.writerow(row)
    data = text.getvalue()
    records = []
    for row in csv.reader(io.StringIO(data, newline=""), delimiter=separator, quoting=quoting):
        has_key = key < len(row) and re.fullmatch("[0-9]+", row[key]) and int(row[key]) < 1000
        value = row[number] if number < len(row) else "missing"
        units = units_of(value, places) if is_decimal else int(value) if re.fullmatch("[0-9]+", value) and int(value) <= MOST else None
        units = unread(value) if units is None else units
        records.append((str(int(row[key])) if has_key else "other", units))
    options = ["--format", "tsv" if separator == "\t" else "csv", "--key", str(key + 1), "--sum", str(number + 1)]
    options += ["--numbers", "decimal", "--places", str(places)] if is_decimal else []
    return Case(data.encode(), options, records, places, is_decimal)


def value_at(value, path):
    """The member of members, or None: an object may have a dot in a name."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


@kind
def json_lines(random):
    places = random.choice([0, 2])
    key, number = random.choice([(["k"], ["n"]), (["http", "response", "status"], ["n"]), (["k"], ["a", "b"]), (["a", "k"], ["a", "n"])])

    def written(value):
        """JSON of it, with blanks and escapes where they may be."""
        blank = random.choice(["", "", " ", "\t"])
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            members = (f"{blank}{written(name)}{blank}:{blank}{written(one)}" for name, one in value)
            return "{" + ",".join(members) + blank + "}"
        if isinstance(value, Raw):
            return value
        if isinstance(value, str) and random.random() < 0.2:
            return '"' + "".join(f"\\u{ord(one):04x}" if ord(one) < 0x10000 and random.random() < 0.5 else json.dumps(one)[1:-1]
                                 for one in value) + '"'
        return json.dumps(value, ensure_ascii=random.random() < 0.5)

    def placed(path, value):
        return (path[0], value if len(path) == 1 else [placed(path[1:], value)])

    def one_object():
        members = []
        if random.random() < 0.9:
            keys = ["200", "404", "2e2", "200.0", '"500"', "-1", "1.5", "4000", "null", "[200]", '"GET"', "true"]
            members.append(placed(key, Raw(random.choice(keys))))
        if random.random() < 0.9:
            raw = number_of(random)
            is_json = re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", raw)
            members.append(placed(number, Raw(raw if is_json and random.random() < 0.7 else json.dumps(raw))))
        if random.random() < 0.3:
            members.append(random.choice([(key[0], 7), (number[0], [("x", 1)]), (".".join([*key, "x"]), 5)]))
        for _ in range(random.randrange(4)):
            members.append((random.choice(["x", "kk", "ä", "}", 'q"', "long" * 20]),
                            random.choice(["", 'a"b\\', "{[,:", 1, -2.5, None, [1, [{}]], {"k": 9, "n": [2]}, "€😀"])))
        random.shuffle(members)
        return written(members) if members else "{}"

    def as_text(value):
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        return str(value) if isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool) else "x"

    lines, records = [], []
    decoder = json.JSONDecoder(parse_float=decimal.Decimal)
    for _ in range(random.randrange(1, 200)):
        line = random.choice(["", " "]).join(one_object() for _ in range(random.choice([1, 1, 1, 2, 5])))
        if random.random() < 0.05:
            line = line[: random.randrange(len(line) + 1)]
        lines.append(line)
        rest = line.strip(" \t")
        while True:
            try:
                value, end = decoder.raw_decode(rest)
            except json.JSONDecodeError:
                records.append(("other", None))
                break
            group, text = units_of(as_text(value_at(value, key)), 0), as_text(value_at(value, number))
            units = units_of(text, places)
            units = unread(text) if units is None else units
            records.append((str(group) if group is not None and 0 <= group < 1000 else "other", units))
            rest = rest[end:].strip(" \t")
            if not rest:
                break
    if not lines[-1]:
        records.pop()  # The file ends with the end of the line in front.
    options = ["--format", "json", "--key-name", ".".join(key), "--sum-name", ".".join(number), "--places", str(places)]
    return Case("\n".join(lines).encode(), options, records, places, True)


class Raw(str):
    """JSON as it is."""


DAYS, MONTHS = calendar.day_abbr, calendar.month_abbr


def time_texts(random, at, first):
    """Texts of a second in UTC: (text, whether GNU date reads it so)."""
    minutes = random.choice([0, 0, 60, 120, -420, 330, -90, 345])
    there = at + datetime.timedelta(minutes=minutes)
    sign = "-" if minutes < 0 else "+"
    short = f"{sign}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
    colon = f"{short[:3]}:{short[3:]}"
    seconds = calendar.timegm(at.timetuple())
    part = random.choice(["", ".5", ".123", ",123", ".123456", ".000000001"])
    year, day, clock = there.year, there.day, f"{there.hour:02}:{there.minute:02}:{there.second:02}"
    month, name, weekday = there.month, MONTHS[there.month], DAYS[there.weekday()]
    here = f"{at.hour:02}:{at.minute:02}:{at.second:02}"
    iso = f"{year}-{month:02}-{day:02}"
    utc = f"{at.year}-{at.month:02}-{at.day:02}"
    texts = [
        (f"[{day:02}/{name}/{year}:{clock} {short}]", False), (f"{day}/{name}/{year}:{clock} {short}", False),
        (f"[{day:2}/{name}/{year}:{clock} {short}]", False),
        (f"{iso}T{clock}{part}{random.choice([short, colon, ' ' + short, ' ' + colon])}", True),
        (f"{iso} {clock}{part}{random.choice([short, colon, ' ' + short])}", True),
        (f"{iso}t{clock}{part}{colon}", True), (f"{utc}T{here}{part}Z", True), (f"{utc}t{here}z", True),
        (f"{utc} {here}{part}{random.choice(['', ' UTC', ' GMT', 'Z', 'UTC'])}", True),
        (f"{at.year}-{at.month}-{at.day} {here}", True), (f"{at.year}/{at.month:02}/{at.day:02} {here}", True),
        (f"[{DAYS[at.weekday()]} {MONTHS[at.month]} {at.day:02} {here}{part.replace(',', '.')} {at.year}]", False),
        (f"{DAYS[at.weekday()]} {MONTHS[at.month]} {at.day:2} {here} {at.year}", True),
        (f"{DAYS[at.weekday()]} {MONTHS[at.month]} {at.day:2} {here} UTC {at.year}", True),
        (f"{DAYS[at.weekday()]}, {at.day:02} {MONTHS[at.month]} {at.year} {here} GMT", True),
        (f"{weekday}, {day} {name} {year} {clock} {short}", True), (f"{day} {name} {year} {clock} {short}", True),
        (f"{calendar.day_name[at.weekday()]}, {at.day:02}-{MONTHS[at.month]}-{at.year % 100:02} {here} GMT", True),
        (f"{at.day:02}-{MONTHS[at.month].upper()}-{at.year} {here}", True),
        (f"{calendar.month_name[at.month]} {at.day}, {at.year} {here}", True),
        (f"{utc.replace('-', '')}T{here.replace(':', '')}Z", False), (f"{utc.replace('-', '')}{here.replace(':', '')}", False),
        (f"{utc.replace('-', '')} {here}", True), (f"{utc.replace('-', '')}{at.hour:02}{at.minute:02}", False),
        (f"{utc} {(at.hour + 11) % 12 + 1}:{here[3:]} {'AM' if at.hour < 12 else 'PM'}", True),
    ]
    if not 10**7 <= seconds < 10**8:
        texts += [(f"{seconds}{part.replace(',', '.')}", False)]
    if at.year >= 1980:
        texts += [(f"{seconds}{random.randrange(10**digits):0{digits}}", False) for digits in (3, 6, 9)]
    if 0 <= seconds - first < 364 * 86_400:
        texts += [(f"{MONTHS[at.month]} {at.day:2} {here}", False)]
    if at.hour == at.minute == at.second == 0:
        texts += [(utc, True), (utc.replace("-", ""), True), (utc.replace("-", "/"), True), (f"{at.day} {MONTHS[at.month]} {at.year}", True)]
    return texts


NO_TIMES = ["2015-02-29", "2015-04-31 10:00:00", "31/Jun/2015:10:00:00 +0000", "2015-13-01", "20150230", "2015-05-17T24:00:01Z",
            "2015-05-17 10:60:00", "17/Mai/2015:10:05:03", "05/17/2015", "x", "2015-05-17T10:05:03+25:00", "12:00:00", "1e9",
            "253402300800", "May 32 10:05:03"]


@kind
def times(random):
    unit, size = random.choice([("day", 86_400), ("hour", 3600), ("minute", 60)])
    begin = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=random.randrange(40_000))
    if not 1970 <= begin.year < 2065:
        begin = begin.replace(year=2024, day=1)
    first = calendar.timegm(begin.timetuple())
    form = random.choice(["csv", "json", "words"])
    lines, records, to_date = [], [], []
    for k in range(random.randrange(1, 200)):
        # At most three years, so that years of two digits stay below 2069.
        at = begin + datetime.timedelta(seconds=random.randrange(min(3990 * size, 3 * 360 * 86_400)))
        if random.random() < 0.2:
            at = at.replace(hour=0, minute=0, second=0)
        text, for_date = random.choice(time_texts(random, at, first))
        group = "other"
        if at < begin or random.random() < 0.1:
            text = random.choice(NO_TIMES)
        else:
            seconds = calendar.timegm(at.timetuple())
            start = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=first + (seconds - first) // size * size)
            group = start.strftime("%Y-%m-%dT%H:%M:%SZ")
            if for_date:
                to_date.append((text, seconds))
        if form == "json":
            is_number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) and not text.startswith("0")
            lines.append(f'{{"n":{k},"t":{text if is_number and random.random() < 0.7 else json.dumps(text)}}}')
        else:
            lines.append(f'"{text}",{k}' if form == "csv" else text + random.choice(["", " GET / 200 5", " - x", ": started"]))
        first_word = lines[-1].split(" ")[0]
        records.append((group, k if form != "words" else int(first_word) if re.fullmatch("[0-9]+", first_word) else unread(first_word)))
    dates = "".join(re.sub(r"(\d),(\d)", r"\1.\2", text) + "\n" for text, _ in to_date)
    known = subprocess.run(["date", "-u", "-f", "-", "+%s"], input=dates, capture_output=True, text=True,
                           env={"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"})
    assert known.stdout.split() == [str(seconds) for _, seconds in to_date], (known.stderr, to_date)
    options = ["--by", unit, "--from", begin.strftime("%Y-%m-%d"), "--groups", "4000", "--format", form]
    options += ["--key-name", "t", "--sum-name", "n"] if form == "json" else ["--key", "1", "--sum", "1" if form == "words" else "2"]
    return Case("\n".join(lines).encode(), options, records, 0, form == "json")
