// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/detail/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hpl::topology {
namespace {

int lineAt(std::string_view xml, std::size_t place) {
  return 1 + static_cast<int>(
                 std::count(xml.begin(), xml.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

/// Behind a tag's '>', which quotes may hold, too; npos: there is none.
std::size_t endOfTag(std::string_view xml, std::size_t begin) {
  char quote = '\0';
  for (std::size_t i = begin; i < xml.size(); ++i) {
    if (quote != '\0') {
      if (xml[i] == quote) quote = '\0';
    } else if (xml[i] == '"' || xml[i] == '\'') {
      quote = xml[i];
    } else if (xml[i] == '>') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<XmlDefect> firstDefect(std::string_view xml) {
  struct Open {
    std::string_view name;
    std::size_t begin;
  };
  std::vector<Open> open;
  bool hasAny = false;
  for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at)) {
    const std::size_t begin = at;
    const bool isComment = xml.substr(at).starts_with("<!--");
    at = isComment ? xml.find("-->", at) : endOfTag(xml, at);
    if (at == std::string_view::npos)
      return XmlDefect{lineAt(xml, begin), "a tag begins that does not end"};
    if (isComment || xml[begin + 1] == '?' || xml[begin + 1] == '!') continue;
    hasAny = true;
    const bool closes = xml[begin + 1] == '/';
    const std::size_t first = begin + (closes ? 2 : 1);
    const std::string_view name = xml.substr(first, xml.find_first_of(" \t\r\n/>", first) - first);
    if (!closes) {
      if (xml[at - 2] != '/') open.push_back({name, begin});
      continue;
    }
    if (open.empty() || open.back().name != name)
      return XmlDefect{lineAt(xml, begin), fmt::format("</{}> closes what is not open", name)};
    open.pop_back();
  }
  if (!open.empty())
    return XmlDefect{lineAt(xml, open.back().begin),
                     fmt::format("<{}> is not closed", open.back().name)};
  if (!hasAny) return XmlDefect{1, "there is no XML tag"};
  return std::nullopt;
}

int lineOf(std::string_view xml, std::string_view text, int number) {
  std::size_t at = xml.find(text);
  for (; number > 0 && at != std::string_view::npos; --number) at = xml.find(text, at + 1);
  return at == std::string_view::npos ? 0 : lineAt(xml, at);
}

}  // namespace hpl::topology
