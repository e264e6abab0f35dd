package import Platform
internal import Synchronization

/// A terminal that records output and reads the input of a test.
package final class SimulatedTerminal: Terminal {
    private let state: Mutex<State>

    private struct State: Sendable {
        var widths: [StandardStream: Int]
        /// The contents of the descriptors that are open for reading.
        var readable: [Int32: [UInt8]]
        var written: [StandardStream: [UInt8]] = [:]
        var status: Int32?
        var failures: [StandardStream: ErrorCode] = [:]
    }

    /// - Parameters:
    ///   - widths: The widths of the streams that are terminals. The others are files.
    ///   - input: The contents of the standard input.
    ///   - descriptors: The contents of other open descriptors.
    package init(
        widths: [StandardStream: Int] = [:], input: String = "", descriptors: [Int32: [UInt8]] = [:]
    ) {
        let readable = descriptors.merging([StandardStream.input.rawValue: Array(input.utf8)]) { $1 }
        state = Mutex(State(widths: widths, readable: readable))
    }

    /// The output to a stream.
    package func text(of stream: StandardStream) -> String {
        String(decoding: state.withLock { $0.written[stream] ?? [] }, as: UTF8.self)
    }

    /// The exit status of the program, or nil if it has not ended.
    package var exitStatus: Int32? { state.withLock(\.status) }

    /// Makes all later writes to some streams fail, as on a full disk.
    package func failWrites(_ code: ErrorCode?, to streams: [StandardStream] = [.output, .errors]) {
        state.withLock { state in for stream in streams { state.failures[stream] = code } }
    }

    package func width(of stream: StandardStream) -> Int? { state.withLock { $0.widths[stream] } }

    package func isTerminal(_ stream: StandardStream) -> Bool { width(of: stream) != nil }

    package func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure) {
        let bytes = bytes.withUnsafeBytes { Array($0) }
        let failure = state.withLock { state in
            let failure = state.failures[stream]
            if failure == nil { state.written[stream, default: []] += bytes }
            return failure
        }
        if let failure { throw SystemFailure(failure, .write, nil) }
    }

    package func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        let found = state.withLock { state in
            defer { if state.readable[descriptor] != nil { state.readable[descriptor] = [] } }
            return state.readable[descriptor]
        }
        guard let bytes = found else { throw SystemFailure(.badDescriptor, .read, nil) }
        guard bytes.count <= limit else { throw SystemFailure(.fileTooLarge, .read, nil) }
        return bytes
    }

    package func exit(_ status: Int32) throws(ProgramExit) -> Never {
        state.withLock { $0.status = status }
        throw ProgramExit(status: status)
    }
}
