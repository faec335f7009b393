//! Compressed, in form: a body as gzip without any compression in it, so that no library is needed for one fault.
//!
//! RFC 1952 (the frame), RFC 1951 section 3.2.4 (blocks that are stored).

/// The most that one stored block holds.
const BLOCK: usize = 65_535;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(BLOCK).peekable();
    if blocks.peek().is_none() {
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        out.push(u8::from(blocks.peek().is_none()));
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend(crc32(bytes).to_le_bytes());
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    out.extend(length.to_le_bytes().iter().take(4));
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::{crc32, gzip};

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn stored_blocks_hold_what_was_given() {
        let long = vec![7; 70_000];
        for (bytes, blocks) in [(b"".as_slice(), 1), (b"abc", 1), (&long, 2)] {
            assert_eq!(gzip(bytes).len(), 10 + blocks * 5 + bytes.len() + 8, "{}", bytes.len());
        }
    }
}
