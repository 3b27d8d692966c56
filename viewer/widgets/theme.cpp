#include "theme.hpp"

namespace nanlens::viewer {

namespace {

constexpr ImU32 rgb(std::uint32_t hex) { return IM_COL32((hex >> 16) & 0xff, (hex >> 8) & 0xff, hex & 0xff, 0xff); }

constexpr Theme light = {.bg = rgb(0xffffff),
                         .panel = rgb(0xf6f8fa),
                         .raised = rgb(0xffffff),
                         .text = rgb(0x1f2328),
                         .dim = rgb(0x57606a),
                         .link = rgb(0x0b57d0),
                         .bad = rgb(0xb3125f),
                         .badfill = rgb(0xd0107a),
                         .onbad = rgb(0xffffff),
                         .badsoft = rgb(0xfde7f3),
                         .warn = rgb(0x7a4300),
                         .warnsoft = rgb(0xfff4d6),
                         .ok = rgb(0x1a6b3c),
                         .focus = rgb(0xffd4b3),
                         .input = rgb(0xfff099),
                         .func = rgb(0xc7dbf5),
                         .onfunc = rgb(0x24405f),
                         .badge = rgb(0xe3e5e8),
                         .onbadge = rgb(0x33404d),
                         .fin = rgb(0x6b7280),
                         .onfin = rgb(0xffffff),
                         .card = rgb(0xffe3c7),
                         .line = rgb(0xd0d7de),
                         .keyword = rgb(0x6639ba),
                         .literal = rgb(0x0a3069),
                         .comment = rgb(0x57606a)};

constexpr Theme dark = {.bg = rgb(0x16181d),
                        .panel = rgb(0x1e2127),
                        .raised = rgb(0x262a31),
                        .text = rgb(0xe6e8eb),
                        .dim = rgb(0xa8b0ba),
                        .link = rgb(0x8ab4f8),
                        .bad = rgb(0xff8ac6),
                        .badfill = rgb(0xff6fb5),
                        .onbad = rgb(0x1d0412),
                        .badsoft = rgb(0x45152f),
                        .warn = rgb(0xffc266),
                        .warnsoft = rgb(0x3a2c10),
                        .ok = rgb(0x7ddb9b),
                        .focus = rgb(0x5c3312),
                        .input = rgb(0x3d370e),
                        .func = rgb(0x2b4468),
                        .onfunc = rgb(0xd7e6ff),
                        .badge = rgb(0x343a43),
                        .onbadge = rgb(0xd5dbe3),
                        .fin = rgb(0x59626e),
                        .onfin = rgb(0xffffff),
                        .card = rgb(0x3d2a1a),
                        .line = rgb(0x3a404a),
                        .keyword = rgb(0xd2a8ff),
                        .literal = rgb(0xa5d6ff),
                        .comment = rgb(0xa8b0ba)};

constexpr Theme contrast = {.bg = rgb(0x000000),
                            .panel = rgb(0x000000),
                            .raised = rgb(0x000000),
                            .text = rgb(0xffffff),
                            .dim = rgb(0xd8d8d8),
                            .link = rgb(0xffff00),
                            .bad = rgb(0xff9cff),
                            .badfill = rgb(0xff9cff),
                            .onbad = rgb(0x000000),
                            .badsoft = rgb(0x3a003a),
                            .warn = rgb(0xffff00),
                            .warnsoft = rgb(0x202000),
                            .ok = rgb(0x7dff9b),
                            .focus = rgb(0x003d58),
                            .input = rgb(0x3a3a00),
                            .func = rgb(0x003a8c),
                            .onfunc = rgb(0xffffff),
                            .badge = rgb(0x303030),
                            .onbadge = rgb(0xffffff),
                            .fin = rgb(0x404040),
                            .onfin = rgb(0xffffff),
                            .card = rgb(0x101010),
                            .line = rgb(0xffffff),
                            .keyword = rgb(0xffff00),
                            .literal = rgb(0x9cffff),
                            .comment = rgb(0xd8d8d8)};

ImVec4 vec(ImU32 color, float alpha = 1) {
  ImVec4 v = ImGui::ColorConvertU32ToFloat4(color);
  v.w = alpha;
  return v;
}

}  // namespace

const Theme& theme_of(ThemeName name) {
  switch (name) {
    case ThemeName::light: return light;
    case ThemeName::dark: return dark;
    default: return contrast;
  }
}

std::string_view name_of(ThemeName name) {
  switch (name) {
    case ThemeName::light: return "light";
    case ThemeName::dark: return "dark";
    default: return "contrast";
  }
}

void apply_to_imgui(const Theme& t, float scale) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.WindowPadding = {0, 0};
  style.WindowBorderSize = 0;
  style.WindowRounding = 4;
  style.FrameRounding = 3;
  style.PopupRounding = 4;
  style.FrameBorderSize = 1;
  style.ItemSpacing = {8, 4};
  style.FramePadding = {6, 3};
  style.HoverDelayNormal = 0.35f;
  style.ScaleAllSizes(scale);
  ImVec4* const c = style.Colors;
  c[ImGuiCol_Text] = vec(t.text);
  c[ImGuiCol_TextDisabled] = vec(t.dim);
  c[ImGuiCol_WindowBg] = vec(t.bg);
  c[ImGuiCol_PopupBg] = vec(t.raised);
  c[ImGuiCol_Border] = vec(t.line);
  c[ImGuiCol_FrameBg] = vec(t.bg);
  c[ImGuiCol_FrameBgHovered] = vec(t.bg);
  c[ImGuiCol_FrameBgActive] = vec(t.bg);
  c[ImGuiCol_TextSelectedBg] = vec(t.link, 0.35f);
  c[ImGuiCol_InputTextCursor] = vec(t.text);
  c[ImGuiCol_Header] = vec(t.focus);
  c[ImGuiCol_HeaderHovered] = vec(t.focus);
  c[ImGuiCol_HeaderActive] = vec(t.focus);
  c[ImGuiCol_ScrollbarBg] = vec(t.panel);
  c[ImGuiCol_ScrollbarGrab] = vec(t.fin, 0.6f);
  c[ImGuiCol_Separator] = vec(t.line);
  c[ImGuiCol_Button] = vec(t.badge);
  c[ImGuiCol_ButtonHovered] = vec(t.func);
  c[ImGuiCol_ButtonActive] = vec(t.func);
  c[ImGuiCol_NavCursor] = vec(t.link);
  c[ImGuiCol_ModalWindowDimBg] = ImVec4(0, 0, 0, 0.35f);
}

}  // namespace nanlens::viewer
