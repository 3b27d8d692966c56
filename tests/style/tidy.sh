#!/bin/sh
# clang-tidy over the headers, the command, the viewer and the example. Everything of one kind goes in at once, so that what
# it includes is read and checked once: no two may define the same name, in anonymous namespaces neither. What is found in headers
# is shown by their whole paths (HeaderFilterRegex). Without NANLENS_SPLIT every definition in a header has to be inline.
set -eu
cd "$(dirname "$0")/../.."
work=build/tidy
rm -rf "$work"
mkdir -p "$work"
# group NAME CHECKS "INPUTS" FILE...: one source that includes all files; it is checked again if one of its inputs has changed.
group() {
  name=$1 checks=$2 inputs=$3
  shift 3
  for file in "$@"; do printf '#include "%s/%s"\n' "$PWD" "$file"; done >"$work/$name.cpp"
  flags="-std=c++20 -Wall -Wextra -Wconversion -I$PWD/include -I$PWD/viewer -isystem build/deps/imgui -isystem build/deps/re2"
  echo "build/stamps/tidy-$name .clang-tidy tests/style/tidy.sh $inputs -- clang-tidy-19 --quiet --checks=$checks $work/$name.cpp -- $flags" >>"$work/groups"
}
group viewer , "include viewer/engine viewer/regex viewer/texts viewer/app viewer/panes viewer/widgets examples/hello" include/nanlens/*/implementation.hpp \
  viewer/engine/*.cpp viewer/regex/re2.cpp viewer/texts/*.cpp viewer/app/*.cpp viewer/panes/*.cpp viewer/widgets/*.cpp examples/hello/hello.cpp
group command , "include viewer/texts viewer/report viewer/findings viewer/share viewer/cli" viewer/report/*.cpp viewer/findings/*.cpp $(ls viewer/share/*.cpp viewer/cli/*.cpp | grep -v -e raw.cpp -e rewrite.cpp -e cli/main.cpp -e cli/help.cpp)
# CLI11's functions take strings by value, and that check would take longer over them than all checks do over the command's other files.
group arguments -performance-unnecessary-value-param "include viewer/texts viewer/report viewer/findings viewer/share viewer/cli" viewer/cli/help.cpp viewer/cli/main.cpp
xargs -P 2 -L 1 python3 tests/unchanged.py <"$work/groups" 2>build/tidy.log || { tail -n 40 build/tidy.log; exit 1; }
