// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/launch/eval.h"
#include "stencil_templates/kernel/detail/extent_parameters.h"
#include "stencil_templates/kernel/detail/preparation.h"
#include "stencil_templates/kernel/several.h"

/// Prepares launches of kernels with a stencil template: domains, tiles and helpers (paper, Fig.
/// 9):
///
///     auto s = PrepareStencilKernel2D<1, 1, 1, 1>(in, 1, nDevices, Domain(16, 16), 4);
///     eval(kernel).global(s.global).local(s.local)(PART1(in, 1), PART1(out, 1), s.temp, s.helper);
namespace hpl {

/// See PrepareStencilKernel2D.
template <class T, int N>
struct PreparedStencil {
  /// One per device. Both are empty when all devices use the direct form: then a launch's own
  /// choice, the shape of each part, is right, and the library knows what it means.
  std::vector<Domain> global;
  std::vector<Domain> local;
  /// The tile; a dummy where no device uses one.
  Array<T, N, Local> temp;
  /// One per device. A launch that names no devices goes to those of the preparation.
  PerDevice<Array<int, 1>> helper;
  /// The devices of the preparation, for `.devices(s.devices)`.
  std::vector<Device> devices;
};

/// See PrepareStencilKernel. `temps` are in the order of the inputs: std::get<0>(s.temps).
template <class... Tmp>
struct PreparedStencils {
  std::vector<Domain> global;
  std::vector<Domain> local;
  std::tuple<Tmp...> temps;
  PerDevice<Array<int, 1>> helper;
  std::vector<Device> devices;
};

/// The devices of a preparation: the first n of the default device's type, or those of a list.
class StencilDevices {
 public:
  StencilDevices(int n) : count_(n) {}
  StencilDevices(std::vector<Device> list) : list_(std::move(list)) {}

  std::vector<Device> resolve(const std::string& name) const {
    return list_.empty() ? kernel_stencils::firstDevices(name, count_) : list_;
  }

 private:
  int count_ = 0;
  std::vector<Device> list_;
};

namespace kernel_stencils {

template <class T, int N>
Array<T, N, Local> tileOf(const Prepared& prepared) {
  const std::int64_t* e = prepared.tile;
  if constexpr (N == 1) return Array<T, 1, Local>(e[0]);
  if constexpr (N == 2) return Array<T, 2, Local>(e[0], e[1]);
  if constexpr (N == 3) return Array<T, 3, Local>(e[0], e[1], e[2]);
}

/// The state that the preparations of single inputs share.
template <class T, int N, MemoryFlag M>
PreparedStencil<T, N> prepareSingle(Preparation&& preparation, const Array<T, N, M>& in,
                                    const Reach& reach, bool isPeriodic) {
  preparation.rank = N;
  preparation.inputs.push_back({&in, reach, isPeriodic, sizeof(T)});
  Prepared prepared = prepare(preparation);
  return {std::move(prepared.global),
          std::move(prepared.local),
          tileOf<T, N>(prepared),
          {std::move(prepared.helper), preparation.devices},
          std::move(preparation.devices)};
}

template <class In>
PreparedInput preparedInput(const In& in) {
  return {in.array, in.reach, In::kBoundary == Boundary::Periodic, sizeof(typename In::Element)};
}

template <class... In>
PreparedStencils<Array<typename In::Element, In::kRank, Local>...> prepareSeveral(
    Preparation&& preparation, const Inputs<In...>& inputs) {
  std::apply([&](const In&... in) { (preparation.inputs.push_back(preparedInput(in)), ...); },
             inputs.list);
  Prepared prepared = prepare(preparation);
  return {std::move(prepared.global),
          std::move(prepared.local),
          {tileOf<typename In::Element, In::kRank>(prepared)...},
          {std::move(prepared.helper), preparation.devices},
          std::move(preparation.devices)};
}

}  // namespace kernel_stencils

#define HPL_PREPARE_STENCIL(DIMS, LETTER, PERIODIC)                                               \
  template <HPL_EXTENT_PARAMETERS_##DIMS, StencilForm Form = StencilForm::Automatic, class T,     \
            MemoryFlag M>                                                                         \
  PreparedStencil<T, DIMS> PrepareStencilKernel##DIMS##D##LETTER(                                 \
      const Array<T, DIMS, M>& in, int dim, const StencilDevices& devices,                        \
      const Domain& local = {}, int elementsPerThread = kernel_stencils::kChosenByLibrary) {      \
    constexpr auto reach = kernel_stencils::reachOf<HPL_EXTENTS_##DIMS>();                        \
    const std::string name =                                                                      \
        "PrepareStencilKernel" #DIMS "D" #LETTER + kernel_stencils::toString(reach, DIMS);        \
    return kernel_stencils::prepareSingle({name,                                                  \
                                           DIMS,                                                  \
                                           {},                                                    \
                                           kernel_stencils::annotationOf(name, DIMS, dim, reach), \
                                           devices.resolve(name),                                 \
                                           local,                                                 \
                                           elementsPerThread,                                     \
                                           Form},                                                 \
                                          in, reach, PERIODIC);                                   \
  }                                                                                               \
  template <HPL_EXTENT_PARAMETERS_##DIMS, StencilForm Form = StencilForm::Automatic, class T,     \
            MemoryFlag M>                                                                         \
  PreparedStencil<T, DIMS> PrepareStencilKernel##DIMS##D##LETTER(                                 \
      const launch::Annotated<Array<T, DIMS, M>>& in, const StencilDevices& devices,              \
      const Domain& local = {}, int elementsPerThread = kernel_stencils::kChosenByLibrary) {      \
    constexpr auto reach = kernel_stencils::reachOf<HPL_EXTENTS_##DIMS>();                        \
    const std::string name =                                                                      \
        "PrepareStencilKernel" #DIMS "D" #LETTER + kernel_stencils::toString(reach, DIMS);        \
    return kernel_stencils::prepareSingle(                                                        \
        {name, DIMS, {}, in.annotation, devices.resolve(name), local, elementsPerThread, Form},   \
        *in.array, reach, PERIODIC);                                                              \
  }

#define HPL_PREPARE_STENCILS(DIMS)    \
  HPL_PREPARE_STENCIL(DIMS, , false)  \
  HPL_PREPARE_STENCIL(DIMS, F, false) \
  HPL_PREPARE_STENCIL(DIMS, N, false) \
  HPL_PREPARE_STENCIL(DIMS, M, false) \
  HPL_PREPARE_STENCIL(DIMS, P, true)

/// `PrepareStencilKernel2D<up, down, left, right>(in, dim, devices[, local[, elementsPerThread]])`
/// prepares launches of a kernel that calls StencilKernel2D... with the same extents. The arrays
/// have the shape of `in` and are split as PARTdim(in, r) says, where r is the larger of the two
/// extents along `dim` (counted from 1). For other ghost widths pass the annotation of the launch:
/// `PrepareStencilKernel2D<...>(PART1(in, 4), devices, ...)`. Without local domain, or without
/// number of elements, the library chooses them; devices in the direct form ignore both. With a
/// letter, as in StencilKernel2DP, the preparation refuses a periodic boundary along a dimension
/// that is split. 1-D and 3-D alike. The devices get equal shares. In the tile form a launch with
/// other ghosts or shares, or on arrays of another shape, throws LaunchError.
///
/// Throws ArgumentError for extents larger than the array or a part, a dimension that does not
/// exist, ghosts narrower than the extents, and less than one element per work-item; LaunchError
/// for tiles and groups that a device cannot hold; DeviceError when there are fewer devices.
HPL_PREPARE_STENCILS(1)
HPL_PREPARE_STENCILS(2)
HPL_PREPARE_STENCILS(3)

#undef HPL_PREPARE_STENCILS
#undef HPL_PREPARE_STENCIL

/// The same for StencilKernel: `PrepareStencilKernel(inputs(input<1, 1, 1, 1>(water),
/// inputN<1, 1, 0, 0>(ground)), 1, devices, Domain(16, 16), 4)`, with the inputs in the order of
/// the kernel and no value for inputF. All of them have the same shape and are annotated alike.
template <StencilForm Form = StencilForm::Automatic, class... In>
auto PrepareStencilKernel(const kernel_stencils::Inputs<In...>& inputs, int dim,
                          const StencilDevices& devices, const Domain& local = {},
                          int elementsPerThread = kernel_stencils::kChosenByLibrary) {
  constexpr int kRank = std::tuple_element_t<0, std::tuple<In...>>::kRank;
  const std::string name = "PrepareStencilKernel";
  kernel_stencils::Reach reach;
  std::apply([&](const In&... in) { ((reach = unionOf(reach, in.reach)), ...); }, inputs.list);
  return kernel_stencils::prepareSeveral({name,
                                          kRank,
                                          {},
                                          kernel_stencils::annotationOf(name, kRank, dim, reach),
                                          devices.resolve(name),
                                          local,
                                          elementsPerThread,
                                          Form},
                                         inputs);
}

/// The same with the annotation of the launch, that of the first input: `inputs(input<1, 1, 1, 1>(
/// PART1(water, 4)), ...)`.
template <StencilForm Form = StencilForm::Automatic, class... In>
auto PrepareStencilKernel(const kernel_stencils::Inputs<In...>& inputs,
                          const StencilDevices& devices, const Domain& local = {},
                          int elementsPerThread = kernel_stencils::kChosenByLibrary) {
  constexpr int kRank = std::tuple_element_t<0, std::tuple<In...>>::kRank;
  const launch::Annotation* annotation = std::get<0>(inputs.list).annotation;
  return kernel_stencils::prepareSeveral(
      {"PrepareStencilKernel",
       kRank,
       {},
       annotation != nullptr ? *annotation : launch::Annotation{},
       devices.resolve("PrepareStencilKernel"),
       local,
       elementsPerThread,
       Form},
      inputs);
}

}  // namespace hpl
