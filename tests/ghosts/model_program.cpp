// SPDX-License-Identifier: Apache-2.0
#include "model_program.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hpl/memory/detail/device_access.h"
#include "hpl/runtime/detail/device_state.h"

using namespace hpl;

namespace ghosts_model {

namespace {

constexpr std::size_t kArrays = 3;
constexpr int kWidest = 3;

std::string show(const Rect& r) { return fmt::format("[{}:{}, {}:{})", r.y0, r.y1, r.x0, r.x1); }

const char* nameOf(Work work) {
  const char* names[] = {"set", "scale", "near", "far", "look"};
  return names[static_cast<int>(work)];
}

template <int N>
Domain oneEach() {
  return N == 1 ? Domain(1) : Domain(1, 1);
}

}  // namespace

// ---- cuts ------------------------------------------------------------------------------------

std::vector<double> Cut::weights() const {
  const std::vector<int>& sizes = alongY ? heights : widths;
  return {sizes.begin(), sizes.end()};
}

std::shared_ptr<const Distribution> Cut::distribution(int after, const Rect& whole) const {
  auto result = std::make_shared<Distribution>();
  Rect core;
  int device = 0;
  for (const int height : heights) {
    core.y0 = core.y1;
    core.y1 += height;
    core.x1 = 0;
    for (const int width : widths) {
      core.x0 = core.x1;
      core.x1 += width;
      Part& part = result->parts.emplace_back();
      part.device = device++;
      part.core = core;
      part.full = intersect(
          grown(core, {before * alongY, after * alongY, before * alongX, after * alongX, true}),
          whole);
      part.owns.assign(whole.size(), 0);
      forEachCell(core, [&](int y, int x) {
        part.owns[static_cast<std::size_t>(y * whole.width() + x)] = 1;
      });
    }
  }
  return result;
}

template <int N>
std::vector<int> RandomProgram<N>::randomSizes(int total, int parts, int least) {
  std::vector<int> sizes(static_cast<std::size_t>(parts), least);
  for (int left = total - least * parts; left > 0; --left)
    ++sizes[static_cast<std::size_t>(below(parts))];
  return sizes;
}

namespace {

std::vector<int> evenSizes(int total, int parts) {
  std::vector<int> sizes;
  for (int i = 0; i < parts; ++i) sizes.push_back(total / parts + (i < total % parts ? 1 : 0));
  return sizes;
}

}  // namespace

template <int N>
Cut RandomProgram<N>::randomCut() {
  Cut cut;
  cut.alongY = N == 2 && oneIn(2);
  cut.alongX = !cut.alongY;
  cut.devices = oneIn(3) ? 1 + below(machine_.devices) : machine_.devices;
  cut.heights = {height_};
  cut.widths = {width_};
  if (N == 2 && cut.devices == 4 && oneIn(3)) {
    cut.alongY = cut.alongX = true;
    cut.heights = evenSizes(height_, 2);
    cut.widths = evenSizes(width_, 2);
  } else {
    cut.weighted = oneIn(3);
    const int total = cut.alongY ? height_ : width_;
    (cut.alongY ? cut.heights : cut.widths) =
        cut.weighted ? randomSizes(total, cut.devices, kWidest) : evenSizes(total, cut.devices);
  }
  cut.before = below(kWidest + 1);
  cut.afterOut = oneIn(2) || (cut.alongY && cut.alongX) ? cut.before : below(kWidest + 1);
  cut.afterIn = oneIn(4) && !(cut.alongY && cut.alongX) ? below(kWidest + 1) : cut.afterOut;
  cut.sync = oneIn(2) ? AUTO_SYNC : MANUAL_SYNC;
  return cut;
}

// ---- the program -----------------------------------------------------------------------------

template <int N>
RandomProgram<N>::RandomProgram(unsigned seed)
    : random_(seed), devices_(ghosts_tests::testDevices()), before_(getTotalProfile()) {
  machine_.devices = static_cast<int>(devices_.size());
  machine_.sharesHostMemory = ghosts_tests::devicesShareHostMemory();
  machine_.oneContext =
      devices_.size() > 1 && devices_[0].state().sharesContextWith(devices_[1].state());
  // Nearly square, so that four blocks are two by two.
  height_ = N == 1 ? 1 : 16 + below(4);
  width_ = N == 1 ? 40 + below(20) : 16 + below(4);
  modelBefore_ = Model::moved;
  pairs_.resize(kArrays);
  for (std::size_t i = 0; i < kArrays; ++i) makePair(i);
  for (int i = 0; i < 2; ++i) makeViews();
}

template <int N>
void RandomProgram<N>::makePair(std::size_t i) {
  pairs_[i] = std::make_unique<Pair<N>>();
  Pair<N>& fresh = pair(i);
  if (oneIn(3)) {
    const std::size_t alignment = runtime::DeviceState::hostAlignment;
    std::size_t space = whole().size() * sizeof(int) + alignment;
    fresh.memory = std::make_unique<std::byte[]>(space);
    void* at = fresh.memory.get();
    fresh.user = static_cast<int*>(std::align(alignment, whole().size() * sizeof(int), at, space));
  }
  if constexpr (N == 1) {
    fresh.array = fresh.user ? std::make_unique<Array<int, 1>>(width_, fresh.user)
                             : std::make_unique<Array<int, 1>>(width_);
  } else {
    fresh.array = fresh.user ? std::make_unique<Array<int, 2>>(height_, width_, fresh.user)
                             : std::make_unique<Array<int, 2>>(height_, width_);
  }
  fresh.model = std::make_unique<Model>(machine_, height_, width_);
  hostWrite(i, whole());
}

// User memory gets what it lacks when the last handle dies.
template <int N>
void RandomProgram<N>::killPair(std::size_t i) {
  Pair<N>& old = pair(i);
  std::erase_if(past_, [&](const Entry& entry) {
    return entry.targets.out == i || (entry.hasInput && entry.targets.in == i);
  });
  old.array.reset();
  if (old.user == nullptr) return;
  old.model->hostRead(whole());
  bool same = true;
  forEachCell(whole(), [&](int y, int x) {
    same = same && old.user[y * width_ + x] == old.model->value(y, x);
  });
  CHECK_MESSAGE(same, "user memory is wrong after:\n" << log_);
}

template <int N>
void RandomProgram<N>::makeViews() {
  const bool alongY = N == 2 && oneIn(2);
  const int total = alongY ? height_ : width_;
  const int overlap = below(kWidest + 1);
  std::vector<Rect> views;
  int start = 0;
  // No view may contain its neighbour.
  for (const int size : randomSizes(total, 1 + below(machine_.devices), kWidest + 1)) {
    Rect r = whole();
    (alongY ? r.y0 : r.x0) = std::max(0, start - overlap);
    start += size;
    (alongY ? r.y1 : r.x1) = std::min(total, start + below(2) + overlap / 2);
    views.push_back(r);
  }
  views_.push_back(views);
}

template <int N>
void RandomProgram<N>::run(int operations) {
  for (int i = 0; i < operations; ++i) {
    step();
    checkBytes();
    checkCopies();
  }
  for (std::size_t i = 0; i < kArrays; ++i) {
    hostRead(i, whole());
    checkBytes();
    killPair(i);
  }
  checkBytes();
}

template <int N>
void RandomProgram<N>::step() {
  const int what = below(100);
  if (what < 8) return hostRead(some(), oneIn(3) ? whole() : randomRect());
  if (what < 15) return hostWrite(some(), oneIn(6) ? whole() : randomRect());
  if (what < 23) return assign();
  if (what < 26) return fill();
  if (what < 34) return launchOnOne();
  if (what < 58) return launchAnnotated();
  if (what < 66) return launchDivided();
  if (what < 80) return launchOnViews();
  if (what < 88) return repeat();
  if (what < 98) {
    const std::size_t i = some();
    log_ += fmt::format("a{}.syncGhosts\n", i);
    pair(i).array->syncGhosts();
    pair(i).model->syncGhosts();
    return;
  }
  const std::size_t i = some();
  log_ += fmt::format("a{} dies\n", i);
  killPair(i);
  makePair(i);
}

template <int N>
void RandomProgram<N>::checkBytes() {
  const ProfilingData now = getTotalProfile();
  const Bytes bytes{now.bytesHostToDevice - before_.bytesHostToDevice,
                    now.bytesDeviceToHost - before_.bytesDeviceToHost,
                    now.bytesDeviceToDevice - before_.bytesDeviceToDevice};
  const Bytes wanted{Model::moved.up - modelBefore_.up, Model::moved.down - modelBefore_.down,
                     Model::moved.across - modelBefore_.across};
  before_ = now;
  modelBefore_ = Model::moved;
  const bool same =
      bytes.up == wanted.up && bytes.down == wanted.down && bytes.across == wanted.across;
  if (!same)
    FAIL("moved " << bytes.up << " up, " << bytes.down << " down, " << bytes.across
                  << " across; should be " << wanted.up << ", " << wanted.down << ", "
                  << wanted.across << " after:\n"
                  << log_);
}

// Which cells each device has, and which it keeps for itself.
template <int N>
void RandomProgram<N>::checkCopies() {
  for (std::size_t i = 0; i < kArrays; ++i)
    for (int d = 0; d < machine_.devices; ++d)
      if (pair(i).model->hasOwn(d)) checkCopiesOn(i, d);
}

template <int N>
void RandomProgram<N>::checkCopiesOn(std::size_t i, int d) {
  memory::Root& root = pair(i).array->hostView().root();
  runtime::DeviceState& device = devices_[static_cast<std::size_t>(d)].state();
  const Model& model = *pair(i).model;
  const auto matches = [&](const std::vector<geometry::Box>& boxes, auto isIn) {
    std::vector<char> found(whole().size(), 0);
    const auto at = [&](int y, int x) { return static_cast<std::size_t>(y * width_ + x); };
    for (const geometry::Box& box : boxes) {
      const int y0 = N == 1 ? 0 : static_cast<int>(box.lo(0));
      const int y1 = N == 1 ? 1 : static_cast<int>(box.hi(0));
      forEachCell({y0, y1, static_cast<int>(box.lo(N - 1)), static_cast<int>(box.hi(N - 1))},
                  [&](int y, int x) { found[at(y, x)] = 1; });
    }
    bool same = true;
    forEachCell(whole(), [&](int y, int x) { same = same && found[at(y, x)] == isIn(y, x); });
    return same;
  };
  const auto current = memory::detail::currentOn(root, device);
  const auto kept = memory::detail::keptOn(root, device);
  const auto list = [](const std::vector<geometry::Box>& boxes) {
    std::string text;
    for (const geometry::Box& box : boxes) text += " " + box.toString();
    return text;
  };
  const bool rightCurrent =
      matches(current, [&](int y, int x) { return model.isCurrentOn(d, y, x); });
  const bool rightKept = matches(kept, [&](int y, int x) { return model.keeps(d, y, x); });
  if (rightCurrent && rightKept) return;
  std::string wanted;
  forEachCell(whole(), [&](int y, int x) {
    if (y > 0 && x == 0) wanted += "\n";
    wanted += model.isCurrentOn(d, y, x) ? 'c' : model.keeps(d, y, x) ? 'k' : '.';
  });
  FAIL("device " << d << " has of a" << i << list(current) << " and keeps" << list(kept)
                 << ", should have (c) and keep (k)\n"
                 << wanted << "\nafter:\n"
                 << log_);
}

template <int N>
Rect RandomProgram<N>::randomRect() {
  const auto range = [&](int extent, int& lo, int& hi) {
    const int a = below(extent);
    const int b = below(extent);
    lo = oneIn(3) ? 0 : std::min(a, b);
    hi = std::max(a, b) + 1;
  };
  Rect r;
  range(height_, r.y0, r.y1);
  range(width_, r.x0, r.x1);
  return r;
}

template <int N>
Rect RandomProgram<N>::moved(const Rect& r) {
  const int y = below(height_ - r.height() + 1);
  const int x = below(width_ - r.width() + 1);
  return {y, y + r.height(), x, x + r.width()};
}

template <int N>
Array<int, N>& RandomProgram<N>::view(std::size_t i, const Rect& r) {
  if (r == whole()) return *pair(i).array;
  if constexpr (N == 1) {
    return (*pair(i).array)(Range(r.x0, r.x1 - 1));
  } else {
    return (*pair(i).array)(Range(r.y0, r.y1 - 1), Range(r.x0, r.x1 - 1));
  }
}

// ---- the host --------------------------------------------------------------------------------

template <int N>
void RandomProgram<N>::hostRead(std::size_t i, const Rect& r) {
  log_ += fmt::format("read a{}{}\n", i, show(r));
  const std::vector<int> values = ghosts_tests::valuesOf(view(i, r));
  pair(i).model->hostRead(r);
  std::size_t next = 0;
  forEachCell(r, [&](int y, int x) {
    const int wanted = pair(i).model->value(y, x);
    const int found = values[next++];
    if (found != wanted)
      FAIL("a" << i << "(" << y << ", " << x << ") is " << found << ", should be " << wanted
               << " after:\n"
               << log_);
  });
}

// All cells from a list, or some of them one by one.
template <int N>
void RandomProgram<N>::hostWrite(std::size_t i, const Rect& r) {
  log_ += fmt::format("write a{}{}\n", i, show(r));
  Array<int, N>& target = view(i, r);
  if (r == whole() || oneIn(2)) {
    std::vector<int> values(r.size());
    for (int& value : values) value = below(1000);
    target.copyFrom(values.data());
    pair(i).model->hostWrite(r, true);
    std::size_t next = 0;
    forEachCell(r, [&](int y, int x) { pair(i).model->set(y, x, values[next++]); });
    return;
  }
  pair(i).model->hostWrite(r, false);
  forEachCell(r, [&](int y, int x) {
    if (!(y == r.y0 && x == r.x0) && !oneIn(3)) return;
    const int value = below(1000);
    if constexpr (N == 1) {
      target(x - r.x0) = value;
    } else {
      target(y - r.y0, x - r.x0) = value;
    }
    pair(i).model->set(y, x, value);
  });
}

template <int N>
void RandomProgram<N>::assign() {
  const std::size_t dst = some();
  const std::size_t src = some();
  const Rect to = oneIn(3) ? whole() : randomRect();
  const Rect from = moved(to);
  if (dst == src && to == from) return;
  log_ += fmt::format("a{}{} = a{}{}\n", dst, show(to), src, show(from));
  view(dst, to) = view(src, from);
  const std::uint64_t before = Model::moved.across;
  Model::copy(*pair(dst).model, to, *pair(src).model, from);
  if (!machine_.sharesHostMemory) return;
  // Which copies within the host's memory a device makes depends on who is busy: it makes those
  // of busy ones, and they count as copies between devices.
  before_.bytesDeviceToDevice = getTotalProfile().bytesDeviceToDevice;
  modelBefore_.across += Model::moved.across - before;
}

template <int N>
void RandomProgram<N>::fill() {
  const std::size_t i = some();
  const Rect r = oneIn(3) ? whole() : randomRect();
  const int value = below(1000);
  log_ += fmt::format("a{}{} = {}\n", i, show(r), value);
  view(i, r) = value;
  pair(i).model->fill(r, value);
}

// ---- launches --------------------------------------------------------------------------------

template <int N>
Call RandomProgram<N>::randomCall() {
  Call call;
  call.work = static_cast<Work>(below(5));
  call.c = below(100);
  call.dy = N == 1 ? 0 : below(5) - 2;
  call.dx = below(7) - 3;
  return call;
}

template <int N>
typename RandomProgram<N>::Targets RandomProgram<N>::randomTargets(const Call& call) {
  const std::size_t out = some();
  const std::size_t in = call.hasInput() ? (out + 1 + some() % (kArrays - 1)) % kArrays : out;
  log_ += fmt::format("{}(c {}, {}, {}) a{}, a{}", nameOf(call.work), call.c, call.dy, call.dx, out,
                      in);
  return {out, in};
}

template <int N>
Share RandomProgram<N>::shareOf(int device, const Call& call, const Targets& targets,
                                const Rect& out, const Rect& in) {
  Share share;
  share.device = device;
  Use written;
  written.array = pair(targets.out).model.get();
  written.cells = out;
  written.read = call.work == Work::Scale;
  written.write = true;
  written.overwrites = call.work == Work::Set;
  written.isView = !(out == whole());
  share.uses.push_back(written);
  std::vector<Frame> frames{{out, out.y0, out.x0}};
  if (call.hasInput()) {
    Use read;
    read.array = pair(targets.in).model.get();
    read.cells = in;
    read.read = true;
    read.isView = !(in == whole());
    share.uses.push_back(read);
    frames.push_back({in, in.y0, in.x0});
  }
  share.run = [=](std::vector<std::vector<int>>& buffers) {
    runOnHost(call, {0, out.height(), 0, out.width()}, in.height(), in.width(), frames, buffers,
              N == 1);
  };
  return share;
}

template <int N>
void RandomProgram<N>::remember(const Targets& targets, const Call& call, FRunner runner,
                                std::vector<Share> shares) {
  Model::launch(shares);
  past_.push_back({targets, call.hasInput(), {std::move(runner), std::move(shares)}});
}

template <int N>
void RandomProgram<N>::launchOn(int device, const Call& call, const Targets& targets,
                                const Rect& out, const Rect& in) {
  const auto prepare = [&](Launcher launcher) {
    return launcher.device(devices_[static_cast<std::size_t>(device)]).local(oneEach<N>());
  };
  FRunner runner;
  if constexpr (N == 1) {
    runner = start(call, prepare, view(targets.out, out), view(targets.in, in), in.width(), call.c);
  } else {
    runner = start(call, prepare, view(targets.out, out), view(targets.in, in), in.height(),
                   in.width(), call.c);
  }
  remember(targets, call, runner, {shareOf(device, call, targets, out, in)});
}

template <int N>
void RandomProgram<N>::launchOnOne() {
  const Call call = randomCall();
  const Targets targets = randomTargets(call);
  const Rect out = oneIn(2) ? whole() : randomRect();
  const Rect in = moved(out);
  const int device = below(machine_.devices);
  log_ += fmt::format(" {} <- {} on {}\n", show(out), show(in), device);
  launchOn(device, call, targets, out, in);
}

template <int N>
void RandomProgram<N>::launchAnnotated() {
  const Call call = randomCall();
  const Targets targets = randomTargets(call);
  Cut cut = randomCut();
  // Its guard says nothing about an input of another size.
  if (call.work == Work::Near) cut.afterIn = cut.afterOut;
  log_ += fmt::format(" annotated {}{} on {}, before {}, after {} and {}, {} {}\n",
                      cut.alongY ? "y" : "", cut.alongX ? "x" : "", cut.devices, cut.before,
                      cut.afterOut, cut.afterIn, cut.sync == AUTO_SYNC ? "auto" : "manual",
                      cut.weighted ? fmt::format("{}", fmt::join(cut.weights(), " ")) : "");
  const auto prepare = [&](Launcher launcher) {
    launcher.devices(cut.devices).local(oneEach<N>());
    if (cut.weighted) launcher.weights(cut.weights());
    return launcher;
  };
  const auto outCut = cut.distribution(cut.afterOut, whole());
  const auto inCut = cut.distribution(call.hasInput() ? cut.afterIn : cut.afterOut, whole());
  // Every device gets a constant of its own, so that ghosts differ from what their owners have.
  std::vector<int> c;
  std::vector<Share> shares;
  for (std::size_t d = 0; d < outCut->parts.size(); ++d) {
    Call own = call;
    own.c = call.c + static_cast<int>(d) * 1000;
    c.push_back(own.c);
    Share& share = shares.emplace_back(
        shareOf(static_cast<int>(d), own, targets, outCut->parts[d].full, inCut->parts[d].full));
    for (std::size_t u = 0; u < share.uses.size(); ++u) {
      share.uses[u].distribution = u == 0 ? outCut : inCut;
      share.uses[u].autoSync = cut.sync == AUTO_SYNC;
      share.uses[u].rim = call.rim(cut.alongY, cut.alongX);
      share.uses[u].reach =
          u == 0 && call.hasInput() ? Reach{} : call.reach(cut.alongY, cut.alongX, N == 1);
    }
  }
  Array<int, N>& out = *pair(targets.out).array;
  Array<int, N>& in = *pair(targets.in).array;
  FRunner runner;
  if constexpr (N == 1) {
    runner = start(call, prepare, PART1(out, cut.before, cut.afterOut, cut.sync),
                   PART1(in, cut.before, cut.afterIn, cut.sync), in.part(1), c);
  } else if (cut.alongY && cut.alongX) {
    runner = start(call, prepare, PART12(out, cut.before, cut.before, cut.sync),
                   PART12(in, cut.before, cut.before, cut.sync), in.part(1), in.part(2), c);
  } else if (cut.alongY) {
    runner = start(call, prepare, PART1(out, cut.before, cut.afterOut, cut.sync),
                   PART1(in, cut.before, cut.afterIn, cut.sync), in.part(1), in.part(2), c);
  } else {
    runner = start(call, prepare, PART2(out, cut.before, cut.afterOut, cut.sync),
                   PART2(in, cut.before, cut.afterIn, cut.sync), in.part(1), in.part(2), c);
  }
  remember(targets, call, runner, std::move(shares));
}

// The library finds the parts: rows of the output, and what they need of the input.
template <int N>
void RandomProgram<N>::launchDivided() {
  Call call = randomCall();
  // The size of the domain differs from device to device, so the library refuses it.
  if (call.work == Work::Near) call.work = Work::Far;
  const Targets targets = randomTargets(call);
  const Rect out = oneIn(2) ? whole() : randomRect();
  const Rect in = moved(out);
  const int devices = 1 + below(machine_.devices);
  log_ += fmt::format(" {} <- {} divided among {}\n", show(out), show(in), devices);
  const auto prepare = [&](Launcher launcher) {
    return launcher.devices(devices).local(oneEach<N>());
  };
  FRunner runner;
  if constexpr (N == 1) {
    runner = start(call, prepare, view(targets.out, out), view(targets.in, in), in.width(), call.c);
  } else {
    runner = start(call, prepare, view(targets.out, out), view(targets.in, in), in.height(),
                   in.width(), call.c);
  }
  std::vector<Share> shares;
  const Reach reach = call.reach(N == 2, N == 1, N == 1);
  int first = 0;
  for (const int size : evenSizes(N == 2 ? out.height() : out.width(), devices)) {
    if (size == 0) continue;
    Rect indices{0, out.height(), 0, out.width()};
    (N == 2 ? indices.y0 : indices.x0) = first;
    (N == 2 ? indices.y1 : indices.x1) = first += size;
    const auto inView = [](const Rect& r, const Rect& of) {
      const Rect shifted{r.y0 + of.y0, r.y1 + of.y0, r.x0 + of.x0, r.x1 + of.x0};
      return intersect(shifted, of);
    };
    Share share = shareOf(static_cast<int>(shares.size()), call, targets, out, in);
    std::vector<Frame> frames{{inView(indices, out), out.y0, out.x0}};
    share.uses[0].cells = frames[0].cells;
    if (call.hasInput()) {
      frames.push_back({reach.known ? inView(grown(indices, reach), in) : in, in.y0, in.x0});
      share.uses[1].cells = frames[1].cells;
    }
    if (devices > 1) {
      for (Use& use : share.uses) use.isView = false;
    }
    share.run = [=](std::vector<std::vector<int>>& buffers) {
      runOnHost(call, indices, in.height(), in.width(), frames, buffers, N == 1);
    };
    shares.push_back(std::move(share));
  }
  remember(targets, call, runner, std::move(shares));
}

// Overlapping views that somebody has cut by hand.
template <int N>
void RandomProgram<N>::launchOnViews() {
  const Call call = randomCall();
  const Targets targets = randomTargets(call);
  const std::vector<Rect> views = views_[static_cast<std::size_t>(below(2))];
  const bool atOnce = oneIn(2);
  log_ += atOnce ? " on all views:" : " view by view:";
  for (const Rect& r : views) log_ += " " + show(r);
  log_ += "\n";
  if (atOnce) {
    launchViewsAtOnce(call, targets, views);
  } else {
    launchViewByView(call, targets, views);
  }
}

template <int N>
void RandomProgram<N>::launchViewByView(const Call& call, const Targets& targets,
                                        const std::vector<Rect>& views) {
  for (std::size_t d = 0; d < views.size(); ++d) {
    Call own = call;
    own.c += static_cast<int>(d) * 1000;
    launchOn(static_cast<int>(d), own, targets, views[d], views[d]);
  }
}

template <int N>
void RandomProgram<N>::launchViewsAtOnce(const Call& call, const Targets& targets,
                                         const std::vector<Rect>& views) {
  std::vector<Array<int, N>> out, in;
  std::vector<int> c, heights, widths;
  std::vector<Share> shares;
  for (std::size_t d = 0; d < views.size(); ++d) {
    Call own = call;
    own.c += static_cast<int>(d) * 1000;
    out.push_back(view(targets.out, views[d]));
    in.push_back(view(targets.in, views[d]));
    c.push_back(own.c);
    heights.push_back(views[d].height());
    widths.push_back(views[d].width());
    shares.push_back(shareOf(static_cast<int>(d), own, targets, views[d], views[d]));
  }
  const auto prepare = [&](Launcher launcher) {
    return launcher.devices(static_cast<int>(views.size())).local(oneEach<N>());
  };
  FRunner runner;
  if constexpr (N == 1) {
    runner = start(call, prepare, out, in, widths, c);
  } else {
    runner = start(call, prepare, out, in, heights, widths, c);
  }
  remember(targets, call, runner, std::move(shares));
}

template <int N>
void RandomProgram<N>::repeat() {
  if (past_.empty()) return;
  // The last ones are likely to find everything in place, old ones are not.
  const int back = oneIn(2) ? 1 : 1 + below(static_cast<int>(past_.size()));
  Entry& entry = past_[past_.size() - static_cast<std::size_t>(back)];
  for (int n = 1 + below(3); n > 0; --n) {
    log_ += fmt::format("repeat the launch {} back\n", back);
    entry.past.runner.run();
    Model::launch(entry.past.shares);
  }
}

template class RandomProgram<1>;
template class RandomProgram<2>;

}  // namespace ghosts_model
