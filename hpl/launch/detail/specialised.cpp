// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/specialised.h"

#include <algorithm>
#include <cstring>

#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

/// Shorter rows would be computed in few vectors.
constexpr std::uint64_t kLeastRow = 64;

/// Each device's domain is its own, and a scalar may be the size of one of them.
bool hasOwnDomains(const LaunchOptions& options, Arguments arguments) {
  if (options.shares != nullptr && !options.shares->global.empty()) return true;
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.isDistributed(); });
}

/// By axis; false: the launch will be refused.
bool findSizes(const LaunchOptions& options, Arguments arguments, std::size_t (&sizes)[3]) {
  if (options.global.dims > 0) {
    for (int axis = 0; axis < std::min(options.global.dims, 3); ++axis)
      sizes[axis] = options.global.size[axis];
    return options.global.dims <= 3;
  }
  const geometry::Extents* array = layout::firstArray(arguments);
  if (array == nullptr || array->rank() > 3) return false;
  for (int axis = 0; axis < array->rank(); ++axis)
    sizes[axis] = static_cast<std::size_t>((*array)[array->rank() - 1 - axis]);
  return true;
}

/// The value of an integer that is not negative; nothing for other arguments.
std::optional<std::uint64_t> numberIn(const Argument& argument) {
  if (argument.kind != Argument::Kind::Scalar || !argument.type.isIntegerScalar())
    return std::nullopt;
  const std::size_t bytes = ir::sizeOf(argument.type);
  std::uint64_t number = 0;
  std::memcpy(&number, argument.value(), bytes);  // the host is little-endian
  const bool isNegative = argument.type.isSigned() && ((number >> (8 * bytes - 1)) & 1U) != 0;
  return isNegative ? std::nullopt : std::optional(number);
}

/// The value of a positive integer; 0 for other arguments.
std::uint64_t lengthIn(Arguments arguments, std::size_t i) {
  return i < arguments.size() ? numberIn(arguments[i]).value_or(0) : 0;
}

/// Arrays of more levels are not looked at: what is known of each level is kept.
constexpr geometry::Index kMostLevels = 16;

/// The number that analyses get for a scalar that chooses levels; nothing: it is too large or
/// too small.
std::optional<std::uint64_t> levelIn(Arguments arguments, const ir::LevelScalar& scalar) {
  const auto number = numberIn(arguments[static_cast<std::size_t>(scalar.parameter)]);
  if (!number || *number < scalar.least) return std::nullopt;
  if (scalar.period > 0)
    return *number < ir::kEndOfPeriodic ? std::optional(*number % scalar.period) : std::nullopt;
  // Else the launch for a later level would be refused.
  const bool isShort =
      std::all_of(scalar.uses.begin(), scalar.uses.end(), [&](const ir::LevelScalar::Use& use) {
        const Argument& array = arguments[static_cast<std::size_t>(use.array)];
        return array.kind == Argument::Kind::Array &&
               array.view->extents[static_cast<int>(use.dim)] <= kMostLevels;
      });
  return isShort && *number < 4 * kMostLevels ? number : std::nullopt;
}

KernelEntry& entryForLevels(KernelEntry& entry, const LaunchOptions& options, Arguments arguments) {
  const auto asked = entry.levelsAskedFor();
  if (asked.empty() || options.shares == nullptr || hasOwnDomains(options, arguments)) return entry;
  // A launch with a wrong number of arguments is refused later.
  if (arguments.size() != entry.parameterCount()) return entry;
  KnownLevels values{};
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto level = levelIn(arguments, asked[i]);
    if (!level) return entry;
    values[i] = *level;
  }
  return entry.forLevels(values);
}

KernelEntry& entryForSizes(KernelEntry& entry, const LaunchOptions& options, Arguments arguments) {
  const auto asked = entry.sizesAskedFor();
  if (asked.empty() || hasOwnDomains(options, arguments)) return entry;
  std::size_t sizes[3] = {0, 0, 0};
  if (!findSizes(options, arguments, sizes)) return entry;
  KnownSizes known{};
  bool isAny = false;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::uint64_t number = lengthIn(arguments, asked[i]);
    for (unsigned axis = 0; number > 0 && axis < 3; ++axis)
      if (sizes[axis] == number) known[i] |= static_cast<std::uint8_t>(1U << axis);
    isAny = isAny || known[i] != 0;
  }
  return isAny ? entry.forSizes(known) : entry;
}

}  // namespace

KernelEntry& entryForScalars(KernelEntry& entry, const LaunchOptions& options,
                             Arguments arguments) {
  return entryForLevels(entryForSizes(entry, options, arguments), options, arguments);
}

std::optional<Domain> rowsAndColumns(const KernelEntry& entry, const LaunchOptions& options,
                                     Arguments arguments) {
  const ir::RowLength* length = entry.rowLength();
  if (length == nullptr || options.local.dims > 0 || hasOwnDomains(options, arguments)) return {};
  if (options.shares != nullptr && options.shares->blocks.dims > 0) return {};
  // Messages name a work-item outside of its array by the number that the program gave it.
  if (runtime::settings().checkBounds) return {};
  const geometry::Extents* array = layout::firstArray(arguments);
  const int dims = options.global.dims > 0 ? options.global.dims
                   : array != nullptr      ? array->rank()
                                           : 0;
  std::size_t sizes[3] = {0, 0, 0};
  if (dims != 1 || !findSizes(options, arguments, sizes)) return {};
  const auto parameter = static_cast<std::size_t>(length->parameter);
  const std::uint64_t row = length->parameter < 0 ? static_cast<std::uint64_t>(length->number)
                                                  : lengthIn(arguments, parameter);
  if (row < kLeastRow || sizes[0] % row != 0 || sizes[0] / row < 2) return {};
  return Domain(row, sizes[0] / row);
}

void specialise(KernelEntry*& entry, LaunchOptions& options, Arguments arguments) {
  if (hasOwnDomains(options, arguments)) return;
  const bool isListed = options.shares != nullptr && !options.shares->devices.empty();
  runtime::DeviceState& device = isListed ? *options.shares->devices.front()
                                 : options.device != nullptr
                                     ? *options.device
                                     : runtime::Runtime::get().defaultDevice();
  const std::vector<std::string> labels = layout::labelsOf(arguments);
  entry->version(device, labels);
  if (const auto rows = rowsAndColumns(*entry, options, arguments)) {
    entry = &entry->unfolded();
    options.global = *rows;
    entry->version(device, labels);
  }
  entry = &entryForSizes(*entry, options, arguments);
  entry->version(device, labels);
  entry = &entryForLevels(*entry, options, arguments);
}

}  // namespace hpl::launch
