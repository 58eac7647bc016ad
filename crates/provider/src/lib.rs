//! What a model is asked and what it answers.
//!
//! A call goes down this crate as data: [`message`], [`request`] and [`markers`] turn a window
//! into bytes, [`sse`], [`reply`] and [`reading`] turn the answer's bytes into a
//! [`reply::Reply`], [`fault`] names what can go wrong in between, [`schedule`] decides whether to
//! try again, and [`price`] reads what the call cost. [`cache`] compares a request with the one
//! before and says what the reply should have read. [`openrouter::attempt`] is the one effect: a
//! single attempt over HTTP. [`mock`] answers from a script instead, without any effect.
//!
//! Always true: nothing here knows an agent or a tool, keeps state between two calls but in what
//! its caller holds, or waits but for the one attempt it was asked to make.

pub mod cache;
pub mod fault;
pub mod listing;
pub mod markers;
pub mod message;
pub mod mock;
pub mod openrouter;
pub mod price;
pub mod reading;
pub mod reply;
pub mod request;
pub mod schedule;
pub mod sse;
