internal import Synchronization

/// The elements that wait for the reader of a stream. If there are too many, because the reader is late, the oldest
/// are dropped, and the next one is preceded by their number or has it.
package final class BoundedStream<Element: Sendable>: Sendable {
    private let state: Mutex<State>
    private let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Returns the elements that replace the first one after a number of dropped elements.
    private let gap: @Sendable (Int, Element) -> [Element]

    private struct State: Sendable {
        var waiting: [Element] = []
        var dropped = 0
    }

    private static var most: Int { 1_000 }

    package init(_ gap: @escaping @Sendable (Int, Element) -> [Element]) {
        state = Mutex(State())
        self.gap = gap
    }

    package func append(_ element: Element) {
        state.withLock { state in
            if state.waiting.count == Self.most {
                // Half of them at a time, so that the average cost of an element is constant.
                state.waiting.removeFirst(Self.most / 2)
                state.dropped += Self.most / 2
            }
            state.waiting.append(element)
        }
        bell.yield()
    }

    /// Ends the stream after the elements that wait.
    package func finish() { bell.finish() }

    private func first() -> Element? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            if state.dropped > 0 {
                state.waiting.replaceSubrange(..<1, with: gap(state.dropped, state.waiting[0]))
                state.dropped = 0
            }
            return state.waiting.removeFirst()
        }
    }

    /// Returns the stream for one reader.
    ///
    /// - Parameter producer: An object that is retained until the reader is done with the stream.
    package func stream(from producer: SettingsObservation) -> AsyncStream<Element> {
        AsyncStream { [self, producer] in
            defer { withExtendedLifetime(producer) {} }
            while true {
                if Task.isCancelled { return nil }
                if let element = first() { return element }
                var bells = bells.makeAsyncIterator()
                if await bells.next() == nil { return first() }
            }
        }
    }
}
