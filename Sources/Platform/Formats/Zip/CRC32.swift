internal import CZlib

/// The check sum of PNG and ZIP (ISO 3309).
public enum CRC32 {
    public static func of(_ bytes: some Sequence<UInt8>) -> UInt32 { sum(0, Array(bytes)) }

    /// The check sum of what came before and these bytes; begins with 0.
    static func sum(_ sum: UInt32, _ bytes: [UInt8]) -> UInt32 {
        unsafe bytes.withUnsafeBufferPointer { UInt32(unsafe crc32(UInt(sum), $0.baseAddress, UInt32($0.count))) }
    }
}
