"""Copies files between folders as Syncthing does.

Files arrive in any order. They grow under the name `.syncthing.NAME.tmp` and are then renamed. Deletions come before
additions, hosts are offline for seconds, and sometimes a file also arrives as a conflict copy.
"""

import os
import threading
import time


class SyncedFolders(threading.Thread):
    def __init__(self, folders, random):
        super().__init__(daemon=True)
        self.folders, self.random = folders, random
        # The version of each path in each folder, with the signature of its file, or None after a deletion.
        self.known = [{} for _ in folders]
        # The newest version of each path, and whether it is a file.
        self.latest = {}
        # Copies that have begun, by folder and path.
        self.copies = {}
        self.offline_until = [0.0] * len(folders)
        self.counts = {"copies": 0, "deletions": 0, "conflict copies": 0, "offline": 0, "aborted": 0}
        self.ends = threading.Event()

    def run(self):
        while not self.ends.wait(0.002):
            self.step()

    def stop(self):
        self.ends.set()
        self.join()

    def step(self):
        now = time.monotonic()
        online = [number for number, until in enumerate(self.offline_until) if until <= now]
        if not online:
            return
        number, choice = self.random.choice(online), self.random.random()
        if choice < 0.002:
            self.counts["offline"] += 1
            self.offline_until[number] = now + self.random.uniform(1, 15)
        elif choice < 0.04:
            self.scan(number)
        elif choice < 0.12:
            self.begin(number)
        elif self.copies:
            self.advance(*self.random.choice(list(self.copies)))

    def settle(self):
        """Copies everything to all folders."""
        self.offline_until = [0.0] * len(self.folders)
        while True:
            for number in range(len(self.folders)):
                self.scan(number)
            for number in range(len(self.folders)):
                self.begin(number, everything=True)
            if not self.copies:
                return
            while self.copies:
                self.advance(*self.random.choice(list(self.copies)))

    # --- what changed in a folder ---

    def scan(self, number):
        """Finds what the host itself has created, changed or deleted."""
        found, known = files(self.folders[number]), self.known[number]
        for path, signature in found.items():
            if known.get(path, (None, 0))[0] == signature:
                continue
            # A file that was changed here and elsewhere keeps both contents; names in a mirror depend on contents.
            self.note(number, path, signature)
        for path, (signature, version) in list(known.items()):
            if signature and path not in found and self.latest[path] == (version, True):
                self.note(number, path, None)

    def note(self, number, path, signature):
        version = self.latest.get(path, (0, False))[0] + 1
        self.latest[path] = (version, signature is not None)
        self.known[number][path] = (signature, version)

    # --- what other folders have ---

    def begin(self, number, everything=False):
        """Deletes what others have deleted, and begins to copy some of what they have created."""
        known = self.known[number]
        missing = [path for path, (version, _) in self.latest.items() if known.get(path, (None, 0))[1] < version]
        for path in missing:
            if not self.latest[path][1]:
                self.delete(number, path)
        for path in missing:
            if not self.latest[path][1] or (number, path) in self.copies:
                continue
            if everything or self.random.random() < 0.5:
                self.copies[number, path] = self.copy(number, path)

    def delete(self, number, path):
        place = os.path.join(self.folders[number], path)
        if signature_of(place) == self.known[number].get(path, (None, 0))[0]:
            if os.path.lexists(place):
                os.remove(place)
                self.counts["deletions"] += 1
            self.known[number][path] = (None, self.latest[path][0])

    def advance(self, number, path):
        try:
            next(self.copies[number, path])
        except (StopIteration, OSError) as end:
            del self.copies[number, path]
            self.counts["copies" if isinstance(end, StopIteration) else "aborted"] += 1

    def copy(self, number, path):
        """Copies a file in pieces, one each time that it is advanced."""
        version = self.latest[path][0]
        sources = [
            folder for folder, known in zip(self.folders, self.known) if known.get(path, (None, 0))[1] == version]
        source = os.path.join(self.random.choice(sources), path)
        with open(source, "rb") as file:
            contents, time_of_change = file.read(), os.fstat(file.fileno()).st_mtime_ns
        target = os.path.join(self.folders[number], path)
        parent, name = os.path.split(target)
        os.makedirs(parent, exist_ok=True)
        temporary = os.path.join(parent, f".syncthing.{name}.tmp")
        piece = max(1, len(contents) // self.random.randint(1, 4) + 1)
        with open(temporary, "wb") as file:
            for start in range(0, len(contents), piece):
                file.write(contents[start:start + piece])
                file.flush()
                yield
        os.utime(temporary, ns=(time_of_change, time_of_change))
        if self.latest[path] != (version, True) or signature_of(target) != self.known[number].get(path, (None, 0))[0]:
            os.remove(temporary)
            raise OSError("the file was changed or deleted meanwhile")
        os.replace(temporary, target)
        self.known[number][path] = (signature_of(target), version)
        if self.random.random() < 0.01 and "sync-conflict" not in name:
            self.counts["conflict copies"] += 1
            stem, extension = os.path.splitext(name)
            stamp = time.strftime("%Y%m%d-%H%M%S")
            with open(os.path.join(parent, f"{stem}.sync-conflict-{stamp}-ABCDEFG{extension}"), "wb") as file:
                file.write(contents[:self.random.randint(0, len(contents))])


def files(folder):
    """The files in a folder with their signatures, except for temporary ones of this service."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            place = os.path.join(parent, name)
            signature = None if name.startswith(".syncthing.") else signature_of(place)
            if signature:
                found[os.path.relpath(place, folder)] = signature
    return found


def signature_of(path):
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
