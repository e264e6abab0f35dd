// What a program declares of its settings: keys, types, bounds, flags. Pure: it checks values and explains them, and
// leaves reading and writing to others.
internal import PropertyLists
