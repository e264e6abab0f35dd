enum SettingsSchemaPlaceholder {}
