package import PropertyLists

extension Schema {
    /// Returns the values that `--save` stores: those of settings that are not transient and that have a flag.
    package func kept(_ given: PropertyList.Dictionary, of command: String?) -> PropertyList.Dictionary {
        let settings = settings(of: command).filter { setting in
            let isOperandOnly = setting.takesRest || (setting.positional != nil && setting.flags.isEmpty)
            return !setting.isTransient && !isOperandOnly
        }
        return PropertyList.Dictionary(settings.compactMap { row in given[row.key].map { (row.key, $0) } })
    }

    /// Returns values with relative paths made absolute, since a stored relative path would depend on the current
    /// folder.
    ///
    /// - Parameter folder: The current folder without symbolic links; nil if unknown.
    package func anchored(_ values: PropertyList.Dictionary, in folder: String?) -> PropertyList.Dictionary {
        guard let folder, folder.hasPrefix("/") else { return values }
        return PropertyList.Dictionary(
            values.map { ($0.key, anyDeclaration(of: $0.key)?.rule.anchored($0.value, in: folder) ?? $0.value) })
    }
}

extension ValueRule {
    fileprivate func anchored(_ value: PropertyList, in folder: String) -> PropertyList {
        switch (contents, value) {
        case (_, .string(let text)) where kind?.isPath ?? false: .string(text.anchored(in: folder))
        case (.each(let rule), .array(let elements)): .array(elements.map { rule.anchored($0, in: folder) })
        case (.each, .dictionary(let entries)), (.entries, .dictionary(let entries)):
            .dictionary(
                PropertyList.Dictionary(
                    entries.map { entry in
                        let rule = inside(EntryPath.Component(entry.key))
                        return (entry.key, rule?.anchored(entry.value, in: folder) ?? entry.value)
                    }))
        default: value
        }
    }
}

extension String {
    /// Returns the absolute path. `-`, paths that begin with `~` and empty text are unchanged.
    fileprivate func anchored(in folder: String) -> String {
        guard !isEmpty, self != "-", !hasPrefix("/"), !hasPrefix("~") else { return self }
        var folders = folder.split(separator: "/")
        var rest = split(separator: "/", omittingEmptySubsequences: false)[...]
        while let first = rest.first, first.isEmpty || first == "." || first == ".." {
            if first == ".." { _ = folders.popLast() }
            rest.removeFirst()
        }
        return "/" + (folders + rest).joined(separator: "/")
    }
}
