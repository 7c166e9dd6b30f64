#!/usr/bin/env python3
"""Counts the test cases of one `bazel test`, from the file that --build_event_json_file wrote.

Prints "PASSED FAILED SKIPPED" on stdout, and what failed or was skipped on stderr. Only files that
the events name are read: the folder bazel-testlogs keeps those of earlier runs as well.
"""

import json
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree


class Count:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def fail(self, what):
        self.failed += 1
        print(f"failed: {what}", file=sys.stderr)

    def skip(self, what):
        self.skipped += 1
        print(f"skipped: {what}", file=sys.stderr)


def read_events(path):
    """The events of a build; the last line is cut short when Bazel died, and left out then."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                return


def count_case(case, label, count):
    name = f"{label} {case.get('classname') or ''}.{case.get('name') or ''}"
    if case.find("failure") is not None or case.find("error") is not None:
        count.fail(name)
    elif (
        case.find("skipped") is not None
        or case.get("status") == "notrun"
        or case.get("result") in ("skipped", "suppressed")
    ):
        skipped = case.find("skipped")
        reason = "disabled" if skipped is None else skipped.get("message") or ""
        count.skip(f"{name}: {' '.join(reason.split())}")
    else:
        count.passed += 1


def count_result(label, result, count):
    """One run of one test target."""
    failed_before = count.failed
    cases = 0
    for output in result.get("testActionOutput", []):
        if output.get("name") != "test.xml":
            continue
        path = urllib.request.url2pathname(urllib.parse.urlparse(output["uri"]).path)
        try:
            root = xml.etree.ElementTree.parse(path).getroot()
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            count.fail(f"{label}: {error}")
            return
        for case in root.iter("testcase"):
            cases += 1
            count_case(case, label, count)
    # A leak at exit, say, fails a program all of whose cases had passed.
    status = result.get("status", "NO_STATUS")
    if status != "PASSED" and count.failed == failed_before:
        count.fail(f"{label}: {status}")
    elif cases == 0:
        count.fail(f"{label}: passed, and ran no test case")


def count_events(events):
    count = Count()
    test_labels = set()
    for event in events:
        event_id = event.get("id", {})
        if "targetConfigured" in event_id:
            if event.get("configured", {}).get("targetKind", "").endswith("_test rule"):
                test_labels.add(event_id["targetConfigured"]["label"])
        elif "targetCompleted" in event_id:
            label = event_id["targetCompleted"]["label"]
            if label in test_labels and event.get("aborted", {}).get("reason") == "SKIPPED":
                count.skip(f"{label}: cannot be built on this machine")
        elif "testResult" in event_id:
            count_result(event_id["testResult"]["label"], event.get("testResult", {}), count)
    return count


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} EVENTS.json")
    count = count_events(read_events(sys.argv[1]))
    print(count.passed, count.failed, count.skipped)


if __name__ == "__main__":
    main()
