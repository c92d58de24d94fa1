#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py TREE PACKAGES: prints what the Debian packages in the folder PACKAGES are made of and need, as SPDX 2.3 in JSON."""

import email.parser
import hashlib
import json
import pathlib
import re
import subprocess
import sys

tree, packages = map(pathlib.Path, sys.argv[1:])


def field(text, name):
    return email.parser.Parser().parsestr(text).get(name, "")


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def package(name, version, **more):
    return {"SPDXID": identifier(name, version), "name": name, "versionInfo": version or "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", **more}


def needed(text):
    """Names and least versions of a list of packages; of alternatives the first."""
    for one in filter(None, (part.split("|")[0].strip() for part in text.split(","))):
        match = re.match(r"([^ (:]+)(?::\S+)?(?: \((?:>=|=) ([^)]+)\))?", one)
        if not match.group(1).startswith("${"):
            yield match.group(1), match.group(2) or ""


def main():
    changelog = subprocess.run(["dpkg-parsechangelog", "--file", tree / "debian/changelog"], check=True,
                               capture_output=True, text=True).stdout
    time = subprocess.run(["date", "--utc", f"--date=@{field(changelog, 'Timestamp')}", "+%Y-%m-%dT%H:%M:%SZ"],
                          check=True, capture_output=True, text=True).stdout.strip()
    source = package("penstock", field(changelog, "Version"), licenseDeclared="Apache-2.0",
                     primaryPackagePurpose="SOURCE")
    # The README of the copy begins with "# uPlot 1.6.32".
    uplot = package(*(tree / "third_party/uplot/README.md").read_text().split("\n")[0].split()[1:],
                    licenseDeclared="MIT")
    all_packages = {one["SPDXID"]: one for one in (source, uplot)}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", source["SPDXID"]), (source["SPDXID"], "CONTAINS", uplot["SPDXID"])]

    def add(one):
        return all_packages.setdefault(one["SPDXID"], one)["SPDXID"]

    build_depends = field((tree / "debian/control").read_text(), "Build-Depends")
    for name, version in needed(build_depends):
        relations.append((add(package(name, version)), "BUILD_DEPENDENCY_OF", source["SPDXID"]))
    for file in sorted(packages.rglob("*.deb")):
        control = subprocess.run(["dpkg-deb", "--field", file], check=True, capture_output=True, text=True).stdout
        binary = package(field(control, "Package"), field(control, "Version"), licenseDeclared="Apache-2.0",
                         packageFileName=str(file.relative_to(packages)), primaryPackagePurpose="INSTALL",
                         checksums=[{"algorithm": "SHA256",
                                     "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}])
        binary["SPDXID"] = identifier("deb", file.name)
        add(binary)
        relations.append((binary["SPDXID"], "GENERATED_FROM", source["SPDXID"]))
        for name, version in needed(field(control, "Depends")):
            relations.append((binary["SPDXID"], "DEPENDS_ON", add(package(name, version))))
    content = {"packages": list(all_packages.values()),
               "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                                 for one, kind, other in relations]}
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"penstock-{source['versionInfo']}",
        "documentNamespace": f"urn:penstock:{source['versionInfo']}:{digest}",
        "creationInfo": {"created": time, "creators": ["Tool: packaging/sbom.py"]}, **content}, indent=1))


if __name__ == "__main__":
    main()
