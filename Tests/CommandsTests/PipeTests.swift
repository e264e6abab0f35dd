import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Named pipes and descriptors in place of files.
@Suite struct `A pipe` {
    static let readers = [
        "lint F", "convert -o out F json", "query F TRUEPREDICATE", "diff F F", "import d F", "apply --domain d F",
        "write d k --data @F",
    ]

    @Test(.enabled(if: geteuid() == 0, "only root can give a pipe to another user"), arguments: readers)
    func `of another user is refused at once`(_ line: String) throws {
        let words = line.replacing("F", with: "./pipe")
        let result = try BuiltCommand().script(
            "mkfifo pipe && chown 12345 pipe && timeout -k 1 20 \"$PREFS\" \(words); echo \"status $?\"")
        #expect(String(decoding: result.output, as: UTF8.self) == "status 6\n")
        #expect(String(decoding: result.errors, as: UTF8.self).contains("it is a pipe of another user"))
    }

    @Test(arguments: ["lint F", "convert F json -o -", "query F : TRUEPREDICATE"])
    func `of the caller is read, and so are descriptors`(_ line: String) throws {
        for (feed, name) in [
            ("mkfifo own; printf '{}' > own & ", "./own"), ("printf '{}' | ", "/dev/stdin"),
            ("printf '{}' | ", "/proc/self/fd/0"), ("exec 3<&0; printf '{}' | ", "/dev/fd/0"),
        ] {
            let words = line.replacing("F", with: name)
            let result = try BuiltCommand().script("\(feed) timeout -k 1 20 \"$PREFS\" \(words)")
            #expect(result.status == 0, "\(words): \(String(decoding: result.errors, as: UTF8.self))")
        }
        let result = try BuiltCommand().script("timeout 20 \"$PREFS\" \(line.replacing("F", with: "/dev/null"))")
        #expect(result.status == 5)
    }
}
