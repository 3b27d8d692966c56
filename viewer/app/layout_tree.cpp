#include "app/layout_tree.hpp"

#include <algorithm>
#include <utility>

namespace nanlens::viewer {

namespace {

void collect_splitters(const LayoutNode& node, std::array<bool, Layout::num_splitters>& used) {
  if (node.parts.empty()) return;
  used[node.splitter] = true;
  for (const LayoutNode& part : node.parts) collect_splitters(part, used);
}

/// Reads a tree's text from its beginning.
struct Parser {
  std::string_view left;
  std::array<bool, num_panes> panes{};
  std::array<bool, Layout::num_splitters> splitters{};

  char take() {
    if (left.empty()) return '\0';
    const char c = left.front();
    left.remove_prefix(1);
    return c;
  }
  bool add_pane(LayoutNode& node, char letter) {
    const auto pane = pane_of_letter(letter);
    if (!pane || std::exchange(panes[static_cast<std::size_t>(*pane)], true)) return false;
    node.panes.push_back(*pane);
    return true;
  }
  bool read_tabs(LayoutNode& node) {
    for (char c = take(); c != '.'; c = take())
      if (!add_pane(node, c)) return false;
    return node.panes.size() > 1;
  }
  // Every split takes a splitter, so that no text leads deeper than there are splitters.
  bool read(LayoutNode& node) {
    const char c = take();
    if (c == 'T') return read_tabs(node);
    if (c != 'C' && c != 'R' && c != 'c' && c != 'r') return add_pane(node, c);
    node.columns = c == 'C' || c == 'c';
    node.from_end = c == 'c' || c == 'r';
    node.splitter = static_cast<std::size_t>(static_cast<unsigned char>(take())) - '0';
    if (node.splitter >= Layout::num_splitters || std::exchange(splitters[node.splitter], true)) return false;
    node.parts.resize(2);
    return read(node.parts[0]) && read(node.parts[1]);
  }
};

}  // namespace

char pane_letter(Pane pane) { return info_of(pane).letter; }

std::optional<Pane> pane_of_letter(char letter) {
  for (const PaneInfo& info : pane_infos)
    if (info.letter == letter) return info.pane;
  return std::nullopt;
}

const LayoutNode* find_place(const LayoutNode& node, Pane pane) {
  if (std::find(node.panes.begin(), node.panes.end(), pane) != node.panes.end()) return &node;
  for (const LayoutNode& part : node.parts)
    if (const LayoutNode* const found = find_place(part, pane)) return found;
  return nullptr;
}

LayoutNode* find_place(LayoutNode& node, Pane pane) {
  return const_cast<LayoutNode*>(find_place(std::as_const(node), pane));
}

void take_out(LayoutNode& node, Pane pane) {
  std::erase(node.panes, pane);
  for (LayoutNode& part : node.parts) take_out(part, pane);
  for (std::size_t i = 0; i < node.parts.size(); ++i)
    if (node.parts[i].panes.empty() && node.parts[i].parts.empty()) {
      LayoutNode other = std::move(node.parts[1 - i]);
      node = std::move(other);
      return;
    }
}

void put_beside(LayoutNode& node, Pane pane, Side side, std::size_t splitter) {
  LayoutNode split;
  split.columns = side == Side::left || side == Side::right;
  split.splitter = splitter;
  split.parts.push_back(std::move(node));
  LayoutNode added;
  added.panes.push_back(pane);
  const bool first = side == Side::left || side == Side::top;
  split.parts.insert(first ? split.parts.begin() : split.parts.end(), std::move(added));
  node = std::move(split);
}

std::size_t free_splitter(const LayoutNode& root) {
  std::array<bool, Layout::num_splitters> used{};
  collect_splitters(root, used);
  return static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
}

std::string tree_text(const LayoutNode& node) {
  std::string out;
  if (!node.parts.empty()) {
    out += node.columns ? 'C' : 'R';
    if (node.from_end) out[0] = static_cast<char>(out[0] - 'A' + 'a');
    out += static_cast<char>('0' + node.splitter);
    return out + tree_text(node.parts[0]) + tree_text(node.parts[1]);
  }
  for (const Pane pane : node.panes) out += pane_letter(pane);
  return node.panes.size() > 1 ? "T" + out + "." : out;
}

std::optional<LayoutNode> tree_of(std::string_view text) {
  Parser parser{text};
  LayoutNode root;
  const bool complete = parser.read(root) && parser.left.empty() &&
                        std::all_of(parser.panes.begin(), parser.panes.end(), [](bool there) { return there; });
  return complete ? std::optional(std::move(root)) : std::nullopt;
}

}  // namespace nanlens::viewer
