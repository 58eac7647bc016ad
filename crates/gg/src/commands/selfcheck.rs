//! `gg selfcheck`: whether programs of each language can be prepared and run here.

use vocab::language::ProgramLanguage;

use super::{BUILD, DONE, REFUSED};
use crate::cli::SelfcheckArgs;
use crate::output;
use crate::selfcheck;

/// Checks one language after another, each told as soon as it is known; no failure stops the others.
pub(super) fn run(args: &SelfcheckArgs) -> anyhow::Result<u8> {
    let asked = if args.language.is_empty() {
        ProgramLanguage::ALL
    } else {
        &args.language
    };
    let mut works = true;
    for language in asked {
        let verdict = selfcheck::check(*language, BUILD);
        works &= verdict.is_ok();
        output::print(&selfcheck::line(*language, &verdict))?;
    }
    Ok(if works { DONE } else { REFUSED })
}
