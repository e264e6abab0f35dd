// swift-tools-version: 6.2
import PackageDescription

/// A package that depends on a version of this one, in the repository that `Tests/run` creates.
let package = Package(
    name: "Dependent",
    dependencies: [
        .package(url: Context.environment["PREFS_REPOSITORY"] ?? "file:///prefs", from: "1.0.0")
    ],
    targets: [
        .executableTarget(
            name: "Dependent",
            dependencies: [
                .product(name: "Preferences", package: "prefs"),
                .product(name: "PropertyLists", package: "prefs"),
            ]),
        // Written for Foundation; `Tests/run` changes the import and the type's name.
        .executableTarget(name: "Program", dependencies: [.product(name: "Preferences", package: "prefs")]),
    ]
)
