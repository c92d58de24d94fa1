# SPDX-License-Identifier: Apache-2.0
# A page as Doxygen takes it: each heading gets a label, and links lead to these labels. What is no page of the reference is
# linked where it lies, from build/docs on. Lines keep their numbers.

# The label of a page, by its path from the repository's root.
function label_of(page) {
  if (page == "README.md") return "mainpage"
  sub(/\.md$/, "", page)
  gsub(/[^A-Za-z0-9]/, "_", page)
  return "page_" page
}

# As GitHub makes it of a heading; of the second that is the same with -1 behind it.
function anchor_of(heading) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _-]/, "", heading)
  gsub(/ /, "-", heading)
  return heading (seen[heading]++ ? "-" seen[heading] - 1 : "")
}

# The path from the root of what `link` names on this page.
function resolved(link, path) {
  path = folder link
  gsub(/\/\.\//, "/", path)
  while (sub(/[^\/]+\/\.\.\//, "", path)) {}
  return path
}

function target_of(link, anchor) {
  if (link ~ /^[a-z]+:/) return link
  anchor = ""
  if (match(link, /#/)) {
    anchor = "__" substr(link, RSTART + 1)
    link = substr(link, 1, RSTART - 1)
  }
  if (link == "") return "@ref " label_of(page) anchor
  if (link ~ /\.png$/) {
    sub(/.*\//, "", link) # It is copied.
    return link
  }
  link = resolved(link)
  return link ~ /\.md$/ ? "@ref " label_of(link) anchor : "../../" link
}

# Links of text that is no code.
function linked(text, before, rest) {
  before = ""
  while (match(text, /\]\([^)]*\)/)) {
    rest = substr(text, RSTART + RLENGTH)
    before = before substr(text, 1, RSTART + 1) target_of(substr(text, RSTART + 2, RLENGTH - 3)) ")"
    text = rest
  }
  return before text
}

BEGIN { root = ENVIRON["PWD"] "/" }
NR == 1 {
  page = FILENAME
  if (index(page, root) == 1) page = substr(page, length(root) + 1)
  folder = page
  sub(/[^\/]*$/, "", folder)
}
/^```/ { code = !code }
code || /^```/ { print; next }
/^# / && !titled { titled = 1; print $0 " {#" label_of(page) "}"; next }
/^##/ {
  heading = $0
  sub(/^#+ /, "", heading)
  print $0 " {#" label_of(page) "__" anchor_of(heading) "}"
  next
}
{
  # Every other part of a line stands between backquotes.
  count = split($0, parts, "`")
  line = linked(parts[1])
  for (i = 2; i <= count; ++i) line = line "`" (i % 2 ? linked(parts[i]) : parts[i])
  print line
}
