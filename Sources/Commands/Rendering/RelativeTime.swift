internal import Platform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Timestamp {
    /// Returns how long the time is before another one, as `3 min ago`, or nil if it is not in the week before it.
    func distance(before now: Timestamp) -> String? {
        let seconds = (now.nanoseconds - nanoseconds) / 1_000_000_000
        switch seconds {
        case 0..<60: return "\(seconds) s ago"
        case 60..<3600: return "\(seconds / 60) min ago"
        case 3600..<86_400: return "\(seconds / 3600) h ago"
        case 86_400..<604_800: return counted(Int(seconds / 86_400), "day") + " ago"
        default: return nil
        }
    }

    /// Returns the time as `3 min ago (14:15)`, or as the local time if it is not in the week before another one.
    func occasion(at now: Timestamp) -> String {
        let local = localText(at: now)
        return distance(before: now).map { "\($0) (\(local))" } ?? local
    }

    /// Returns the time in the local time zone, as `14:15`, or with its date if that is not the date of another time.
    func localText(at now: Timestamp) -> String {
        let (fields, today) = (localFields, now.localFields)
        func text(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let time = "\(text(fields.tm_hour)):\(text(fields.tm_min))"
        let isToday = fields.tm_yday == today.tm_yday && fields.tm_year == today.tm_year
        let date = "\(1900 + fields.tm_year)-\(text(fields.tm_mon + 1))-\(text(fields.tm_mday))"
        return isToday ? time : date + " " + time
    }

    private var localFields: tm {
        var (seconds, fields) = (time_t(nanoseconds / 1_000_000_000), tm())
        localtime_r(&seconds, &fields)
        return fields
    }
}
