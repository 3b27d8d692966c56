/// @file
/// Changes of the tree of panes, and its text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/layout.hpp"

namespace nanlens::viewer {

/// The place that holds a pane; null if there is none.
LayoutNode* find_place(LayoutNode& node, Pane pane);
const LayoutNode* find_place(const LayoutNode& node, Pane pane);
/// Takes a pane out; a split that has only one part left becomes that part.
void take_out(LayoutNode& root, Pane pane);
/// Makes `node` a split of what it was and of a pane on one side of it.
void put_beside(LayoutNode& node, Pane pane, Side side, std::size_t splitter);
/// A splitter that no split of the tree has.
std::size_t free_splitter(const LayoutNode& root);

/// The tree's text; see Layout::text.
std::string tree_text(const LayoutNode& node);
/// The tree of such a text, in which every pane is once; nothing if it is none.
std::optional<LayoutNode> tree_of(std::string_view text);
/// Letter of a pane in such a text.
char pane_letter(Pane pane);
std::optional<Pane> pane_of_letter(char letter);

}  // namespace nanlens::viewer
