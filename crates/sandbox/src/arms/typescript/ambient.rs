//! Emitted declarations as those of an ambient module. `cargo xtask arms` reads this file too, for the
//! declarations of the SDK.

/// The declarations of a file as those of an ambient module, in which nothing is declared twice.
pub(crate) fn ambient(specifier: &str, declarations: &str) -> String {
    let mut out = format!("declare module \"{specifier}\" {{\n");
    for line in declarations.lines() {
        match line.strip_prefix("export declare ") {
            Some(rest) => out.extend(["export ", rest]),
            None => out.push_str(line.strip_prefix("declare ").unwrap_or(line)),
        }
        out.push('\n');
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ambient_module_declares_nothing_twice() {
        let file = "/** A. */\nexport declare function a(): void;\ndeclare const b: B;\ninterface B {\n    c: 1;\n}\nexport {};\n";
        assert_eq!(
            ambient("gg:a", file),
            "declare module \"gg:a\" {\n/** A. */\nexport function a(): void;\nconst b: B;\ninterface B \
             {\n    c: 1;\n}\nexport {};\n}\n"
        );
    }
}
