// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
    .treatWarning("ExplicitSendable", as: .error),
]

/// On Linux the released command is one file without a library to load: it starts in a third of the time. What every
/// start runs stands together in it, so that the rest is not even mapped: `Tests/run order` finds out what that is. It
/// lacks the table by which exceptions of C++ find their way, for there are none.
let standalone: (swift: [SwiftSetting], linker: [LinkerSetting]) = (
    [.unsafeFlags(["-static-executable"], .when(platforms: [.linux], configuration: .release))],
    [
        .unsafeFlags(
            [
                "-static-executable", "-use-ld=lld", "-Xlinker", "-O2", "-Xlinker", "--gc-sections", "-Xlinker",
                "--icf=all", "-Xlinker", "--no-eh-frame-hdr",
                "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/Sources/prefs/startup-order.txt",
                "-Xlinker", "--no-warn-symbol-ordering",
                "-Xlinker", "-T", "-Xlinker", "\(Context.packageDirectory)/Sources/prefs/discarded.ld",
            ] + (Context.environment["PREFS_SYMBOLS"] == nil ? ["-Xlinker", "-s"] : []),
            .when(platforms: [.linux], configuration: .release))
    ]
)

let package = Package(
    name: "prefs",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "PropertyLists", targets: ["PropertyLists"]),
        .library(name: "Queries", targets: ["Queries"]),
        .library(name: "Preferences", targets: ["Preferences"]),
        .library(name: "PreferencesFoundation", targets: ["PreferencesFoundation"]),
        .library(name: "PreferencesMirror", targets: ["PreferencesMirror"]),
        .executable(name: "prefs", targets: ["prefs"]),
    ],
    targets: [
        // Vocabulary: values, what may be said about them, and how their bytes are told apart. Pure.
        .target(name: "Digests"),
        .target(name: "PropertyLists", dependencies: ["Digests"]),
        .target(name: "Queries", dependencies: ["PropertyLists"]),
        .target(name: "SettingsSchema", dependencies: ["PropertyLists", "Queries"]),
        .target(name: "MirrorEngine", dependencies: ["Digests", "PropertyLists"]),

        // Screens in a terminal: keys in, cells out. Pure.
        .target(name: "Screens", dependencies: ["PropertyLists", "SettingsSchema"]),

        // The operating system, behind protocols.
        .target(name: "Platform", dependencies: ["Digests"]),

        // Policy: the store, and the loop that mirrors it.
        .target(
            name: "Preferences", dependencies: ["Digests", "Platform", "PropertyLists", "Queries", "SettingsSchema"]),
        .target(name: "PreferencesFoundation", dependencies: ["Preferences"]),
        .target(
            name: "PreferencesMirror",
            dependencies: ["MirrorEngine", "Platform", "Preferences", "PropertyLists"]),

        // The command.
        .target(
            name: "Commands",
            dependencies: [
                "MirrorEngine", "Platform", "Preferences", "PreferencesMirror", "PropertyLists", "Queries",
                "Screens", "SettingsSchema",
            ],
            // What a command does once need not be quick but small.
            swiftSettings: [
                .unsafeFlags(["-Osize", "-Xfrontend", "-function-sections"], .when(configuration: .release))
            ]),
        .executableTarget(
            name: "prefs", dependencies: ["Commands"],
            exclude: ["discarded.ld", "install", "package", "startup-order.txt"],
            swiftSettings: standalone.swift,
            linkerSettings: standalone.linker),

        // Everything below is in Tests and never ships: benchmarks, fuzzing, test support and tests.
        .executableTarget(
            name: "Benchmarks", dependencies: ["Platform", "Preferences", "PreferencesMirror", "PropertyLists"],
            path: "Tests/Benchmarks"),
        .executableTarget(
            name: "Fuzzing",
            dependencies: [
                "Commands", "Digests", "MirrorEngine", "Platform", "Preferences", "PropertyLists", "Queries",
                "SettingsSchema", "SimulatedPlatform",
            ],
            path: "Tests/Fuzzing"),
        .target(
            name: "SimulatedPlatform", dependencies: ["Digests", "Platform"], path: "Tests/SimulatedPlatform"),
        .target(name: "TestSupport", dependencies: ["Platform", "PropertyLists"], path: "Tests/TestSupport"),
        .testTarget(name: "PropertyListsTests", dependencies: ["PropertyLists", "TestSupport"]),
        .testTarget(name: "QueriesTests", dependencies: ["PropertyLists", "Queries", "TestSupport"]),
        .testTarget(name: "DigestsTests", dependencies: ["Digests"]),
        .testTarget(
            name: "MirrorEngineTests", dependencies: ["Digests", "MirrorEngine", "PropertyLists", "TestSupport"]),
        // Many hosts in one process, run by tests and, optimised, by thousands.
        .target(
            name: "Simulation", dependencies: ["MirrorEngine", "PropertyLists", "TestSupport"],
            path: "Tests/Simulation"),
        .executableTarget(
            name: "Simulator", dependencies: ["MirrorEngine", "Simulation", "TestSupport"], path: "Tests/Simulator"),
        .testTarget(
            name: "SimulationTests", dependencies: ["MirrorEngine", "PropertyLists", "Simulation", "TestSupport"]),
        .testTarget(
            name: "SettingsSchemaTests", dependencies: ["PropertyLists", "Queries", "SettingsSchema", "TestSupport"]),
        .testTarget(
            name: "ScreensTests", dependencies: ["PropertyLists", "Screens", "SettingsSchema", "TestSupport"],
            exclude: ["form.svg"]),
        .testTarget(name: "PlatformTests", dependencies: ["Platform", "SimulatedPlatform", "TestSupport"]),
        .testTarget(
            name: "PreferencesTests",
            dependencies: [
                "Digests", "Platform", "Preferences", "PropertyLists", "SettingsSchema", "SimulatedPlatform",
                "TestSupport",
            ]),
        .testTarget(name: "PreferencesFoundationTests", dependencies: ["Preferences", "PreferencesFoundation"]),
        .executableTarget(
            name: "StoreWorker", dependencies: ["Platform", "Preferences", "PropertyLists"], path: "Tests/StoreWorker"),
        .testTarget(
            name: "StoreProofs",
            dependencies: ["Platform", "Preferences", "PropertyLists", "StoreWorker", "TestSupport"]),
        // What the manual and the README tell of, run by the tests of the command.
        .executableTarget(name: "ExampleEditor", dependencies: ["Preferences"], path: "Tests/Examples/editor"),
        .executableTarget(name: "ExampleWords", dependencies: ["Preferences"], path: "Tests/Examples/words"),
        .testTarget(
            name: "PreferencesMirrorTests",
            dependencies: [
                "MirrorEngine", "Platform", "Preferences", "PreferencesMirror", "PropertyLists", "SimulatedPlatform",
                "TestSupport",
            ]),
        .testTarget(
            name: "MirrorProofs",
            dependencies: ["Platform", "Preferences", "PreferencesMirror", "PropertyLists", "TestSupport", "prefs"]),
        .testTarget(
            name: "CommandsTests",
            dependencies: [
                "Commands", "ExampleEditor", "ExampleWords", "Platform", "Preferences", "PropertyLists", "Queries",
                "SettingsSchema",
                "SimulatedPlatform",
                "TestSupport",
            ]),
        .testTarget(
            name: "Corpus", dependencies: ["PropertyLists", "TestSupport"], exclude: ["Archives", "Cases", "Fuzz"]),
        .testTarget(name: "Tidy", dependencies: ["TestSupport"], exclude: ["swift-format.json"]),
    ]
)

/// Modules whose memory safety is checked strictly: unsafe code in them is marked.
let memorySafe = [
    "PropertyLists", "Queries", "SettingsSchema", "Screens", "MirrorEngine", "Preferences", "PreferencesMirror",
]

for target in package.targets {
    target.swiftSettings = settings + (target.swiftSettings ?? [])
    if memorySafe.contains(target.name) { target.swiftSettings?.append(.strictMemorySafety()) }
}
