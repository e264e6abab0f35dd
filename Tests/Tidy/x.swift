enum TidyPlaceholder {}
