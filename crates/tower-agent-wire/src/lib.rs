//! Provider dialects as codecs without I/O.
