// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/rank_file.h"

namespace hpl::ranks {

std::string fileOfRank(std::string name, int rank, int ranks) {
  const std::string number = std::to_string(rank);
  if (name.find("%r") == std::string::npos) {
    if (name.empty() || ranks == 1 || name.find("%p") != std::string::npos) return name;
    const std::size_t dot = name.rfind('.');
    const std::size_t folder = name.rfind('/');
    const bool hasExtension =
        dot != std::string::npos && (folder == std::string::npos || dot > folder + 1) && dot > 0;
    return name.insert(hasExtension ? dot : name.size(), "." + number);
  }
  for (std::size_t at = 0; (at = name.find("%r", at)) != std::string::npos; at += number.size())
    name.replace(at, 2, number);
  return name;
}

}  // namespace hpl::ranks
