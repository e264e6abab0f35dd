"""Prints the note of a transaction that would rename a file in another folder: note.py STORE FOLDER."""

import plistlib
import sys

store, folder = sys.argv[1], sys.argv[2]
step = {
    "name": "a", "path": f"{store}/a.plist".encode(), "target": f"{folder}/victim".encode(),
    "lock": f"{store}/.locks/a.lock".encode(), "temporary": f"{folder}/.prefs-0123456789abcdef".encode(),
}
sys.stdout.buffer.write(plistlib.dumps([step], fmt=plistlib.FMT_BINARY))
