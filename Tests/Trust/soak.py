#!/usr/bin/env python3
"""Lets five hosts mirror their settings while their processes are killed: soak.py PREFS [--seconds N] [--seed N]

Each host has a copy of the directory of the mirror, and a service copies files between them (synced_folders.py).
With --shared, all hosts have one directory. Three hosts run `prefs mirror watch`, two `prefs mirror sync`; both are
killed at random moments. Settings are changed by `prefs write` and `defaults write`, by programs without locks and with
old caches, and by a user who accepts and restores conflicts.

Each value is written once. In the end all hosts must have the same values and list the same conflicts. Each value
must be in force, in a conflict, accepted as lost, or replaced by a writer who had read it. Not decided are values of
programs with caches that were replaced before another host had them, or that another such program replaced by a new
value without having read them although its file showed them, and values at keys that were restored later.
"""

import argparse
import collections
import json
import os
import plistlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from synced_folders import SyncedFolders

COMMON, CACHED = "com.example.common", "com.example.cached"
CONTENDED = [f"key{number}" for number in range(12)]
# Status 0, and open conflicts, work for the next exchange, and a domain that waits for a decision.
EXCHANGED = (0, 9, 10, 11)


class Events:
    """What an outside observer knows of each value, by domain, key and value."""

    def __init__(self, log):
        self.lock, self.log = threading.Lock(), log
        self.writes = {}
        # Values that a writer replaced after reading them, values that a user accepted as lost, and values that were
        # seen on another host than that of their writer.
        self.replaced, self.accepted, self.published = set(), set(), set()
        # Values that a program replaced by a new one, after its file had shown them but it had not read them.
        self.unread = set()
        self.restores = collections.defaultdict(list)
        self.counts = collections.Counter()

    def note(self, kind, host, domain, key, value, over=None):
        with self.lock:
            now = time.time()
            place = (domain, key, value)
            self.counts[kind] += 1
            if kind in ("write", "defaults", "program", "cache"):
                self.writes[place] = (kind, host.name, now)
            elif kind == "accept":
                self.accepted.add(place)
            elif kind == "restore":
                self.restores[domain, key].append(now)
            if over is not None:
                self.replaced.add((domain, key, over))
            self.log.write(json.dumps([now, kind, host.name, domain, key, value, over]) + "\n")

    def saw(self, host, domain, key, value):
        with self.lock:
            author = self.writes.get((domain, key, value))
            if author and author[1] != host.name:
                self.published.add((domain, key, value))

    def count(self, name):
        with self.lock:
            self.counts[name] += 1


class Host:
    def __init__(self, name, root, folder, prefs, seed, events):
        self.name, self.folder, self.prefs, self.events = name, folder, prefs, events
        self.random = random.Random(f"{seed} {name}")
        self.home = f"{root}/{name}"
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": self.home, "XDG_CONFIG_HOME": self.home + "/config",
            "XDG_STATE_HOME": self.home + "/state", "XDG_DATA_HOME": self.home + "/data",
        }
        os.makedirs(self.home)
        self.number = 0
        self.has_old_cache = name == "e"
        # What the program with a cache remembers, and the values that it has removed by writing the cache, by key.
        self.memory, self.removed = None, collections.defaultdict(set)

    def start(self, *words, name="prefs"):
        log = open(f"{self.home}/log", "ab")
        return subprocess.Popen(
            [name, *words], executable=self.prefs, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
            stderr=log)

    def run(self, *words, name="prefs"):
        result = subprocess.run(
            [name, *words], executable=self.prefs, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, check=False)
        return result.returncode, result.stdout.decode(), result.stderr.decode()

    def succeed(self, *words):
        status, output, errors = self.run(*words)
        if status:
            raise RuntimeError(f"{self.name}: prefs {' '.join(words)}: status {status}: {errors}")
        return output

    def new_value(self):
        self.number += 1
        return f"{self.name}.{self.number}"

    def path(self, domain):
        return f"{self.home}/config/prefs/{domain}.plist"

    def values(self, domain):
        """The values in a file. A program without locks finds the file complete, because it is always replaced."""
        try:
            with open(self.path(domain), "rb") as file:
                values = plistlib.load(file)
        except FileNotFoundError:
            return {}
        for key, value in values.items():
            self.events.saw(self, domain, key, value)
        return values

    def save(self, domain, values):
        temporary = self.path(domain) + f".{self.random.randrange(1 << 30)}"
        os.makedirs(os.path.dirname(temporary), exist_ok=True)
        with open(temporary, "wb") as file:
            plistlib.dump(values, file)
        os.replace(temporary, self.path(domain))

    def conflicts(self):
        status, output, errors = self.run("mirror", "conflicts", "--format", "json")
        if status not in (0, 9):
            raise RuntimeError(f"{self.name}: conflicts: status {status}: {errors}")
        conflicts = [json.loads(line) for line in output.splitlines()]
        for conflict in conflicts:
            self.events.saw(self, conflict["domain"], conflict.get("key"), conflict["lost"].get("value"))
        return conflicts

    # --- writers ---

    def write_contended(self):
        """Replaces a value only if it is the one that was read."""
        key, value = self.random.choice(CONTENDED), self.new_value()
        status, output, _ = self.run("read", COMMON, key)
        former = output.removesuffix("\n") if status == 0 else None
        condition = ["--if-absent"] if former is None else ["--if-current", json.dumps(former)]
        status, _, errors = self.run("write", COMMON, key, "--string", value, *condition)
        if status == 0:
            self.events.note("write", self, COMMON, key, value, former)
        elif status != 8:
            raise RuntimeError(f"{self.name}: write: status {status}: {errors}")

    def write_with_defaults(self):
        key, value = f"defaults {self.name}", self.new_value()
        status, _, errors = self.run("write", COMMON, key, "-string", value, name="defaults")
        if status:
            raise RuntimeError(f"{self.name}: defaults: status {status}: {errors}")
        self.events.note("defaults", self, COMMON, key, value)

    def write_own_file(self):
        """A program without locks writes its file, to which no other host writes."""
        domain, value = f"com.example.program.{self.name}", self.new_value()
        self.save(domain, self.values(domain) | {"key": value})
        self.events.note("program", self, domain, "key", value)

    def write_cache(self):
        """A program without locks changes a key, and writes the other keys as it remembers them. On one host it often
        remembers old values. Were there several such hosts, old values would come back from others, and it would be
        unknown which a program has read."""
        if self.memory is None or not self.has_old_cache or self.random.random() < 0.5:
            self.memory = self.values(CACHED)
        key, value = self.random.choice(CONTENDED), self.new_value()
        former = self.memory.get(key)
        for other, shown in self.values(CACHED).items():
            if self.memory.get(other) != shown:
                self.removed[other].add(shown)
        self.memory[key] = value
        self.save(CACHED, self.memory)
        self.events.note("cache", self, CACHED, key, value, former)
        self.events.unread |= {(CACHED, key, removed) for removed in self.removed[key]}

    def resolve(self):
        conflicts = [conflict for conflict in self.conflicts() if isinstance(conflict["lost"].get("value"), str)]
        if not conflicts:
            return
        chosen = self.random.sample(conflicts, min(len(conflicts), 1 + len(conflicts) // 3))
        conflict = chosen[0]
        if conflict["domain"] != CACHED and self.random.random() < 0.2:
            status, _, errors = self.run("mirror", "conflicts", "restore", conflict["id"])
            # It is refused if the conflict or the value has changed since, or if the domain is held.
            if status in (1, 2, 3, 9):
                return self.events.count("refused restore")
            kind, chosen = "restore", [conflict]
        else:
            kind = "accept"
            status, _, errors = self.run("mirror", "conflicts", "accept", *[conflict["id"] for conflict in chosen])
        if status not in EXCHANGED + (1, 2):
            raise RuntimeError(f"{self.name}: {kind}: status {status}: {errors}")
        for conflict in chosen:
            self.events.note(kind, self, conflict["domain"], conflict["key"], conflict["lost"]["value"])

    def maintain(self):
        verb = self.random.choice(["compact", "compact", "rebuild"])
        process = self.start("mirror", verb)
        self.end_or_kill(process, verb)

    def act(self):
        actions = [
            (8, self.write_contended), (4, self.write_with_defaults), (3, self.write_own_file), (3, self.write_cache),
            (3, self.resolve), (0.4, self.maintain),
        ]
        weights, functions = zip(*actions)
        self.random.choices(functions, weights)[0]()

    # --- exchanges ---

    def end_or_kill(self, process, what):
        """Waits for a process, or kills it at a random moment."""
        if self.random.random() < 0.4:
            time.sleep(self.random.choice([0.005, 0.02, 0.1]) * self.random.random())
            process.kill()
        status = process.wait()
        if status == -signal.SIGKILL:
            self.events.count("killed " + what)
        else:
            self.events.count(what)
            if status not in EXCHANGED:
                raise RuntimeError(f"{self.name}: {what}: status {status}")

    def exchange(self):
        self.end_or_kill(self.start("mirror", "sync"), "sync")
        time.sleep(self.random.uniform(0.1, 2))

    def watch(self, ends):
        """Runs a daemon until it is killed, and leaves the host without one for a moment."""
        process = self.start("mirror", "watch")
        self.events.count("watch")
        deadline = time.monotonic() + self.random.choice([0.05, 1, 10]) * self.random.random()
        while time.monotonic() < deadline and not ends.wait(0.05):
            if process.poll() is not None:
                raise RuntimeError(f"{self.name}: watch ended with status {process.returncode}")
        if ends.is_set():
            process.terminate()
        else:
            process.kill()
            self.events.count("killed watch")
        process.wait()
        ends.wait(self.random.choice([0, 0, 1]) * self.random.random())


def repeat(ends, failures, body):
    """Starts a thread that repeats an action until the end."""
    def run():
        while not ends.is_set():
            try:
                body()
            except Exception as error:
                failures.append(f"{time.strftime('%H:%M:%S')} {error!r}")
                if len(failures) > 20:
                    ends.set()
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def write(host, ends):
    host.act()
    ends.wait(host.random.choice([0.05, 0.3, 1]) * host.random.random())


# --- the end ---------------------------------------------------------------------------------------------------------

def come_to_rest(hosts, service):
    """Lets all hosts exchange until their folders no longer change. Returns the number of rounds."""
    for number in range(1, 21):
        before = [traces(host.folder) for host in hosts]
        for host in hosts:
            status, _, errors = host.run("mirror", "sync")
            if status not in EXCHANGED:
                raise RuntimeError(f"{host.name}: sync: status {status}: {errors}")
            if service:
                service.settle()
        if before == [traces(host.folder) for host in hosts]:
            return number
    return None


def traces(folder):
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)


def delete_conflict_copies(hosts):
    """Does what `prefs mirror fsck` advises."""
    for host in hosts:
        for path in traces(host.folder):
            if ".sync-conflict-" in path:
                os.remove(path)


def check(hosts, events):
    """Returns the problems, and the number of values by what became of them."""
    problems, fates = [], collections.Counter()
    domains = [COMMON, CACHED] + [f"com.example.program.{host.name}" for host in hosts]
    values = [{domain: host.values(domain) for domain in domains} for host in hosts]
    lists = [host.conflicts() for host in hosts]
    for host, own, conflicts in zip(hosts, values, lists):
        for domain in domains:
            differing = sorted(
                key for key in own[domain].keys() | values[0][domain].keys()
                if own[domain].get(key) != values[0][domain].get(key))
            if differing:
                problems.append(f"diverged: {domain} of {host.name} and {hosts[0].name}: {differing}")
        if {conflict["id"] for conflict in conflicts} != {conflict["id"] for conflict in lists[0]}:
            problems.append(f"diverged: {host.name} lists {len(conflicts)} conflicts, {hosts[0].name} {len(lists[0])}")
        status, output, _ = host.run("mirror", "status")
        if status not in (0, 9):
            problems.append(f"{host.name}: status {status}: {output}")
        status, output, _ = host.run("mirror", "fsck")
        if status:
            problems.append(f"{host.name}: fsck {status}: {output}")
    listed = {(conflict["domain"], conflict["key"], conflict["lost"].get("value")) for conflict in lists[0]}
    counted = {(conflict["domain"], conflict["key"]) for conflict in lists[0] if "value" not in conflict["lost"]}
    last = {}
    for (domain, key, value), (kind, host, _) in events.writes.items():
        last[domain, key, host] = value
    for place, (kind, host, when) in events.writes.items():
        domain, key, value = place
        if values[0][domain].get(key) == value:
            fate = "in force"
        elif place in listed:
            fate = "in a conflict"
        elif place in events.accepted:
            fate = "accepted as lost"
        elif place in events.replaced:
            fate = "replaced by a reader"
        elif kind in ("defaults", "program") and last[domain, key, host] != value:
            fate = "replaced by its own program"
        elif kind == "cache" and place not in events.published:
            fate = "not decided: replaced before another host had it"
        elif place in events.unread:
            fate = "not decided: replaced by a cache whose file showed it"
        elif any(restored > when for restored in events.restores[domain, key]):
            fate = "not decided: a value was restored later"
        elif (domain, key) in counted:
            fate = "not decided: older values are only counted"
        else:
            fate = "lost"
            problems.append(f"lost: {domain} {key} {value}, a {kind} on {host}")
        fates[fate] += 1
    return problems, fates, len(lists[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prefs")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--shared", action="store_true")
    options = parser.parse_args()
    prefs, root = os.path.abspath(options.prefs), tempfile.mkdtemp(prefix="soak-")
    print(f"seed {options.seed}, in {root}", flush=True)
    names = ["a", "b", "c", "d", "e"]
    folders = [f"{root}/shared" if options.shared else f"{root}/copy-{name}" for name in names]
    events = Events(open(f"{root}/events", "w", encoding="utf-8"))
    hosts = [Host(name, root, folder, prefs, options.seed, events) for name, folder in zip(names, folders)]
    service = None if options.shared else SyncedFolders(folders, random.Random(f"{options.seed} service"))
    for host in hosts:
        os.makedirs(host.folder, exist_ok=True)
        host.succeed("mirror", "init" if host is hosts[0] else "join", host.folder, "--label", host.name)
        host.succeed("mirror", "add", "com.example.*")
        if service:
            service.settle()
    ends, failures = threading.Event(), []
    threads = [repeat(ends, failures, lambda host=host: write(host, ends)) for host in hosts]
    threads += [repeat(ends, failures, lambda host=host: host.watch(ends)) for host in hosts[:3]]
    threads += [repeat(ends, failures, host.exchange) for host in hosts[3:]]
    if service:
        service.start()
    ends.wait(options.seconds)
    ends.set()
    for thread in threads:
        thread.join()
    if service:
        service.stop()
    rounds = come_to_rest(hosts, service)
    delete_conflict_copies(hosts)
    problems, fates, conflicts = check(hosts, events)
    problems = failures + problems + ([] if rounds else ["the folders still change after 20 rounds"])
    counts = events.counts | (service.counts if service else {})
    print("did: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    print(f"at rest after {rounds} rounds, {conflicts} open conflicts")
    print(f"{sum(fates.values())} values: " + ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items())))
    for problem in problems[:20]:
        print(problem)
    diverged = sum(problem.startswith("diverged") for problem in problems)
    print(f"{diverged} diverged, {fates['lost']} lost, {len(problems)} problems")
    if not problems:
        shutil.rmtree(root)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
