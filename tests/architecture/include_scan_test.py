#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on small trees that include_scan.py finds each kind of violation, and no others."""

import tempfile
import unittest
from pathlib import Path

from include_scan import scan


class IncludeScan(unittest.TestCase):
    def scan(self, files, doors=()):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return scan(folder, frozenset(doors))

    def expect(self, files, *parts):
        found = self.scan(files)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_a_tree_that_follows_the_arrows_passes(self):
        self.assertEqual(self.scan({
            "hpl/error.h": "#include <string>\n",
            "hpl/geometry/box.h": '#include "hpl/error.h"\n',
            "hpl/runtime/cl.h": "#include <CL/opencl.hpp>\n",
            "hpl/memory/replica.h": '#include "hpl/geometry/box.h"\n',
            "hpl/memory/replica.cpp": '#include "hpl/memory/replica.h"\n#include <algorithm>\n'
                                      '#include "hpl/runtime/cl.h"\n',
            "hpl/hpl.h": '#include "hpl/memory/replica.h"\n',
            "hpl/HPL.h": '#include "hpl/hpl.h"\n',
            "samples/saxpy.cpp": '#include <iostream>\n#include "hpl/hpl.h"\n',
        }), [])

    def test_the_detail_of_another_room_is_closed(self):
        files = {
            "hpl/runtime/detail/list.h": "",
            "hpl/runtime/device.cpp": '#include "hpl/runtime/detail/list.h"\n',
            "hpl/memory/root.cpp": '#include "hpl/runtime/detail/list.h"\n',
        }
        door = ("hpl/memory/root.cpp", "hpl/runtime/detail/list.h")
        self.expect(files, *door, "detail/ belongs to its room alone")
        self.assertEqual(self.scan(files, [door]), [])

    def test_a_listed_door_that_nobody_uses_has_to_leave_the_list(self):
        door = ("hpl/memory/root.cpp", "hpl/runtime/detail/list.h")
        found = self.scan({"hpl/runtime/detail/list.h": "", "hpl/memory/root.cpp": ""}, [door])
        self.assertEqual(len(found), 1, found)
        self.assertIn("take it off DOORS_STILL_OPEN", found[0])

    def test_an_arrow_upwards_is_found(self):
        self.expect({
            "hpl/memory/replica.h": "",
            "hpl/geometry/box.cpp": '  #  include "hpl/memory/replica.h"\n',
        }, "hpl/geometry/box.cpp", "'memory' is above 'geometry'")

    def test_the_library_must_not_include_the_stencil_templates(self):
        self.expect({
            "stencil_templates/patterns.h": "",
            "hpl/launch/eval.h": '#include "stencil_templates/patterns.h"\n',
        }, "hpl/launch/eval.h", "nothing that stands on it")

    def test_a_room_must_not_include_the_umbrella(self):
        self.expect({
            "hpl/hpl.h": "",
            "hpl/array/array.h": '#include "hpl/hpl.h"\n',
        }, "umbrella is for users")

    def test_an_unknown_room_is_found(self):
        self.expect({
            "hpl/error.h": "",
            "hpl/misc/things.h": '#include "hpl/error.h"\n',
        }, "room 'misc' has no level")

    def test_a_device_header_reached_from_a_pure_room_is_found(self):
        self.expect({
            "hpl/runtime/cl.h": "#include <CL/opencl.hpp>\n",
            "hpl/codegen/emit.h": "",
            "hpl/memory/via.h": '#include "hpl/runtime/cl.h"\n',
            "hpl/codegen/emit.cpp": '#include "hpl/memory/via.h"\n',
        }, "hpl/codegen/emit.cpp", "CL/opencl.hpp", "through hpl/runtime/cl.h")

    def test_mpi_in_a_pure_room_is_found(self):
        self.expect({"hpl/ir/node.h": "#include <mpi.h>\n"}, "'ir' is free of device headers")

    def test_a_library_header_that_users_reach_is_found(self):
        self.expect({
            "hpl/launch/eval.h": "#include <fmt/format.h>\n",
            "hpl/hpl.h": '#include "hpl/launch/eval.h"\n',
        }, "hpl/launch/eval.h", "fmt/format.h", "no header of other libraries")

    def test_a_slow_standard_header_that_users_reach_is_found(self):
        self.expect({
            "hpl/array/array.h": "#include <iostream>\n",
            "hpl/hpl.h": '#include "hpl/array/array.h"\n',
        }, "hpl/array/array.h", "slow standard headers")

    def test_a_sample_that_bypasses_the_umbrella_is_found(self):
        self.expect({
            "hpl/array/array.h": "",
            "samples/saxpy.cpp": '#include "hpl/array/array.h"\n',
        }, "samples/saxpy.cpp", "hpl/hpl.h only")

    def test_includes_must_be_spelled_from_the_root(self):
        self.expect({
            "hpl/geometry/box.h": "",
            "hpl/geometry/box.cpp": '#include "box.h"\n',
        }, "hpl/geometry/box.cpp", "write the path from its root")

    def test_own_headers_must_be_in_quotes(self):
        self.expect({
            "hpl/geometry/box.h": "",
            "hpl/geometry/box.cpp": "#include <hpl/geometry/box.h>\n",
        }, "in quotes")


if __name__ == "__main__":
    unittest.main()
