//! The languages that are measured: what their programs say, and what runs them without gg.

use std::path::PathBuf;

use crate::step::target;

/// A language, and its programs.
pub(super) struct Arm {
    /// In a figure's name.
    pub(super) name: &'static str,
    /// In a launch document.
    pub(super) language: &'static str,
    /// The folder of its guest, and the guest's name there.
    guest: (&'static str, &'static str),
    /// A small program: it reads a file and shows what that holds.
    pub(super) turn: &'static str,
    /// The same program on two functions of its own: what the component has to run without gg.
    pub(super) bare: &'static str,
    /// A program of nothing.
    pub(super) nothing: &'static str,
    /// One that never ends by itself.
    pub(super) endless: &'static str,
    /// One that makes the cheapest call there is, over and over; `COUNT` stands for how often.
    calls: &'static str,
    /// One that says it has arrived, and waits in a command until it is let go.
    pub(super) parked: &'static str,
    /// One that ends its agent.
    pub(super) finish: &'static str,
    /// The small program as its interpreter of the command line is given it.
    pub(super) spawned: Option<Spawned>,
}

/// What a shell would run in place of a program.
pub(super) struct Spawned {
    /// The interpreter.
    pub(super) command: &'static str,
    /// The flag before its source.
    pub(super) flag: &'static str,
    /// What prints the file that it runs itself from; a wrapper around it would cost time of its own.
    pub(super) itself: &'static str,
    /// The source.
    pub(super) source: &'static str,
}

impl Arm {
    /// The component that runs its programs.
    pub(super) fn component(&self) -> PathBuf {
        let (folder, name) = self.guest;
        target().join("arms").join(folder).join(name)
    }

    /// A program that makes so many calls.
    pub(super) fn calling(&self, count: usize) -> String {
        self.calls.replace("COUNT", &count.to_string())
    }
}

/// What a parked program runs: it says it is there, and waits until the gate is.
macro_rules! wait {
    () => {
        "touch here.$$; until [ -e gate ]; do sleep 0.1; done"
    };
}

/// The command of [`Arm::parked`], for an agent that calls tools.
pub(super) const WAIT: &str = wait!();

const ECMASCRIPT: (&str, &str) = ("ecmascript", "ecmascript.component.wasm");

/// TypeScript.
pub(super) const TYPESCRIPT: Arm = Arm {
    name: "TypeScript",
    language: "typescript",
    turn: "import { files, views } from \"gg\";\n\
           const text: string = files.readTextFile(\"notes.txt\");\n\
           views.openText(\"notes\", text);\n",
    spawned: None,
    ..JAVASCRIPT
};

/// JavaScript.
pub(super) const JAVASCRIPT: Arm = Arm {
    name: "JavaScript",
    language: "javascript",
    guest: ECMASCRIPT,
    turn: "import { files, views } from \"gg\";\n\
           const text = files.readTextFile(\"notes.txt\");\n\
           views.openText(\"notes\", text);\n",
    bare: "import { files, views } from \"gg\";\n\
           const read = (path) => `What ${path} holds.\\n`;\n\
           const show = (label, text) => ({ label, text });\n\
           show(\"notes\", read(\"notes.txt\"));\n",
    nothing: "const nothing = 1;\n",
    endless: "for (;;) {}\n",
    calls: "import { programs } from \"gg\";\n\
            for (let n = 0; n < COUNT; n += 1) programs.history();\n",
    parked: concat!(
        "import { shell } from \"gg\";\nshell.shell(\"",
        wait!(),
        "\");\n"
    ),
    finish: "import { session } from \"gg\";\nsession.finish(\"Done.\");\n",
    spawned: Some(Spawned {
        command: "node",
        flag: "-e",
        itself: "console.log(process.execPath)",
        source: "console.log(require(\"fs\").readFileSync(\"notes.txt\", \"utf8\"))",
    }),
};

/// Python.
pub(super) const PYTHON: Arm = Arm {
    name: "Python",
    language: "python",
    guest: ("python", "python.component.wasm"),
    turn: "import gg\n\
           text = gg.files.read_text_file(\"notes.txt\")\n\
           gg.views.open_text(\"notes\", text)\n",
    bare: "import gg\n\
           read = lambda path: f\"What {path} holds.\\n\"\n\
           show = lambda label, text: (label, text)\n\
           show(\"notes\", read(\"notes.txt\"))\n",
    nothing: "nothing = 1\n",
    endless: "while True:\n    pass\n",
    calls: "import gg\n\
            for n in range(COUNT):\n    gg.programs.history()\n",
    parked: concat!("import gg\ngg.shell.shell(\"", wait!(), "\")\n"),
    finish: "import gg\ngg.session.finish(\"Done.\")\n",
    spawned: Some(Spawned {
        command: "python3",
        flag: "-c",
        itself: "import sys; print(sys.executable)",
        source: "print(open(\"notes.txt\").read())",
    }),
};

/// All of them.
pub(super) const ALL: [&Arm; 3] = [&TYPESCRIPT, &JAVASCRIPT, &PYTHON];
