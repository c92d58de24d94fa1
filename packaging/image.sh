#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# image.sh PACKAGES FILE: an OCI image, in an archive of that name, of the package penstock in the folder PACKAGES and what it needs of
# Debian. There is no shell and no package manager in it. It runs as a user without rights, and penstock is its entry point.
set -euo pipefail
packages=$(realpath "$1") file=$(realpath -m "$2")
scratch=$(mktemp -d)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot CONTAINERS_STORAGE_CONF=$scratch/storage.conf
printf '[storage]\ndriver = "vfs"\nrunroot = "%s/run"\ngraphroot = "%s/graph"\n' "$scratch" "$scratch" >"$CONTAINERS_STORAGE_CONF"
trap 'rm -rf "$scratch"' EXIT
version=$(dpkg-deb --field "$packages"/penstock_*.deb Version)
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog --file "$(dirname "$0")/../debian/changelog" --show-field Timestamp)
export SOURCE_DATE_EPOCH

mkdir "$scratch/repository"
cp "$packages"/penstock_*.deb "$scratch/repository/"
(cd "$scratch/repository" && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
chmod -R a+rX "$scratch"
# The variant unpacks packages and runs none of their scripts, which nothing in here needs.
mmdebstrap --quiet --variant=extract --include=penstock \
  --setup-hook="echo 'deb [trusted=yes] copy:$scratch/repository ./' >\"\$1/etc/apt/sources.list.d/own.list\"" bookworm "$scratch/root.tar"
"$(dirname "$0")/layer.py" "$SOURCE_DATE_EPOCH" <"$scratch/root.tar" >"$scratch/layer.tar"

container=$(buildah from scratch)
buildah add --quiet "$container" "$scratch/layer.tar" / >/dev/null
buildah config --user 65532:65532 --workingdir /data --port 9464 --entrypoint '["/usr/bin/penstock"]' \
  --label org.opencontainers.image.title=penstock --label "org.opencontainers.image.version=$version" \
  --label org.opencontainers.image.licenses=Apache-2.0 "$container"
buildah commit --quiet --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci:$scratch/oci:penstock:${version//\~/-}" >/dev/null
tar --create --file "$file" --directory "$scratch/oci" --sort=name --mtime "@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --mode=u+rwX,go+rX --format=gnu blobs index.json oci-layout
printf '%s: %s bytes of files, %s in the archive\n' "$file" "$(tar --list --verbose --file "$scratch/layer.tar" | awk '{ sum += $3 } END { print sum }')" "$(stat -c %s "$file")"
