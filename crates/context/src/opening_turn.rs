//! What a code agent's opening program lists and opens, of what its profile names (04 §8.5, R9).
//!
//! Pure: the configuration and what the agent may call go in, what there is to do comes out. Whoever
//! runs agents makes the program of it.
//!
//! Always true: nothing is planned that the agent may not call, and everything at most once, in the
//! order it is first named.

use config::profile::OpeningTurn;
use vocab::grant::Offer;
use vocab::operations::{OPERATIONS, Operation};

/// The label of the view that shows the workspace's directories.
pub const TREE_LABEL: &str = "workspace tree";

/// The call that an agent needs to be shown them.
const TREE_NEEDS: &str = "files.list_dir";

/// The module that publishes the types all share, and no call.
const CORE: &str = "core";

/// What an opening program does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpeningPlan {
    /// gg's ids of the modules that one search lists.
    pub modules: Vec<String>,
    /// The operations whose pages it opens.
    pub functions: Vec<&'static Operation>,
    /// Levels of the workspace's directories it shows, where it does.
    pub tree: Option<usize>,
}

/// What a profile names and its agent does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// A module.
    #[error("openingTurn.modules names `{0}`, of which the agent has no call: it is left out")]
    Module(String),
    /// An operation.
    #[error("openingTurn.functions names `{0}`, which the agent does not have: it is left out")]
    Function(&'static str),
    /// The tree of the workspace.
    #[error(
        "openingTurn.tree asks for the workspace's directories, which an agent without \
         `{TREE_NEEDS}` is not shown: it is left out"
    )]
    Tree,
}

impl OpeningPlan {
    /// What is left of a profile's opening turn for an agent, and what is not.
    pub fn of(turn: &OpeningTurn, offer: &Offer) -> (Self, Vec<Dropped>) {
        let mut plan = Self::default();
        let mut dropped = Vec::new();
        for module in &turn.modules {
            if holds_module(offer, module) {
                push_new(&mut plan.modules, module.clone());
            } else {
                push_new(&mut dropped, Dropped::Module(module.clone()));
            }
        }
        for function in &turn.functions {
            let operation = function.operation();
            if offer.offers(operation) {
                push_new(&mut plan.functions, operation);
            } else {
                push_new(&mut dropped, Dropped::Function(operation.id));
            }
        }
        if turn.tree.include {
            if Operation::find(TREE_NEEDS).is_some_and(|row| offer.offers(row)) {
                plan.tree = Some(usize::try_from(turn.tree.depth).unwrap_or(usize::MAX));
            } else {
                dropped.push(Dropped::Tree);
            }
        }
        (plan, dropped)
    }

    /// Whether there is nothing to open on.
    pub const fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.functions.is_empty() && self.tree.is_none()
    }
}

fn holds_module(offer: &Offer, module: &str) -> bool {
    let mut rows = OPERATIONS.iter().filter(|row| row.module() == module);
    module == CORE || rows.any(|row| offer.offers(row))
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use config::grants::{OperationId, modules};
    use config::profile::Tree;
    use proptest::prelude::*;
    use vocab::capability::CapabilityId;
    use vocab::grant::{Grant, Servicing};
    use vocab::operations::EndingRole;

    use super::*;

    fn offer(capabilities: &[CapabilityId], operations: &[&'static str]) -> Offer {
        Offer {
            grant: Grant {
                capabilities: capabilities.iter().copied().collect(),
                operations: operations.iter().copied().collect(),
                role: EndingRole::Standard,
                leaves_state: false,
            },
            servicing: Servicing::default(),
        }
    }

    fn turn(modules: &[&str], functions: &[&str], tree: bool) -> OpeningTurn {
        OpeningTurn {
            modules: modules.iter().map(|&module| module.to_owned()).collect(),
            functions: functions
                .iter()
                .map(|id| OperationId::find(id).unwrap())
                .collect(),
            tree: Tree {
                include: tree,
                depth: 3,
            },
        }
    }

    fn ids(plan: &OpeningPlan) -> Vec<&'static str> {
        plan.functions.iter().map(|row| row.id).collect()
    }

    #[test]
    fn what_is_held_is_planned_once_in_the_order_it_is_named() {
        let offer = offer(
            &[CapabilityId::ReadFile, CapabilityId::ListDir],
            &["files.read_file", "files.list_dir", "views.open_file"],
        );
        let turn = turn(
            &["views", "files", "views", "core", "session"],
            &[
                "views.open_file",
                "docs.search",
                "views.open_file",
                "files.read_file",
            ],
            true,
        );
        let (plan, dropped) = OpeningPlan::of(&turn, &offer);
        assert_eq!(plan.modules, ["views", "files", "core", "session"]);
        assert_eq!(
            ids(&plan),
            ["views.open_file", "docs.search", "files.read_file"]
        );
        assert_eq!(plan.tree, Some(3));
        assert_eq!(dropped, []);
    }

    #[test]
    fn what_is_not_held_is_dropped_with_a_sentence_each_once() {
        let bare = offer(&[], &[]);
        let turn = turn(
            &["files", "shell", "files"],
            &["files.search", "files.search", "views.open_text"],
            true,
        );
        let (plan, dropped) = OpeningPlan::of(&turn, &bare);
        assert_eq!(plan.modules, [""; 0]);
        assert_eq!(ids(&plan), ["views.open_text"]);
        let told: Vec<_> = dropped.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "openingTurn.modules names `files`, of which the agent has no call: it is left out",
                "openingTurn.modules names `shell`, of which the agent has no call: it is left out",
                "openingTurn.functions names `files.search`, which the agent does not have: it is \
                 left out",
                "openingTurn.tree asks for the workspace's directories, which an agent without \
                 `files.list_dir` is not shown: it is left out",
            ]
        );
    }

    #[test]
    fn a_turn_of_which_nothing_is_left_is_empty() {
        let bare = offer(&[], &[]);
        let (plan, _) = OpeningPlan::of(&turn(&["files"], &["shell.shell"], true), &bare);
        assert!(plan.is_empty());
        let (plan, dropped) = OpeningPlan::of(&turn(&[], &[], false), &bare);
        assert!(plan.is_empty() && dropped.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_is_planned_that_is_not_offered_and_all_is_planned_or_dropped(
            rows in prop::collection::vec(0..OPERATIONS.len(), 0..12),
            granted in prop::collection::btree_set(0..OPERATIONS.len(), 0..OPERATIONS.len()),
            listed in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let grantable: Vec<_> = OperationId::grantable().collect();
            let named: Vec<_> = rows.iter().map(|at| grantable[at % grantable.len()]).collect();
            let offer = Offer {
                grant: Grant {
                    capabilities: CapabilityId::ALL.iter().copied().collect(),
                    operations: granted.iter().map(|at| OPERATIONS[*at].id).collect(),
                    role: EndingRole::Review,
                    leaves_state: false,
                },
                servicing: Servicing::default(),
            };
            let all = modules();
            let turn = OpeningTurn {
                modules: listed.iter().map(|at| all[at % all.len()].to_owned()).collect(),
                functions: named.clone(),
                tree: Tree { include: false, depth: 1 },
            };
            let (plan, dropped) = OpeningPlan::of(&turn, &offer);
            prop_assert!(plan.functions.iter().all(|row| offer.offers(row)));
            let distinct = |ids: Vec<&str>| ids.into_iter().collect::<BTreeSet<_>>().len();
            prop_assert_eq!(
                plan.functions.len() + plan.modules.len() + dropped.len(),
                distinct(named.iter().map(|id| id.as_str()).collect())
                    + distinct(turn.modules.iter().map(String::as_str).collect())
            );
        }
    }
}
