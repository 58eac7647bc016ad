//! What a picture is, from its first bytes: format by magic number, size in pixels from the
//! header. Nothing is decoded.

use vocab::message::ImageFormat;

/// The format the magic number tells; `None` for anything else.
pub fn sniff(bytes: &[u8]) -> Option<ImageFormat> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(ImageFormat::Png)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some(ImageFormat::Jpeg)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some(ImageFormat::Gif)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some(ImageFormat::Webp)
    } else {
        None
    }
}

/// Width and height in pixels as the header gives them; `None` where it is cut, broken or zero.
///
/// PNG: `IHDR`. JPEG: the first frame header (ITU T.81, B.2.2). GIF: the logical screen. WebP:
/// lossy, lossless and extended headers (RFC 9649).
pub fn dimensions(format: ImageFormat, bytes: &[u8]) -> Option<(u32, u32)> {
    let (width, height) = match format {
        ImageFormat::Png => {
            (bytes.get(12..16)? == b"IHDR").then_some(())?;
            (big(bytes, 16, 4)?, big(bytes, 20, 4)?)
        }
        ImageFormat::Jpeg => jpeg(bytes)?,
        ImageFormat::Gif => (little(bytes, 6, 2)?, little(bytes, 8, 2)?),
        ImageFormat::Webp => webp(bytes)?,
    };
    (width > 0 && height > 0).then_some((width, height))
}

fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        // Any number of 0xff bytes may stand before a marker.
        if *bytes.get(at)? != 0xff {
            return None;
        }
        while *bytes.get(at)? == 0xff {
            at += 1;
        }
        let marker = *bytes.get(at)?;
        at += 1;
        match marker {
            // Markers without a segment.
            0x01 | 0xd0..=0xd8 => {}
            // Frame headers: all of 0xc0 to 0xcf but DHT, JPG and DAC.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big(bytes, at + 5, 2)?, big(bytes, at + 3, 2)?));
            }
            // The scan or the end of the picture, and no frame header before it.
            0xd9 | 0xda => return None,
            _ => at += (big(bytes, at, 2)? as usize).max(2),
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => {
            (bytes.get(23..26)? == b"\x9d\x01\x2a").then_some(())?;
            Some((
                little(bytes, 26, 2)? & 0x3fff,
                little(bytes, 28, 2)? & 0x3fff,
            ))
        }
        b"VP8L" => {
            (*bytes.get(20)? == 0x2f).then_some(())?;
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let field = bytes.get(at..at + count)?;
    Some(
        field
            .iter()
            .fold(0, |number, byte| number << 8 | u32::from(*byte)),
    )
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let field = bytes.get(at..at + count)?;
    Some(
        field
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u32::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: &[u8]) -> Option<(ImageFormat, Option<(u32, u32)>)> {
        let format = sniff(bytes)?;
        Some((format, dimensions(format, bytes)))
    }

    fn riff(chunk: &[u8]) -> Vec<u8> {
        [b"RIFF\0\0\0\0WEBP", chunk].concat()
    }

    #[test]
    fn headers_give_format_and_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0";
        assert_eq!(size(png), Some((ImageFormat::Png, Some((640, 480)))));
        let gif = b"GIF89a\x80\x02\xe0\x01";
        assert_eq!(size(gif), Some((ImageFormat::Gif, Some((640, 480)))));
        // A comment segment, fill bytes, then a progressive frame header.
        let jpeg = b"\xff\xd8\xff\xfe\0\x05abc\xff\xff\xc2\0\x11\x08\x01\xe0\x02\x80\x03";
        assert_eq!(size(jpeg), Some((ImageFormat::Jpeg, Some((640, 480)))));
        let lossy = riff(b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x42\xe0\x01");
        assert_eq!(size(&lossy), Some((ImageFormat::Webp, Some((640, 480)))));
        let bits = (639_u32 + 479 * 16_384).to_le_bytes();
        let lossless = riff(&[b"VP8L\0\0\0\0\x2f".as_slice(), &bits].concat());
        assert_eq!(size(&lossless), Some((ImageFormat::Webp, Some((640, 480)))));
        let extended = riff(b"VP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0");
        assert_eq!(size(&extended), Some((ImageFormat::Webp, Some((640, 480)))));
    }

    #[test]
    fn broken_headers_have_no_size() {
        assert_eq!(size(b"\x89PNG\r\n\x1a\n"), Some((ImageFormat::Png, None)));
        assert_eq!(
            size(b"\xff\xd8\xff\xda\0\x02"),
            Some((ImageFormat::Jpeg, None))
        );
        assert_eq!(size(b"GIF87a\0\0\0\0"), Some((ImageFormat::Gif, None)));
        assert_eq!(size(&riff(b"ALPH")), Some((ImageFormat::Webp, None)));
        assert_eq!(size(b"%PDF-1.7"), None);
        assert_eq!(size(b"RIFF\0\0\0\0WAVE"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(tail: Vec<u8>, start in 0_usize..4) {
            let starts: [&[u8]; 4] =
                [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBP"];
            let bytes = [starts[start], &tail].concat();
            let _ = size(&bytes);
        }
    }
}
