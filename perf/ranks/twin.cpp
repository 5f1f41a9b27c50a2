// SPDX-License-Identifier: Apache-2.0
// The hand-written twin of hpl_rank_bench for perf/ranks.py: MPI and OpenCL, one device for each
// rank, bands of rows (planes), borders first and the exchange beside the interior; kernels in
// vectors of 16. The CPU of a node is opened whole by each rank, or divided among them.
//
//     mpirun -n 2 hpl_rank_twin life|jacobi3d STEPS [whole|halves]
//
// Prints seconds for a step, as hpl_rank_bench does. Compares a few steps with a plain loop first,
// and returns 1 if cells are wrong.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "hpl_rank_twin: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) fail(std::string(what) + ": OpenCL error " + std::to_string(status));
}

/// A cell of 4 bytes: an int of life, the bits of a float of jacobi3d.
using Cell = std::uint32_t;
using Cells = std::vector<Cell>;

/// Rows of life are rows, those of jacobi3d are planes.
struct Work {
  const char* source;
  std::size_t rows, columns;
  /// Work-items for that many rows.
  std::function<std::array<std::size_t, 2>(std::size_t rows)> global;
  Cell (*start)(std::size_t at);
  /// A row's next cells, in the middle of three rows.
  void (*reference)(const Cell* above, const Cell* now, const Cell* below, Cell* next);
};

constexpr std::size_t kLife = 2048, kSide = 160, kRowsOfItem = 8;

const char* const kLifeSource = R"(
kernel void sweep(global int* restrict out, global const int* restrict in, int first, int end) {
  const int w = 2048;
  const int from = first + get_global_id(0) * 8, to = min(from + 8, end);
  for (int y = from; y < to; ++y) {
    global const int* a = in + (y - 1) * w, *b = a + w, *c = b + w;
    global int* o = out + y * w;
    int x = 1;
    for (; x + 16 < w; x += 16) {
      const int16 self = vload16(0, b + x);
      const int16 n = vload16(0, a + x - 1) + vload16(0, a + x) + vload16(0, a + x + 1) +
                      vload16(0, b + x - 1) + vload16(0, b + x + 1) +
                      vload16(0, c + x - 1) + vload16(0, c + x) + vload16(0, c + x + 1);
      vstore16(((n == 3) | ((n == 2) & (self == 1))) & 1, 0, o + x);
    }
    for (; x + 1 < w; ++x) {
      const int n = a[x - 1] + a[x] + a[x + 1] + b[x - 1] + b[x + 1] + c[x - 1] + c[x] + c[x + 1];
      o[x] = n == 3 || (n == 2 && b[x] == 1);
    }
  }
}
)";

const char* const kJacobiSource = R"(
kernel void sweep(global float* restrict out, global const float* restrict in, int first, int end) {
  const int n = 160, y = get_global_id(0) + 1, z = first + get_global_id(1);
  global const float* b = in + (z * n + y) * n;
  global float* o = out + (z * n + y) * n;
  int x = 1;
  for (; x + 16 < n; x += 16)
    vstore16((vload16(0, b + x - n * n) + vload16(0, b + x + n * n) + vload16(0, b + x - n) +
              vload16(0, b + x + n) + vload16(0, b + x - 1) + vload16(0, b + x + 1)) / 6.0f, 0, o + x);
  for (; x + 1 < n; ++x)
    o[x] = (b[x - n * n] + b[x + n * n] + b[x - n] + b[x + n] + b[x - 1] + b[x + 1]) / 6.0f;
}
)";

void lifeRow(const Cell* a, const Cell* b, const Cell* c, Cell* next) {
  for (std::size_t x = 1; x + 1 < kLife; ++x) {
    const Cell n = a[x - 1] + a[x] + a[x + 1] + b[x - 1] + b[x + 1] + c[x - 1] + c[x] + c[x + 1];
    next[x] = n == 3 || (n == 2 && b[x] == 1) ? 1 : 0;
  }
}

void jacobiPlane(const Cell* a, const Cell* b, const Cell* c, Cell* next) {
  const auto f = [](Cell cell) { return std::bit_cast<float>(cell); };
  for (std::size_t y = 1; y + 1 < kSide; ++y)
    for (std::size_t i = y * kSide + 1; i < (y + 1) * kSide - 1; ++i)
      next[i] = std::bit_cast<Cell>(
          (f(a[i]) + f(c[i]) + f(b[i - kSide]) + f(b[i + kSide]) + f(b[i - 1]) + f(b[i + 1])) / 6);
}

Work workOf(const std::string& name) {
  if (name == "life")
    return {kLifeSource,
            kLife,
            kLife,
            [](std::size_t rows) {
              return std::array<std::size_t, 2>{(rows + kRowsOfItem - 1) / kRowsOfItem, 1};
            },
            [](std::size_t at) { return at % 5 == 0 ? Cell{1} : Cell{0}; },
            lifeRow};
  if (name == "jacobi3d")
    return {kJacobiSource,
            kSide,
            kSide * kSide,
            [](std::size_t rows) {
              return std::array<std::size_t, 2>{kSide - 2, rows};
            },
            [](std::size_t at) { return std::bit_cast<Cell>(at % 5 == 0 ? 1.0f : 0.0f); },
            jacobiPlane};
  fail("life or jacobi3d, not " + name);
}

/// Whole for each rank, or a part for each.
cl_device_id deviceOf(int rank, int ranks, bool isDivided) {
  cl_platform_id platform = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  cl_device_id device = nullptr;
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  if (!isDivided) return device;
  cl_uint units = 0;
  clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
  const auto each = static_cast<cl_device_partition_property>(units) / ranks;
  const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_EQUALLY, each, 0};
  std::vector<cl_device_id> all(units);
  check(clCreateSubDevices(device, how, units, all.data(), nullptr), "clCreateSubDevices");
  return all.at(static_cast<std::size_t>(rank));
}

/// A rank's band: its own rows, and one of each neighbour.
class Band {
 public:
  Band(const Work& work, int rank, int ranks, bool isDivided) : work_(work), rank_(rank) {
    const std::size_t each = work.rows / static_cast<std::size_t>(ranks);
    const std::size_t own = static_cast<std::size_t>(rank) * each;
    hasPrevious_ = rank > 0;
    hasNext_ = rank + 1 < ranks;
    first_ = own - (hasPrevious_ ? 1 : 0);
    height_ = (hasNext_ ? own + each + 1 : work.rows) - first_;
    const cl_device_id device = deviceOf(rank, ranks, isDivided);
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    for (cl_command_queue* queue : {&compute_, &transfer_}) {
      *queue = clCreateCommandQueue(context_, device, 0, &status);
      check(status, "clCreateCommandQueue");
    }
    cl_program program = clCreateProgramWithSource(context_, 1, &work_.source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "-cl-denorms-are-zero", nullptr, nullptr),
          "clBuildProgram");
    kernel_ = clCreateKernel(program, "sweep", &status);
    check(status, "clCreateKernel");
    for (cl_mem& buffer : buffers_) {
      buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE, height_ * rowBytes(), nullptr, &status);
      check(status, "clCreateBuffer");
    }
    for (Cells* row : {&sent_[0], &sent_[1], &received_[0], &received_[1]})
      row->resize(work_.columns);
  }

  void set() {
    Cells start;
    for (std::size_t at = first_ * work_.columns; at < (first_ + height_) * work_.columns; ++at)
      start.push_back(work_.start(at));
    for (cl_mem buffer : buffers_)
      check(clEnqueueWriteBuffer(compute_, buffer, CL_TRUE, 0, start.size() * sizeof(Cell),
                                 start.data(), 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
  }

  double run(int steps) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < steps; ++i) step();
    clFinish(compute_);
    clFinish(transfer_);
    MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - begin) / steps;
  }

  bool isRightAfter(int steps) {
    Cells now(work_.rows * work_.columns);
    for (std::size_t at = 0; at < now.size(); ++at) now[at] = work_.start(at);
    Cells next = now;
    for (int i = 0; i < steps; ++i, std::swap(now, next))
      for (std::size_t y = 1; y + 1 < work_.rows; ++y)
        work_.reference(&now[(y - 1) * work_.columns], &now[y * work_.columns],
                        &now[(y + 1) * work_.columns], &next[y * work_.columns]);
    Cells own((end() - begin()) * work_.columns);
    check(clEnqueueReadBuffer(compute_, buffers_[0], CL_TRUE, begin() * rowBytes(),
                              own.size() * sizeof(Cell), own.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return std::equal(own.begin(), own.end(), &now[(first_ + begin()) * work_.columns]);
  }

 private:
  std::size_t rowBytes() const { return work_.columns * sizeof(Cell); }
  /// The rows of the band that this rank computes or keeps.
  std::size_t begin() const { return hasPrevious_ ? 1 : 0; }
  std::size_t end() const { return height_ - (hasNext_ ? 1 : 0); }

  cl_event launch(std::size_t from, std::size_t to) {
    const auto first = static_cast<cl_int>(std::max<std::size_t>(from, 1));
    const auto last = static_cast<cl_int>(std::min(to, height_ - 1));
    if (first >= last) return nullptr;
    check(clSetKernelArg(kernel_, 0, sizeof(cl_mem), &buffers_[1]), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 1, sizeof(cl_mem), &buffers_[0]), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 2, sizeof first, &first), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 3, sizeof last, &last), "clSetKernelArg");
    const auto global = work_.global(static_cast<std::size_t>(last - first));
    cl_event event = nullptr;
    check(clEnqueueNDRangeKernel(compute_, kernel_, 2, nullptr, global.data(), nullptr,
                                 static_cast<cl_uint>(writes_.size()),
                                 writes_.empty() ? nullptr : writes_.data(), &event),
          "clEnqueueNDRangeKernel");
    return event;
  }

  void step() {
    const std::size_t upper = begin() + (hasPrevious_ ? 1 : 0), lower = end() - (hasNext_ ? 1 : 0);
    std::array<cl_event, 2> borders{hasPrevious_ ? launch(begin(), upper) : nullptr,
                                    hasNext_ ? launch(lower, end()) : nullptr};
    cl_event inner = launch(upper, lower);
    for (cl_event event : writes_) clReleaseEvent(event);
    writes_.clear();
    clFlush(compute_);
    exchange(borders);
    for (cl_event event : borders)
      if (event != nullptr) clReleaseEvent(event);
    if (before_ != nullptr) clReleaseEvent(before_);
    before_ = inner;
    std::swap(buffers_[0], buffers_[1]);
  }

  void exchange(const std::array<cl_event, 2>& borders) {
    const std::array<bool, 2> has{hasPrevious_, hasNext_};
    const std::array<std::size_t, 2> rows{begin(), end() - 1}, ghosts{0, height_ - 1};
    const std::array<int, 2> peers{rank_ - 1, rank_ + 1};
    std::array<MPI_Request, 4> requests{};
    int count = 0;
    for (std::size_t side = 0; side < 2; ++side)
      if (has[side])
        check(clEnqueueReadBuffer(transfer_, buffers_[1], CL_FALSE, rows[side] * rowBytes(),
                                  rowBytes(), sent_[side].data(), 1, &borders[side], nullptr),
              "clEnqueueReadBuffer");
    // The writes of the last exchange are done by now, too, and their memory is free.
    clFinish(transfer_);
    const int bytes = static_cast<int>(rowBytes());
    for (std::size_t side = 0; side < 2; ++side) {
      if (!has[side]) continue;
      MPI_Irecv(received_[side].data(), bytes, MPI_BYTE, peers[side], 0, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(count++)]);
      MPI_Isend(sent_[side].data(), bytes, MPI_BYTE, peers[side], 0, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(count++)]);
    }
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t side = 0; side < 2; ++side) {
      if (!has[side]) continue;
      cl_event event = nullptr;
      // The kernel of the step before reads the ghosts that are overwritten.
      check(clEnqueueWriteBuffer(transfer_, buffers_[1], CL_FALSE, ghosts[side] * rowBytes(),
                                 rowBytes(), received_[side].data(), before_ != nullptr ? 1 : 0,
                                 before_ != nullptr ? &before_ : nullptr, &event),
            "clEnqueueWriteBuffer");
      writes_.push_back(event);
    }
    clFlush(transfer_);
  }

  Work work_;
  int rank_;
  bool hasPrevious_ = false, hasNext_ = false;
  /// The band's first row in the array.
  std::size_t first_ = 0, height_ = 0;
  cl_context context_ = nullptr;
  cl_command_queue compute_ = nullptr, transfer_ = nullptr;
  cl_kernel kernel_ = nullptr;
  /// The buffer that is read, and the one that is written.
  std::array<cl_mem, 2> buffers_{};
  /// To and from the previous rank, and the next one.
  std::array<Cells, 2> sent_, received_;
  /// Writes of ghosts, for which the next step waits.
  std::vector<cl_event> writes_;
  /// The interior of the step before.
  cl_event before_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) fail("give life or jacobi3d, and a number of steps");
  Band band(workOf(argv[1]), rank, ranks, argc > 3 && std::string(argv[3]) == "halves");
  band.set();
  constexpr int kCompared = 6;
  band.run(kCompared);
  int right = band.isRightAfter(kCompared) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const double seconds = band.run(std::max(1, std::atoi(argv[2])));
  if (rank == 0) std::printf("%.9g 0 0 0 0\n", seconds);
  if (rank == 0 && right == 0) std::fprintf(stderr, "hpl_rank_twin: WRONG cells\n");
  MPI_Finalize();
  return right != 0 ? 0 : 1;
}
