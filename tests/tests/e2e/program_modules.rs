//! Programs that call the agent's own modules and other agents: each operation with success and in
//! each way it fails (04 §9), and what is declared for the turn's end.

mod delegation;
mod library;
mod memories;
mod skills;
mod successions;
mod tasks;
mod window;
