// What an item says when the mouse rests on it.
#include "widgets/ui.hpp"

namespace nanlens::viewer {

namespace {

constexpr float widest = 520;
constexpr float padding_x = 8;
constexpr float padding_y = 6;

void push_style(const Ui& ui) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(padding_x), ui.px(padding_y)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
}

}  // namespace

void Ui::tooltip(std::string_view text) const {
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_DelayNormal | ImGuiHoveredFlags_NoSharedDelay)) {
    tooltip_pending = true;
    return;
  }
  if (!held.text.empty()) return;
  push_style(*this);
  if (ImGui::BeginTooltip()) {
    ImGui::PushFont(sans, px(12));
    ImGui::PushTextWrapPos(px(widest));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    if (ImGui::GetIO().KeyCtrl)
      held = {std::string(text), ImGui::GetWindowPos(), ImGui::GetWindowViewport()->ID, false};
    ImGui::EndTooltip();
  }
  ImGui::PopStyleVar(2);
}

void Ui::held_tooltip() {
  if (held.text.empty()) return;
  const ImVec2 text_size = [&] {
    ImGui::PushFont(sans, px(12));
    const ImVec2 size = ImGui::CalcTextSize(held.text.c_str(), nullptr, false, px(widest));
    ImGui::PopFont();
    return size;
  }();
  constexpr float frame = 12;  // what a text field needs around its text
  const ImVec2 size{text_size.x + px(2 * padding_x + frame), text_size.y + px(2 * padding_y + frame)};
  push_style(*this);
  ImGui::SetNextWindowPos(held.at);
  ImGui::SetNextWindowSize(size);
  ImGui::SetNextWindowViewport(held.viewport);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.raised);
  ImGui::PushStyleColor(ImGuiCol_Border, theme.link);
  ImGui::PushStyleColor(ImGuiCol_FrameBg, theme.raised);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {2, 2});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  ImGui::Begin("##held", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing);
  const Rect box{held.at.x, held.at.y, size.x, size.y};
  mark("tooltip", box);
  ImGui::PushFont(sans, px(12));
  ImGui::InputTextMultiline("##text", held.text.data(), held.text.size() + 1,
                            {size.x - px(2 * padding_x), size.y - px(2 * padding_y)},
                            ImGuiInputTextFlags_ReadOnly | ImGuiInputTextFlags_WordWrap);
  held.typing = ImGui::IsItemActive();
  ImGui::PopFont();
  ImGui::End();
  ImGui::PopStyleVar(4);
  ImGui::PopStyleColor(3);
  const ImGuiIO& io = ImGui::GetIO();
  constexpr float around = 40;  // what lies between the mouse and the tooltip
  const bool inside = box.inset(-px(around)).contains(io.MousePos);
  const bool elsewhere = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !box.contains(io.MousePos);
  const bool left = !io.KeyCtrl && !inside && !ImGui::IsMouseDown(ImGuiMouseButton_Left);
  if (elsewhere || left || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) held = {};
}

}  // namespace nanlens::viewer
