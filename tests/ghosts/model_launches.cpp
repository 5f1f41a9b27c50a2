// SPDX-License-Identifier: Apache-2.0
// The launches of random programs: on one device, annotated, divided by the library, on views.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model_program.h"

using namespace hpl;

namespace ghosts_model {

namespace {

const char* nameOf(Work work) {
  const char* names[] = {"set", "scale", "near", "far", "look"};
  return names[static_cast<int>(work)];
}

template <int N>
Domain oneEach() {
  return N == 1 ? Domain(1) : Domain(1, 1);
}

std::vector<int> evenSizes(int total, int parts) {
  std::vector<int> sizes;
  for (int i = 0; i < parts; ++i) sizes.push_back(total / parts + (i < total % parts ? 1 : 0));
  return sizes;
}

}  // namespace

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
    // Parts may be thinner than the ghosts of their neighbours.
    const int least = oneIn(2) ? 1 : kWidest;
    (cut.alongY ? cut.heights : cut.widths) =
        cut.weighted ? randomSizes(total, cut.devices, least) : evenSizes(total, cut.devices);
  }
  cut.before = below(kWidest + 1);
  cut.afterOut = oneIn(2) || (cut.alongY && cut.alongX) ? cut.before : below(kWidest + 1);
  cut.afterIn = oneIn(4) && !(cut.alongY && cut.alongX) ? below(kWidest + 1) : cut.afterOut;
  cut.sync = oneIn(2) ? AUTO_SYNC : MANUAL_SYNC;
  return cut;
}

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
  const auto outCut = cut.distribution(cut.afterOut, whole());
  const auto inCut = cut.distribution(call.hasInput() ? cut.afterIn : cut.afterOut, whole());
  // With a constant of its own for each device, ghosts differ from what their owners have.
  const bool ownConstants = oneIn(2);
  log_ += ownConstants ? "  with a constant for each\n" : "";
  std::vector<int> c;
  std::vector<Share> shares;
  for (std::size_t d = 0; d < outCut->parts.size(); ++d) {
    Call own = call;
    own.c = call.c + (ownConstants ? static_cast<int>(d) * 1000 : 0);
    c.push_back(own.c);
    Share& share = shares.emplace_back(
        shareOf(static_cast<int>(d), own, targets, outCut->parts[d].full, inCut->parts[d].full));
    for (std::size_t u = 0; u < share.uses.size(); ++u) {
      share.uses[u].distribution = u == 0 ? outCut : inCut;
      share.uses[u].autoSync = cut.sync == AUTO_SYNC;
      share.uses[u].rim = call.rim(N == 1);
      share.uses[u].reach =
          u == 0 && call.hasInput() ? Reach{} : call.reach(cut.alongY, cut.alongX, N == 1);
    }
  }
  const bool isSizeOfInput = std::all_of(shares.begin(), shares.end(), [](const Share& share) {
    return share.uses.front().cells == share.uses.back().cells;
  });
  for (Share& share : shares)
    if (ownConstants || !isSizeOfInput) share.uses.front().rim.known = false;
  const FRunner runner = ownConstants ? startAnnotated(call, targets, cut, c)
                                      : startAnnotated(call, targets, cut, call.c);
  remember(targets, call, runner, std::move(shares));
}

template <int N>
template <class C>
FRunner RandomProgram<N>::startAnnotated(const Call& call, const Targets& targets, const Cut& cut,
                                         const C& c) {
  const auto prepare = [&](Launcher launcher) {
    launcher.devices(cut.devices).local(oneEach<N>());
    if (cut.weighted) launcher.weights(cut.weights());
    return launcher;
  };
  Array<int, N>& out = *pair(targets.out).array;
  Array<int, N>& in = *pair(targets.in).array;
  if constexpr (N == 1) {
    return start(call, prepare, PART1(out, cut.before, cut.afterOut, cut.sync),
                 PART1(in, cut.before, cut.afterIn, cut.sync), in.part(1), c);
  } else if (cut.alongY && cut.alongX) {
    return start(call, prepare, PART12(out, cut.before, cut.before, cut.sync),
                 PART12(in, cut.before, cut.before, cut.sync), in.part(1), in.part(2), c);
  } else if (cut.alongY) {
    return start(call, prepare, PART1(out, cut.before, cut.afterOut, cut.sync),
                 PART1(in, cut.before, cut.afterIn, cut.sync), in.part(1), in.part(2), c);
  } else {
    return start(call, prepare, PART2(out, cut.before, cut.afterOut, cut.sync),
                 PART2(in, cut.before, cut.afterIn, cut.sync), in.part(1), in.part(2), c);
  }
}

namespace {

// Where the kernel's accesses can all be told: what each may read of the input.
std::vector<Rect> touchedBy(const Call& call, const Rect& indices, const Rect& in, bool isVector) {
  std::vector<Rect> touched;
  for (const auto& [dy, dx] : call.sites(isVector)) {
    const Rect shifted{indices.y0 + dy + in.y0, indices.y1 + dy + in.y0, indices.x0 + dx + in.x0,
                       indices.x1 + dx + in.x0};
    const Rect read = intersect(shifted, in);
    if (read.height() > 0 && read.width() > 0) touched.push_back(read);
  }
  return touched;
}

}  // namespace

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
  // In bands, whatever would exchange less: tests of blocks have a model of their own.
  const auto bands = static_cast<std::size_t>(devices);
  const auto prepare = [&](Launcher launcher) {
    return launcher.devices(devices)
        .blocks(N == 1 ? Domain(bands) : Domain(1, bands))
        .local(oneEach<N>());
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
      if (devices > 1) {
        share.uses[1].touched = touchedBy(call, indices, in, N == 1);
        // An argument of which nothing is read has a place nevertheless.
        if (call.work == Work::Far && share.uses[1].touched.empty()) share.uses[1].read = false;
      }
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

// Overlapping views that were cut by hand.
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

template void RandomProgram<1>::launchOnOne();
template void RandomProgram<2>::launchOnOne();
template void RandomProgram<1>::launchAnnotated();
template void RandomProgram<2>::launchAnnotated();
template void RandomProgram<1>::launchDivided();
template void RandomProgram<2>::launchDivided();
template void RandomProgram<1>::launchOnViews();
template void RandomProgram<2>::launchOnViews();
template void RandomProgram<1>::repeat();
template void RandomProgram<2>::repeat();

}  // namespace ghosts_model
