enum PropertyListsTestsPlaceholder {}
