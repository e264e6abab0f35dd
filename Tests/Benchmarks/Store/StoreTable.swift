/// The facts, one below the other with what each contender showed.
struct StoreTable {
    let columns: [String]
    let rows: [(fact: StoreFact, cells: [String])]

    var lines: [String] {
        ["Wall time, the one in the middle; processor time for get and set in the process."]
            + rows.flatMap { row in
                ["", row.fact.title]
                    + zip(columns, row.cells).filter { $0.1 != "–" }.map { column, cell in
                        "    \(column)".padded(to: 20) + cell
                    }
            }
    }
}
