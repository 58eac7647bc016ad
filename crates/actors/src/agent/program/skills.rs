//! Skills, as a program uses them (02 §10).
//!
//! The program gets a skill's text each time it uses it; the model gets it once, as a message that
//! stays. Its code is loaded, and its script runs, each time.

use std::sync::Arc;

use ::context::modules::skills::SkillRead;
use ::context::prompts::{self, Heading};
use ::context::window::{NewItem, Retention};
use sandbox::services::{Call, Skills};
use tools::Faults;
use vocab::band::Band;
use vocab::failure::Failure;
use vocab::message::Message;

use super::code::with_rejected;
use super::given::Given;
use super::{Carried, Held, Serving};
use crate::agent::loaded::{Authored, Owner};

impl Skills for Serving {
    fn read_skill(&mut self, call: &Call, name: String) -> Result<String, Failure> {
        let arguments = Given::default().with("name", name.as_str());
        self.local(call, &arguments.json(), |held, setting| {
            let mut faults = Faults::default();
            faults.filled("name", &name);
            faults.judge()?;
            let read = held.modules.use_skill(&name)?;
            held.pin(&read, setting.turn)?;
            let owner = Owner::Skill(Arc::clone(&read.skill.name));
            let rejected = held.use_code(setting, owner, &Authored::of_skill(&read.skill))?;
            let body = with_rejected(&read.skill.body, &rejected);
            Ok(Carried::new(body.clone(), body))
        })
    }
}

impl Held {
    /// Puts a skill's text at the window's tail, the first time it is used.
    fn pin(&mut self, read: &SkillRead, turn: u32) -> Result<(), Failure> {
        if !read.pins() {
            return Ok(());
        }
        let text = prompts::headed(&Heading::of("Documentation"), &read.skill.body);
        let text = text.map_err(|error| self.code.undone(error.into()))?;
        let message = Message::User {
            text: text.into(),
            images: Vec::new(),
        };
        self.window.push(NewItem {
            retention: Retention::Pinned,
            selector: Some(Arc::clone(&read.skill.name)),
            ..NewItem::new(Band::Skill, turn, message)
        });
        Ok(())
    }
}
