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

/// The profiles of a run; the first is the root's, and nobody starts or becomes it.
pub(super) const PROFILES: [&str; 3] = ["root", "worker", "mason"];

/// A program of agents; node 0 is the root's.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
}

/// What one lineage does.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) depth: usize,
    /// The places of the profiles it starts and ends under.
    pub(super) begins_as: usize,
    pub(super) ends_as: usize,
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
    /// It becomes another in the same reply, which the ending beats.
    Beats,
    /// Its model refuses its last request.
    Refused,
}

impl Plan {
    /// The plan of a seed.
    pub(super) fn of(seed: u64) -> Self {
        let mut seed = Seed::new(seed);
        let mut plan = Self {
            nodes: vec![Node::default()],
        };
        let mut at = 0;
        while at < plan.nodes.len() {
            plan.fill(at, &mut seed);
            at += 1;
        }
        plan
    }

    fn fill(&mut self, at: usize, seed: &mut Seed) {
        let depth = self.nodes[at].depth;
        let mut profile = self.nodes[at].begins_as;
        let mut children = Vec::new();
        let turns = if at == 0 { 2 } else { 0 } + seed.below(4);
        for _ in 0..turns {
            let turn = if seed.happens(1, 12) {
                Turn::Mute
            } else {
                let known = children.clone();
                let calls = 1 + seed.below(4);
                let step = |_| self.step(depth, profile, &known, &mut children, seed);
                Turn::Calls((0..calls).map(step).collect())
            };
            profile = turn.becomes().unwrap_or(profile);
            self.nodes[at].turns.push(turn);
        }
        self.nodes[at].ends_as = profile;
        self.nodes[at].end = match seed.below(10) {
            0 => End::Blank,
            1 => End::Beats,
            2 if at > 0 => End::Refused,
            _ => End::Finish,
        };
    }

    /// A call of an agent that knows these children by their ids.
    fn step(
        &mut self,
        depth: usize,
        profile: usize,
        known: &[usize],
        children: &mut Vec<usize>,
        seed: &mut Seed,
    ) -> Step {
        match seed.below(20) {
            draw @ 0..=8 if depth <= MAX_DEPTH && self.nodes.len() < NODES => {
                let child = self.nodes.len();
                let copy = draw > 5;
                self.nodes.push(Node {
                    depth: depth + 1,
                    begins_as: if copy { profile } else { other(seed) },
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
            18 => Step::Become(other(seed)),
            _ => Step::Look,
        }
    }
}

/// A profile that may be started and become.
fn other(seed: &mut Seed) -> usize {
    1 + seed.below(PROFILES.len() - 1)
}

impl Turn {
    /// The profile that the agent goes on as.
    fn becomes(&self) -> Option<usize> {
        let Self::Calls(steps) = self else {
            return None;
        };
        steps.iter().find_map(|step| match step {
            Step::Become(profile) => Some(*profile),
            _ => None,
        })
    }
}
