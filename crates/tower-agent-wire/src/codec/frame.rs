/// Writes one event of a stream; raw JSON may have line ends between its tokens, which would end the field.
pub(crate) fn frame(out: &mut Vec<u8>, name: Option<&str>, write: impl FnOnce(&mut Vec<u8>)) {
    if let Some(name) = name {
        out.extend_from_slice(b"event: ");
        out.extend(name.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')));
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    let start = out.len();
    write(out);
    for byte in out.iter_mut().skip(start).filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    out.extend_from_slice(b"\n\n");
}
