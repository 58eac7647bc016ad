//! What a detector of repetition within a reply is set to (01 §7).

/// The five figures of an armed detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// Words of the rolling window, and the least sample. 0 counts as 1.
    pub window_words: u64,
    /// Occurrences in the window past which a word is an offender.
    pub repeat_threshold: u64,
    /// Distinct offenders that saturate the window.
    pub min_offenders: u64,
    /// Words in a row while saturated; 0 is the plain frequency rule.
    pub min_saturated_run: u64,
    /// Characters past which a reply is abandoned outright; 0 is off.
    pub max_response_chars: u64,
}
