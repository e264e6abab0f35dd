extension Verb {
    package static let doctor = Verb(
        "doctor", .new, "look for whatever is not as it should be, and say what mends it",
        statuses: [.damaged, .systemFailed, .different])
}
