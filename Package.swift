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

/// The options for the release build of the command on Linux: a static executable, which starts in a third of the time
/// of a dynamic one.
///
/// `Sources/prefs/build` links it a second time, with the functions that every start runs next to each other, so that
/// the rest of the executable is not even mapped; their names are in the file PREFS_STARTUP_ORDER. PREFS_SYMBOLS keeps
/// the names in the executable. The table for C++ exceptions is left out, because there are none.
let standalone: (swift: [SwiftSetting], linker: [LinkerSetting]) = (
    [.unsafeFlags(["-static-executable"], .when(platforms: [.linux], configuration: .release))],
    [
        .unsafeFlags(
            [
                "-static-executable", "-use-ld=lld", "-Xlinker", "-O2", "-Xlinker", "--gc-sections", "-Xlinker",
                "--icf=all", "-Xlinker", "--no-eh-frame-hdr",
                "-Xlinker", "-T", "-Xlinker", "\(Context.packageDirectory)/Sources/prefs/discarded.ld",
            ] + (Context.environment["PREFS_SYMBOLS"] == nil ? ["-Xlinker", "-s"] : [])
                + (Context.environment["PREFS_STARTUP_ORDER"].map { file in
                    ["-Xlinker", "--symbol-ordering-file=\(file)", "-Xlinker", "--no-warn-symbol-ordering"]
                } ?? []),
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
        .library(name: "PreferencesCoders", targets: ["PreferencesCoders"]),
        .library(name: "PreferencesFoundation", targets: ["PreferencesFoundation"]),
        .library(name: "PreferencesMirror", targets: ["PreferencesMirror"]),
        .executable(name: "prefs", targets: ["prefs"]),
    ],
    targets: [
        // Values, their schemas and queries, and the protocol of the mirror. Pure code: no access to the system.
        .target(name: "Digests"),
        .target(name: "PropertyLists", dependencies: ["Digests"]),
        .target(name: "PreferencesCoders", dependencies: ["PropertyLists"]),
        .target(name: "Queries", dependencies: ["PropertyLists"]),
        .target(name: "SettingsSchema", dependencies: ["PropertyLists", "Queries"]),
        .target(name: "SchemaTools", dependencies: ["PropertyLists", "Queries", "SettingsSchema"]),
        .target(name: "MirrorEngine", dependencies: ["Digests", "PropertyLists"]),

        // Screens in a terminal: keys in, cells out. Pure code.
        .target(name: "Screens", dependencies: ["PropertyLists", "SchemaTools", "SettingsSchema"]),

        // The operating system, as protocols with an implementation for Linux.
        .target(name: "Platform", dependencies: ["Digests"]),

        // The store, and the loop that mirrors it.
        .target(
            name: "Preferences", dependencies: ["Digests", "Platform", "PropertyLists", "Queries", "SettingsSchema"]),
        .target(
            name: "PreferencesFoundation", dependencies: ["Preferences", "PreferencesCoders", "PropertyLists"]),
        .target(
            name: "PreferencesMirror",
            dependencies: ["MirrorEngine", "Platform", "Preferences", "PropertyLists"]),

        // The command.
        .target(
            name: "Commands",
            dependencies: [
                "MirrorEngine", "Platform", "Preferences", "PreferencesMirror", "PropertyLists", "Queries",
                "SchemaTools", "Screens", "SettingsSchema",
            ],
            // Optimized for size, because a command runs most of this code only once.
            swiftSettings: [.unsafeFlags(["-Osize"], .when(configuration: .release))]),
        .executableTarget(
            name: "prefs", dependencies: ["Commands"],
            exclude: ["build", "discarded.ld", "install", "package", "programs", "release"],
            swiftSettings: standalone.swift,
            linkerSettings: standalone.linker),

        // Everything below is in Tests and never ships.
        .executableTarget(
            name: "Benchmarks", dependencies: ["Platform", "Preferences", "PreferencesMirror", "PropertyLists"],
            path: "Tests/Benchmarks"),
        .executableTarget(
            name: "Fuzzing",
            dependencies: [
                "Commands", "Digests", "MirrorEngine", "Platform", "Preferences", "PropertyLists", "Queries",
                "SchemaTools", "SettingsSchema", "SimulatedPlatform",
            ],
            path: "Tests/Fuzzing"),
        .target(
            name: "SimulatedPlatform", dependencies: ["Digests", "Platform"], path: "Tests/SimulatedPlatform"),
        .target(name: "TestSupport", dependencies: ["Platform", "PropertyLists"], path: "Tests/TestSupport"),
        .testTarget(name: "PropertyListsTests", dependencies: ["PropertyLists", "TestSupport"]),
        .testTarget(
            name: "PreferencesCodersTests", dependencies: ["PreferencesCoders", "PropertyLists", "TestSupport"]),
        .testTarget(name: "QueriesTests", dependencies: ["PropertyLists", "Queries", "TestSupport"]),
        .testTarget(name: "DigestsTests", dependencies: ["Digests"]),
        .testTarget(
            name: "MirrorEngineTests", dependencies: ["Digests", "MirrorEngine", "PropertyLists", "TestSupport"]),
        // Many hosts of a mirror in one process. `Simulator` runs thousands of such simulations in a release build.
        .target(
            name: "Simulation", dependencies: ["MirrorEngine", "PropertyLists", "TestSupport"],
            path: "Tests/Simulation"),
        .executableTarget(
            name: "Simulator", dependencies: ["MirrorEngine", "Simulation", "TestSupport"], path: "Tests/Simulator"),
        .testTarget(
            name: "SimulationTests", dependencies: ["MirrorEngine", "PropertyLists", "Simulation", "TestSupport"]),
        .testTarget(
            name: "SettingsSchemaTests",
            dependencies: ["PropertyLists", "Queries", "SchemaTools", "SettingsSchema", "TestSupport"],
            exclude: ["widths.py"]),
        .testTarget(
            name: "ScreensTests",
            dependencies: ["PropertyLists", "SchemaTools", "Screens", "SettingsSchema", "TestSupport"],
            exclude: ["form.svg"]),
        .testTarget(name: "PlatformTests", dependencies: ["Platform", "SimulatedPlatform", "TestSupport"]),
        .testTarget(
            name: "PreferencesTests",
            dependencies: [
                "Digests", "Platform", "Preferences", "PropertyLists", "Queries", "SettingsSchema", "SimulatedPlatform",
                "TestSupport",
            ]),
        .testTarget(
            name: "PreferencesFoundationTests",
            dependencies: ["Preferences", "PreferencesCoders", "PreferencesFoundation", "PropertyLists", "TestSupport"]),
        .executableTarget(
            name: "StoreWorker", dependencies: ["Platform", "Preferences", "PropertyLists"], path: "Tests/StoreWorker"),
        .testTarget(
            name: "StoreProofs",
            dependencies: ["Platform", "Preferences", "PropertyLists", "StoreWorker", "TestSupport"]),
        // The examples of the manual and the README, which CommandsTests runs.
        .executableTarget(name: "ExampleEditor", dependencies: ["Preferences"], path: "Tests/Examples/editor"),
        .executableTarget(
            name: "ExampleNotes", dependencies: ["Preferences", "PropertyLists"], path: "Tests/Examples/notes"),
        .executableTarget(
            name: "ExamplePort", dependencies: ["PreferencesFoundation"], path: "Tests/Examples/port"),
        .executableTarget(name: "ExampleServer", dependencies: ["Preferences"], path: "Tests/Examples/server"),
        .executableTarget(name: "ExampleWords", dependencies: ["Preferences"], path: "Tests/Examples/words"),
        .testTarget(
            name: "PreferencesMirrorTests",
            dependencies: [
                "Digests", "MirrorEngine", "Platform", "Preferences", "PreferencesMirror", "PropertyLists",
                "SimulatedPlatform",
                "TestSupport",
            ]),
        .testTarget(
            name: "MirrorProofs",
            dependencies: ["Platform", "Preferences", "PreferencesMirror", "PropertyLists", "TestSupport", "prefs"]),
        .testTarget(
            name: "CommandsTests",
            dependencies: [
                "Commands", "ExampleEditor", "ExampleNotes", "ExamplePort", "ExampleServer", "ExampleWords", "Platform",
                "Preferences", "PropertyLists",
                "Queries", "SchemaTools", "SettingsSchema", "SimulatedPlatform", "TestSupport",
            ]),
        .testTarget(
            name: "Corpus", dependencies: ["PropertyLists", "TestSupport"], exclude: ["Archives", "Cases", "Fuzz"]),
        .testTarget(name: "Tidy", dependencies: ["TestSupport"], exclude: ["public-names.txt", "swift-format.json"]),
    ]
)

/// The modules with strict memory safety: the compiler requires that unsafe code in them is marked.
let memorySafe = [
    "Digests", "Platform", "PropertyLists", "Queries", "SchemaTools", "SettingsSchema", "Screens", "MirrorEngine",
    "Preferences", "PreferencesCoders", "PreferencesFoundation", "PreferencesMirror",
]

/// The modules that a debug build optimizes, with its assertions.
let optimized = Context.environment["PREFS_OPTIMIZED"]?.split(separator: " ").map(String.init) ?? []

for target in package.targets {
    target.swiftSettings = settings + (target.swiftSettings ?? [])
    if memorySafe.contains(target.name) { target.swiftSettings?.append(.strictMemorySafety()) }
    // The linker can order only functions that have a section of their own.
    if !target.isTest, target.path == nil {
        let separate: SwiftSetting = .unsafeFlags(
            ["-Xfrontend", "-function-sections"], .when(platforms: [.linux], configuration: .release))
        target.swiftSettings?.append(separate)
    }
    if optimized.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
    }
}
