// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/online_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hpl/error.h"
#include "hpl/layout/findings.h"
#include "hpl/layout/variant.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/explain.h"

namespace hpl::layout {
namespace {

/// Seconds of an enqueue in which nothing is compiled.
constexpr double kUsualEnqueue = 100e-6;
/// The first launches may compile and move data.
constexpr std::int64_t kFirstLook = 4;

/// Whether the kernel has finished. Throws DeviceError when it failed.
bool isDone(const cl::Event& event) {
  cl_int status = CL_QUEUED;
  runtime::check(
      clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
      "clGetEventInfo");
  runtime::check(std::min(status, 0), "a kernel");
  return status == CL_COMPLETE;
}

double secondsOf(const cl::Event& event) {
  cl_ulong begin = 0;
  cl_ulong end = 0;
  runtime::check(
      clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr),
      "clGetEventProfilingInfo");
  runtime::check(
      clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
      "clGetEventProfilingInfo");
  return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
}

}  // namespace

OnlineOptions& onlineOptions() {
  static OnlineOptions options;
  return options;
}

OnlineRace::OnlineRace(const LaunchRequest& request, const Shape& shape)
    : key_(findingKey(*request.version, *request.device, shape, request.fp)),
      store_(&findingsOf(*request.device)),
      version_(request.version),
      device_(request.device),
      shape_(shape),
      race_({onlineOptions().start, onlineOptions().share, onlineOptions().making}, kFirstLook) {}

bool OnlineRace::isLedBy(runtime::DeviceState& device, const Shape& shape) {
  if (!hasLeader_) {
    hasLeader_ = true;
    device_ = &device;
    shape_ = shape;
  }
  return device_ == &device && std::equal(shape.size, shape.size + 3, shape_.size);
}

void OnlineRace::begin() {
  // Timed launches use a second queue, so that queues must wait for each other as they should.
  if (!device_->waitsForUserEvents()) return finish();
  std::vector<tune::Point> points = variantsOf(*version_, *device_, shape_);
  // Heights of bands matter little; what is nearest to the default comes first.
  std::erase_if(points,
                [](const tune::Point& p) { return p.value("band") != 0 || p.value("depth") != 0; });
  points.resize(std::min(points.size(), onlineOptions().candidates + 1));
  race_.begin(points, store_->find(key_));
  if (race_.ladder().isFinished()) finish();
}

void OnlineRace::dropLegs() {
  leg_.reset();
  events_.clear();
  pending_.clear();
}

/// Something is known of a challenger: on with the next one.
void OnlineRace::settled() {
  dropLegs();
  if (race_.ladder().isFinished()) finish();
}

int OnlineRace::legLaunches() const noexcept {
  constexpr int kMost = 16;
  if (race_.perUnit() <= 0) return 1;
  return static_cast<int>(
      std::clamp(std::ceil(onlineOptions().measurement / race_.perUnit()), 1.0, double{kMost}));
}

/// The likely cost of a leg. For a challenger about which nothing is known: twice the incumbent's;
/// for a challenger without the strategy, as long as the strategy may be worth.
double OnlineRace::costOf(const tune::Race::Leg& leg) const {
  if (leg.candidate == 0) return 0;
  const std::size_t challenger = race_.ladder().challenger();
  constexpr auto kDirect = static_cast<std::int64_t>(runtime::Strategy::Direct);
  const bool isDirect = points()[challenger].value("strategy") == kDirect;
  const double making = race_.isMade(challenger) ? 0 : race_.making();
  return making + race_.expectedLoss(isDirect ? 30 : 1) * race_.perUnit() * (legLaunches() + 1);
}

/// Finds out how long the kernel takes, and again after four times as many launches: a timed launch
/// costs some 40 us more.
std::optional<std::size_t> OnlineRace::probe() {
  wait();
  if (!pending_.empty()) return std::nullopt;
  if (race_.mayBegin()) {
    begin();
    return std::nullopt;
  }
  if (race_.isProbeDue()) {
    race_.noteProbe();
    leg_ = tune::Race::Leg{};
    ++wishes_;
    left_ = 1;
    return 0;
  }
  race_.sleepUntilProbe();
  return std::nullopt;
}

std::optional<std::size_t> OnlineRace::wish() {
  if (finished_) return std::nullopt;
  if (race_.ladder().isFinished() && !leg_) return probe();
  if (!leg_) {
    const auto next = race_.ladder().next();
    if (!next) {
      wait();
      return std::nullopt;
    }
    const double cost = costOf(*next);
    if (!race_.allows(cost)) {
      race_.sleepUntilAllowed(cost);
      return std::nullopt;
    }
    leg_ = next;
    ++wishes_;
    left_ = legLaunches();
    race_.ladder().start(*leg_);
  }
  wait();
  return race_.ladder().candidateOf(*leg_);
}

bool OnlineRace::mayMake(std::size_t candidate) const {
  return !race_.isMade(candidate) || candidate == incumbent() || race_.allows(0);
}

void OnlineRace::noteMade(std::size_t candidate, double seconds) {
  race_.noteMade(candidate, seconds);
}

void OnlineRace::noteFailed(std::size_t candidate, double seconds) {
  race_.spend(seconds);
  if (finished_ || candidate != race_.ladder().challenger()) return;
  race_.ladder().fail();
  settled();
}

void OnlineRace::noteLaunch(std::uint64_t wish, bool warming, cl::Event event, double hostSeconds) {
  if (wish != wishes_ || !leg_ || event() == nullptr) return;
  if (leg_->candidate != 0) race_.spend(std::max(0.0, hostSeconds - kUsualEnqueue));
  if (warming) {
    pending_.push_back({*leg_, false, true, {std::move(event)}});
    return;
  }
  events_.push_back(std::move(event));
  if (--left_ > 0) return;
  pending_.push_back({*leg_, race_.ladder().isFinished(), false, std::move(events_)});
  events_.clear();
  leg_.reset();
}

void OnlineRace::poll() {
  // A failure here is the launch's own, and reported when its results are read.
  try {
    while (!pending_.empty() && isDone(pending_.front().events.back())) {
      const Sample sample = std::move(pending_.front());
      pending_.pop_front();
      std::vector<double> seconds;
      seconds.reserve(sample.events.size());
      for (const cl::Event& event : sample.events) seconds.push_back(secondsOf(event));
      judge(sample, seconds);
      if (finished_) return;
    }
  } catch (const DeviceError&) {
    finish();
    race_.ladder().dropNews();
  }
}

void OnlineRace::judge(const Sample& sample, const std::vector<double>& seconds) {
  double sum = 0;
  for (const double one : seconds) sum += one;
  const double mean = sum / static_cast<double>(seconds.size());
  if (sample.isProbe) {
    race_.setPerUnit(mean);
    return;
  }
  race_.noteTime(sample.leg, sum, static_cast<std::int64_t>(seconds.size()));
  if (sample.isWarming) return;
  if (race_.ladder().record(sample.leg, mean)) settled();
}

void OnlineRace::finish() {
  finished_ = true;
  dropLegs();
}

std::optional<tune::Finding> OnlineRace::takeNews() {
  return race_.ladder().takeNews(
      fmt::format("tried while programs ran; the last one lost {} by it", timeText(race_.spent())));
}

void OnlineRace::keep(const tune::Finding& finding) const {
  store_->keep(key_, finding);
  if (!finding.complete) return;
  const std::string text =
      fmt::format("kernel '{}' on {}: {}, of {} that were tried while it ran{}", version_->name,
                  device_->name(), Variant::from(finding.best).toString(), finding.lost.size() + 1,
                  finding.best == tune::Point() ? "" : remarkOn(finding));
  runtime::explainOrLog(text);
}

void OnlineRace::stop() { finish(); }

}  // namespace hpl::layout
