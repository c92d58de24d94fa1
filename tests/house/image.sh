#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# image.sh SOURCE: an image has what penstock needs of Debian's files and its own user, and is the same to the byte each time. The image
# itself is made of Debian's packages, from a network: ./dev release does that.
set -euo pipefail
layer=$(realpath "$1/packaging/layer.py")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
long=usr/lib/$(printf 'a%.0s' {1..90})/$(printf 'b%.0s' {1..90})
mkdir -p root/{dev,etc/apt,tmp,usr/bin,usr/lib/systemd/system,usr/share/doc/tool,usr/share/man/man1,usr/devices,var/lib/dpkg} "root/$long"
for file in etc/apt/sources.list etc/ld.so.conf etc/passwd usr/bin/tool usr/lib/systemd/system/tool.service usr/share/doc/tool/README \
  usr/share/doc/tool/copyright usr/share/man/man1/tool.1 usr/devices/list var/lib/dpkg/status "$long/library"; do
  echo "$file" >"root/$file"
done
ln -s tool root/usr/bin/other
ln root/usr/bin/tool root/usr/bin/same
tar --create --file root.tar --directory root --format=pax --owner=0 --group=0 --sort=name .
for out in one two; do "$layer" 1000000000 <root.tar >"$out.tar"; done
cmp one.tar two.tar
# tar must be able to read it to its end.
tar --list --verbose --numeric-owner --utc --file one.tar >listed
sort >expected <<END
$long/library
etc/group
etc/ld.so.conf
etc/passwd
usr/bin/other -> tool
usr/bin/same
usr/bin/tool link to ./usr/bin/same
usr/devices/list
usr/share/doc/tool/copyright
END
sed -nE 's/^[^d].{9} .* [0-9:]{5} \.\///p' listed | sort >names
diff expected names
grep -qE '^drwxr-xr-x 65532/65532 .* 2001-09-09 01:46 \./data/?$' listed
grep -qE '^drwxrwxrwt 0/0 .* \./tmp/?$' listed
[[ $(tar --extract --to-stdout --file one.tar ./etc/passwd) == penstock:x:65532:65532::/data:/usr/sbin/nologin ]]
[[ $(tar --extract --to-stdout --file one.tar "./$long/library") == "$long/library" ]]
