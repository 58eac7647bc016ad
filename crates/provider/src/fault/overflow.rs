//! Whether a refusal says that the request is longer than the model's window (F63).

use super::Fault;

/// How OpenAI, Anthropic, Gemini and the servers that imitate them say it. No gateway has a code
/// for it that all of them pass on.
const WORDS: [&str; 11] = [
    "context length",
    "context_length",
    "context window",
    "context limit",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "input token count",
    "maximum number of tokens",
    "too many tokens",
    "too many input tokens",
];

impl Fault {
    /// Whether the request was refused as longer than the model's window. Asking again cannot
    /// succeed, and the run ran out of context.
    pub fn overflows_context(&self) -> bool {
        match self {
            Self::Rejected {
                status: 400 | 413 | 422,
                body,
            } => super::speaks(body, &WORDS),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overflows(status: u16, body: &str) -> bool {
        Fault::of_status(status, None, body.as_bytes(), None).overflows_context()
    }

    #[test]
    fn an_overflow_is_told_by_its_words() {
        for body in [
            r#"{"error":{"code":"context_length_exceeded","message":"m"}}"#,
            "This model's maximum context length is 128000 tokens.",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "The input token count (1200000) exceeds the maximum number of tokens allowed",
        ] {
            assert!(overflows(400, body), "{body}");
        }
        assert!(!overflows(400, "unknown field `tools`"));
        assert!(!overflows(413, "Payload Too Large"));
        assert!(!overflows(429, "too many tokens per minute"));
    }
}
