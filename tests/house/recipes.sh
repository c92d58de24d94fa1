#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes.sh SOURCE: the recipes of packaging/ can be read, pass options that CMakeLists.txt has, and name its version, as the logs of
# changes do.
set -euo pipefail
cd "$1"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
complain() {
  echo "$1"
  failed=1
}
recipes=(packaging/vcpkg/penstock/portfile.cmake packaging/conan/conanfile.py packaging/spack/packages/penstock/package.py packaging/conda/meta.yaml)
for recipe in "${recipes[@]}"; do
  while read -r option; do
    grep -qE "^(option|set)\($option " CMakeLists.txt || complain "$recipe: CMakeLists.txt has no option $option"
  done < <(grep -oE 'PENSTOCK_[A-Z_]+' "$recipe" | sort -u)
  for option in PENSTOCK_TESTS PENSTOCK_BENCH PENSTOCK_EXAMPLES; do
    grep -q "$option" "$recipe" || complain "$recipe: $option is not switched off"
  done
  if [[ $recipe == *.py ]]; then
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe" || complain "$recipe: is no Python"
  fi
done
version=$(sed -nE 's/^project\(penstock VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["version"] != sys.argv[2])' packaging/vcpkg/penstock/vcpkg.json "$version" ||
  complain "packaging/vcpkg/penstock/vcpkg.json: is not of version $version"
grep -qx "  version: \"$version\"" packaging/conda/meta.yaml || complain "packaging/conda/meta.yaml: is not of version $version"
grep -q "image: penstock:$version\$" packaging/compose.yaml || complain "packaging/compose.yaml: names no image of version $version"
# A release has one number and one day; what is not released yet has no day.
heading=$(grep -m 1 '^## \[' CHANGELOG.md) entry=$(head -n 1 debian/changelog)
if [[ $heading == '## [Unreleased]' ]]; then
  [[ $entry == "penstock ($version~dev) UNRELEASED; "* ]] || complain "debian/changelog: $version is not released, as CHANGELOG.md has it"
else
  day=$(date --utc --date="$(sed -nE '/^ -- /{s/.*>  //p;q}' debian/changelog)" +%F)
  [[ $heading == "## [$version] - $day" ]] || complain "CHANGELOG.md: its first heading is not '## [$version] - $day'"
  [[ $entry == "penstock ($version) unstable; "* ]] || complain "debian/changelog: is not of version $version, as CHANGELOG.md is"
fi
# The portfile, with stand-ins for what vcpkg brings.
cat >"$scratch/vcpkg.cmake" <<END
cmake_minimum_required(VERSION 3.25)
function(vcpkg_cmake_configure)
  message(STATUS "configured \${ARGN}")
endfunction()
foreach(name IN ITEMS vcpkg_check_features vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(\${name})\nendfunction()")
endforeach()
include($PWD/packaging/vcpkg/penstock/portfile.cmake)
END
said=$(cmake -D CURRENT_PACKAGES_DIR="$scratch" -P "$scratch/vcpkg.cmake" 2>&1) || complain "packaging/vcpkg/penstock/portfile.cmake: $said"
[[ $said == *"configured SOURCE_PATH;$PWD;"* ]] || complain "packaging/vcpkg/penstock/portfile.cmake: builds something else: $said"
exit $failed
