#!/usr/bin/env python3
"""Writes the files that the benchmarks read into a folder: each load in each format.

    loads.py FOLDER

S: 50 settings, about 4 KB. N: 6400 nested records in groups of 100, about 10 MB of XML. F: 100 000 flat keys.
The files are written with Python's plistlib and json, so that no peer reads its own output. They are the same on every
machine, because the only source of randomness is random.random(), whose sequence Python guarantees.
JSON lacks dates and data, so these are ISO 8601 and Base64 text.
Two further binary files have 50 000 shared references in 200 KB."""
import base64
import datetime
import json
import os
import plistlib
import random
import struct
import sys

WORDS = (
    "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec "
    "romeo sierra tango uniform victor whiskey xray yankee zulu"
).split()
BEYOND_ASCII = ["naïve café", "日本語テスト", "русский язык", "emoji 😀🚗", "हिन्दी", "Ångström"]
CHANCE = random.Random(20240607)


def integer(least, most):
    return least + int(CHANCE.random() * (most - least + 1))


def one_of(choices):
    return choices[integer(0, len(choices) - 1)]


def words(count):
    return " ".join(one_of(WORDS) for _ in range(count))


def text():
    """Returns a text: in four of five cases plain, in one of ten with characters that XML escapes or outside ASCII."""
    kind = CHANCE.random()
    if kind < 0.8:
        return words(integer(2, 9))
    if kind < 0.9:
        return words(3) + " & <" + one_of(WORDS) + '> "q"'
    return one_of(BEYOND_ASCII) + " " + words(2)


def date():
    return datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=integer(0, 30 * 365 * 86400))


def data(count):
    return bytes(integer(0, 255) for _ in range(count))


def settings():
    """Returns S. The keys are the properties of the type S in Tests/Benchmarks/Settings.swift."""
    kinds = [
        ("isEnabled", lambda i: True),
        ("windowWidth", lambda i: i * 31),
        ("scaleFactor", lambda i: 0.5 * i + 0.1),
        ("lastAccount", lambda i: words(2)),
        ("description", lambda i: words(6)),
        ("lastChecked", lambda i: date()),
        ("accessToken", lambda i: data(24)),
        ("columnOrder", lambda i: [1, 2, 3, i]),
        ("namedOrigin", lambda i: {"x": i, "y": 2.5, "name": words(1)}),
        ("isCollapsed", lambda i: False),
    ]
    return {f"{kinds[i % 10][0]}Setting{i:02d}": kinds[i % 10][1](i) for i in range(50)}


def record(number):
    return {
        "id": number * 7919,
        "name": f"record-{number:06d}",
        "title": text(),
        "note": text(),
        "score": CHANCE.random() * 1000,
        "ratio": round(CHANCE.random(), 3),
        "active": CHANCE.random() < 0.5,
        "created": date(),
        "modified": date(),
        "blob": data(integer(16, 160)),
        "tags": [one_of(WORDS) for _ in range(integer(0, 6))],
        "counts": [integer(-5, 100000) for _ in range(integer(0, 8))],
        "attrs": {one_of(WORDS) + str(at): text() for at in range(integer(1, 4))},
    }


def archive():
    groups = {}
    for group in range(64):
        numbers = range(group * 100, group * 100 + 100)
        records = {f"rec-{number:06d}": record(number) for number in numbers}
        groups[f"group-{group:04d}"] = {"label": text(), "index": group, "records": records}
    return {"version": 3, "generator": "bench", "groups": groups}


def flat_table():
    keys = (f"com.example.{one_of(WORDS)}.key{number:06d}" for number in range(100_000))
    return {key: integer(-1000, 10**9) if at % 2 else text() for at, key in enumerate(keys)}


def for_json(value):
    if isinstance(value, dict):
        return {key: for_json(member) for key, member in value.items()}
    if isinstance(value, list):
        return [for_json(element) for element in value]
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


BARE = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$/:.-")


def openstep_text(text):
    if text and not text.startswith("/") and BARE.issuperset(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    units = struct.unpack(f">{len(quoted.encode('utf-16-be')) // 2}H", quoted.encode("utf-16-be"))
    return '"' + "".join(chr(unit) if unit < 0x80 else f"\\U{unit:04x}" for unit in units) + '"'


def openstep(value, indent=""):
    deeper = indent + "    "
    if isinstance(value, dict):
        members = (f"{deeper}{openstep_text(key)} = {openstep(value[key], deeper)};\n" for key in sorted(value))
        return "{\n" + "".join(members) + indent + "}"
    if isinstance(value, list):
        elements = ",\n".join(deeper + openstep(element, deeper) for element in value)
        return "(\n" + elements + ("\n" if value else "") + indent + ")"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, bytes):
        return "<" + value.hex() + ">"
    if isinstance(value, datetime.datetime):
        return openstep_text(value.strftime("%Y-%m-%d %H:%M:%S +0000"))
    return openstep_text(str(value))


def toml_inline(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml_inline(member)}" for key, member in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml_inline(element) for element in value) + "]"
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(for_json(value), ensure_ascii=False)


def toml(table, path=()):
    """Returns the scalars and arrays of a table, then its tables with their headers."""
    lines = [f"{json.dumps(key)} = {toml_inline(value)}\n" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            header = ".".join(json.dumps(part) for part in path + (key,))
            lines.append(f"\n[{header}]\n" + toml(value, path + (key,)))
    return "".join(lines)


def binary_file(objects):
    """Returns a binary property list of encoded objects, with references of four bytes."""
    offsets, body = [], b"bplist00"
    for encoded in objects:
        offsets.append(len(body))
        body += encoded
    table = b"".join(struct.pack(">I", offset) for offset in offsets)
    return body + table + struct.pack(">6xBBQQQ", 4, 4, len(objects), 0, len(body))


def array_of(reference, count):
    return b"\xaf\x12" + struct.pack(">I", count) + struct.pack(">I", reference) * count


def shared_references():
    """Returns one array that is referenced 50 000 times, and 500 nested arrays, each referenced 100 times."""
    wide = [array_of(1, 50_000), array_of(2, 100), b"\x53abc"]
    deep = [array_of(level + 1, 100) for level in range(500)] + [b"\x53abc"]
    return {"shared-wide": binary_file(wide), "shared-deep": binary_file(deep)}


def write(folder, name, contents):
    """Writes a file atomically, so that an interruption leaves no partial file."""
    path = os.path.join(folder, name)
    with open(path + ".new", "wb") as file:
        file.write(contents)
    os.replace(path + ".new", path)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for name, contents in shared_references().items():
        write(folder, name + ".binary", contents)
    for name, value in (("S", settings()), ("N", archive()), ("F", flat_table())):
        write(folder, name + ".xml", plistlib.dumps(value))
        write(folder, name + ".binary", plistlib.dumps(value, fmt=plistlib.FMT_BINARY))
        compact = json.dumps(for_json(value), ensure_ascii=False, separators=(",", ":"))
        write(folder, name + ".json", compact.encode())
        write(folder, name + ".openstep", (openstep(value) + "\n").encode())
        write(folder, name + ".toml", toml(value).encode())


if __name__ == "__main__":
    main(sys.argv[1])
