// SPDX-License-Identifier: Apache-2.0
// Writes one file of each format into the folder that is given, for check_files.py.
#include <complex>
#include <cstdio>

#include "hpl/hpl.h"
#include "hpl/io.h"

using namespace hpl;

HPL_STRUCT(Probe, (char, kind), (float3, place), (double, mass));

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  Array<float, 2> field(5, 7);
  Array<float, 3> volume(3, 4, 5);
  Array<double3, 3> flow(2, 3, 4);
  Array<std::complex<float>, 1> waves(6);
  Array<Probe, 1> probes(4);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j) field(i, j) = static_cast<float>(i) + static_cast<float>(j) / 8;
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 5; ++x) {
        volume(z, y, x) = static_cast<float>(100 * z + 10 * y + x);
        if (z < 2 && y < 3 && x < 4) flow(z, y, x) = double3(z, y, x);
      }
  for (int i = 0; i < 6; ++i) waves(i) = {static_cast<float>(i), -0.5f * static_cast<float>(i)};
  for (int i = 0; i < 4; ++i) {
    Probe probe{};
    probe.kind = static_cast<char>('a' + i);
    probe.place = float3(static_cast<float>(i), 1.0f, 2.0f);
    probe.mass = 0.25 * i;
    probes(i) = probe;
  }
  io::writeNpy(folder + "field.npy", field);
  io::writeNpy(folder + "view.npy", field(Range(1, 3), Range(2, 5)));
  io::writeNpy(folder + "waves.npy", waves);
  io::writeNpy(folder + "probes.npy", probes);
  io::writeRaw(folder + "field.raw", field);
  io::VtkImage()
      .points("volume", volume)
      .cells("flow", flow)
      .spacing({3, 2, 1})
      .origin({0, 0, -1})
      .write(folder + "volume.vti");
  if (!io::Hdf5File::isAvailable()) return 0;
  io::Hdf5File file(folder + "run.h5", io::Hdf5File::Create);
  file.write("grid/field", field);
  file.write("waves", waves);
  file.write("probes", probes);
  file.setAttribute("grid/field", "unit", "m");
  file.setAttribute("/", "steps", 3);
  for (int step = 0; step < 3; ++step) file.append("steps/volume", volume);
  file.close();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
