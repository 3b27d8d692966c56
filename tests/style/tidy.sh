#!/bin/sh
# clang-tidy over the headers, the command, the viewer and the example. Everything of one kind goes in at once, so that what
# it includes is read and checked once: no two may define the same name, in anonymous namespaces neither.
set -eu
cd "$(dirname "$0")/../.."
work=build/tidy
rm -rf "$work"
mkdir -p "$work"
# group NAME "INPUTS" FILE...: one source that includes all files; it is checked again if one of its inputs has changed.
group() {
  name=$1 inputs=$2
  shift 2
  for file in "$@"; do printf '#include "%s/%s"\n' "$PWD" "$file"; done >"$work/$name.cpp"
  flags="-std=c++20 -Wall -Wextra -Wconversion -Iinclude -Iviewer -isystem build/deps/imgui -isystem build/deps/re2 -DNANLENS_SPLIT"
  echo "build/stamps/tidy-$name .clang-tidy tests/style/tidy.sh $inputs -- clang-tidy-19 --quiet $work/$name.cpp -- $flags" >>"$work/groups"
}
group viewer "include viewer/engine viewer/regex viewer/texts viewer/app viewer/panes viewer/widgets examples/hello" include/nanlens/*/implementation.hpp \
  viewer/engine/*.cpp viewer/regex/re2.cpp viewer/texts/*.cpp viewer/app/*.cpp viewer/panes/*.cpp viewer/widgets/*.cpp examples/hello/hello.cpp
group command "include viewer/texts viewer/report viewer/findings viewer/share viewer/cli" viewer/report/*.cpp viewer/findings/*.cpp $(ls viewer/share/*.cpp viewer/cli/*.cpp | grep -v -e raw.cpp -e rewrite.cpp)
xargs -P 2 -L 1 python3 tests/unchanged.py <"$work/groups" 2>build/tidy.log || { tail -n 40 build/tidy.log; exit 1; }
