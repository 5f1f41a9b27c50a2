// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hpl/layout/tuning.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/fp_mode.h"
#include "hpl/tune/search.h"
#include "hpl/tune/store.h"

/// Tuning of whatever can be done in several ways: kernels, and what launches several of them.
namespace hpl::layout {

/// Something that can be done in several ways on one device, to be measured.
class Tunable {
 public:
  Tunable() = default;
  virtual ~Tunable() = default;
  Tunable(const Tunable&) = delete;
  Tunable& operator=(const Tunable&) = delete;

  /// The default, the point without entries, first; alone where there is no choice.
  virtual const std::vector<tune::Point>& points() const = 0;
  /// Seconds in one of the ways. Throws hpl::Error where it cannot be done in it.
  virtual double measure(const tune::Point& point) = 0;
  /// How it is done in one of the ways; a phrase for people.
  virtual std::string choiceOf(const tune::Point& point) const = 0;
  /// Identifies the launches for which a finding holds: see findingKey().
  virtual const std::string& key() const = 0;
  virtual runtime::DeviceState& device() const = 0;
  /// "kernel 'life'".
  virtual std::string describe() const = 0;
};

/// Measures all points of `tunable` and keeps what was found. Throws what measuring the default
/// throws.
TuneResult tuneNow(Tunable& tunable, const TuneOptions& options);
/// HPL_TUNE=full: does so unless that was done thoroughly before; whether it was done now. Where
/// there is no memory for scratch arrays, says so and changes nothing.
bool tuneFirst(Tunable& tunable);
/// The result of tuning that measures nothing, because there is no choice, or HPL_TUNE=off.
TuneResult nothingTuned(const std::string& why, int variants);
/// Throws LaunchError unless the options give some time; `call` is what the user has called.
void checkTuneOptions(const std::string& call, const TuneOptions& options);

/// The findings for a kind of device, which its sub-devices and copies share. Nothing is read or
/// written under HPL_CACHE=off.
tune::Store& findingsOf(const runtime::DeviceState& device);
/// "life 0123 2048x2048 default 2 units": what was tuned and for which sizes, in words; the
/// floating-point mode; the device's units.
std::string findingKey(const std::string& subject, FpMode fp, const runtime::DeviceState& device);
/// Whether what this process has measured may decide what a program launches: not where several
/// ranks have to decide alike. How a kernel is laid out may differ between them.
bool mayDecideByTimes();
inline constexpr const char* kNoTimes =
    "several ranks, or a dry run, launch the default: times of one process decide nothing there";
/// The known finding; none under HPL_TUNE=off.
std::optional<tune::Finding> findingFor(const runtime::DeviceState& device, const std::string& key);

/// "; tuned: 1.20 times as fast as the default, 1.05 ms against 1.26 ms".
std::string remarkOn(const tune::Finding& finding);
/// "1.05 ms".
std::string timeText(double seconds);

/// HPL_TUNE=quick: how trying while programs run spends its time; tests shorten it.
struct OnlineOptions {
  /// Device seconds that a kernel, or an iteration, has used before anything is tried.
  double start = 1;
  /// The share of the device time so far that trying may have cost.
  double share = 0.03;
  /// Seconds that making a variant takes until one has been made.
  double making = 0.2;
  /// Candidates besides the default.
  std::size_t candidates = 8;
  /// A measurement takes about this long; what is short is launched several times.
  double measurement = 1e-3;
};
OnlineOptions& onlineOptions();

}  // namespace hpl::layout
