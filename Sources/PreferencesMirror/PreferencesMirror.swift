// The loop that runs the mirror's engine against a file system and feeds it what happens there.
internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists
