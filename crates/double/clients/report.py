"""Runs checks one by one and says how each ended."""

import traceback


class Report:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, run):
        """Passes if nothing is raised."""
        try:
            run()
        except BaseException as error:  # noqa: BLE001: whatever a library raises is an outcome here
            if isinstance(error, KeyboardInterrupt):
                raise
            self.failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {str(error)[:400]}")
            print("".join(traceback.format_tb(error.__traceback__)[-3:]), end="")
            return
        self.passed += 1
        print(f"ok      {name}")

    def raises(self, name, kinds, run, also=lambda error: None):
        """Passes if exactly such an error is raised, and what `also` asserts of it holds."""

        def must_raise():
            try:
                got = run()
            except kinds as error:
                if not isinstance(kinds, tuple) and type(error) is not kinds:
                    raise AssertionError(f"{type(error).__name__} instead of {kinds.__name__}: {error}") from error
                also(error)
                return
            raise AssertionError(f"nothing was raised, but {str(got)[:200]} returned")

        self.check(name, must_raise)


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"
