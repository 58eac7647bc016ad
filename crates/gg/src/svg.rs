//! What every picture needs: elements, and texts as XML holds them.

use std::fmt::Write as _;

/// Adds an element on a line of its own.
pub(crate) fn line(svg: &mut String, element: std::fmt::Arguments<'_>) {
    writeln!(svg, "{element}").expect("a string takes any text");
}

/// The beginning of a picture in pixels: its style on top, the ground, and its title, which begins
/// at `left`.
pub(crate) fn head(
    (width, height): (f64, f64),
    style: &str,
    left: impl std::fmt::Display,
    title: &str,
) -> String {
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" \
         width=\"{width}\" height=\"{height:.0}\" role=\"img\">\n\
         <style>\n{style}</style>\n\
         <title>{title}</title>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"{left}\" y=\"26\">{title}</text>\n"
    )
}

/// A text as XML holds it.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no place for these, escaped or not.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
pub(crate) mod tests {
    /// Panics where tags are not closed in order.
    pub(crate) fn check_tags(svg: &str) {
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').expect("a tag has an end");
            let name = tag.split_whitespace().next().unwrap();
            if let Some(name) = name.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "in {svg}");
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert_eq!(open, Vec::<&str>::new());
    }
}
