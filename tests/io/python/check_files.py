#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the files of write_files with Python alone, and with numpy, h5py and vtk where they are.

Usage: check_files.py PROGRAM FOLDER."""
import ast
import pathlib
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

FIELD = [[i + j / 8 for j in range(7)] for i in range(5)]
VOLUME = [100 * z + 10 * y + x for z in range(3) for y in range(4) for x in range(5)]
FLOW = [c for z in range(2) for y in range(3) for x in range(4) for c in (z, y, x)]


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found}, expected {expected}")


def module(name):
    """A module that the machine may have."""
    try:
        return __import__(name)
    except ImportError:
        print(f"without {name}")
        return None


def read_npy(path):
    raw = path.read_bytes()
    equal(f"{path}: magic", raw[:8], b"\x93NUMPY\x01\x00")
    length = struct.unpack("<H", raw[8:10])[0]
    equal(f"{path}: alignment", (10 + length) % 64, 0)
    return ast.literal_eval(raw[10:10 + length].decode()), raw[10 + length:]


def check_npy(folder):
    header, data = read_npy(folder / "field.npy")
    equal("field.npy", header, {"descr": "<f4", "fortran_order": False, "shape": (5, 7)})
    flat = tuple(value for row in FIELD for value in row)
    equal("field.npy", struct.unpack("<35f", data), flat)
    equal("field.raw", struct.unpack("<35f", (folder / "field.raw").read_bytes()), flat)
    header, data = read_npy(folder / "view.npy")
    equal("view.npy", header["shape"], (3, 4))
    equal("view.npy", struct.unpack("<12f", data), tuple(v for row in FIELD[1:4] for v in row[2:6]))
    header, data = read_npy(folder / "waves.npy")
    equal("waves.npy", header["descr"], "<c8")
    equal("waves.npy", struct.unpack("<12f", data), tuple(v for i in range(6) for v in (i, -i / 2)))
    header, data = read_npy(folder / "probes.npy")
    equal("probes.npy", [name for name, *_ in header["descr"] if name], ["kind", "place", "mass"])
    for i, probe in enumerate(struct.iter_unpack("<b15x3f4xd8x", data)):
        equal("probes.npy", probe, (ord("a") + i, i, 1, 2, i / 4))


def check_vti(path):
    raw = path.read_bytes()
    mark = b'<AppendedData encoding="raw">\n   _'
    begin = raw.index(mark) + len(mark)
    # Raw data is no XML: the rest is.
    root = ElementTree.fromstring(raw[:begin] + raw[raw.rindex(b"</AppendedData>"):])
    image = root.find("ImageData")
    equal("WholeExtent", image.get("WholeExtent"), "0 4 0 3 0 2")
    equal("Spacing", image.get("Spacing"), "1 2 3")
    equal("Origin", image.get("Origin"), "-1 0 0")
    found = {}
    for array in image.iter("DataArray"):
        at = begin + int(array.get("offset"))
        size = struct.unpack("<Q", raw[at:at + 8])[0]
        letter = {"Float32": "f", "Float64": "d"}[array.get("type")]
        count = size // struct.calcsize(letter)
        found[array.get("Name")] = list(struct.unpack(f"<{count}{letter}", raw[at + 8:at + 8 + size]))
    equal("volume.vti", found, {"volume": VOLUME, "flow": FLOW})


def check_with_numpy(numpy, folder):
    field = numpy.load(folder / "field.npy")
    equal("numpy field", field.tolist(), FIELD)
    equal("numpy waves", numpy.load(folder / "waves.npy")[2], 2 - 1j)
    probes = numpy.load(folder / "probes.npy")
    equal("numpy probes", probes["place"].tolist(), [[i, 1, 2] for i in range(4)])
    equal("numpy probes", probes["mass"].tolist(), [i / 4 for i in range(4)])


def check_with_h5py(h5py, path):
    with h5py.File(path) as file:
        equal("h5py field", file["grid/field"][()].tolist(), FIELD)
        equal("h5py unit", file["grid/field"].attrs["unit"], "m")
        equal("h5py steps", int(file.attrs["steps"]), 3)
        equal("h5py waves", complex(file["waves"][2]), 2 - 1j)
        equal("h5py probes", file["probes"]["place"].tolist(), [[i, 1, 2] for i in range(4)])
        equal("h5py steps", file["steps/volume"].shape, (3, 3, 4, 5))
        equal("h5py steps", file["steps/volume"][2].ravel().tolist(), VOLUME)


def check_with_vtk(vtk, path):
    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    equal("vtk dimensions", image.GetDimensions(), (5, 4, 3))
    equal("vtk spacing", image.GetSpacing(), (1, 2, 3))
    volume = image.GetPointData().GetArray("volume")
    equal("vtk volume", [volume.GetValue(i) for i in range(volume.GetNumberOfValues())], VOLUME)
    flow = image.GetCellData().GetArray("flow")
    equal("vtk flow", [flow.GetValue(i) for i in range(flow.GetNumberOfValues())], FLOW)


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run([program, folder], check=True)
    check_npy(folder)
    check_vti(folder / "volume.vti")
    if numpy := module("numpy"):
        check_with_numpy(numpy, folder)
    if (folder / "run.h5").exists() and (h5py := module("h5py")):
        check_with_h5py(h5py, folder / "run.h5")
    if vtk := module("vtk"):
        check_with_vtk(vtk, folder / "volume.vti")


if __name__ == "__main__":
    main()
