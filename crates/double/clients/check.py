"""Runs the vendors' own client libraries against the double: what they understand is what a vendor's server would have said.

Usage: check.py PATH-OF-THE-DOUBLE [library…]. Every check prints a line; the exit code is 0 if all passed. For each library
there are controls that break a shape on purpose: they pass only if the library notices.
"""

import json
import subprocess
import sys
import tempfile

from report import Report
from scenarios import SCRIPT


class Double:
    """The program, for as long as the block lasts."""

    def __init__(self, program):
        self.program = program

    def __enter__(self):
        self.script = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(SCRIPT, self.script)
        self.script.flush()
        self.process = subprocess.Popen(
            [self.program, self.script.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        told = json.loads(self.process.stdout.readline())
        self.url, self.key = told["url"], told["key"]
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)
        self.script.close()


def main():
    import lib_anthropic
    import lib_chat
    import lib_genai
    import lib_ollama
    import lib_responses

    libraries = {
        "anthropic": lib_anthropic,
        "chat": lib_chat,
        "responses": lib_responses,
        "genai": lib_genai,
        "ollama": lib_ollama,
    }
    program, *chosen = sys.argv[1:]
    report = Report()
    with Double(program) as double:
        for name in chosen or libraries:
            libraries[name].checks(report, double)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
