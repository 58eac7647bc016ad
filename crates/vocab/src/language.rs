//! The languages programs are written in: one word for each arm this build registers (05 §1).

use crate::words::words;

words! {
    /// The language an agent's programs are written in.
    ProgramLanguage ("program language") {
        /// TypeScript.
        Typescript = "typescript",
        /// JavaScript.
        Javascript = "javascript",
        /// Python.
        Python = "python",
    }
}
