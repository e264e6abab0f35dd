#!/usr/bin/env python3
"""Compares what verbs report with what another reader finds: verbs.py PREFS [RUNS [SEED]] [--only RUN] [--trace]

Each run makes a store with random domains, in random formats and layers, and calls a few verbs that change it. After
each call, every file of the store is read by a reader that is not `prefs`: plistlib for XML and binary, json for JSON,
GNUstep's plser for OpenStep and GNUstep. A model, written from the manual alone, states what the files must contain
after a call that exits with 0; after any other status nothing may have changed. GNUstep reads a `.strings` file inside braces.

It requires root for the administrator's layers, which it leaves out otherwise. Prints the first failures with the
command lines that repeat them, and how often each verb succeeded.
"""

import argparse
import collections
import copy
import datetime
import json
import os
import plistlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

UTC = datetime.timezone.utc
# The same word in both normal forms, which are two names.
NFC, NFD = "caf\u00e9", "cafe\u0301"
NAMES = ["com.example.app", "b", NFC, NFD, "-g"]
KEYS = ["a", "b", "c d", "e:f", NFC, NFD, "\u65e5\u672c", "x.y", "Size", "\U0001f600"]
WORDS = ["", "one", "two words", "42", "true", NFC, NFD, "a\nb", "\"quoted\"", "\u65e5\u672c", "-5", "# not a comment", "\\u"]
FORMATS = {"binary": "binary", "xml": "xml", "json": "json", "gnustep": "gnustep", "folder": "folder"}
ABSENT = None


class Invalid(Exception):
    """The model calls for a refusal: the status must not be 0, and nothing may change."""


# --- values ----------------------------------------------------------------------------------------------------------

def equal(left, right):
    """Whether two values are equal, with their types."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return left == right


def from_lossless(value):
    """The value of lossless JSON."""
    if isinstance(value, list):
        return [from_lossless(element) for element in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (key, inner), = value.items()
        if key == "$date":
            return datetime.datetime.fromisoformat(inner.replace("Z", "+00:00")).astimezone(UTC).replace(tzinfo=None)
        if key == "$data":
            import base64
            return base64.b64decode(inner)
        if key == "$real":
            return float(inner)
    return {key[1:] if key.startswith("$$") else key: from_lossless(inner) for key, inner in value.items()}


def to_lossless(value):
    if isinstance(value, list):
        return [to_lossless(element) for element in value]
    if isinstance(value, dict):
        return {"$" + key if key.startswith("$") else key: to_lossless(inner) for key, inner in value.items()}
    if isinstance(value, datetime.datetime):
        return {"$date": value.strftime("%Y-%m-%dT%H:%M:%SZ")}
    if isinstance(value, bytes):
        import base64
        return {"$data": base64.b64encode(value).decode()}
    return value


def to_gnustep(value):
    """The value as text in GNUstep's syntax, which OpenStep shares for text, arrays and dictionaries."""
    if isinstance(value, bool):
        return "<*BY>" if value else "<*BN>"
    if isinstance(value, int):
        return f"<*I{value}>"
    if isinstance(value, float):
        return f"<*R{value!r}>"
    if isinstance(value, datetime.datetime):
        return value.strftime("<*D%Y-%m-%d %H:%M:%S +0000>")
    if isinstance(value, bytes):
        return "<" + value.hex() + ">"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, list):
        return "(" + ", ".join(map(to_gnustep, value)) + ")"
    return "{" + " ".join(f"{to_gnustep(key)} = {to_gnustep(inner)};" for key, inner in value.items()) + "}"


def read_gnustep(path):
    output = subprocess.run(
        ["plser", "-Format", "NSPropertyListXMLFormat_v1_0", path], capture_output=True, check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "GNUSTEP_STRING_ENCODING": "NSUTF8StringEncoding"})
    if output.returncode or not output.stdout:
        raise ValueError(f"GNUstep cannot read {path}: {output.stderr.decode(errors='replace')}")
    # Its XML has surrogates as escapes.
    text = re.sub(
        r"\\U(D[89AB][0-9A-F]{2})\\U(D[C-F][0-9A-F]{2})",
        lambda match: (chr(int(match[1], 16)) + chr(int(match[2], 16))).encode("utf-16", "surrogatepass").decode("utf-16"),
        output.stdout.decode())
    return plistlib.loads(text.encode())


# --- the store -------------------------------------------------------------------------------------------------------

def encoded_file_name(key):
    return "".join(
        "%" + f"{byte:02X}" if char in '"%*/:<>?\\|' or ord(char) < 32 or (char == "." and index == 0) else char
        for index, char in enumerate(key) for byte in [ord(char)])


class Place:
    """A domain in one layer, or a file that is named by its path: where its file is, and what the model knows of it."""

    def __init__(self, world, name, layer, operand, options, stem):
        self.world, self.name, self.layer = world, name, layer
        self.operand, self.options, self.stem = operand, options, stem
        self.value, self.format = ABSENT, None
        # The states that undo goes back to, the last being the present one.
        self.states = [(ABSENT, None)]

    @property
    def is_file(self):
        return self.layer is None

    def lay(self, value, format):
        """Writes the file as another program would."""
        if format == "gnustep" and not value:
            # The text {} is JSON.
            format = "json"
        self.value, self.format, self.states = value, format, [(copy.deepcopy(value), format)]
        if value is ABSENT:
            return
        os.makedirs(os.path.dirname(self.stem), exist_ok=True)
        path = self.path()
        if format == "xml":
            data = plistlib.dumps(value, fmt=plistlib.FMT_XML, sort_keys=False)
        elif format == "binary":
            data = plistlib.dumps(value, fmt=plistlib.FMT_BINARY, sort_keys=False)
        elif format == "json":
            shown = value if self.is_file else to_lossless(value)
            data = json.dumps(shown, ensure_ascii=False, indent=self.world.pick.choice([None, 2])).encode()
        elif format == "strings":
            data = "".join(f"{to_gnustep(key)} = {to_gnustep(inner)};\n" for key, inner in value.items()).encode()
        else:
            data = to_gnustep(value).encode()
        with open(path, "wb") as file:
            file.write(data)

    def path(self):
        return self.stem if self.is_file else self.stem + ".plist"

    def found(self):
        """The values in the files now, by another reader."""
        folder, path = self.stem + ".prefs", self.path()
        if not self.is_file and os.path.isdir(folder):
            if os.path.exists(path):
                raise ValueError(f"both {path} and {folder} exist")
            values = {}
            for name in os.listdir(folder):
                if name.startswith("."):
                    continue
                base, _, ending = name.rpartition(".")
                with open(os.path.join(folder, name), "rb") as file:
                    data = file.read()
                if base.startswith("%") and ending == "plist" and re.fullmatch("%[0-9a-f]{20,}", base):
                    pair = plistlib.loads(data)
                    values[pair["Key"]] = pair["Value"]
                    continue
                key = re.sub("%([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), base)
                if ending == "txt":
                    values[key] = data.decode()[:-1]
                elif ending == "data":
                    values[key] = data
                else:
                    values[key] = plistlib.loads(data)
            return values or ABSENT
        if not os.path.lexists(path):
            return ABSENT
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(b"bplist"):
            return plistlib.loads(data)
        if data.lstrip().startswith(b"<?xml"):
            return plistlib.loads(data)
        if path.endswith(".strings"):
            if data.lstrip().startswith(b"{"):
                raise ValueError(f"a .strings file with braces: {data!r}")
            wrapped = self.world.root + "/wrapped"
            with open(wrapped, "wb") as file:
                file.write(b"{" + data + b"}")
            return read_gnustep(wrapped)
        try:
            value = json.loads(data)
        except ValueError:
            return read_gnustep(path)
        return value if self.is_file else from_lossless(value)

    def new_format(self):
        if not self.is_file:
            return "binary"
        return {"json": "json", "strings": "strings"}.get(self.stem.rpartition(".")[2], "xml")

    # The changes of the model.

    def become(self, value, format=None):
        format = format or self.format or self.new_format()
        if value is ABSENT:
            format = None
        elif format == "folder" and not value:
            # A folder without values is not a domain.
            value = ABSENT
        elif format == "gnustep" and not value:
            # The text {} is JSON, for the next writer as for any reader.
            format = "json"
        if not equal(value, self.value) or format != self.format:
            self.value, self.format = value, format
            self.states.append((copy.deepcopy(value), format))

    def undo(self, count=1):
        if len(self.states) <= count:
            raise Invalid
        del self.states[-count:]
        self.value, self.format = copy.deepcopy(self.states[-1][0]), self.states[-1][1]

    def holds(self, value):
        """Whether the format of the file can hold a value."""
        if not self.is_file:
            return True
        kind = self.format or self.new_format()
        if isinstance(value, dict):
            return all(map(self.holds, value.values()))
        if isinstance(value, list):
            return all(map(self.holds, value))
        if kind == "json":
            return not isinstance(value, (bytes, datetime.datetime))
        if kind in ("strings", "openstep"):
            return isinstance(value, (str, bytes))
        return True


class World:
    """One run: a home folder of its own, its places, and the calls made so far."""

    def __init__(self, prefs, root, seed, privileged):
        self.prefs, self.root, self.pick = prefs, root, random.Random(seed)
        self.calls, self.last = [], None
        self.transactions = []
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root + "/files")
        self.environment = {
            "HOME": root, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "XDG_CONFIG_DIRS": root + "/xdg",
            "EDITOR": f"cp {root}/edited",
        }
        store = root + "/.config/prefs"
        self.host = HOST
        self.places = []
        layers = [("user", [], store), ("user-host", ["--current-host"], store + "/ByHost")]
        if privileged:
            for folder in ("/etc/prefs", "/var/lib/prefs"):
                shutil.rmtree(folder, ignore_errors=True)
            layers += [("site", ["--layer", "site"], root + "/xdg/prefs")]
            # In a domain of its own, since it forbids writes to the others.
            self.places.append(
                Place(self, "policy", "forced", "policy", ["--layer", "forced"], "/etc/prefs/forced/policy"))
        names = self.pick.sample(NAMES, 3) + self.pick.choice([[], [NFC, NFD]])
        for name in dict.fromkeys(names):
            for layer, options, folder in layers:
                if layer != "user" and self.pick.random() < 0.6:
                    continue
                stem = ".GlobalPreferences" if name == "-g" else name
                if layer == "user-host":
                    stem += "." + self.host
                self.places.append(Place(self, name, layer, name, options, f"{folder}/{stem}"))
        for file in self.pick.sample(["f.json", "f.plist", "f.strings", "g h.plist"], 2):
            self.places.append(Place(self, file, None, "./" + file, [], f"{root}/files/{file}"))
        for place in self.places:
            if self.pick.random() < 0.3:
                continue
            kind = self.kind(place)
            place.format = kind
            value = self.dictionary(place, kind)
            place.lay(value, kind)

    def kind(self, place):
        if place.is_file:
            return {"json": "json", "strings": "strings"}.get(
                place.stem.rpartition(".")[2], self.pick.choice(["xml", "binary"]))
        return self.pick.choice(["binary", "binary", "xml", "json", "gnustep"])

    # Random values.

    def scalar(self):
        pick = self.pick
        return pick.choice([
            lambda: pick.choice(WORDS), lambda: pick.choice(WORDS), lambda: pick.randint(-100, 100),
            lambda: pick.choice([2**63 - 1, -2**63, 2**40]), lambda: pick.random() < 0.5,
            lambda: pick.choice([0.5, -2.25, 0.1, 1e100, 3.0]), lambda: bytes(pick.randbytes(pick.randint(1, 9))),
            lambda: datetime.datetime(2020, 1, 2, 3, 4, pick.randint(0, 59)),
        ])()

    def value(self, depth=2):
        pick = self.pick.random()
        if depth and pick < 0.15:
            return [self.value(depth - 1) for _ in range(self.pick.randint(0, 3))]
        if depth and pick < 0.3:
            return {key: self.value(depth - 1) for key in self.pick.sample(KEYS, self.pick.randint(0, 3))}
        return self.scalar()

    def dictionary(self, place, kind):
        entries = {}
        for key in self.pick.sample(KEYS, self.pick.choice([0, 1, 1, 2, 3, 4, 5])):
            value = self.value()
            if kind == "strings":
                value = self.pick.choice(WORDS)
            elif kind == "json" and place.is_file:
                value = json_only(value)
            elif kind == "gnustep":
                # GNUstep's own reader loses the type of some numbers; text and containers of it are certain.
                value = gnustep_only(value)
            entries[key] = value
        return entries

    # Calls.

    def call(self, *words, stdin=""):
        self.calls.append((list(words), stdin))
        self.last = subprocess.run(
            [self.prefs, *words], env=self.environment, cwd=self.root + "/files", input=stdin.encode(),
            capture_output=True, timeout=60, check=False)
        return self.last.returncode

    def check(self, label):
        for place in self.places:
            try:
                found = place.found()
            except Exception as error:
                return f"{label}: {place.layer} {place.operand}: {error}"
            if not equal(found, place.value):
                return f"{label}: {place.layer} {place.operand}: expected {place.value!r}, found {found!r}"
        return None

    def snapshot(self):
        return [(place, copy.deepcopy(place.value), place.format, copy.deepcopy(place.states)) for place in self.places]

    def reset(self, snapshot):
        for place, value, format, states in snapshot:
            place.value, place.format, place.states = value, format, states


def json_only(value):
    if isinstance(value, list):
        return list(map(json_only, value))
    if isinstance(value, dict):
        return {key: json_only(inner) for key, inner in value.items()}
    return str(value) if isinstance(value, (bytes, datetime.datetime)) else value


def gnustep_only(value):
    if isinstance(value, list):
        return list(map(gnustep_only, value))
    if isinstance(value, dict):
        return {key: gnustep_only(inner) for key, inner in value.items()}
    return value if isinstance(value, (str, bytes)) else str(value)


# --- paths into values -----------------------------------------------------------------------------------------------

def component(key):
    return key.replace("\\", "\\\\").replace(":", "\\:")


def as_key(key):
    return "\\" + key if key.startswith(":") else key


# --- verbs -----------------------------------------------------------------------------------------------------------
# Each returns the words of a call, its standard input, and the change of the model, which raises Invalid if the call
# must be refused.

def flags(value, pick):
    """The type flag and words that write a value."""
    if isinstance(value, bool):
        return ["--bool", pick.choice(["true", "yes", "1"] if value else ["false", "no", "off"])]
    if isinstance(value, int):
        return ["--int", str(value)]
    if isinstance(value, float):
        return ["--float", repr(value)]
    if isinstance(value, bytes):
        return ["--data", value.hex()]
    if isinstance(value, datetime.datetime):
        return ["--date", value.strftime("%Y-%m-%dT%H:%M:%SZ")]
    if isinstance(value, str):
        return ["--string", value]
    return ["--json", json.dumps(to_lossless(value), ensure_ascii=pick.random() < 0.5)]


def change(place, edit):
    """The dictionary of a place after an edit, which must be one that its format can hold."""
    value = copy.deepcopy(place.value) if place.value is not ABSENT else {}
    edit(value)
    if place.value is ABSENT and not value:
        # Nothing was given to a domain that does not exist.
        return
    if not place.holds(value):
        raise Invalid
    place.become(value)


def some_key(world, place):
    if place.value and world.pick.random() < 0.7:
        return world.pick.choice(list(place.value))
    return world.pick.choice(KEYS)


def write(world):
    place, value = world.pick.choice(world.places), world.value()
    key = some_key(world, place)
    words = ["write", *place.options, place.operand, as_key(key), *flags(value, world.pick)]
    return words, "", lambda: change(place, lambda entries: entries.update({key: value}))


def write_plain(world):
    place, text = world.pick.choice(world.places), world.pick.choice(["7", "yes", "1.5", "word", "", NFD, "TRUE"])
    key = some_key(world, place)

    def edit(entries):
        old = entries.get(key)
        if isinstance(old, (bytes, list, dict)):
            raise Invalid
        new = text
        if isinstance(old, bool):
            if text in ("yes", "TRUE"):
                new = True
        elif isinstance(old, int) and re.fullmatch(r"-?\d+", text):
            new = int(text)
        elif isinstance(old, int) and text == "1.5":
            new = 1.5  # The manual: another number than an integer makes an integer a real.
        elif isinstance(old, float) and text in ("7", "1.5"):
            new = float(text)
        entries[key] = new
    return ["write", *place.options, place.operand, as_key(key), text], "", lambda: change(place, edit)


def write_inside(world):
    place, value = world.pick.choice(world.places), world.scalar()
    candidates = [key for key, inner in (place.value or {}).items() if isinstance(inner, (dict, list))]
    if not candidates:
        return write(world)
    key = world.pick.choice(candidates)
    inner = place.value[key]
    if isinstance(inner, dict):
        step = world.pick.choice(list(inner) + KEYS[:3])
        text = component(step)
    else:
        step = world.pick.choice(list(range(len(inner))) + [len(inner) + 3, ""])
        text = str(step)

    def edit(entries):
        target = entries[key]
        if isinstance(target, dict):
            target[step] = value
        elif step == "":
            target.append(value)
        elif step < len(target):
            target[step] = value
        else:
            raise Invalid
    path = f":{component(key)}:{text}"
    return ["write", *place.options, place.operand, path, *flags(value, world.pick)], "", lambda: change(place, edit)


def write_if(world):
    place, value = world.pick.choice(world.places), world.scalar()
    key = some_key(world, place)
    if place.layer != "user":
        return write(world)
    # The condition is about the value in force in all layers, or in the one that is named.
    layer = world.pick.choice([[], ["--layer", "user"]])
    compared = [place] if layer else [
        other for other in world.places if other.layer is not None and other.name in (place.name, "-g")]

    def edit(entries):
        if any(other.value is not ABSENT and key in other.value for other in compared):
            raise Invalid
        entries[key] = value
    words = ["write", *place.options, *layer, "--if-absent", place.operand, as_key(key), *flags(value, world.pick)]
    return words, "", lambda: change(place, edit)


def write_add(world):
    place, value = world.pick.choice(world.places), world.pick.choice(WORDS)
    key = some_key(world, place)
    kind = world.pick.choice(["--array-add", "--dict-add"])

    def edit(entries):
        old = entries.get(key)
        if kind == "--array-add":
            if not isinstance(old, (list, type(None))):
                raise Invalid
            entries[key] = (old or []) + [value]
        else:
            if not isinstance(old, (dict, type(None))):
                raise Invalid
            entries[key] = {**(old or {}), "z": value}
    words = ["write", *place.options, place.operand, as_key(key), kind]
    words += ["--string", value] if kind == "--array-add" else ["z", "--string", value]
    return words, "", lambda: change(place, edit)


def delete(world):
    place = world.pick.choice(world.places)
    key = some_key(world, place)

    def edit():
        if place.value is ABSENT or key not in place.value:
            raise Invalid
        change(place, lambda entries: entries.pop(key))
    return ["delete", *place.options, place.operand, as_key(key)], "", edit


def delete_inside(world):
    place = world.pick.choice(world.places)
    candidates = [key for key, inner in (place.value or {}).items() if isinstance(inner, (dict, list)) and inner]
    if not candidates:
        return delete(world)
    key = world.pick.choice(candidates)
    inner = place.value[key]
    step = world.pick.choice(list(inner) if isinstance(inner, dict) else list(range(len(inner))))

    def edit(entries):
        entries[key].pop(step)
    path = f":{component(key)}:{component(str(step))}"
    return ["delete", *place.options, place.operand, path], "", lambda: change(place, edit)


def delete_domain(world):
    place = world.pick.choice([place for place in world.places if not place.is_file])

    def edit():
        if place.value is ABSENT:
            raise Invalid
        place.become(ABSENT)
    return ["delete", *place.options, place.operand], "", edit


def delete_all(world):
    place = world.pick.choice([place for place in world.places if place.layer in ("user", "user-host")])
    places = [other for other in world.places if other.name == place.name and other.layer in ("user", "user-host")]
    if world.pick.random() < 0.3:
        def edit():
            if all(other.value is ABSENT for other in places):
                raise Invalid
            for other in places:
                other.become(ABSENT)
        return ["delete-all", place.operand], "", edit
    key = some_key(world, place)

    def edit():
        holders = [other for other in places if other.value and key in other.value]
        if not holders:
            raise Invalid
        for other in holders:
            change(other, lambda entries: entries.pop(key))
    # Another host's file is not this user's layer here, so the files of other hosts do not change.
    return ["delete-all", place.operand, as_key(key)], "", edit


def rename(world):
    place = world.pick.choice(world.places)
    old, new = some_key(world, place), world.pick.choice(KEYS)
    if old == new:
        return write(world)

    def edit():
        if place.value is ABSENT or old not in place.value:
            raise Invalid
        change(place, lambda entries: entries.update({new: entries.pop(old)}))
    return ["rename", *place.options, place.operand, as_key(old), as_key(new)], "", edit


def copy_verb(world):
    place = world.pick.choice(world.places)
    targets = [other for other in world.places if other.options == place.options or place.is_file and not other.options]
    if place.is_file or not place.options:
        targets = [other for other in world.places if not other.options]
    target = world.pick.choice(targets)
    old, new = some_key(world, place), world.pick.choice(KEYS)
    if old == new and place is target:
        return write(world)

    def edit():
        if place.value is ABSENT or old not in place.value:
            raise Invalid
        value = copy.deepcopy(place.value[old])
        change(target, lambda entries: entries.update({new: value}))
    return ["copy", *place.options, "--to", target.operand, place.operand, as_key(old), as_key(new)], "", edit


def input_file(world, values, name="in"):
    """Writes values to a file in a format that holds them, and returns its path."""
    kind = world.pick.choice(["xml", "binary"])
    path = f"{world.root}/{name}.{'xml' if kind == 'xml' else 'plist'}"
    with open(path, "wb") as file:
        plistlib.dump(values, file, fmt=plistlib.FMT_XML if kind == "xml" else plistlib.FMT_BINARY, sort_keys=False)
    return path


def import_verb(world):
    place = world.pick.choice(world.places)
    values = world.dictionary(place, place.format or ("json" if place.stem.endswith(".json") else "binary"))
    if place.stem.endswith(".strings"):
        values = {key: world.pick.choice(WORDS) for key in values}
    replace = world.pick.random() < 0.4
    path = input_file(world, values)

    def edit(entries):
        if replace:
            entries.clear()
        entries.update(copy.deepcopy(values))
    words = ["import", *place.options, *(["--replace"] if replace else []), place.operand, path]
    return words, "", lambda: change(place, edit)


def apply_verb(world):
    places = [place for place in world.places if place.layer == "user" and place.name != "-g"]
    chosen = world.pick.sample(places, world.pick.randint(1, len(places)))
    sets = {place.name: world.dictionary(place, "binary") for place in chosen}
    path = input_file(world, sets)

    def edit():
        changed = []
        for place in chosen:
            before = len(place.states)
            change(place, lambda entries: entries.update(copy.deepcopy(sets[place.name])))
            if len(place.states) > before:
                changed.append(place)
        if changed:
            world.transactions.append(changed)
    return ["apply", "--domains", path], "", edit


def edit_verb(world):
    present = [place for place in world.places if place.value is not ABSENT]
    if not present:
        return write(world)
    place = world.pick.choice(present)
    values = world.dictionary(place, "json" if place.is_file else "binary")
    if place.stem.endswith(".strings"):
        values = {key: world.pick.choice(WORDS) for key in values}
    if not place.holds(values):
        return write(world)
    with open(world.root + "/edited", "w", encoding="utf-8") as file:
        json.dump(values if place.is_file else to_lossless(values), file, ensure_ascii=False)
    return ["edit", *place.options, "--format", "json", place.operand], "", lambda: place.become(copy.deepcopy(values))


def undo(world):
    changed = [place for place in world.places if len(place.states) > 1]
    place = world.pick.choice(changed if changed and world.pick.random() < 0.8 else world.places)
    count = world.pick.choice([1, 1, 1, 2])
    return ["undo", *place.options, place.operand, *([str(count)] if count > 1 else [])], "", lambda: place.undo(count)


def undo_transaction(world):
    if not world.transactions:
        return apply_verb(world)
    places = world.transactions[-1]

    def edit():
        for place in places:
            place.undo()
        world.transactions.pop()
    # Later changes make it a conflict, which another test covers.
    if world.pending_transaction is not places:
        return undo(world)
    return ["undo", "--transaction", world.pick.choice(places).operand], "", edit


def convert(world):
    place = world.pick.choice([place for place in world.places if not place.is_file])
    kind = world.pick.choice(["binary", "xml", "json", "gnustep", "folder"])

    def edit():
        if place.value is ABSENT:
            raise Invalid
        place.become(place.value, kind)
    return ["convert", *place.options, place.operand, kind], "", edit


def restore(world):
    place = world.pick.choice(world.places)
    if place.value is ABSENT or len(place.states) < 2:
        return undo(world)
    number = None
    listed = subprocess.run(
        [world.prefs, "history", *place.options, "--format", "json", place.operand], env=world.environment,
        cwd=world.root + "/files", capture_output=True, check=False)
    # The number of the last version whose values another program would read, by the history's own list.
    try:
        versions = json.loads(listed.stdout)["versions"]
    except (ValueError, KeyError):
        return undo(world)
    version = world.pick.choice(versions)
    number = version["id"]
    shown = subprocess.run(
        [world.prefs, "history", *place.options, "--show", str(number), "--format", "xml", place.operand],
        env=world.environment, cwd=world.root + "/files", capture_output=True, check=False)
    if shown.returncode:
        return undo(world)
    # A version of a time without a file is shown without values, and restoring it removes the file.
    values = plistlib.loads(shown.stdout) if version["exists"] else ABSENT
    if values is not ABSENT and equal(values, place.value):
        # The version differs in its format only, which is then restored. The history does not list that of a folder.
        return undo(world)
    return ["restore", *place.options, place.operand, str(number)], "", lambda: place.become(values)


def form(world):
    place = next((place for place in world.places if place.layer == "user" and place.name == "com.example.app"), None)
    if place is None or any(other.name == place.name and other.layer == "user-host" for other in world.places):
        return write(world)
    text = world.pick.choice(["hello", "7", NFD])
    number = world.pick.randint(1, 99)

    def edit(entries):
        entries.update({"formName": text, "formSize": number})
    schema = world.root + "/schema.plist"
    with open(schema, "w", encoding="utf-8") as file:
        file.write('{ Domain = "com.example.app"; Settings = ({ Key = formName; Type = string; },'
                   ' { Key = formSize; Type = integer; Minimum = 1; Maximum = 99; }); }')
    return ["form", "--plain", "--schema", schema, place.operand], f"{text}\n{number}\n:save\n", \
        lambda: change(place, edit)


VERBS = [
    write, write, write_plain, write_inside, write_if, write_add, delete, delete_inside, delete_domain, delete_all,
    rename, copy_verb, import_verb, apply_verb, edit_verb, undo, undo, undo_transaction, convert, restore, form,
]


# --- runs ------------------------------------------------------------------------------------------------------------

def run(prefs, root, seed, privileged, counts, pairs, trace):
    world = World(prefs, root, seed, privileged)
    world.pending_transaction = None
    problem = world.check("before")
    before_verb = None
    for _ in range(world.pick.randint(2, 6)):
        if problem:
            return world, problem
        verb = world.pick.choice(VERBS)
        words, stdin, edit = verb(world)
        snapshot = world.snapshot()
        applied = len(world.transactions)
        expected = True
        try:
            edit()
        except Invalid:
            world.reset(snapshot)
            expected = False
        try:
            status = world.call(*words, stdin=stdin)
        except subprocess.TimeoutExpired:
            return world, f"{words}: no end within a minute"
        if trace:
            print(words, stdin, "->", status, world.last.stderr.decode(errors="replace"))
        name = words[0]
        counts[name][0 if status == 0 else 1] += 1
        if before_verb:
            pairs.add((before_verb, name))
        before_verb = name
        if (status == 0) != expected:
            said = world.last.stderr.decode(errors="replace").strip()
            return world, f"{words}: status {status}, expected {'0' if expected else 'a refusal'}: {said}"
        problem = world.check(words)
        if len(world.transactions) > applied:
            world.pending_transaction = world.transactions[-1]
        elif status == 0 and name != "apply":
            world.pending_transaction = None
    return world, problem


HOST = ""


def main():
    global HOST
    parser = argparse.ArgumentParser()
    parser.add_argument("prefs")
    parser.add_argument("runs", nargs="?", type=int, default=1000)
    parser.add_argument("seed", nargs="?", type=int, default=None)
    parser.add_argument("--only", type=int)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--failures", type=int, default=8)
    options = parser.parse_args()
    prefs = os.path.abspath(options.prefs)
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    privileged = os.environ.get("PREFS_LAYERS_OF_ROOT") == "1"
    if os.getuid() == 0 and not privileged:
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "env", "PREFS_LAYERS_OF_ROOT=1",
                              sys.executable, *sys.argv])
    owned = []
    if privileged:
        # Every folder of the administrator is one of this process's own.
        for folder in ("/etc", "/var/lib"):
            own = tempfile.mkdtemp(prefix="verbs-", dir="/dev/shm")
            owned.append(own)
            if folder == "/etc":
                subprocess.run(["cp", "-a", "/etc/.", own], check=True)
            subprocess.run(["mount", "--bind", own, folder], check=True)
    # In memory, where a write does not wait for a disk.
    root = tempfile.mkdtemp(prefix="verbs-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        HOST = host(prefs, root)
        counts, pairs, failures = collections.defaultdict(lambda: [0, 0]), set(), 0
        numbers = [options.only] if options.only is not None else range(options.runs)
        for number in numbers:
            world, problem = run(
                prefs, root + "/home", f"{seed}.{number}", privileged, counts, pairs, options.trace)
            if problem:
                failures += 1
                print(f"run {number}: {problem}")
                for words, stdin in world.calls:
                    print("   ", " ".join(map(repr, words)), repr(stdin) if stdin else "")
                print(f"    repeat: {sys.argv[0]} {options.prefs} 1 {seed} --only {number} --trace")
                if failures >= options.failures:
                    break
        print(f"seed {seed}, {len(numbers)} runs, {len(pairs)} pairs of verbs; done/refused: "
              + ", ".join(f"{name} {done}/{refused}" for name, (done, refused) in sorted(counts.items())))
        print(f"{len(numbers) - failures} passed, {failures} failed")
        return 1 if failures else 0
    finally:
        for folder in [root, *owned]:
            shutil.rmtree(folder, ignore_errors=True)


def host(prefs, root):
    """The name of this host in the names of files: the only file that a write for this host makes."""
    environment = {"HOME": root, "PATH": "/usr/bin:/bin"}
    subprocess.run([prefs, "write", "--current-host", "x", "k", "v"], env=environment, check=True)
    name, = (name for name in os.listdir(root + "/.config/prefs/ByHost") if name.endswith(".plist"))
    return name[len("x."):-len(".plist")]


if __name__ == "__main__":
    sys.exit(main())
