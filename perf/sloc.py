#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Source lines and Halstead programming effort of C++ regions (Table II of the stencil paper).

    sloc.py FILE...                            what each style of each file amounts to
    sloc.py --reduction NEW/BASE FILE...       per cent saved by style NEW against BASE (repeatable)
    sloc.py --csv ...                          the same as CSV
    sloc.py --styles A,B ...                   these styles alone

FILE is [APPLICATION[:STYLE]=]PATH. Files of one application are added up; without a name it is
the file's stem. With STYLE the whole file counts as that style. Otherwise regions are marked by
line comments of their own; a region may belong to several styles, and lines outside count nowhere:

    // [style: subarrays]
    // [style: annotations, syncGhosts]
    // [end]

A file without marks counts as style "whole".

Rules of counting:
  SLOC       lines that hold at least one token; neither blank lines nor comments.
  operators  punctuators; keywords, but for the operands below; HPL's control words (if_, for_,
             ...); preprocessor directives. A pair (), [] or {} is one operator, ?: is one. The
             parentheses of if, for, while, switch, catch (and if_, for_, ...) and the colon of
             case, default and access specifiers belong to their word. Alternative spellings
             (and, not) are the punctuators they stand for. < and > count one by one, as templates
             and comparisons look alike to a tokenizer.
  operands   identifiers, numbers, characters, strings, header names, true, false, nullptr, this,
             and words that name types (int, float, void, auto, ...).
  effort     n1, n2 distinct and N1, N2 all operators and operands of an application's style:
             volume = (N1 + N2) log2(n1 + n2), difficulty = n1 / 2 * N2 / n2, effort = their
             product (Halstead, Elements of Software Science, 1977)."""
import argparse
import collections
import csv
import dataclasses
import math
import pathlib
import re
import sys

TYPE_WORDS = set("""auto bool char char8_t char16_t char32_t wchar_t double float int long short
    signed unsigned void""".split())
LITERAL_WORDS = {"true", "false", "nullptr", "this"}
KEYWORDS = TYPE_WORDS | LITERAL_WORDS | set("""alignas alignof asm break case catch class co_await
    co_return co_yield concept const const_cast consteval constexpr constinit continue decltype
    default delete do dynamic_cast else enum explicit export extern for friend goto if inline
    mutable namespace new noexcept operator private protected public register reinterpret_cast
    requires return sizeof static static_assert static_cast struct switch template thread_local
    throw try typedef typeid typename union using virtual volatile while""".split())
HPL_WORDS = set("""if_ else_ elseif_ else_if_ for_ while_ break_ continue_ return_ endif_ endfor_
    endwhile_ end_""".split())
SPELLINGS = {"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^",
             "compl": "~", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=", "not_eq": "!="}
WITH_PARENTHESES = {"if", "for", "while", "switch", "catch", "if_", "for_", "while_", "elseif_",
                    "else_if_"}
WITH_COLON = {"case", "default", "public", "private", "protected"}
CLOSES = {")": "(", "]": "[", "}": "{"}

STRING_PREFIX = r"(?:u8|u|U|L)?"
TOKEN = re.compile(r"""
    (?P<space>[ \t\r\f\v]+|\\\n)
  | (?P<newline>\n)
  | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
  | (?P<raw>PREFIXR"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"\w*)
  | (?P<string>PREFIX"(?:\\.|[^"\\\n])*"\w*)
  | (?P<character>PREFIX'(?:\\.|[^'\\\n])+'\w*)
  | (?P<number>\.?[0-9](?:'[0-9a-zA-Z_]|[eEpP][+-]|[0-9a-zA-Z_.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<punctuator><=>|->\*|\.\.\.|<<=|>>=|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\.\*
        |\+=|-=|\*=|/=|%=|&=|\|=|\^=|\#\#|[-+*/%^&|~!=<>()\[\]{};:,.?\#])
""".replace("PREFIX", STRING_PREFIX), re.VERBOSE | re.DOTALL)
STYLE_MARK = re.compile(r"//\s*\[style:\s*([^\]]*)\]\s*$")
END_MARK = re.compile(r"//\s*\[end\]\s*$")


class SourceError(Exception):
    """A file that cannot be counted; the message says where and why."""


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str  # "word", "number", "string", "character", "punctuator", "directive" or "header"
    text: str
    line: int
    last_line: int


@dataclasses.dataclass
class Counts:
    """What a piece of code amounts to; pieces can be added."""
    sloc: int = 0
    operators: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    operands: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def add(self, other):
        self.sloc += other.sloc
        self.operators += other.operators
        self.operands += other.operands

    @property
    def volume(self):
        vocabulary = len(self.operators) + len(self.operands)
        length = self.operators.total() + self.operands.total()
        return length * math.log2(vocabulary) if vocabulary else 0.0

    @property
    def difficulty(self):
        if not self.operands:
            return 0.0
        return len(self.operators) / 2 * self.operands.total() / len(self.operands)

    @property
    def effort(self):
        return self.volume * self.difficulty


def tokenize(text, name="source"):
    """The tokens of C++ text, and its line comments that stand alone, as (line, comment)."""
    tokens, comments = [], []
    at, line, line_is_empty = 0, 1, True
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise SourceError(f"{name}:{line}: no C++ token begins with {text[at:at + 10]!r}")
        kind, piece = match.lastgroup, match.group()
        if kind == "delimiter":  # lastgroup names the inner group of a raw string's pattern
            kind = "raw"
        last = line + piece.count("\n")
        if kind == "comment" and piece.startswith("//") and line_is_empty:
            comments.append((line, piece))
        elif kind not in ("space", "newline", "comment"):
            tokens.append(Token("string" if kind == "raw" else kind, piece, line, last))
            directive = piece == "#" and line_is_empty
            line_is_empty = False
            if directive:
                match = re.compile(r"#[ \t]*(\w+)").match(text, at)
                if match:
                    tokens[-1] = Token("directive", "#" + match.group(1), line, line)
                    header = re.compile(r'[ \t]*(<[^>\n]*>|"[^"\n]*")').match(text, match.end())
                    if match.group(1) == "include" and header:
                        tokens.append(Token("header", header.group(1), line, line))
                        match = header
                    last = line
        if kind == "newline" or (kind == "comment" and last > line):
            line_is_empty = True
        at, line = match.end(), last
    return tokens, comments


def is_operand(token):
    if token.kind == "word":
        operator = token.text in SPELLINGS or token.text in HPL_WORDS or (
            token.text in KEYWORDS - TYPE_WORDS - LITERAL_WORDS)
        return not operator
    return token.kind in ("number", "string", "character", "header")


def count(tokens):
    """SLOC, operators and operands of tokens, by the rules above."""
    result = Counts()
    lines = set()
    open_questions, colons_owed, after = [0], 0, None
    for token in tokens:
        lines.update(range(token.line, token.last_line + 1))
        if is_operand(token):
            result.operands[token.text] += 1
            after = token.text
            continue
        text = SPELLINGS.get(token.text, token.text)
        counts = text not in CLOSES and not (text == "(" and after in WITH_PARENTHESES)
        if text in CLOSES:
            if len(open_questions) > 1:
                open_questions.pop()
        elif text in CLOSES.values():
            open_questions.append(0)
            text += {"(": ")", "[": "]", "{": "}"}[text]
        elif text == "?":
            open_questions[-1] += 1
            text = "?:"
        elif text == ":" and open_questions[-1]:
            open_questions[-1] -= 1
            counts = False
        elif text == ":" and colons_owed:
            colons_owed -= 1
            counts = False
        elif text in WITH_COLON and not (text == "default" and after == "="):
            colons_owed += 1
        elif text in (";", ","):
            colons_owed = 0  # "class A : public B" has a word that owns no colon
        if counts:
            result.operators[text] += 1
        # In "if constexpr (" the parentheses are still those of if.
        after = after if text == "constexpr" and after == "if" else text
    result.sloc = len(lines)
    return result


def regions(comments, name):
    """The marked regions as (first line, last line, styles)."""
    found, begin, styles = [], None, []
    for line, comment in comments:
        mark = STYLE_MARK.match(comment)
        if mark:
            if begin is not None:
                raise SourceError(f"{name}:{line}: a region begins inside that of line {begin - 1}")
            styles = [style.strip() for style in mark.group(1).split(",") if style.strip()]
            if not styles:
                raise SourceError(f"{name}:{line}: the mark names no style")
            begin = line + 1
        elif END_MARK.match(comment):
            if begin is None:
                raise SourceError(f"{name}:{line}: [end] without [style: ...] before it")
            found.append((begin, line - 1, styles))
            begin = None
    if begin is not None:
        raise SourceError(f"{name}:{begin - 1}: the region has no // [end]")
    return found


def tokens_by_style(text, name, whole_as=None):
    """The tokens of each style of a file; all of them for `whole_as`."""
    tokens, comments = tokenize(text, name)
    if whole_as:
        return {whole_as: tokens}
    marked = regions(comments, name)
    if not marked:
        return {"whole": tokens}
    styles = {}
    for first, last, names in marked:
        inside = [token for token in tokens if first <= token.line <= last]
        for style in names:
            styles.setdefault(style, []).extend(inside)
    return styles


def measure(text, name="source", whole_as=None):
    """Counts of each style of one file."""
    return {s: count(t) for s, t in tokens_by_style(text, name, whole_as).items()}


def measure_files(arguments, wanted=None):
    """{application: {style: Counts}} of [APPLICATION[:STYLE]=]PATH arguments; all styles, or those
    of `wanted`, in its order."""
    result = {}
    for argument in arguments:
        name, equals, path = argument.rpartition("=")
        application, _, style = name.partition(":")
        path = pathlib.Path(path)
        styles = result.setdefault(application if equals else path.stem, {})
        for found, counts in measure(path.read_text(), str(path), style or None).items():
            styles.setdefault(found, Counts()).add(counts)
    if wanted is not None:
        result = {name: {s: styles[s] for s in wanted if s in styles}
                  for name, styles in result.items()}
    return result


def absolute_rows(measured):
    yield ["application", "style", "sloc", "n1", "n2", "N1", "N2", "volume", "difficulty",
           "effort"]
    for application, styles in measured.items():
        for style, c in styles.items():
            yield [application, style, c.sloc, len(c.operators), len(c.operands),
                   c.operators.total(), c.operands.total(), f"{c.volume:.0f}",
                   f"{c.difficulty:.1f}", f"{c.effort:.0f}"]


def saved(new, base):
    """Per cent by which `new` is smaller than `base`."""
    return 100.0 * (1.0 - new / base) if base else 0.0


def reduction_rows(measured, pairs):
    yield ["application"] + [f"{pair} {what}" for pair in pairs for what in ("SLOC %", "effort %")]
    for application, styles in measured.items():
        row = [application]
        for pair in pairs:
            new, _, base = pair.partition("/")
            for style in (new, base):
                if style not in styles:
                    raise SourceError(f"{application} has no style '{style}'; it has "
                                      f"{', '.join(sorted(styles))}")
            row += [f"{saved(styles[new].sloc, styles[base].sloc):.2f}",
                    f"{saved(styles[new].effort, styles[base].effort):.2f}"]
        yield row


def write(rows, as_csv):
    rows = [[str(cell) for cell in row] for row in rows]
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(w) if i < 1 else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reduction", action="append", default=[], metavar="NEW/BASE")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--styles", type=lambda text: text.split(","), metavar="A,B")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    try:
        measured = measure_files(arguments.files, arguments.styles)
        rows = (reduction_rows(measured, arguments.reduction) if arguments.reduction
                else absolute_rows(measured))
        write(rows, arguments.csv)
    except (SourceError, OSError) as problem:
        sys.exit(f"sloc.py: {problem}")


if __name__ == "__main__":
    main()
