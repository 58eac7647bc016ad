//! The text of a command line taken apart as `sh` would: words, operators, and the texts within
//! that are commands themselves.
//!
//! It runs nothing and expands nothing: a word that an expansion would change says so.
//!
//! Always true: any text is taken apart in one pass, and the end of it ends everything open.

use std::iter::Peekable;
use std::str::Chars;

/// A word, its quotes undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text, expansions as they are written.
    pub(super) text: String,
    /// Whether an expansion decides what it really is.
    pub(super) expands: bool,
}

/// A part of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    /// What ends a command; whether what follows runs only if it succeeded.
    End {
        and: bool,
    },
    /// `(`
    Open,
    /// `)`
    Close,
    /// A text that runs as a command of its own: of `$(…)` and of backquotes.
    Script(String),
    /// The body of a here-document, which belongs to the command before.
    Document(String),
}

/// Takes a command line apart.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        tokens: Vec::new(),
        word: None,
        documents: Vec::new(),
    };
    reader.read();
    reader.tokens
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    tokens: Vec<Token>,
    word: Option<Word>,
    /// Ends of here-documents that begin with the next line; whether tabs lead their lines.
    documents: Vec<(String, bool)>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(next) = self.rest.next() {
            match next {
                '\\' => match self.rest.next() {
                    // A line that goes on.
                    Some('\n') | None => {}
                    Some(escaped) => self.push(escaped),
                },
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '`' => self.backquoted(),
                '$' => self.dollar(),
                '#' if self.word.is_none() => self.skip_comment(),
                '\n' => {
                    self.end(Token::End { and: false });
                    self.documents();
                }
                ' ' | '\t' | '\r' => self.end_word(),
                ';' => self.end(Token::End { and: false }),
                '&' => {
                    let and = self.rest.next_if_eq(&'&').is_some();
                    // `&>file` ends nothing.
                    if !and && self.rest.next_if_eq(&'>').is_some() {
                        self.end_word();
                        self.skip_target();
                    } else {
                        self.end(Token::End { and });
                    }
                }
                '|' => {
                    self.rest.next_if(|next| matches!(next, '|' | '&'));
                    self.end(Token::End { and: false });
                }
                '(' => self.end(Token::Open),
                ')' => self.end(Token::Close),
                '<' => self.input(),
                '>' => {
                    self.rest.next_if(|next| matches!(next, '>' | '|' | '&'));
                    self.end_redirect();
                }
                other => self.push(other),
            }
        }
        self.end_word();
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, next: char) {
        self.word().text.push(next);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.tokens.push(Token::Word(word));
        }
    }

    fn end(&mut self, token: Token) {
        self.end_word();
        self.tokens.push(token);
    }

    /// A digit in front of a redirection is its own; what it leads to is no word of the command.
    fn end_redirect(&mut self) {
        if let Some(word) = &self.word
            && word.text.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.word = None;
        }
        self.end_word();
        self.skip_target();
    }

    /// Reads the word behind a redirection away; what runs within it is kept.
    fn skip_target(&mut self) -> String {
        while self
            .rest
            .next_if(|next| matches!(next, ' ' | '\t'))
            .is_some()
        {}
        let held = self.word.take();
        let mut any = false;
        while let Some(next) = self.rest.peek().copied() {
            if matches!(
                next,
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>'
            ) {
                break;
            }
            any = true;
            self.rest.next();
            match next {
                '\\' => {
                    if let Some(escaped) = self.rest.next() {
                        self.push(escaped);
                    }
                }
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '`' => self.backquoted(),
                '$' => self.dollar(),
                other => self.push(other),
            }
        }
        let target = std::mem::replace(&mut self.word, held);
        if any {
            target.unwrap_or_default().text
        } else {
            String::new()
        }
    }

    fn input(&mut self) {
        if self.rest.next_if_eq(&'<').is_none() {
            // `<(…)` runs what stands in it; the parenthesis is met next.
            if self.rest.peek() != Some(&'(') {
                self.rest.next_if(|next| matches!(next, '&' | '>'));
                self.end_redirect();
            }
            return;
        }
        if self.rest.next_if_eq(&'<').is_some() {
            // A here-string.
            self.end_word();
            let text = self.skip_target();
            self.tokens.push(Token::Document(text));
            return;
        }
        let tabs = self.rest.next_if_eq(&'-').is_some();
        self.end_word();
        let end = self.skip_target();
        self.documents.push((end, tabs));
    }

    /// Reads the here-documents that begin with this line.
    fn documents(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.documents) {
            let mut body = String::new();
            loop {
                let mut line = String::new();
                let mut ended = true;
                for next in self.rest.by_ref() {
                    if next == '\n' {
                        ended = false;
                        break;
                    }
                    line.push(next);
                }
                let shown = if tabs {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                if shown == end {
                    break;
                }
                body.push_str(shown);
                body.push('\n');
                if ended {
                    break;
                }
            }
            self.tokens.push(Token::Document(body));
        }
    }

    fn single_quoted(&mut self) {
        self.word();
        for next in self.rest.by_ref() {
            if next == '\'' {
                return;
            }
            self.word.get_or_insert_default().text.push(next);
        }
    }

    fn double_quoted(&mut self) {
        self.word();
        while let Some(next) = self.rest.next() {
            match next {
                '"' => return,
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => self.push(escaped),
                    Some(other) => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                '`' => self.backquoted(),
                '$' => self.dollar(),
                other => self.push(other),
            }
        }
    }

    fn backquoted(&mut self) {
        let mut script = String::new();
        while let Some(next) = self.rest.next() {
            match next {
                '`' => break,
                '\\' => script.extend(self.rest.next()),
                other => script.push(other),
            }
        }
        self.word().expands = true;
        self.tokens.push(Token::Script(script));
    }

    fn dollar(&mut self) {
        match self.rest.peek() {
            Some('(') => {
                self.rest.next();
                let script = self.nested('(', ')');
                self.word().expands = true;
                self.tokens.push(Token::Script(script));
            }
            Some('{') => {
                self.rest.next();
                let inner = self.nested('{', '}');
                self.variable(&format!("${{{inner}}}"));
                // Commands within it run as well.
                if inner.contains(['$', '`']) {
                    self.tokens.push(Token::Script(inner));
                }
            }
            Some(next) if next.is_ascii_alphanumeric() || "_@*#?$!-".contains(*next) => {
                let mut name = String::from("$");
                name.extend(self.rest.next());
                while let Some(next) = self
                    .rest
                    .next_if(|next| next.is_ascii_alphanumeric() || *next == '_')
                {
                    name.push(next);
                }
                self.variable(&name);
            }
            // `$'…'` and `$"…"` are quotes with more to them.
            Some('\'' | '"') => self.word().expands = true,
            _ => self.push('$'),
        }
    }

    fn variable(&mut self, written: &str) {
        let word = self.word();
        word.text.push_str(written);
        word.expands = true;
    }

    /// The text up to the bracket that closes one just read.
    fn nested(&mut self, open: char, close: char) -> String {
        let (mut depth, mut text) = (1_usize, String::new());
        let mut quote = None;
        while let Some(next) = self.rest.next() {
            match (quote, next) {
                (None | Some('"'), '\\') => {
                    text.push(next);
                    text.extend(self.rest.next());
                    continue;
                }
                (None, '\'' | '"') => quote = Some(next),
                (Some(open), next) if open == next => quote = None,
                (None, next) if next == open => depth += 1,
                (None, next) if next == close => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
            text.push(next);
        }
        text
    }

    fn skip_comment(&mut self) {
        while self.rest.next_if(|next| *next != '\n').is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tokens as one line; a word that expands has a `~` in front.
    fn shown(text: &str) -> String {
        let shown = tokens(text).into_iter().map(|token| match token {
            Token::Word(Word { text, expands }) => {
                format!("{}<{text}>", if expands { "~" } else { "" })
            }
            Token::End { and: true } => "&&".to_owned(),
            Token::End { and: false } => ";".to_owned(),
            Token::Open => "(".to_owned(),
            Token::Close => ")".to_owned(),
            Token::Script(text) => format!("run[{text}]"),
            Token::Document(text) => format!("doc[{text}]"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn quotes_are_undone_and_join_what_they_touch() {
        assert_eq!(
            shown(r#"r"m" 'a b' c\ d "e'f" ''"#),
            "<rm> <a b> <c d> <e'f> <>"
        );
        assert_eq!(shown(r#""a\"b\n" 'c\d'"#), r#"<a"b\n> <c\d>"#);
        assert_eq!(shown("a\\\nb c"), "<ab> <c>");
    }

    #[test]
    fn operators_end_commands_and_redirections_do_not() {
        assert_eq!(
            shown("a && b||c;d&e|f\ng"),
            "<a> && <b> ; <c> ; <d> ; <e> ; <f> ; <g>"
        );
        assert_eq!(shown("(a; b)"), "( <a> ; <b> )");
        assert_eq!(shown("a 2>&1 >b c <d e &>f"), "<a> <c> <e>");
        assert_eq!(shown("a # b; c\nd #e"), "<a> ; <d>");
        assert_eq!(shown("a#b"), "<a#b>");
    }

    #[test]
    fn expansions_are_marked_and_what_they_run_stands_beside() {
        assert_eq!(
            shown("a $B ${C:-$(d)}x"),
            "<a> ~<$B> run[C:-$(d)] ~<${C:-$(d)}x>"
        );
        assert_eq!(
            shown("a \"$(b 'c)')\" `d`"),
            "<a> run[b 'c)'] ~<> run[d] ~<>"
        );
        assert_eq!(shown("cost 5$ '$x'"), "<cost> <5$> <$x>");
    }

    #[test]
    fn here_documents_are_no_commands() {
        assert_eq!(
            shown("cat <<'END' >f\nrm -r /\nEND\nls"),
            "<cat> ; doc[rm -r /\n] <ls>"
        );
        assert_eq!(shown("cat <<-E\n\tx\n\tE\nls"), "<cat> ; doc[x\n] <ls>");
        assert_eq!(shown("sh <<< 'a b'"), "<sh> doc[a b]");
        assert_eq!(shown("cat <<E\nnever"), "<cat> ; doc[never\n]");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(text in "\\PC{0,80}") {
            tokens(&text);
        }

        #[test]
        fn any_mix_of_shell_is_taken_apart(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "a", " ", "\n", "'", "\"", "`", "$(", ")", "(", "${", "}", "<<E", "E", "\\",
                    ">", "&", "|", ";", "#", "$x", "<<<", "-",
                ]),
                0..40,
            ),
        ) {
            tokens(&parts.concat());
        }

        /// However a word is quoted, it is that word.
        #[test]
        fn quoting_does_not_hide_a_word(word in "[a-z /.*$`;&|()<>#-]{1,12}") {
            let expected = vec![Token::Word(Word { text: word.clone(), expands: false })];
            prop_assert_eq!(tokens(&format!("'{word}'")), expected.clone());
            let escaped: String = word.chars().flat_map(|next| ['\\', next]).collect();
            prop_assert_eq!(tokens(&escaped), expected);
        }
    }
}
