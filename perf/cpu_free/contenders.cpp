// SPDX-License-Identifier: Apache-2.0
#include "contenders.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hpl/runtime/device_state.h"
#include "kernels.h"

namespace cpu_free {
namespace {

/// Host memory that devices work in.
class Memory {
 public:
  explicit Memory(std::size_t bytes)
      : data_(static_cast<char*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)),
              &std::free),
        bytes_(bytes) {
    std::memset(data_.get(), 0, bytes);
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }
  /// A view of it on another device, too.
  cl::Buffer on(const cl::Context& context) const {
    return {context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes_, data_.get()};
  }

 private:
  std::unique_ptr<char, decltype(&std::free)> data_;
  std::size_t bytes_;
};

/// A device, its fields a and b and its neighbour's, and a kernel of each kind.
struct Side {
  cl::Context context;
  cl::Device device;
  cl::CommandQueue queue;
  /// For copies beside kernels.
  cl::CommandQueue copies;
  std::unique_ptr<Memory> memory[2];
  cl::Buffer field[2];
  cl::Buffer other[2];
  cl::Buffer flags;
  cl::Program program;
  /// The slice that the neighbour has as its ghost; 0: there is no neighbour.
  int border = 0;

  cl::Kernel kernel(const char* name) const { return {program, name}; }
};

class Problem {
 public:
  Problem(const std::vector<hpl::Device>& devices, const Domain& domain)
      : domain_(domain), flags_(192 * sizeof(int)), sides_(devices.size()) {
    for (std::size_t d = 0; d < sides_.size(); ++d) open(sides_[d], devices[d], d);
    for (std::size_t d = 0; d < sides_.size() && sides_.size() > 1; ++d) {
      sides_[d].border = d == 0 ? domain.slices : 1;
      for (const int half : {0, 1})
        sides_[d].other[half] = sides_[1 - d].memory[half]->on(sides_[d].context);
    }
    for (Side& side : sides_)
      if (sides_.size() == 1)
        for (const int half : {0, 1}) side.other[half] = side.field[half];
  }

  const Domain& domain() const { return domain_; }
  std::vector<Side>& sides() { return sides_; }
  bool hasResident() const { return hasResident_; }
  /// Steps that were done: what flags are at.
  int done = 0;

  std::vector<float> cells() const {
    std::vector<float> all;
    const std::size_t slice = domain_.slice();
    for (const Side& side : sides_) {
      const float* own = side.memory[0]->as<float>();
      all.insert(all.end(), own + slice,
                 own + slice * (static_cast<std::size_t>(domain_.slices) + 1));
    }
    return all;
  }
  void checkPatience() const {
    if (flags_.as<int>()[128] == 0) return;
    std::fprintf(stderr, "a contender has waited in vain\n");
    std::exit(1);
  }

 private:
  void open(Side& side, const hpl::Device& device, std::size_t d) {
    side.context = device.state().context();
    side.device = device.state().device();
    side.queue = cl::CommandQueue(side.context, side.device);
    side.copies = cl::CommandQueue(side.context, side.device);
    const std::size_t slice = domain_.slice();
    const std::size_t bytes =
        (static_cast<std::size_t>(domain_.slices) + 2) * slice * sizeof(float);
    for (const int half : {0, 1}) {
      side.memory[half] = std::make_unique<Memory>(bytes);
      float* cells = side.memory[half]->as<float>();
      // Something that differs from place to place, and goes on over the devices.
      for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
        const std::size_t place = d * static_cast<std::size_t>(domain_.slices) * slice + i;
        cells[i] = static_cast<float>(place * 7919 % 1009);
      }
      side.field[half] = side.memory[half]->on(side.context);
    }
    side.flags = flags_.on(side.context);
    const std::size_t local = device.getProperties().localMemory;
    hasResident_ = 2 * bytes + 1024 < local;
    char options[256];
    std::snprintf(options, sizeof options,
                  "-cl-std=CL3.0 -DNX=%d -DNY=%d -DSLICES=%d -DCOMPUTES=%d -DRESIDENT=%d",
                  domain_.nx, domain_.ny, domain_.slices, domain_.computes ? 1 : 0,
                  hasResident_ ? 1 : 0);
    side.program = cl::Program(side.context, kSource);
    side.program.build({side.device}, options);
  }

  Domain domain_;
  Memory flags_;
  std::vector<Side> sides_;
  bool hasResident_ = false;
};

template <class First, class... Rest>
void setFrom(cl::Kernel& kernel, cl_uint index, const First& first, const Rest&... rest) {
  kernel.setArg(index, first);
  if constexpr (sizeof...(Rest) > 0) setFrom(kernel, index + 1, rest...);
}

template <class... Arguments>
void enqueue(cl::CommandQueue& queue, cl::Kernel& kernel, const Arguments&... arguments) {
  setFrom(kernel, 0, arguments...);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
  queue.flush();
}

/// Both fields, of which steps read one and write the other one by turns.
struct Turn {
  int from;
  int to;
};
Turn turnOf(int step) { return {step % 2, 1 - step % 2}; }

/// Border slices travel by copies that the host orders, once they have been computed.
void copyBorders(Problem& problem, int half) {
  std::vector<Side>& sides = problem.sides();
  if (sides.size() < 2) return;
  const std::size_t bytes = problem.domain().slice() * sizeof(float);
  for (std::size_t d = 0; d < 2; ++d) {
    const std::size_t from = bytes * static_cast<std::size_t>(sides[d].border);
    const std::size_t to =
        d == 0 ? 0 : bytes * (static_cast<std::size_t>(problem.domain().slices) + 1);
    sides[d].copies.enqueueCopyBuffer(sides[d].field[half], sides[d].other[half], from, to, bytes);
    sides[d].copies.flush();
  }
}

void waitFor(Problem& problem) {
  for (Side& side : problem.sides()) side.queue.finish();
}
void waitForCopies(Problem& problem) {
  if (problem.sides().size() < 2) return;
  for (Side& side : problem.sides()) side.copies.finish();
}

std::vector<cl::Kernel> kernelsOf(Problem& problem, const char* name) {
  std::vector<cl::Kernel> kernels;
  for (const Side& side : problem.sides()) kernels.push_back(side.kernel(name));
  return kernels;
}

using ProblemPtr = std::shared_ptr<Problem>;

void launchWhole(Problem& problem, std::vector<cl::Kernel>& kernels, const Turn& turn) {
  for (std::size_t d = 0; d < kernels.size(); ++d) {
    Side& side = problem.sides()[d];
    enqueue(side.queue, kernels[d], side.field[turn.to], side.field[turn.from], side.border);
  }
}

/// Kernels alone, which are not waited for: the time of computing.
Steps alone(ProblemPtr problem) {
  return [problem, kernels = kernelsOf(*problem, "whole")](int steps) mutable {
    for (int step = 0; step < steps; ++step) launchWhole(*problem, kernels, turnOf(step));
    waitFor(*problem);
  };
}

Steps copy(ProblemPtr problem) {
  return [problem, kernels = kernelsOf(*problem, "whole")](int steps) mutable {
    for (int step = 0; step < steps; ++step) {
      const Turn turn = turnOf(step);
      launchWhole(*problem, kernels, turn);
      waitFor(*problem);
      copyBorders(*problem, turn.to);
      waitForCopies(*problem);
    }
  };
}

Steps overlap(ProblemPtr problem) {
  return [problem, borders = kernelsOf(*problem, "border"),
          inners = kernelsOf(*problem, "inner")](int steps) mutable {
    for (int step = 0; step < steps; ++step) {
      const Turn turn = turnOf(step);
      std::vector<cl::Event> done(borders.size());
      for (std::size_t d = 0; d < borders.size(); ++d) {
        Side& side = problem->sides()[d];
        if (side.border > 0) {
          setFrom(borders[d], 0, side.field[turn.to], side.field[turn.from], side.border);
          side.queue.enqueueNDRangeKernel(borders[d], cl::NullRange, cl::NDRange(1), cl::NDRange(1),
                                          nullptr, &done[d]);
        }
        enqueue(side.queue, inners[d], side.field[turn.to], side.field[turn.from], side.border);
      }
      if (borders.size() > 1)
        for (cl::Event& event : done) event.wait();
      copyBorders(*problem, turn.to);
      waitFor(*problem);
      waitForCopies(*problem);
    }
  };
}

Steps peers(ProblemPtr problem) {
  return [problem, kernels = kernelsOf(*problem, "peer")](int steps) mutable {
    for (int step = 0; step < steps; ++step) {
      const Turn turn = turnOf(step);
      for (std::size_t d = 0; d < kernels.size(); ++d) {
        Side& side = problem->sides()[d];
        enqueue(side.queue, kernels[d], side.field[turn.to], side.field[turn.from], side.border,
                side.other[turn.to]);
      }
      waitFor(*problem);
    }
  };
}

Steps signalled(ProblemPtr problem) {
  return [problem, kernels = kernelsOf(*problem, "signalled")](int steps) mutable {
    for (int step = 0; step < steps; ++step) {
      const Turn turn = turnOf(step);
      for (std::size_t d = 0; d < kernels.size(); ++d) {
        Side& side = problem->sides()[d];
        enqueue(side.queue, kernels[d], side.field[turn.to], side.field[turn.from], side.border,
                side.other[turn.to], side.flags, problem->done + step);
      }
    }
    waitFor(*problem);
    problem->done += steps;
    problem->checkPatience();
  };
}

Steps inOneLaunch(ProblemPtr problem, const char* name) {
  return [problem, kernels = kernelsOf(*problem, name)](int steps) mutable {
    for (std::size_t d = 0; d < kernels.size(); ++d) {
      Side& side = problem->sides()[d];
      enqueue(side.queue, kernels[d], side.field[0], side.field[1], side.border, side.other[0],
              side.other[1], side.flags, problem->done, steps);
    }
    waitFor(*problem);
    problem->done += steps;
    problem->checkPatience();
  };
}

}  // namespace

std::vector<Contender> contendersOn(const std::vector<hpl::Device>& devices, const Domain& domain) {
  std::vector<Contender> all;
  const auto add = [&](const char* name, const std::function<Steps(ProblemPtr)>& make) {
    auto problem = std::make_shared<Problem>(devices, domain);
    all.push_back({name, make(problem), [problem] { return problem->cells(); }});
  };
  const bool isPair = devices.size() > 1;
  add("alone", alone);
  add("copy", copy);
  if (isPair) add("overlap", overlap);
  if (isPair) add("peer stores", peers);
  if (isPair) add("signalled", signalled);
  add("cpu-free", [](ProblemPtr problem) { return inOneLaunch(std::move(problem), "all_steps"); });
  if (Problem(devices, domain).hasResident())
    add("resident", [](ProblemPtr problem) { return inOneLaunch(std::move(problem), "resident"); });
  return all;
}

}  // namespace cpu_free
