/// The load S as a type. Tests/Peers/loads.py writes the same fifty keys.
struct Settings<Moment: Codable, Bytes: Codable>: Codable {
    struct Origin: Codable {
        let x: Int
        let y: Double
        let name: String
    }

    let isEnabledSetting00: Bool
    let windowWidthSetting01: Int
    let scaleFactorSetting02: Double
    let lastAccountSetting03: String
    let descriptionSetting04: String
    let lastCheckedSetting05: Moment
    let accessTokenSetting06: Bytes
    let columnOrderSetting07: [Int]
    let namedOriginSetting08: Origin
    let isCollapsedSetting09: Bool
    let isEnabledSetting10: Bool
    let windowWidthSetting11: Int
    let scaleFactorSetting12: Double
    let lastAccountSetting13: String
    let descriptionSetting14: String
    let lastCheckedSetting15: Moment
    let accessTokenSetting16: Bytes
    let columnOrderSetting17: [Int]
    let namedOriginSetting18: Origin
    let isCollapsedSetting19: Bool
    let isEnabledSetting20: Bool
    let windowWidthSetting21: Int
    let scaleFactorSetting22: Double
    let lastAccountSetting23: String
    let descriptionSetting24: String
    let lastCheckedSetting25: Moment
    let accessTokenSetting26: Bytes
    let columnOrderSetting27: [Int]
    let namedOriginSetting28: Origin
    let isCollapsedSetting29: Bool
    let isEnabledSetting30: Bool
    let windowWidthSetting31: Int
    let scaleFactorSetting32: Double
    let lastAccountSetting33: String
    let descriptionSetting34: String
    let lastCheckedSetting35: Moment
    let accessTokenSetting36: Bytes
    let columnOrderSetting37: [Int]
    let namedOriginSetting38: Origin
    let isCollapsedSetting39: Bool
    let isEnabledSetting40: Bool
    let windowWidthSetting41: Int
    let scaleFactorSetting42: Double
    let lastAccountSetting43: String
    let descriptionSetting44: String
    let lastCheckedSetting45: Moment
    let accessTokenSetting46: Bytes
    let columnOrderSetting47: [Int]
    let namedOriginSetting48: Origin
    let isCollapsedSetting49: Bool
}
