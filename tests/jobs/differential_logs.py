# SPDX-License-Identifier: Apache-2.0
"""Logs of servers, as a reader of their lines by regular expressions and GNU date have them."""
import datetime
import re
import subprocess

from differential import Case, kind, unread

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()
UNITS = [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)]
EPOCH = datetime.datetime(1970, 1, 1)


def dates(texts):
    """The seconds since 1970 that GNU date reads in each text, or None."""
    found = []
    # It says nothing of those that it does not read, so a mark is behind each.
    text = "".join(f"{one}\n@0.5\n" for one in texts)
    run = subprocess.run(["date", "-u", "-f", "-", "+%s.%N"], input=text, capture_output=True, text=True,
                         env={"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"})
    for line in run.stdout.split():
        if line != "0.500000000":
            found.append(int(line.partition(".")[0]))
        elif len(found) % 2 == 0:
            found += [None, None]
        else:
            found.append(None)
    assert len(found) == 2 * len(texts), run.stderr
    return found[::2]


def groups(seconds, first, size, most):
    """The rows of `--by` with groups from the second `first` on, each of `size` seconds."""
    rows = []
    for one in seconds:
        at = None if one is None else (one - first) // size
        inside = at is not None and 0 <= at < most
        rows.append((EPOCH + datetime.timedelta(seconds=first + at * size)).strftime("%Y-%m-%dT%H:%M:%SZ") if inside else "other")
    return rows


ACCESS = re.compile(r'\[([ 0-9][^][]{9,})\] "')  # A user may have brackets, but no such time in them.
END = re.compile(r'(?:\\.|[^\\])*?" ([0-9]{3}) ([0-9]+|-)(?= |$)')
ESCAPED_END = re.compile(r'" ([0-9]{3}) ([0-9]+|-)(?= |$)')


def read_access(line):
    """The time, the status and the bytes of a line, or None."""
    for found in ACCESS.finditer(line):
        behind = line[found.end():]
        end = END.match(behind) or ESCAPED_END.search(behind)
        if end:
            return found[1], end[1], end[2]
    return None


@kind
def access_logs(random):
    """Common and combined ones, with the name of a host, lists of addresses, users with blanks, and quotes within requests."""
    hosts = ["192.0.2.1", "www.example.com:80 192.0.2.1", "192.0.2.1, 198.51.100.7", "[2001:db8::1]:80 192.0.2.1", "unknown 200 5", "2001:db8::1",
             "192.0.2.1, unknown, 198.51.100.7"]
    users = ["-", "John Doe", "us[er", "[5]", "[5] b", 'a\\"b', '"a b"', "a]", "200", 'a " 7 8', "[17/May/2015", "\\", "", "jürgen@example.com"]
    requests = ["GET / HTTP/1.1", 'GET /a b\\"c HTTP/1.1', 'GET /a"b HTTP/1.1', 'GET /" 7 8 HTTP/1.1', "", "-", "GET /[a] \\\\", "\\x16\\x03\\",
                'GET /" "HTTP', '"', 'GET /a\\" "x', "GET /" + "a" * random.randrange(3000), 'GET /?q=\\" 200 5', "GET /ä\\xe4"]
    rests = ["", ' "-" "curl"', ' "http://a/\\"b" "x y [5] z" 0.005', " x", ' "-" "a"b"', ' "-" "-" "192.0.2.9"', ' "a" 404 7', ' "-" "[a] \\"b\\" 500 9"']
    by_time = random.random() < 0.5
    unit, size = random.choice(UNITS)
    begin = EPOCH + datetime.timedelta(days=random.randrange(3650, 25_000))
    lines = []
    for _ in range(random.randrange(1, 200)):
        at = begin + datetime.timedelta(seconds=random.randrange(-size, 3990 * size))
        zone = random.choice(["+0000", "+0000", "+0200", "-0730", "+1400"])
        clock, name = at.strftime("%H:%M:%S"), MONTHS[at.month - 1]
        time = random.choice([f"{at.day:02}/{name}/{at.year}:{clock} {zone}", f"{at.day:2}/{name}/{at.year}:{clock} {zone}",
                              f"{at:%Y-%m-%d}T{clock}{zone[:3]}:{zone[3:]}", f"32/{name}/{at.year}:{clock} {zone}", f"{at.day:02}/{name}/{at.year}:{clock}"])
        status, some_bytes = random.choice([random.randrange(100, 600), random.randrange(1000)]), random.choice(["-", random.randrange(10**9), 2**64 - 1])
        front = f"{random.choice(hosts)} - {random.choice(users)} "
        behind = f'"{random.choice(requests)}" {status:03} {some_bytes}{random.choice(rests)}'
        lines.append(f"{front}[{time}] {behind}" if random.random() < 0.9 else
                     random.choice([f"{front}{behind}", f"{front}[{time}]", f"{front}[{time}] {status} {some_bytes}", f'{front}[{time}] "GET /', "", "-",
                                    f'{front}[{time}] "GET /" {some_bytes} x', f'{front}[{time}] "GET /" {status} x', f'{front}[{time}]  {behind}',
                                    f'{front}[{time}] "GET /" 20 5', f'{front}[{time}] "GET /" 2000 5']))
    found = [read_access(line) for line in lines]
    if by_time:
        first = int((begin - EPOCH).total_seconds())
        texts = [re.sub(r"^ ?([0-9]+)/([A-Z][a-z]+)/([0-9]+):", r"\1 \2 \3 ", one[0]) if one else "none" for one in found]
        keys, options = groups(dates(texts), first, size, 4000), ["--by", unit, "--from", begin.strftime("%Y-%m-%d"), "--groups", "4000"]
    else:
        keys, options = [str(int(one[1])) if one else "other" for one in found], []
    numbers = [None if not one else unread(one[2]) if one[2] == "-" else int(one[2]) for one in found]
    end = random.choice(["\n", "\r\n"])
    options += random.choice([["--sum", "7"], []])
    return Case((end.join(lines) + random.choice([end, "" if lines[-1] else end])).encode(), options, list(zip(keys, numbers)))


@kind
def error_logs(random):
    """Those of nginx and of Apache: the time is in the first words."""
    unit, size = random.choice(UNITS)
    begin = EPOCH + datetime.timedelta(days=random.randrange(3650, 25_000))
    levels = ["[error]", "[crit]", "[core:error]", "[mpm_event:notice]", "[:emerg]"]
    texts = ["AH00094: Command line: '/usr/sbin/apache2'",
             'open() "/a b" failed (2: No such file or directory), client: 192.0.2.1, server: _, request: "GET / HTTP/1.1"',
             "", "[client 192.0.2.1:5] File does not exist: /a", "2015/05/17 10:05:03", "at 10:05:03 +0200 UTC", "PM", "-7", "+02:00 x", "Z", "5"]
    lines, to_date = [], []
    for _ in range(random.randrange(1, 200)):
        at = begin + datetime.timedelta(seconds=random.randrange(-size, 3990 * size))
        clock = at.strftime("%H:%M:%S")
        part = random.choice(["", ".123456", ".5"])
        day = random.choice([f"{at.day:02}", f"{at.day:2}"])
        apache = f"{DAYS[at.weekday()]} {MONTHS[at.month - 1]} {day} {clock}{part} {at.year}"
        kinds = [(f"{at:%Y/%m/%d} {clock}", f"{at:%Y/%m/%d} {clock}"), (f"[{apache}]", f"{at.day} {MONTHS[at.month - 1]} {at.year} {clock}")]
        time, date = random.choice(kinds)
        if random.random() < 0.1:
            time, date = random.choice([("x", "none"), ("", "none"), ("PHP message: x", "none"), ("[Sun May 32 10:05:03 2015]", "none"),
                                        ("2015/02/29 10:05:03", "2015/02/29 10:05:03"),
                                        ("[notice]", "none"), ("2015/05/17 10:61:03", "2015/05/17 10:61:03")])
        lines.append(" ".join([time, random.choice(levels), *random.choice([["[pid 5:tid 7]"], ["5#7:", "*9"]]), random.choice(texts)]))
        to_date.append(date)
    keys = groups(dates(to_date), int((begin - EPOCH).total_seconds()), size, 4000)
    number = random.randrange(3, 9)
    words = [[word for word in re.split("[ \t]+", line) if word] for line in lines]
    numbers = ["missing" if len(some) < number else some[number - 1] for some in words]
    numbers = [int(one) if re.fullmatch("[0-9]+", one) else unread(one) for one in numbers]
    end = random.choice(["\n", "\r\n"])
    options = ["--format", "words", "--key", "1", "--sum", str(number), "--by", unit, "--from", begin.strftime("%Y-%m-%d"), "--groups", "4000"]
    return Case((end.join(lines) + random.choice([end, ""])).encode(), options, list(zip(keys, numbers)))


@kind
def syslogs(random):
    """RFC 3164, whose times have no year, and RFC 5424; with and without a priority in front."""
    unit, size = random.choice(UNITS)
    begin = EPOCH + datetime.timedelta(days=random.randrange(3650, 25_000))
    modern = random.random() < 0.5
    lines, to_date = [], []
    # A time without a year is the first such time from the beginning on.
    spread = min(3990 * size, 364 * 86_400)
    for _ in range(random.randrange(1, 200)):
        at = begin + datetime.timedelta(seconds=random.randrange(spread))
        clock, zone = at.strftime("%H:%M:%S"), random.choice(["Z", "+02:00", "-07:30", "+00:00"])
        if modern:
            time = date = f"{at:%Y-%m-%d}T{clock}{random.choice(['', '.003', '.123456'])}{zone}"
        else:
            # No more than 29 February needs a year that has it.
            day = random.choice([f"{at.day:2}", f"{at.day:02}", str(at.day)])
            time, date = f"{MONTHS[at.month - 1]} {day} {clock}", f"{at.day} {MONTHS[at.month - 1]} {at.year} {clock}"
        if random.random() < 0.1:
            time, date = random.choice([("-", "none"), ("x", "none"), ("Foo  7 10:05:03", "none"),
                                        ("May 32 10:05:03", "none"), ("2015-05-17T25:05:03Z", "none")])
        host = random.choice(["web-1", "192.0.2.1", "2001:db8::1", "10:05:03", "2015", "-", "a.example.com"])
        rest = random.choice(["sshd[7]: x 5", "kernel: [ 5.123] 7", "su: - 7", "a[5]:", "cron 1 2 3 4"])
        lines.append(f"<34>1 {time} {host} {rest}" if modern else f"{time} {host} {rest}")
        to_date.append(date)
    keys = groups(dates(to_date), int((begin - EPOCH).total_seconds()), size, 4000)
    number = random.randrange(4, 9)
    numbers = [([*line.split(), *["missing"] * 9])[number - 1] for line in lines]
    numbers = [int(one) if re.fullmatch("[0-9]+", one) else unread(one) for one in numbers]
    options = ["--format", "words", "--key", "2" if modern else "1", "--sum", str(number), "--by", unit, "--from", begin.strftime("%Y-%m-%d"),
               "--groups", "4000"]
    return Case(("\n".join(lines) + random.choice(["\n", ""])).encode(), options, list(zip(keys, numbers)))
