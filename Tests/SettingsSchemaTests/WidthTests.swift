#if canImport(Glibc)
    import Glibc
    import SettingsSchema
    import Testing

    @Suite struct `The width of a scalar` {
        /// The C library that runs the tests.
        private static let library: String = {
            var text = [CChar](repeating: 0, count: 64)
            _ = confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count)
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }()

        /// Another version of the library has other scalars.
        @Test(.enabled(if: library == ScalarWidths.source, "the table is that of \(ScalarWidths.source)"))
        func `is that of the C library`() throws {
            let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
            // Swift's module of the C library lacks it.
            typealias Width = @convention(c) (wchar_t) -> CInt
            let wcwidth = unsafeBitCast(try #require(dlsym(nil, "wcwidth")), to: Width.self)
            let former = uselocale(locale)
            defer {
                uselocale(former)
                freelocale(locale)
            }
            var differing: [String] = []
            for value in UInt32(1)...0x10FFFF {
                guard let scalar = Unicode.Scalar(value) else { continue }
                // Scalars that are not printable, or not assigned, are shown as one sign.
                let width = Int(wcwidth(wchar_t(value)))
                if scalar.columns != (width < 0 ? 1 : width) { differing.append(String(value, radix: 16)) }
            }
            #expect(differing.isEmpty)
        }

        @Test(arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("নি", 2), ("ক্ষ", 2), ("বাংলা", 5), ("ไทย", 3), ("น้ำ", 2),
            ("สวัสดี", 4), ("العربية", 7), ("日本", 4), ("한", 2), ("👩‍👩‍👧", 6), ("🇩🇪", 2), ("❤️", 1), ("👍🏽", 4),
        ])
        func `adds up to that of a text`(_ text: String, _ columns: Int) { #expect(text.columns == columns) }
    }
#endif
