//! Names in a sentence: `` `a`, `b` and `c` ``, with a count in place of what is too long a list.

use std::fmt;

/// Names a sentence shows before it counts.
const SHOWN: usize = 20;

/// Shows names in a sentence.
pub struct Listed<'a, T>(pub &'a [T]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(SHOWN)];
        let more = self.0.len() - shown.len();
        for (place, name) in shown.iter().enumerate() {
            let last = more == 0 && place + 1 == shown.len();
            let before = match place {
                0 => "",
                _ if last => " and ",
                _ => ", ",
            };
            write!(f, "{before}`{name}`")?;
        }
        if more > 0 {
            write!(f, " and {more} more")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_ends_in_a_count() {
        assert_eq!(Listed(&["a"]).to_string(), "`a`");
        assert_eq!(Listed(&["a", "b", "c"]).to_string(), "`a`, `b` and `c`");
        let many: Vec<_> = (0..23).collect();
        let told = Listed(&many).to_string();
        assert!(told.ends_with("`18`, `19` and 3 more"), "{told}");
    }
}
