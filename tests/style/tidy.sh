#!/bin/sh
# clang-tidy over the headers, the command, the viewer and the example. Everything of one kind goes in at once, so that what
# it includes is read and checked once.
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
  # What headers alone define is what the group "libraries" checks.
  flags="-std=c++20 -Wall -Wextra -Wconversion -Iinclude -Iviewer -isystem build/deps/imgui -isystem build/deps/re2 -DNANLENS_SPLIT"
  echo "build/stamps/tidy-$name .clang-tidy tests/style/tidy.sh $inputs -- clang-tidy-19 --quiet $work/$name.cpp -- $flags" >>"$work/groups"
}
group engine "include viewer/engine viewer/regex viewer/texts" viewer/engine/*.cpp viewer/regex/re2.cpp viewer/texts/*.cpp
group panes "include viewer/engine viewer/texts viewer/app viewer/panes viewer/widgets" viewer/app/*.cpp viewer/panes/*.cpp viewer/widgets/*.cpp
group command "include viewer/texts viewer/report viewer/findings viewer/share viewer/cli" viewer/report/*.cpp viewer/findings/*.cpp $(ls viewer/share/*.cpp viewer/cli/*.cpp | grep -v -e raw.cpp -e rewrite.cpp)
group libraries include include/nanlens/*/implementation.hpp
group hello "include examples/hello" examples/hello/hello.cpp
xargs -P 2 -L 1 python3 tests/unchanged.py <"$work/groups" 2>build/tidy.log || { tail -n 40 build/tidy.log; exit 1; }
