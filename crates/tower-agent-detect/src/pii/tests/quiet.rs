use crate::pii::tests::driver::whole;

/// What logs, sources and lock files are full of.
pub(super) const QUIET: &[&str] = &[
    "2024-01-15T12:34:56.789Z INFO request took 123456789 ns, 4096 bytes",
    "2024-01-15 12:34:56,789 [main] 1705321296789 order 1234567890 shipped",
    r#"{"ts":1705321296.123456,"id":18446744073709551615,"pid":12345,"elapsed_ms":0.1234567890123}"#,
    "550e8400-e29b-41d4-a716-446655440000 00000000-0000-0000-0000-000000000000",
    "src/main.rs:123:45: error[E0308] at 0x00007f1234567890",
    "1.2.3 ^1.10.0-rc.1 =0.13.4+spec-1.1.0 ~2.0.16+zstd.1.5.7",
    r#"checksum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#,
    "const K: [u32; 4] = [1116352408, 1899447441, 3049323471, 3921009573];",
    "0123456789 9876543210 1234567 12345678 123456789012",
    "let x = a::b::c::<u8>(1, 2)?; 10..20; 1e10; 1_000_000; 0xdead_beef",
    "[10/Mar/2024:13:55:36 +0000] \"GET / HTTP/1.1\" 200 2326",
    "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f",
    "00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000",
    "MD5:43:51:43:a1:b5:fc:8b:b7:0a:3a:a9:b1:0f:66:73:a8",
    "ISBN 978-3-16-148410-0, ISSN 2049-3630, RFC 3339, 51 Franklin Street, MA 02110-1301",
    "lat 52.520008, lon 13.404954; 1920x1080; 16:9; 3.14159265358979; 12/31/2024 11:59:59",
    "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567 (tag: v1.2.3.4)",
    "Content-Range: bytes 21010-47021/47022; trace 4bf92f3577b34da6a3ce929d0e0e4736",
];

#[test]
fn logs_and_sources_are_left_alone() {
    for text in QUIET {
        assert_eq!(whole(text.as_bytes()), [], "in `{text}`");
    }
}
