enum CorpusPlaceholder {}
