#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the C++ blocks of the guide into C++ files, so that what the guide shows compiles and runs.

    extract_snippets.py --root REPOSITORY --out FOLDER PAGE.md...

The words after ``` say what a block is (docs/README.md tells readers the same):

    cpp                  file scope; the blocks of a page share one file, in their order
    cpp, with main()     a program of its own, compiled exactly as printed; it must return 0
    cpp fragment         statements of the host, in a function with the arrays of HOST_PRELUDE
    cpp kernel           statements of a kernel with the parameters of KERNEL_PARAMETERS; launched
    cpp throws X         a fragment that must throw hpl::X; a ```text block that follows at once is
                         the message, where "..." stands for any text
    cpp wrong            not compiled

Prints the files that it wrote, one a line; files whose text did not change keep their time.
Relative links of the pages must lead to files and headings that exist, and no page has a heading twice."""
import argparse
import pathlib
import re
import sys

HOST_PRELUDE = """\
  [[maybe_unused]] constexpr int rows = 48, cols = 64, n = 1024;
  Array<float, 2> a(rows, cols), b(rows, cols), c(rows, cols);
  Array<float, 1> x(n), y(n), z(n);
  a = 1.0f, b = 2.0f, c = 3.0f, x = 1.0f, y = 2.0f, z = 3.0f;
"""

KERNEL_PARAMETERS = """\
    [[maybe_unused]] Array<float, 2> a, [[maybe_unused]] const Array<float, 2>& b,
    [[maybe_unused]] Array<float, 1> y, [[maybe_unused]] const Array<float, 1>& x,
    [[maybe_unused]] Array<int, 1> counts, [[maybe_unused]] Float alpha, [[maybe_unused]] Int n"""

KERNEL_LAUNCH = """\
  Array<int, 1> counts(n);
  counts = 0;
  eval(body{line}).global(cols, rows).local(16, 8)(a, b, y, x, counts, 0.5f, n).wait();
"""

KINDS = ("", "fragment", "kernel", "wrong", "throws")


class Block:
    def __init__(self, kind, argument, line, text):
        self.kind, self.argument, self.line, self.text = kind, argument, line, text
        self.message = None


def fail(page, line, problem):
    sys.exit(f"{page}:{line}: {problem}")


def parse(page, text):
    """The C++ blocks of a page; `line` is that of their first line of code."""
    blocks, fence, start, content = [], None, 0, []
    previous_end = -1
    for number, line in enumerate(text.splitlines(), 1):
        if fence is None and line.startswith("```"):
            fence, start, content = line[3:].split(), number + 1, []
        elif fence is not None and line.startswith("```"):
            if fence[:1] == ["cpp"]:
                kind = fence[1] if len(fence) > 1 else ""
                if kind not in KINDS or (kind == "throws") != (len(fence) == 3):
                    fail(page, start - 1, f"unknown mark ```{' '.join(fence)}")
                blocks.append(Block(kind, fence[2] if len(fence) == 3 else "", start,
                                    "\n".join(content) + "\n"))
                previous_end = number
            elif fence[:1] == ["text"] and blocks and blocks[-1].kind == "throws":
                between = text.splitlines()[previous_end:start - 2]
                if not any(line.strip() for line in between):
                    blocks[-1].message = "\n".join(content)
            fence = None
        elif fence is not None:
            content.append(line)
    if fence is not None:
        fail(page, start - 1, "the block is never closed")
    return blocks


def without_includes(text, includes):
    """Blanks the #include lines, which go to the top of the file; line numbers stay."""
    lines = []
    for line in text.splitlines():
        if line.startswith("#include"):
            includes.append(line)
            line = ""
        lines.append(line)
    return "\n".join(lines) + "\n"


def is_program(block):
    return block.kind == "" and re.search(r"^int main\(", block.text, re.M)


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    print(path)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def page_source(page, blocks):
    """One C++ file with everything of a page but its programs; None when there is nothing."""
    includes, body = [], ""
    for block in blocks:
        if block.kind == "wrong" or is_program(block):
            continue
        place = f'#line {block.line} "{page}"\n'
        name = quoted(f"{page}:{block.line}")
        text = without_includes(block.text, includes)
        if block.kind == "":
            body += place + text
            continue
        if block.kind == "kernel":
            body += f"static void body{block.line}(\n{KERNEL_PARAMETERS}) {{\n{place}{text}}}\n"
            text, place = KERNEL_LAUNCH.format(line=block.line), ""
        body += f"static void snippet{block.line}() {{\n{HOST_PRELUDE}  {{\n{place}{text}  }}\n}}\n"
        function = f"snippet{block.line}"
        if block.kind == "throws":
            function = f"docs::expect<hpl::{block.argument}>({function}, " \
                       f"{quoted(block.message or '...')})"
        body += f"static const docs::Registrar registrar{block.line}({name}, {function});\n"
    if not body:
        return None
    lines = sorted(set(includes) | {'#include "hpl/hpl.h"', '#include "tests/docs/run_snippets.h"'})
    return "\n".join(["// Made from " + page + " by tests/docs/extract_snippets.py.", *lines,
                      "using namespace hpl;", body])


def anchors(text):
    """The anchors that GitHub gives to the headings of a page, in their order, each with its line."""
    found, in_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            in_code = not in_code
        heading = None if in_code else re.match(r"#+ +(.*)", line)
        if heading:
            name = re.sub(r"[^\w\- ]", "", heading.group(1).lower()).strip().replace(" ", "-")
            found.append((name, number))
    return found


def check_headings(page, text):
    seen = set()
    for name, number in anchors(text):
        if name in seen:
            fail(page, number, "the page has that heading twice")
        seen.add(name)


def check_links(root, page, text):
    prose = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M | re.S)
    for number, line in enumerate(prose.splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if "://" in target:
                continue
            file, _, anchor = target.partition("#")
            path = (root / page).parent / file if file else root / page
            if not path.exists():
                fail(page, number, f"the link {target} leads nowhere")
            if anchor and path.suffix == ".md" and anchor not in dict(anchors(path.read_text())):
                fail(page, number, f"{target}: there is no such heading")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("pages", nargs="+", help="relative to the root")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for page in arguments.pages:
        text = (arguments.root / page).read_text()
        check_headings(page, text)
        check_links(arguments.root, page, text)
        blocks = parse(page, text)
        # docs/kernels.md becomes "kernels"; docs/README.md must not take the README's name.
        short = page if page.endswith("/README.md") else page.removeprefix("docs/")
        stem = re.sub(r"\W", "_", short.removesuffix(".md"))
        source = page_source(page, blocks)
        if source is not None:
            write_if_changed(arguments.out / f"{stem}.cpp", source)
        for number, block in enumerate(filter(is_program, blocks), 1):
            suffix = "_program" if number == 1 else f"_{number}_program"
            write_if_changed(arguments.out / f"{stem}{suffix}.cpp", block.text)


if __name__ == "__main__":
    main()
