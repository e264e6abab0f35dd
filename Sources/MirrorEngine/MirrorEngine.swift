// The mirror's protocol as a state machine: from a state and an event to the actions that follow. No file, no clock.
internal import PropertyLists
