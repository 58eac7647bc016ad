//! Finds what `guard-destructive-shell` blocks, by the text of a command: `git push`,
//! `git reset --hard`, and recursive removal outside the workspace (01 §8.2).
//!
//! It reads a text, not a file system: where a text does not tell what is removed, it counts as
//! outside. It keeps an agent from accidents; it is no boundary against one that means harm.
//!
//! Always true: quoting, wrapping and joining commands does not change what is found.

use std::path::{Component, Path, PathBuf};

use super::shell_text::{Token, Word, tokens};

/// Texts within texts that are followed; what lies deeper counts as found.
const DEPTH: usize = 8;

const TOO_DEEP: &str = "its commands are nested too deep to be read";

/// Shells that run the text behind `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Commands that run the command behind them.
const WRAPPERS: [&str; 19] = [
    "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "time",
    "timeout", "setsid", "stdbuf", "xargs", "busybox", "chroot", "unshare", "parallel", "watch",
];

/// Words of the shell that a command may stand behind.
const KEYWORDS: [&str; 11] = [
    "!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "coproc",
];

/// Options of `git` itself that take the next word.
const GIT_TAKES_VALUE: [&str; 6] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
];

/// Where a command may run: every directory the text allows; `None` is one it does not tell.
type Places = Vec<Option<PathBuf>>;

/// The first thing in a command that is blocked, as a sentence; `None` where there is none. `root`
/// is the workspace, where the command starts.
pub(super) fn found(command: &str, root: &Path) -> Option<String> {
    let guard = Guard { root: normal(root) };
    guard.script(command, vec![Some(guard.root.clone())], 0)
}

struct Guard {
    root: PathBuf,
}

impl Guard {
    fn script(&self, text: &str, places: Places, depth: usize) -> Option<String> {
        if depth > DEPTH {
            return Some(TOO_DEEP.to_owned());
        }
        let mut places = places;
        // Where a parenthesis began: what changes within it is undone behind it.
        let mut outside = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        // The command a here-document belongs to: the last one of its line.
        let mut last = Vec::new();
        for token in tokens(text).into_iter().chain([Token::End { and: false }]) {
            match token {
                Token::Word(word) => words.push(word),
                Token::Script(script) => {
                    if let Some(found) = self.script(&script, places.clone(), depth + 1) {
                        return Some(found);
                    }
                }
                Token::Document(body) => {
                    let command = if words.is_empty() { &last } else { &words };
                    if runs_input(command)
                        && let Some(found) = self.script(&body, places.clone(), depth + 1)
                    {
                        return Some(found);
                    }
                }
                Token::Open | Token::Close | Token::End { .. } => {
                    if let Some(found) = self.command(&words, &places, depth) {
                        return Some(found);
                    }
                    let and = token == Token::End { and: true };
                    places = moved(&words, places, and);
                    if !words.is_empty() {
                        last = std::mem::take(&mut words);
                    }
                    match token {
                        Token::Open => outside.push(places.clone()),
                        Token::Close => places = outside.pop().unwrap_or(places),
                        _ => {}
                    }
                }
            }
        }
        None
    }

    fn command(&self, words: &[Word], places: &Places, depth: usize) -> Option<String> {
        if depth > DEPTH {
            return Some(TOO_DEEP.to_owned());
        }
        let words = bare(words);
        let (first, arguments) = words.split_first()?;
        match base(&first.text) {
            "git" => git(arguments),
            "rm" => self.rm(arguments, places),
            "find" => self.find(arguments, places, depth),
            "eval" => {
                let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
                self.script(&texts.join(" "), places.clone(), depth + 1)
            }
            shell if SHELLS.contains(&shell) => {
                let at = arguments.iter().position(|word| is_flag(&word.text, 'c'))?;
                let script = arguments[at + 1..]
                    .iter()
                    .find(|word| !word.text.starts_with('-'))?;
                self.script(&script.text, places.clone(), depth + 1)
            }
            wrapper if WRAPPERS.contains(&wrapper) => {
                self.wrapped(wrapper, arguments, places, depth)
            }
            _ => None,
        }
    }

    /// What a wrapper runs is looked for among its words: its own options differ from one to the
    /// next, and a name that stands there by chance is rare.
    fn wrapped(
        &self,
        wrapper: &str,
        arguments: &[Word],
        places: &Places,
        depth: usize,
    ) -> Option<String> {
        let runs = |word: &Word| {
            let name = base(&word.text);
            matches!(name, "git" | "rm" | "find" | "eval")
                || SHELLS.contains(&name)
                || WRAPPERS.contains(&name)
        };
        let at = arguments.iter().position(runs)?;
        let inner = &arguments[at..];
        if matches!(wrapper, "xargs" | "parallel")
            && base(&inner[0].text) == "rm"
            && is_recursive(&inner[1..])
        {
            return Some("it removes recursively what another command names".to_owned());
        }
        self.command(inner, places, depth + 1)
    }

    fn rm(&self, arguments: &[Word], places: &Places) -> Option<String> {
        if !is_recursive(arguments) {
            return None;
        }
        self.outside(operands(arguments), places)
    }

    /// `find` removes below where it starts.
    fn find(&self, arguments: &[Word], places: &Places, depth: usize) -> Option<String> {
        let is_expression = |word: &&Word| word.text.starts_with(['-', '(', '!']);
        let options = ["-H", "-L", "-P"];
        let starts: Vec<&Word> = arguments
            .iter()
            .skip_while(|word| options.contains(&word.text.as_str()))
            .take_while(|word| !is_expression(word))
            .collect();
        let mut removes = false;
        for (at, word) in arguments.iter().enumerate() {
            match word.text.as_str() {
                "-delete" => removes = true,
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let run = bare(&arguments[at + 1..]);
                    let name = run.first().map(|word| base(&word.text));
                    removes |= name == Some("rm");
                    if name.is_some_and(|name| name != "rm")
                        && let Some(found) = self.command(run, places, depth + 1)
                    {
                        return Some(found);
                    }
                }
                _ => {}
            }
        }
        if !removes {
            return None;
        }
        let here = Word {
            text: ".".to_owned(),
            expands: false,
        };
        if starts.is_empty() {
            return self.outside([&here], places);
        }
        self.outside(starts, places)
    }

    /// The first of these paths that does not surely lie in the workspace.
    fn outside<'w>(
        &self,
        paths: impl IntoIterator<Item = &'w Word>,
        places: &Places,
    ) -> Option<String> {
        for word in paths {
            for place in places {
                match resolve(word, place.as_deref()) {
                    Some(path) if path.starts_with(&self.root) => {}
                    Some(_) => {
                        return Some(format!(
                            "it removes recursively outside the workspace: {}",
                            word.text
                        ));
                    }
                    None => {
                        return Some(format!(
                            "it removes recursively, and its text does not tell where: {}",
                            word.text
                        ));
                    }
                }
            }
        }
        None
    }
}

/// Where the next command may run. A `cd` that fails moves nowhere, and what follows it runs
/// all the same unless `&&` stands between.
fn moved(words: &[Word], places: Places, and: bool) -> Places {
    let words = bare(words);
    let Some((first, arguments)) = words.split_first() else {
        return places;
    };
    if !matches!(base(&first.text), "cd" | "pushd" | "popd") {
        return places;
    }
    let target = arguments
        .iter()
        .find(|word| !matches!(word.text.as_str(), "-P" | "-L" | "--" | "-e"));
    let mut next: Places = Vec::new();
    for place in &places {
        let to = match target {
            Some(word) if word.text != "-" && base(&first.text) != "popd" => {
                resolve(word, place.as_deref())
            }
            _ => None,
        };
        if !next.contains(&to) {
            next.push(to);
        }
    }
    if !and {
        for place in places {
            if !next.contains(&place) {
                next.push(place);
            }
        }
    }
    next
}

/// The path a word means, without `.` and `..`; `None` where its text does not tell.
fn resolve(word: &Word, place: Option<&Path>) -> Option<PathBuf> {
    let mut text = word.text.as_str();
    let mut expands = word.expands;
    for spelled in ["$PWD", "${PWD}"] {
        if let Some(rest) = text.strip_prefix(spelled)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            text = rest.trim_start_matches('/');
            expands = text.contains(['$', '`']);
            break;
        }
    }
    // Braces list words, each of which may lead elsewhere.
    let lists = text.contains('{') && text.contains([',', '.']) && text.contains('}');
    if expands || lists || text.starts_with('~') {
        return None;
    }
    if text.starts_with('/') {
        return Some(normal(Path::new(text)));
    }
    Some(normal(&place?.join(text)))
}

/// A command without what may stand in front of it: keywords, assignments.
fn bare(words: &[Word]) -> &[Word] {
    let is_before = |word: &Word| {
        let assigns = word.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        assigns || KEYWORDS.contains(&word.text.as_str())
    };
    let start = words.iter().position(|word| !is_before(word));
    &words[start.unwrap_or(words.len())..]
}

/// Whether a command runs what it is given as input.
fn runs_input(words: &[Word]) -> bool {
    let runs = |word: &Word| SHELLS.contains(&base(&word.text));
    bare(words).iter().any(runs)
}

/// The last part of a command's name.
fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a word is a group of short options with this one among them.
fn is_flag(word: &str, flag: char) -> bool {
    word.strip_prefix('-')
        .is_some_and(|flags| !flags.starts_with('-') && flags.contains(flag))
}

fn is_recursive(arguments: &[Word]) -> bool {
    options(arguments).any(|word| {
        let text = &word.text;
        let long = text.strip_prefix("--").is_some_and(|name| {
            name.len() >= 3 && "recursive".starts_with(name) || name == "r" || name == "re"
        });
        long || is_flag(text, 'r') || is_flag(text, 'R')
    })
}

/// Words in front of `--` that begin with a hyphen.
fn options(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    arguments
        .iter()
        .take_while(|word| word.text != "--")
        .filter(|word| word.text.starts_with('-'))
}

/// Words that are no options.
fn operands(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    let mut all = false;
    arguments.iter().filter(move |word| {
        if !all && word.text == "--" {
            all = true;
            return false;
        }
        all || !word.text.starts_with('-') || word.text == "-"
    })
}

fn git(arguments: &[Word]) -> Option<String> {
    let mut rest = arguments.iter();
    let command = loop {
        let word = rest.next()?;
        if GIT_TAKES_VALUE.contains(&word.text.as_str()) {
            rest.next();
        } else if !word.text.starts_with('-') {
            break word;
        }
    };
    let rest: Vec<&Word> = rest.collect();
    match command.text.as_str() {
        "push" => Some("it pushes (`git push`)".to_owned()),
        "reset" => {
            let hard = rest.iter().any(|word| {
                let text = word.text.as_str();
                text.len() > 3 && "--hard".starts_with(text)
            });
            hard.then(|| "it throws work away (`git reset --hard`)".to_owned())
        }
        _ => None,
    }
}

/// A path without `.` and `..`, read as it is written.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn guard(command: &str) -> Option<String> {
        found(command, Path::new("/work/project"))
    }

    #[track_caller]
    fn all_blocked(commands: &[&str]) {
        for command in commands {
            assert!(guard(command).is_some(), "not found: {command}");
        }
    }

    #[track_caller]
    fn all_free(commands: &[&str]) {
        for command in commands {
            assert_eq!(guard(command), None, "{command}");
        }
    }

    #[test]
    fn pushes_are_found_however_they_are_written() {
        all_blocked(&[
            "git push",
            "git push origin main",
            "  git   push --force",
            "git -C sub push",
            "git -c a.b=c --no-pager push",
            "git --git-dir=/x/.git push",
            "/usr/bin/git push",
            "'git' \"push\"",
            "g\\it pu\"s\"h",
            "git \\\n push",
            "cd sub && git push",
            "make; git push",
            "make || git push",
            "make | git push",
            "make & git push",
            "make\ngit push",
            "(git push)",
            "{ git push; }",
            "if true; then git push; fi",
            "! git push",
            "A=1 B=2 git push",
            "sudo -u me git push",
            "env A=1 git push",
            "timeout 5 git push",
            "sh -c 'git push'",
            "bash -lc \"git push\"",
            "sh -c \"sh -c 'git push'\"",
            "eval git push",
            "eval 'git push'",
            "echo $(git push)",
            "echo \"`git push`\"",
            "echo ${A:-$(git push)}",
            "bash <<E\ngit push\nE",
            "bash <<< 'git push'",
            "git push >/dev/null 2>&1",
            "2>&1 git push",
        ]);
        all_free(&[
            "git status",
            "git pull",
            "git stash push",
            "echo git push",
            "echo 'git push'",
            "# git push",
            "git log --grep push",
            "git commit -m 'git push'",
            "cat <<E\ngit push\nE",
            "grep -r 'git push' .",
            "./git-push-check",
        ]);
    }

    #[test]
    fn hard_resets_are_found_and_soft_ones_are_not() {
        all_blocked(&[
            "git reset --hard",
            "git reset --hard HEAD~1",
            "git reset HEAD~1 --hard",
            "git -C x reset -q --hard",
            "git reset --har",
        ]);
        all_free(&[
            "git reset",
            "git reset --soft HEAD~1",
            "git reset --mixed",
            "git reset -- hard",
            "git checkout hard",
        ]);
    }

    #[test]
    fn recursive_removal_outside_the_workspace_is_found() {
        all_blocked(&[
            "rm -rf /",
            "rm -r /tmp/x",
            "rm -R ..",
            "rm -fr ../other",
            "rm -f -r ../other",
            "rm ../other -rf",
            "rm --recursive /etc",
            "rm --rec /etc",
            "rm -rvf -- /etc",
            "rm -rf sub/../../other",
            "rm -rf ./../other",
            "rm -rf /work/project/../other",
            "rm -rf /work/project-2",
            "rm -rf a b /etc c",
            "rm -rf '/etc'",
            "rm -rf ~",
            "rm -rf ~/x",
            "rm -rf $HOME",
            "rm -rf \"$DIR\"/x",
            "rm -rf $(pwd)",
            "rm -rf {a,/etc}",
            "\\rm -rf /etc",
            "/bin/rm -rf /etc",
            "cd / && rm -rf etc",
            "cd /; rm -rf etc",
            "cd ..; rm -rf other",
            "cd .. && cd .. && rm -rf etc",
            "cd $X && rm -rf a",
            "cd && rm -rf a",
            "cd - && rm -rf a",
            "pushd /tmp && rm -rf a",
            "(cd /tmp && rm -rf a)",
            "find / -delete",
            "find /tmp -name x -delete",
            "find ../other -exec rm {} +",
            "cd /tmp && find -delete",
            "find . -exec sh -c 'rm -rf /etc' ;",
            "ls | xargs rm -rf",
            "xargs -0 rm -r < list",
            "sudo rm -rf /etc",
            "sh -c 'cd /tmp && rm -rf a'",
        ]);
    }

    #[test]
    fn removal_within_the_workspace_is_nobody_s_business() {
        all_free(&[
            "rm -rf target",
            "rm -rf ./target sub/x",
            "rm -rf sub/../target",
            "rm -rf /work/project/target",
            "rm -rf \"$PWD/target\" ${PWD}/x",
            "rm -rf build/*",
            "rm -rf -- -odd",
            "rm -f \"$file\"",
            "rm /tmp/x",
            "rm -f ../other/file",
            "rm -i /etc/x",
            "cd sub && rm -rf target",
            "cd sub; rm -rf target",
            "cd sub && cd .. && rm -rf target",
            "cd /tmp && ls",
            "(cd /tmp && ls) && rm -rf target",
            "cd /tmp && cd /work/project && rm -rf target",
            "find . -name '*.o' -delete",
            "find -delete",
            "find /tmp -name x",
            "find . -type f -exec rm {} +",
            "echo rm -rf /",
            "ls | xargs rm -f",
            "docker rm -r x",
            "git rm -r old",
        ]);
    }

    #[test]
    fn a_block_says_what_was_found() {
        assert_eq!(
            guard("rm -rf a ../b").unwrap(),
            "it removes recursively outside the workspace: ../b"
        );
        assert_eq!(
            guard("rm -rf $X").unwrap(),
            "it removes recursively, and its text does not tell where: $X"
        );
    }

    #[test]
    fn what_is_nested_without_end_is_not_followed_without_end() {
        for deep in ["$(", "${", "`\\", "sudo ", "find -exec "] {
            guard(&deep.repeat(50_000));
        }
        assert!(guard(&format!("echo {}", "$(".repeat(50_000))).is_some());
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "\\PC{0,80}") {
            guard(&text);
        }

        /// What stands around a command that is blocked does not hide it.
        #[test]
        fn company_does_not_hide_a_command(
            before in prop::sample::select(vec!["", "ls; ", "ls && ", "a=1 ", "! ", "( ", "ls |", "\n"]),
            bad in prop::sample::select(vec!["git push", "git reset --hard", "rm -rf /etc"]),
            after in prop::sample::select(vec!["", " ;ls", " && ls", " > x", " # x", " )", "\nls"]),
        ) {
            let command = format!("{before}{bad}{after}");
            prop_assert!(guard(&command).is_some(), "{}", command);
        }

        /// A path below the workspace is free, one that climbs out of it is not, however both are
        /// spelled.
        #[test]
        fn depth_decides(down in 0_usize..4, up in 0_usize..6, quoted: bool) {
            let mut path = "d/".repeat(down) + &"../".repeat(up) + "x";
            if quoted {
                path = format!("'{path}'");
            }
            prop_assert_eq!(guard(&format!("rm -rf {path}")).is_some(), up > down);
        }
    }
}
