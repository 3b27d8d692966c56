#!/bin/sh
# clang-tidy over the command, the viewer and the example, and through them over most headers.
set -eu
cd "$(dirname "$0")/../.."
printf '%s\n' viewer/cli/dump.cpp viewer/cli/pack.cpp viewer/cli/why.cpp examples/hello/hello.cpp viewer/engine/engine.cpp \
  viewer/engine/rows.cpp viewer/engine/row_order.cpp viewer/engine/export.cpp \
  viewer/engine/selection.cpp viewer/engine/alerts.cpp viewer/engine/filter_parse.cpp \
  viewer/texts/texts.cpp viewer/report/report.cpp viewer/app/app.cpp viewer/panes/graph_executions.cpp viewer/widgets/ui.cpp viewer/widgets/syntax.cpp |
  xargs -P 2 -n 1 clang-tidy-19 -p build/asan --quiet 2>build/tidy.log || { tail -n 40 build/tidy.log; exit 1; }
