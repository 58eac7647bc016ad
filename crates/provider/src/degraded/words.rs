//! The words in which servers refuse a part of a request.

/// Ways to say that a field is not known, as met at hosted providers, at servers for local models
/// and in the messages of the validators they are written with (serde, pydantic, Go).
const UNKNOWN: [&str; 16] = [
    "unrecognized",
    "unrecognised",
    "not recognized",
    "unknown",
    "unexpected",
    "unsupported",
    "not supported",
    "not support",
    "not permitted",
    "not allowed",
    "extra_forbidden",
    "extra fields",
    "additional propert",
    "cannot find field",
    "no such field",
    "invalid parameter",
];

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Whether a refusal speaks of the tool choice.
pub(super) fn name_tool_choice(body: &str) -> bool {
    let body = body.to_ascii_lowercase();
    ["tool_choice", "tool choice", "toolchoice"]
        .iter()
        .any(|name| body.contains(name))
}

/// Whether a refusal says that `field` is not known.
///
/// The name must be meant as a name: a validator may echo the request, where it is a key, and
/// `provider` is also a word of every gateway's errors.
pub(super) fn call_unknown(body: &str, field: &str) -> bool {
    // A message that is JSON inside JSON has its quotes escaped.
    let body: String = body.chars().filter(|c| *c != '\\').collect();
    let body = body.to_ascii_lowercase();
    UNKNOWN.iter().any(|word| body.contains(word))
        && body
            .match_indices(field)
            .any(|(at, _)| is_named(&body[..at], &body[at + field.len()..], field))
}

/// Whether a name between `before` and `after` names a field.
fn is_named(before: &str, after: &str, field: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if before.ends_with(inside) || after.starts_with(inside) {
        return false;
    }
    if after.starts_with(QUOTES) && before.ends_with(['"', '\'', '`', '.']) {
        let is_key = after[1..].trim_start().starts_with(':')
            && before
                .trim_end_matches(QUOTES)
                .trim_end()
                .ends_with(['{', ',']);
        return !is_key;
    }
    if field.contains('_') {
        return true;
    }
    // A plain word is a name where it stands alone: in a list, as a path's last part, in front of
    // what is said of it.
    let before = before.trim_end();
    let after = after.trim_start();
    let opens = before.is_empty() || before.ends_with([':', ',', '.', '[', '(', '"', '\'']);
    let ends =
        after.is_empty() || after.starts_with([',', '.', ':', ';', ']', ')', '}', '"', '\'']);
    opens && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_name_an_unknown_field_in_many_ways() {
        for body in [
            r#"{"error":{"message":"Unrecognized request argument supplied: FIELD","type":"invalid_request_error","param":null,"code":null}}"#,
            r#"{"error":{"message":"Unrecognized request arguments supplied: top_k, FIELD","param":null}}"#,
            r#"{"error":{"message":"property 'FIELD' is unsupported","type":"invalid_request_error"}}"#,
            r#"{"message":"body.FIELD: property 'body.FIELD' is unsupported","code":"wrong_api_format"}"#,
            r#"{"detail":"Validation: Unsupported parameter(s): FIELD"}"#,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","FIELD"],"msg":"Extra inputs are not permitted","input":{"only":["Acme"]}}]}"#,
            "[{'type': 'extra_forbidden', 'loc': ('body', 'FIELD'), 'msg': 'Extra inputs are not permitted'}]",
            "FIELD: Extra inputs are not permitted",
            "Failed to deserialize the JSON body: unknown field `FIELD`, expected one of `model`, `messages`",
            r#"json: unknown field "FIELD""#,
            r#"{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"FIELD\": Cannot find field.","status":"INVALID_ARGUMENT"}}"#,
            r#"{"error":{"message":"Unknown parameter: 'FIELD'.","param":"FIELD","code":"unknown_parameter"}}"#,
            "Additional properties are not allowed ('FIELD' was unexpected)",
        ] {
            for field in ["provider", "session_id", "prompt_cache_key"] {
                let body = body.replace("FIELD", field);
                assert!(call_unknown(&body, field), "{body}");
            }
        }
    }

    #[test]
    fn a_field_that_is_only_mentioned_or_echoed_is_not_called_unknown() {
        for body in [
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"unknown","provider_name":"Acme"}}}"#,
            r#"{"error":{"message":"unexpected error: provider returned 400"}}"#,
            r#"{"error":{"message":"Unsupported value: temperature"},"provider":"Acme"}"#,
            r#"{"detail":[{"type":"missing","msg":"unexpected","input":{"model":"m","provider":{"only":["A"]},"session_id":"k","prompt_cache_key": "k"}}]}"#,
            "{'model': 'm', 'session_id': 'k', 'prompt_cache_key': 'k', 'provider': {}} is not permitted",
            "session_id must not be longer than 256 characters",
            "unknown field `my_session_id`",
            "the provider does not support this",
        ] {
            for field in ["provider", "session_id", "prompt_cache_key"] {
                assert!(!call_unknown(body, field), "{field}: {body}");
            }
        }
    }
}
