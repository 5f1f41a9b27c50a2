// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Lines of an XML file, for messages: hwloc reads the files but does not tell where they are
/// wrong.
namespace hpl::topology {

struct XmlDefect {
  int line = 0;
  std::string what;
};

/// The first tag that is not closed, or that closes what is not open; nothing: all tags match.
std::optional<XmlDefect> firstDefect(std::string_view xml);

/// The line of the `number`-th place, from 0 on, where the text stands; 0: nowhere.
int lineOf(std::string_view xml, std::string_view text, int number = 0);

}  // namespace hpl::topology
