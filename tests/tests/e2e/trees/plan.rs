//! A random program of agents: who starts, copies or becomes whom, waits for whom, and how each
//! ends.
//!
//! A plan is data made of a seed before anything runs. A node is what one lineage does if it is
//! started; ids are given only as it runs, so that a plan names nodes.

use super::seed::Seed;

/// Levels below the root that agents are started on. Plans go one deeper, to be refused there.
pub(super) const MAX_DEPTH: usize = 3;
/// Nodes of a plan at most.
const NODES: usize = 24;

/// The profiles of a run; the first is some roots', and nobody starts or becomes it.
pub(super) const PROFILES: [&str; 8] = [
    "root", "worker", "mason", "keeper", "process", "planner", "builder", "checker",
];
/// Those that may be put to work.
const TARGETS: [usize; 4] = [1, 2, 3, PROCESS];
/// Those that run one agent at a time.
pub(super) const PERSISTENT: [&str; 2] = ["keeper", "checker"];
/// The place of the machine among the profiles.
const PROCESS: usize = 4;

/// A state of the machine, which begins in the first.
pub(super) struct State {
    pub(super) name: &'static str,
    /// The place of its profile.
    pub(super) profile: usize,
    /// Where it leads.
    pub(super) exits: &'static [Exit],
}

/// A way out of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    /// The place of the state it leads to.
    pub(super) to: usize,
    /// Whether the conversation goes along.
    pub(super) history: bool,
}

const fn exit(to: usize, history: bool) -> Exit {
    Exit { to, history }
}

/// The states of the machine, whose profiles cannot become others.
pub(super) const STATES: [State; 3] = [
    State {
        name: "plan",
        profile: 5,
        exits: &[exit(0, true), exit(1, false), exit(2, true)],
    },
    State {
        name: "build",
        profile: 6,
        exits: &[exit(0, false), exit(1, false), exit(2, true)],
    },
    State {
        name: "check",
        profile: 7,
        exits: &[],
    },
];

/// What an agent is: a profile, in a state of the machine or in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stand {
    /// The place of its profile.
    pub(super) profile: usize,
    /// The place of its state.
    pub(super) state: Option<usize>,
}

impl Stand {
    /// Where whoever is put to work as this profile stands.
    const fn of(target: usize) -> Self {
        if target == PROCESS {
            Self::in_state(0)
        } else {
            Self {
                profile: target,
                state: None,
            }
        }
    }

    const fn in_state(state: usize) -> Self {
        Self {
            profile: STATES[state].profile,
            state: Some(state),
        }
    }

    /// A copy works beside the machine.
    const fn copy(self) -> Self {
        Self {
            state: None,
            ..self
        }
    }

    /// The ways out of where it stands.
    pub(super) fn exits(self) -> &'static [Exit] {
        self.state.map_or(&[], |state| STATES[state].exits)
    }

    /// Whether its profile may become another.
    const fn becomes(self) -> bool {
        self.profile < PROCESS
    }
}

/// A program of agents; node 0 is the root's.
#[derive(Debug)]
pub(super) struct Plan {
    /// Whether a hook holds up each agent's first ending.
    pub(super) gated: bool,
    pub(super) nodes: Vec<Node>,
}

/// What one lineage does.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) depth: usize,
    /// The place of the profile it is put to work as.
    pub(super) target: usize,
    /// What it begins and ends as.
    pub(super) begins_as: Stand,
    pub(super) ends_as: Stand,
    pub(super) turns: Vec<Turn>,
    pub(super) end: End,
}

/// What one reply says.
#[derive(Debug)]
pub(super) enum Turn {
    /// Calls, in order.
    Calls(Vec<Step>),
    /// Text alone, which is an error.
    Mute,
}

/// One call.
#[derive(Debug)]
pub(super) enum Step {
    /// Starts a node.
    Spawn(usize),
    /// Makes a copy, which does a node.
    Fork(usize),
    /// Becomes another profile; the first of a turn stands.
    Become(usize),
    /// Leaves its state; the first of a turn stands.
    Leave(Exit),
    /// Waits for these of its children; for none named, for all not collected.
    Wait(Vec<usize>),
    /// Waits for somebody it never started.
    Stranger,
    /// Writes to a child, which may have ended.
    Message(usize),
    /// Runs a command.
    Command,
    /// Looks at its folder.
    Look,
    /// Makes a call that fails.
    Stumble,
}

/// How an agent ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Finish,
    /// With a blank summary first, which is refused.
    Blank,
    /// It becomes another or leaves its state in the same reply, which the ending beats.
    Beats,
    /// Its model refuses its last request.
    Refused,
}

impl Plan {
    /// The plan of a seed.
    pub(super) fn of(seed: u64) -> Self {
        let mut seed = Seed::new(seed);
        let gated = seed.happens(1, 3);
        let target = if seed.happens(1, 4) { PROCESS } else { 0 };
        let root = Node {
            target,
            begins_as: Stand::of(target),
            ..Node::default()
        };
        let mut plan = Self {
            gated,
            nodes: vec![root],
        };
        let mut at = 0;
        while at < plan.nodes.len() {
            plan.fill(at, &mut seed);
            at += 1;
        }
        plan
    }

    /// Whether the root is a machine.
    pub(super) fn begins_in_a_state(&self) -> bool {
        self.nodes[0].target == PROCESS
    }

    fn fill(&mut self, at: usize, seed: &mut Seed) {
        let depth = self.nodes[at].depth;
        let mut stand = self.nodes[at].begins_as;
        let mut children = Vec::new();
        let turns = if at == 0 { 2 } else { 0 } + seed.below(4);
        for _ in 0..turns {
            let exits = stand.exits();
            let leave = !exits.is_empty() && seed.happens(1, 2);
            let exit = leave.then(|| exits[seed.below(exits.len())]);
            let turn = if let Some(exit) = exit.filter(|exit| !exit.history) {
                // Whoever comes does not see this turn, and could not know whom it started.
                Turn::Calls(vec![Step::Command, Step::Leave(exit), Step::Look])
            } else if exit.is_none() && seed.happens(1, 12) {
                Turn::Mute
            } else {
                let known = children.clone();
                let calls = 1 + seed.below(4);
                let step = |_| self.step(depth, stand, &known, &mut children, seed);
                let mut steps: Vec<Step> = (0..calls).map(step).collect();
                if let Some(exit) = exit {
                    let place = seed.below(steps.len() + 1);
                    steps.insert(place, Step::Leave(exit));
                    steps.push(Step::Leave(exits[seed.below(exits.len())]));
                }
                Turn::Calls(steps)
            };
            stand = turn.becomes().unwrap_or(stand);
            self.nodes[at].turns.push(turn);
        }
        self.nodes[at].ends_as = stand;
        let may_go_on = stand.becomes() || !stand.exits().is_empty();
        self.nodes[at].end = match seed.below(10) {
            0 => End::Blank,
            1 if may_go_on => End::Beats,
            2 if at > 0 => End::Refused,
            _ => End::Finish,
        };
    }

    /// A call of an agent that knows these children by their ids.
    fn step(
        &mut self,
        depth: usize,
        stand: Stand,
        known: &[usize],
        children: &mut Vec<usize>,
        seed: &mut Seed,
    ) -> Step {
        match seed.below(20) {
            draw @ 0..=8 if depth <= MAX_DEPTH && self.nodes.len() < NODES => {
                let child = self.nodes.len();
                let copy = draw > 5;
                let target = if copy { stand.profile } else { other(seed) };
                self.nodes.push(Node {
                    depth: depth + 1,
                    target,
                    begins_as: if copy {
                        stand.copy()
                    } else {
                        Stand::of(target)
                    },
                    ..Node::default()
                });
                children.push(child);
                if copy {
                    Step::Fork(child)
                } else {
                    Step::Spawn(child)
                }
            }
            9..=11 => Step::Wait(Vec::new()),
            12 | 13 => Step::Wait(seed.some(known)),
            14 if !known.is_empty() => Step::Message(known[seed.below(known.len())]),
            15 => Step::Stranger,
            16 => Step::Stumble,
            17 => Step::Command,
            18 if stand.becomes() => Step::Become(other(seed)),
            _ => Step::Look,
        }
    }
}

/// A profile that may be started and become.
fn other(seed: &mut Seed) -> usize {
    TARGETS[seed.below(TARGETS.len())]
}

impl Turn {
    /// What the agent goes on as.
    fn becomes(&self) -> Option<Stand> {
        let Self::Calls(steps) = self else {
            return None;
        };
        steps.iter().find_map(|step| match step {
            Step::Become(target) => Some(Stand::of(*target)),
            Step::Leave(exit) => Some(Stand::in_state(exit.to)),
            _ => None,
        })
    }
}
