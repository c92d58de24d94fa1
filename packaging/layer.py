#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layer.py TIME <ROOT >LAYER: of an archive of Debian's files those that penstock needs, with a user of its own, whose folder is /data.

TIME, in seconds since 1970, is that of the files that are added. Documents are left out, but not their licences. The same input gives
the same bytes."""

import io
import re
import sys
import tarfile

LEFT_OUT = re.compile(r"(dev|etc/(apt|dpkg|fstab|hostname|resolv\.conf)|var|lib/systemd|usr/lib/systemd"
                      r"|usr/share/(man|locale|bash-completion|lintian))(/|$)")
DOCUMENT = re.compile(r"usr/share/doc/.*(?<!/copyright)$")
USER = 65532


def needed(member):
    name = member.name.removeprefix("./").removeprefix("/")
    return not LEFT_OUT.match(name) and (member.isdir() or not DOCUMENT.match(name))


def added(name, mode, text=None, owner=0):
    member = tarfile.TarInfo("./" + name)
    member.type = tarfile.DIRTYPE if text is None else tarfile.REGTYPE
    member.mode, member.uid, member.gid, member.mtime = mode, owner, owner, int(sys.argv[1])
    member.size = len(text or b"")
    return member, io.BytesIO(text or b"")


def main():
    own = [added("data", 0o755, owner=USER), added("tmp", 0o1777),
           added("etc/passwd", 0o644, f"penstock:x:{USER}:{USER}::/data:/usr/sbin/nologin\n".encode()),
           added("etc/group", 0o644, f"penstock:x:{USER}:\n".encode())]
    names = {member.name for member, _ in own}
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as root, \
            tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT) as layer:
        for member in root:
            if needed(member) and "./" + member.name.removeprefix("./") not in names:
                layer.addfile(member, root.extractfile(member) if member.isreg() else None)
        for member, content in own:
            layer.addfile(member, content)


if __name__ == "__main__":
    main()
