// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hpl::ranks {

/// The file that a rank writes: `%r` in its name becomes the rank. Where several ranks would write
/// the same file, the rank stands before the extension: "run.json" becomes "run.2.json". A name
/// with `%p`, the process id, differs already.
std::string fileOfRank(std::string name, int rank, int ranks);

}  // namespace hpl::ranks
