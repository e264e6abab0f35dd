#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes something for each type that is a scalar, knowing the type.
protocol ScalarVisitor {
    mutating func visit<Value: Scalar>(_ type: Value.Type)
    /// Visits a type of which arrays and dictionaries are so common that they deserve a loop of their own.
    mutating func visitWithContainers<Value: Scalar>(_ type: Value.Type)
}

extension ScalarVisitor {
    /// Visits every scalar.
    ///
    /// Inlined, so that the compiler makes what is made for each type from the type itself.
    @inline(__always)
    mutating func visitAll() {
        visitWithContainers(Bool.self)
        visitWithContainers(String.self)
        visitWithContainers(Double.self)
        visitWithContainers(Float.self)
        visitWithContainers(Int.self)
        visitWithContainers(Int32.self)
        visitWithContainers(Int64.self)
        visitWithContainers(UInt.self)
        visitWithContainers(UInt8.self)
        visitWithContainers(UInt32.self)
        visitWithContainers(UInt64.self)
        visitWithContainers(Date.self)
        visitWithContainers(Data.self)
        visitWithContainers(URL.self)
        visitWithContainers(PropertyList.self)
        visit(Int8.self)
        visit(Int16.self)
        visit(Int128.self)
        visit(UInt16.self)
        visit(UInt128.self)
        visit(Decimal.self)
        visit(PropertyList.Integer.self)
    }
}
