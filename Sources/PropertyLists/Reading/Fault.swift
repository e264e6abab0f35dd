/// A problem found while reading, before anybody asks at which entry.
struct Fault: Error {
    let problem: DecodingFailure.Problem
    let offset: Int

    init(_ problem: DecodingFailure.Problem, at offset: Int) {
        self.problem = problem
        self.offset = offset
    }
}
