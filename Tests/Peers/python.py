#!/usr/bin/env python3
"""Measures Python's readers and writers: plistlib for XML and binary, orjson for JSON, rtoml for TOML.

    python.py plistlib|orjson|rtoml

Reads the commands that Tests/Peers/driver.h describes, and measures by its rule."""
import gc
import platform
import sys
import time


def measured(work):
    """Returns the processor time of one call of `work` in nanoseconds, and the number of bytes that it returns."""
    gc.collect()
    repeats, samples, total, best = 1, 0, 0, float("inf")
    while total < 100_000_000 or samples < 3:
        start = time.process_time_ns()
        for _ in range(repeats):
            count = work()
        elapsed = time.process_time_ns() - start
        if samples == 0 and elapsed < 1_000_000:
            repeats *= 2
            continue
        samples, total, best = samples + 1, total + elapsed, min(best, elapsed)
    return best / repeats, count


def plistlib_functions():
    import plistlib

    formats = {"xml": plistlib.FMT_XML, "binary": plistlib.FMT_BINARY}
    return (
        "plistlib " + platform.python_version(),
        lambda contents, _: plistlib.loads(contents),
        lambda value, format: plistlib.dumps(value, fmt=formats[format]),
    )


def orjson_functions():
    import orjson

    return "orjson " + orjson.__version__, lambda contents, _: orjson.loads(contents), lambda value, _: orjson.dumps(value)


def rtoml_functions():
    import rtoml

    return (
        "rtoml " + str(rtoml.__version__),
        lambda contents, _: rtoml.loads(contents.decode()),
        lambda value, _: rtoml.dumps(value),
    )


def answer(command, load, dump):
    operation, format, _, path = command.rstrip("\n").split(" ", 3)
    with open(path, "rb") as file:
        contents = file.read()

    def read():
        load(contents, format)
        return len(contents)

    if operation == "read":
        return measured(read)
    value = load(contents, format)
    return measured(lambda: len(dump(value, format)))


def main(library):
    functions = {"plistlib": plistlib_functions, "orjson": orjson_functions, "rtoml": rtoml_functions}
    title, load, dump = functions[library]()
    print("ready", title, flush=True)
    for command in sys.stdin:
        print(*answer(command, load, dump), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
