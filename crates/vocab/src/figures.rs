//! How a figure is spelled, to a model and to a person alike.

/// A whole number with a comma at each thousand.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes, with a comma at each thousand.
pub fn bytes(number: u64) -> String {
    match number {
        1 => "1 byte".to_owned(),
        other => format!("{} bytes", grouped(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_is_one() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(65_537), "65,537 bytes");
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [
            (0, "0"),
            (7, "7"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234, "1,234"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
            (123_456_789, "123,456,789"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
