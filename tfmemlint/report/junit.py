"""JUnit's XML: a test suite a file, a failed case a finding."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import TextIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tfmemlint.report.escape import show
from tfmemlint.report.items import Item, Settings, relative


def write(items: Iterable[Item], settings: Settings, out: TextIO) -> None:
    """Write one document, in ASCII whatever the encoding of `out`."""
    report = Element("testsuites", name="tfmemlint")
    for source, found in groupby(items, key=attrgetter("source")):
        path = show(relative(source.path, settings.root) or source.path)
        suite = SubElement(report, "testsuite", name=path)
        for item in found:
            _add_case(suite, item, path)
        _count(suite, len(suite))
    _count(report, sum(map(len, report)))
    if not len(report):  # a report of no tests at all is a failure to some readers
        suite = SubElement(report, "testsuite", name="tfmemlint", tests="1")
        SubElement(suite, "testcase", name="no findings", classname="tfmemlint")
    indent(report)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(tostring(report, encoding="us-ascii", xml_declaration=False).decode() + "\n")


def _add_case(suite: Element, item: Item, path: str) -> None:
    code, name, diagnostic = item.finding
    message = show(diagnostic.message)
    case = SubElement(
        suite,
        "testcase",
        name=f"{code} {name}",
        classname=path,
        file=path,
        line=str(item.in_file.row),
        column=str(item.in_file.column),
    )
    failure = SubElement(case, "failure", type=item.severity, message=message)
    failure.text = f"{path}:{item.position}: {code} {message}"


def _count(element: Element, cases: int) -> None:
    element.attrib.update(tests=str(cases), failures=str(cases), errors="0", skipped="0")
