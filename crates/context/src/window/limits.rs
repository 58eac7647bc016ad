//! What fullness is measured by: the working window, and the tokens at which a compaction is due
//! (02 §2.1, §6.1).

/// The working window, tokens: the model's, narrowed to `limit` where there is an override, less
/// the share a compaction keeps free, rounded down.
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "a share of a count is a count"
)]
pub fn working_window(model: u64, limit: Option<u64>, headroom: Option<f64>) -> u64 {
    let narrowed = limit.map_or(model, |limit| limit.min(model));
    let kept = headroom.map_or(0, |share| (share_of(narrowed, share) - SLACK).ceil() as u64);
    narrowed.saturating_sub(kept)
}

/// Tokens of a working window from which a compaction is due: its `1 − headroom` share, rounded
/// up, since usage is whole.
#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "a share of a count is a count"
)]
pub fn trigger(working: u64, headroom: f64) -> u64 {
    working.saturating_sub((share_of(working, headroom) + SLACK).floor() as u64)
}

/// A decimal share such as 0.1 is no binary fraction: what its product misses a whole number by is
/// far below this.
const SLACK: f64 = 1e-6;

#[expect(
    clippy::cast_precision_loss,
    reason = "no window comes near 2^53 tokens"
)]
fn share_of(tokens: u64, share: f64) -> f64 {
    tokens as f64 * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_applies_twice() {
        let working = working_window(200_000, None, Some(0.2));
        assert_eq!(working, 160_000);
        assert_eq!(trigger(working, 0.2), 128_000);
    }

    #[test]
    fn without_headroom_the_whole_window_is_the_working_one_and_the_trigger() {
        assert_eq!(working_window(200_000, None, None), 200_000);
        assert_eq!(working_window(200_000, None, Some(0.0)), 200_000);
        assert_eq!(trigger(200_000, 0.0), 200_000);
    }

    #[test]
    fn an_override_narrows_before_headroom_is_taken() {
        assert_eq!(working_window(200_000, Some(50_000), None), 50_000);
        assert_eq!(working_window(200_000, Some(50_000), Some(0.5)), 25_000);
        assert_eq!(working_window(1_000, Some(50_000), None), 1_000);
    }

    #[test]
    fn every_decimal_share_of_a_whole_window_is_exact() {
        for tenth in 0..=9_u32 {
            let headroom = f64::from(tenth) / 10.0;
            let left = u64::from(10 - tenth);
            for window in [10, 8_000, 128_000, 1_000_000, 10_000_000] {
                let expected = window / 10 * left;
                assert_eq!(working_window(window, None, Some(headroom)), expected);
                assert_eq!(trigger(window, headroom), expected);
            }
        }
    }

    #[test]
    fn a_window_is_rounded_down_and_a_trigger_up() {
        assert_eq!(working_window(101, None, Some(0.5)), 50);
        assert_eq!(trigger(101, 0.5), 51);
    }
}
