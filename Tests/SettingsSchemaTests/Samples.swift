import PropertyLists
import SettingsSchema
import Testing

extension Schema {
    /// Returns the default values.
    func defaultValues(command: String? = nil) -> PropertyList.Dictionary {
        PropertyList.Dictionary(settings(of: command).compactMap { row in row.defaultValue.map { (row.key, $0) } })
    }
}

/// Schemas that several tests use.
enum Sample: Sendable {
    /// The first schema of the manual.
    static let backupText = """
        {
            Domain = "com.example.backup";
            Title = "Nightly backup";
            Version = 2;
            Settings = (
                { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Flag = keep; Short = k;
                  Environment = BACKUP_KEEP; Title = "Copies to keep"; Summary = "Older copies are removed."; Group = Retention; },
                { Key = target; Type = string; Required = YES; Flag = target; Kind = folder; Title = "Where to"; Positional = 1; },
                { Key = mode; Type = string; Choices = (full, incremental); Default = full; Flag = mode; },
                { Key = token; Type = string; Sensitive = YES; Environment = BACKUP_TOKEN; },
                { Key = retries; Type = integer; Default = 3; RenamedFrom = (tries); Mirrored = NO; }
            );
            Extends = ("com.example.common");
        }
        """

    static let commonText = """
        {
            Domain = "com.example.common";
            Settings = (
                { Key = verbose; Type = integer; Default = 0; Flag = verbose; Short = v; Repeats = YES; },
                { Key = mode; Type = string; Default = other; }
            );
        }
        """

    static func schema(_ text: String) throws -> Schema {
        try Schema(parsing: Array(text.utf8)) { domain in
            domain == "com.example.common" ? try? schema(commonText) : nil
        }
    }

    /// Returns a schema with only these settings.
    static func settings(_ settings: String, rest: String = "") throws -> Schema {
        try schema("{ Domain = \"com.example.test\"; Settings = (\(settings)); \(rest) }")
    }

    /// Returns the rule of a setting with these attributes.
    static func rule(_ attributes: String) throws -> ValueRule {
        try #require(settings("{ Key = k; \(attributes) }").settings.first).rule
    }
}
