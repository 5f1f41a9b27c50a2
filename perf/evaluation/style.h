// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/hpl.h"
#include "samples/common/run_options.h"

/// The five applications of the stencil paper in several styles of host code (Section 2.2 and
/// Table II), to compare how long the programs are and how fast they run.
namespace evaluation {

/// How the host distributes the work.
enum class Style {
  Single,       ///< one device
  Subarrays,    ///< explicit views in a loop over devices; ghosts updated by hand
  Annotations,  ///< PART1(a, r); ghosts updated by hand
  Sync,         ///< PART1(a, r) and syncGhosts()
  Auto,         ///< eval(k).devices(...) alone: the library distributes
  Stencil,      ///< the sample: point functions; the library distributes, and knows the borders
  Template      ///< PART1(a, r), syncGhosts(), and kernels of the in-kernel stencil templates
};

/// All of them.
inline constexpr Style kStyles[] = {Style::Single,  Style::Subarrays, Style::Annotations,
                                    Style::Sync,    Style::Auto,      Style::Stencil,
                                    Style::Template};

/// Its name on command lines: single, subarrays, ...
const char* styleName(Style style);
/// Throws std::invalid_argument that lists the names for any other.
Style styleOf(const std::string& name);

/// Whether parts have ghosts whose width the program chooses.
bool hasGhosts(Style style);

/// One way to do the work.
struct Way {
  Style style = Style::Single;
  int ghostWidth = 0;  ///< rows of ghosts on each side of a part; 0: as few as possible
};

/// The options of a sample, and the way to do it.
template <class Sample>
struct Styled : Sample, Way {};

/// The rows of ghosts of a run with a stencil of `radius` rows: Way::ghostWidth, else `radius`.
/// Throws std::invalid_argument if that is less than `radius`.
int ghostWidth(const Way& way, int radius);

/// The devices of a run: one for Style::Single, else those that the options name, all if they name
/// none. Throws std::invalid_argument for weights in a style that cannot use them, and what
/// samples::choosePlan throws.
hpl::ExecutionPlan planOf(const Way& way, samples::RunOptions options);

}  // namespace evaluation
