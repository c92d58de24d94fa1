#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# images.sh PROGRAM CASE: the job `images` makes of JPEG files the tensors that Python computes.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

command -v python3 >/dev/null || {
  echo 'python3 is not here: install it'
  exit 77
}
# NAME:WIDTHxHEIGHT: one smaller than a tensor, wide and high ones, those that are halved up to three times.
as_nobody=()
some=(a.jpg:8x8 b.JPG:19x11 c.jpeg:64x40 d/e.jpg:40x100 d/f.jpg:129x131 g.jpg:24x24 h.jpg:1x1 i.jpg:250x97)
make_images() {
  python3 "$here/make_images.py" make folder "$@"
}
# images OPTION...: runs it on the folder; what it prints goes to `out` and `err`.
images() {
  "$program" run --device cpu --input folder "$@" >out 2>err
}

case $case in
  MakesTheTensorsThatAreExpected)
    make_images "${some[@]}"
    echo 'no image' >folder/readme.txt
    mean=0.485,0.456,0.406 deviation=0.229,0.224,0.225
    for options in '--size 12' '--size 12 --fit all --producers 3 --lanes 2' '--size 12 --scaling no --tile 128KiB' \
      '--size 31 --mean 0,0.5,1 --deviation 1,2,0.5'; do
      size=12 fit=square scaling=yes
      [[ $options == *'--size 31'* ]] && size=31 mean=0,0.5,1 deviation=1,2,0.5
      [[ $options == *'fit all'* ]] && fit=all
      [[ $options == *'scaling no'* ]] && scaling=no
      # shellcheck disable=SC2086 # Several words.
      images --tensors tensors $options || fail "$(cat err)"
      [ "$(cat out)" = 'images 8' ] || fail "$(cat out)"
      python3 "$here/make_images.py" check folder tensors $size $fit $scaling $mean $deviation "${some[@]}" ||
        fail "with $options"
    done
    ;;
  NamesWhatIsBroken)
    make_images "${some[@]}" k.jpg:300x300 l.jpg:8x8
    head -c 60 folder/c.jpeg >folder/short
    mv folder/short folder/c.jpeg
    head -c -20 folder/d/f.jpg >folder/short
    mv folder/short folder/d/f.jpg
    echo 'no image' >folder/g.jpg
    : >folder/h.jpg
    code=0
    images --tensors tensors --size 200 --tile 128KiB --sheet sheet.jpg || code=$?
    [ $code = 1 ] || fail "exit code $code: $(cat err)"
    head -n 1 out | grep -qx 'images 5' || fail "$(cat out)"
    for name in c.jpeg d/f.jpg g.jpg h.jpg; do
      grep -q "^broken folder/$name: ." out || fail "$name: $(cat out)"
    done
    grep -qx 'broken folder/k.jpg: it needs --tile 270336 or more.' out || fail "$(cat out)"
    grep -qx 'broken folder/h.jpg: it is empty.' out || fail "$(cat out)"
    [ "$(wc -l <out)" = 6 ] || fail "$(cat out)"
    [ -s sheet.jpg ] || fail 'there is no contact sheet'
    python3 "$here/make_images.py" check folder tensors 200 square yes 0.485,0.456,0.406 0.229,0.224,0.225 \
      a.jpg:8x8 b.JPG:19x11 c.jpeg:- d/e.jpg:40x100 d/f.jpg:- g.jpg:- h.jpg:- i.jpg:250x97 k.jpg:- l.jpg:8x8
    ;;
  DecodesWhatOtherProgramsDecode)
    inputs=$here/inputs/images
    for kind in sampling:2 cmyk:1 junk:1 exif:2; do
      "$program" run --device cpu --input "$inputs/${kind%:*}" --size 32 --tensors "${kind%:*}" >out 2>err || fail "$kind: $(cat err)"
      grep -qx "images ${kind#*:}" out || fail "$kind: $(cat out)"
      [ "$kind" != junk:1 ] || grep -q 'junk.jpg is decoded, but it is odd: Corrupt JPEG data: 4 extraneous bytes' err || fail "$(cat err)"
    done
    # One image, as the camera was held; the red corner of the second is at its right.
    ! cmp -s -n 12288 exif <(tail -c 12288 exif) || fail 'EXIF does not turn an image'
    "$program" run --device cpu --input "$inputs/exif" --size 32 --orientation no --tensors unturned >out 2>err || fail "$(cat err)"
    cmp -s -n 12288 unturned <(tail -c 12288 unturned) || fail '--orientation no turns images'
    # The size of tiles that it asks for is one that it takes.
    code=0
    "$program" run --device cpu --input "$inputs/tile" --size 32 --scaling no >out 2>err || code=$?
    [ "$code" = 1 ] || fail "$code: $(cat err)"
    tile=$(sed -nE 's/^broken .*: it needs --tile ([0-9]+) or more.$/\1/p' out)
    "$program" run --device cpu --input "$inputs/tile" --size 32 --scaling no --tile "$tile" >out 2>err || fail "$tile: $(cat err)"
    grep -qx 'images 1' out || fail "$(cat out)"
    ;;
  DecodesStreamsAsPillowDoes)
    python=
    for one in python3 /usr/bin/python3; do
      ! "$one" -c 'import PIL' 2>no_pillow || python=$one
    done
    [ -n "$python" ] || {
      echo 'Pillow is not here: install python3-pil'
      exit 77
    }
    "$python" "$here/jpeg_streams.py" make folder "${PENSTOCK_DIFFERENTIAL_SEED:-1}" "${PENSTOCK_DIFFERENTIAL:-100}"
    code=0
    images --size 24 --fit all --scaling no --mean 0,0,0 --deviation 1,1,1 --tensors tensors || code=$?
    "$python" "$here/jpeg_streams.py" check folder tensors out $code || fail "each file is named after its seed: $(head -20 err)"
    ;;
  SaysWhatItPassesOver)
    make_images a.jpg:8x8 b.jfif:8x8 c.jpe:8x8 d/e.jpg:8x8
    mkfifo folder/fifo.jpg
    ln -s nowhere folder/dangling.jpg
    ln -s ../a.jpg folder/d/linked.jpeg
    code=0
    timeout 60 "$program" run --device cpu --input folder --size 8 >out 2>err || code=$?
    [ "$code" = 1 ] || fail "$code: $(cat err)"
    grep -qx 'images 5' out || fail "$(cat out)"
    grep -q 'folder/fifo.jpg is passed over: a pipe.' err || fail "$(cat err)"
    grep -q 'folder/dangling.jpg is passed over: a link that leads nowhere.' err || fail "$(cat err)"
    grep -q 'Left out: 1 file, .*1 file, ' err || fail "$(cat err)"
    rm folder/fifo.jpg folder/dangling.jpg
    images --size 8 || fail "$(cat err)"
    chmod 000 folder/d folder/a.jpg
    # It has rights to all as root.
    ! ls folder/d >/dev/null 2>&1 || {
      as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
      chmod 755 "$scratch"
      "${as_nobody[@]}" true 2>/dev/null || exit 77
    }
    code=0
    "${as_nobody[@]}" "$program" run --device cpu --input folder --size 8 >out 2>err || code=$?
    chmod 755 folder/d folder/a.jpg
    [ "$code" = 1 ] || fail "$code: $(cat out err)"
    grep -qx 'images 2' out || fail "$(cat out)"
    grep -qx 'broken folder/a.jpg: it cannot be read: Permission denied.' out || fail "$(cat out)"
    grep -q 'folder/d is passed over: Permission denied.' err || fail "$(cat err)"
    grep -q 'Left out: 1 folder, that cannot be read' err || fail "$(cat err)"
    ;;
  CountsLinksToFoldersThatItPassesOver)
    make_images a.jpg:8x8
    mkdir other links
    cp folder/a.jpg other/b.jpg
    ln -s ../other folder/linked
    ln -s .. folder/loop
    ln -s ../other links/linked
    images --size 8 || fail "$?: $(cat err)"
    grep -qx 'images 1' out || fail "$(cat out)"
    grep -q 'Passed over 2 symbolic links to folders: name one to read what it leads to' err || fail "$(cat err)"
    "$program" run --device cpu --input folder/linked --size 8 >out 2>err || fail "$(cat err)"
    grep -qx 'images 1' out || fail "$(cat out)"
    ! grep -q 'Passed over' err || fail "$(cat err)"
    code=0
    "$program" run --device cpu --input links --size 8 >out 2>err || code=$?
    [ "$code" = 2 ] || fail "$code: $(cat err)"
    grep -q 'file (passed over: 1 symbolic link to a folder): name another folder' err || fail "$(cat err)"
    ;;
  PrintsEachNameOnOneLine)
    make_images a.jpg:8x8
    printf x >$'folder/bad\nimages 99.jpg'
    printf x >'folder/back\slash.jpg'
    ln -s nowhere $'folder/no\nwhere.jpg'
    code=0
    images --size 8 || code=$?
    [ "$code" = 1 ] || fail "$code: $(cat err)"
    [ "$(grep -c . out)" = 3 ] || fail "$(cat out)"
    grep -qF 'broken folder/bad\nimages 99.jpg: ' out || fail "$(cat out)"
    grep -qF 'broken folder/back\\slash.jpg: ' out || fail "$(cat out)"
    grep -qF 'folder/no\nwhere.jpg is passed over' err || fail "$(cat err)"
    ! grep -q '^images 99' out err || fail "$(cat out err)"
    ;;
  RefusesAFolderWithoutImages)
    mkdir folder
    echo 'no image' >folder/readme.txt
    code=0
    images --tensors tensors || code=$?
    [ $code = 2 ] || fail "exit code $code: $(cat err)"
    grep -q 'folder has no .jpg, .jpeg, .jpe or .jfif file: name another folder' err || fail "$(cat err)"
    [ ! -e tensors ] || fail 'it wrote tensors'
    make_images a.jpg:8x8
    ! images --mean 1,2 || fail 'it took two numbers for three'
    grep -q 'give three numbers' err || fail "$(cat err)"
    ! "$program" run --device cpu --input folder/a.jpg >out 2>err || fail 'it took a file for a folder'
    ;;
  RefusesAnOutputThatIsReadOrWrittenOtherwise)
    make_images a.jpg:8x8
    cp folder/a.jpg kept
    ln -s folder/a.jpg link.jpg
    for options in '--sheet folder/a.jpg' '--sheet link.jpg' '--tensors folder/../folder/a.jpg' '--tensors new --sheet ./new'; do
      code=0
      # shellcheck disable=SC2086 # Several words.
      images $options || code=$?
      [ $code = 2 ] || fail "$options: exit code $code: $(cat err)"
      grep -qE 'would overwrite what is to be read|both name new' err || fail "$options: $(cat err)"
      cmp folder/a.jpg kept || fail "$options: an image was replaced"
      [ ! -e new ] || fail "$options: a file was made"
    done
    # What is not there yet is no image of the folder.
    images --sheet folder/sheet.jpg || fail "$(cat err)"
    ;;
  SaysTheSameInBothFlavours)
    make_images "${some[@]}"
    "$program" compare --device cpu --input folder --size 12 --window 20 --repeats 1 >out 2>err || fail "$(cat out err)"
    ! grep -q 'results are not those' out err || fail "$(cat out err)"
    grep -q '^as used' out || fail "$(cat out)"
    ;;
  SaysTheSameOnAModel)
    make_images "${some[@]}"
    images --tensors tensors --size 12 || fail "$(cat err)"
    "$program" run --device model:h200 --input folder --size 12 --tensors of_model >out 2>err || fail "$(cat err)"
    cmp tensors of_model
    ;;
  ShowsThemOnASheet)
    names=() plan=()
    for k in {100..355}; do
      names+=("$k.jpg") plan+=("$k.jpg:8x8")
    done
    make_images "${plan[@]}"
    images --size 8 --sheet sheet.jpg || fail "$(cat err)"
    # It is 16 x 16 images of 8 x 8 pixels, and the job can read it.
    rm -r folder
    mkdir folder
    mv sheet.jpg folder
    images --size 16 --fit all --mean 0,0,0 --deviation 1,1,1 --tensors tensors || fail "$(cat err)"
    python3 "$here/make_images.py" colours tensors 6 "${names[@]}"
    ;;
  *) fail "no case $case" ;;
esac
