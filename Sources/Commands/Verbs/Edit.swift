internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let edit = Verb(
        "edit", .new, "change a domain as text in $VISUAL or $EDITOR",
        details: [
            "The saved text is checked first; an error opens the editor again, unless the text is left as it is. An unchanged text changes nothing.",
            "Concurrent changes are merged key by key. If both sides have changed a key, nothing is written, and the text is kept in a file whose name is printed.",
        ],
        options: [
            .format(
                FormatName.ofFiles.filter { $0.ofPropertyList?.isEditedInPlace ?? false }, "the format of the text"),
            .layer, .force, .rewrite,
        ],
        forms: [[.domain]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let editing = Editing(
            access: access, domain: domain, format: invocation.format?.ofPropertyList,
            isForced: invocation.has(.force))
        try editing.run()
        return .done
    }
}
