internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let diff = Verb(
        "diff", .new, "compare two domains, files or layers",
        details: [
            "Each of A and B is a domain, DOMAIN@LAYER (\(Layer.writable.map(\.name).joined(separator: ", ")), or effective for the values in force), DOMAIN@VERSION with a number that prefs history lists, a file, or - for the standard input. A word without a slash is a domain if one of that name exists, otherwise a file; --domain NAME in place of A is always a domain.",
            "The values in force are those of the domain's own layers; --global adds those of the global domain.",
            "--versions FROM..TO compares two versions of the domain A, and --versions FROM a version with the present values, as DOMAIN@VERSION alone does.",
            "A second --store is the store of B, or without B that of A, which is compared in both.",
            "With --format commands it prints the commands that turn A into B.",
        ],
        options: [
            .storeOfEach, .globalKeys, .versions, .layer, .format([.text, .json, .commands]), .fromLines, .asDomain,
        ],
        forms: [[Operand("A", .compared)], [Operand("A", .compared), Operand("B", .compared)]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed, .different]
    ) { invocation, context in
        let stores = invocation.all(.storeOfEach).count
        guard stores <= 2, stores < 2 || invocation[.versions] == nil else {
            throw CommandFailure(.usage, "diff: a second --store is that of B, and there is no third one")
        }
        let access = try StoreAccess(invocation.with(0, of: .storeOfEach), context)
        let other = stores < 2 ? access : try StoreAccess(invocation.with(1, of: .storeOfEach), context)
        let words = (invocation[operand: "A"] ?? "", invocation[operand: "B"])
        let (old, new): (ComparedOperand, ComparedOperand)
        let isForced = invocation.has(.asDomain)
        switch (invocation[.versions], words.1) {
        case (let versions?, nil):
            guard invocation[.from] == nil else {
                throw CommandFailure(.usage, "diff: only one of --from and --versions can be given")
            }
            let domain = try isForced ? access.domain(DomainName(word: words.0)) : access.named(words.0)
            (old, new) = try access.versions(versions, of: domain)
        case (nil, nil) where stores < 2:
            guard !isForced, let (domain, version) = try access.versionOperand(words.0) else {
                throw CommandFailure(
                    .usage, "diff compares A with B, two versions of A (--versions), or A of two stores (--store twice)"
                )
            }
            guard invocation[.from] == nil else { throw CommandFailure.formatOfDomain(words.0) }
            (old, new) = try access.versions(version, of: domain)
        case (nil, let word):
            let word = word ?? words.0
            guard isForced || words.0 != "-" || word != "-" else {
                throw CommandFailure(.usage, "diff: the standard input can be read only once")
            }
            old = try access.operand(words.0, invocation, isForced: isForced)
            new = try other.operand(word, invocation, isForced: isForced && words.1 == nil)
            guard invocation[.from] == nil || old.isInput || new.isInput else {
                throw CommandFailure.formatOfDomain(words.0)
            }
        case (_?, _?): throw CommandFailure(.usage, "diff compares A with B, or two versions of A with --versions")
        }
        let differences = Differences(from: old.values, to: new.values)
        let masking = Masking(old.masking, new.masking)
        switch invocation.format {
        case .json: try context.print(differences.json(masking: masking), Rendering(invocation))
        case .commands:
            guard let command = old.command else {
                throw CommandFailure(
                    .usage, "\(words.0.onOneLine): no command can change that; name a domain or a file")
            }
            let lines = CommandLines(from: old.values, to: new.values, command, masking: masking)
            try context.terminal.write(lines.text(), to: .output)
        default: try context.print(lines: differences.lines(masking: masking))
        }
        return differences.isEmpty ? .done : .different
    }
}

extension Option {
    fileprivate static let storeOfEach = Option(
        "--store", Argument("NAME|DIR", .store), "the store, or given twice those of A and B", repeats: true)
    package static let versions = Option(
        "--versions", Argument("FROM..TO", .versions), "compare two versions of A, or one with the present values")
}

extension StoreAccess {
    /// Returns the two versions that `FROM..TO` names, or for `FROM` and `FROM..` a version and the present values.
    fileprivate func versions(
        _ word: String, of domain: AddressedDomain
    ) throws -> (ComparedOperand, ComparedOperand) {
        let parts = word.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers =
            try parts.prefix(1).map { try Verb.number(String($0), "the number of a version") }
            + parts.dropFirst().filter { !$0.isEmpty }.map { try Verb.number(String($0), "the number of a version") }
        func operand(_ values: PropertyList.Dictionary, isWritable: Bool) -> ComparedOperand {
            ComparedOperand(
                values: values.withoutHidden, masking: masking(domain),
                command: isWritable ? spelling(domain.word, in: domain.layer) : nil)
        }
        let old = try state(ofVersion: numbers[0], of: domain).values
        let new = try numbers.dropFirst().first.map { try state(ofVersion: $0, of: domain).values }
        return (operand(old, isWritable: true), operand(try new ?? values(domain) ?? [:], isWritable: false))
    }
}
