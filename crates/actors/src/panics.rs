//! Panics become outcomes (03 §10.5).
//!
//! Net 1 is `catch_unwind` around an agent's turns, in `agent`. Net 2 is [`DeathWatch`]: a value
//! inside every actor whose drop, while its actor unwinds, reports the death to the supervisor.
//! Net 3 is the closed mailbox a sender meets.
//!
//! The panic hook keeps the text of the last panic of its thread, where the nets find it, and
//! writes it to the human log.

mod trip;

use std::any::Any;
use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::sync::Once;

use futures_util::FutureExt;

pub(crate) use trip::trip;
#[cfg(test)]
pub(crate) use trip::tripping;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs the hook once per process.
pub fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // A test that fails says why by the hook it found.
        #[cfg(test)]
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            #[cfg(test)]
            before(info);
            let text = describe(info.payload());
            let place = info
                .location()
                .map_or_else(String::new, |at| format!(" at {at}"));
            let thread = std::thread::current();
            let thread = thread.name().unwrap_or("unnamed").to_owned();
            tracing::error!("panic on thread `{thread}`{place}: {text}");
            LAST.with(|last| *last.borrow_mut() = Some(format!("{text}{place}")));
        }));
    });
}

/// The text of this thread's last panic, taken; a stand-in where there was none.
pub fn last() -> String {
    LAST.with(|last| last.borrow_mut().take())
        .unwrap_or_else(|| "a panic that left no text".to_owned())
}

/// What an asker says that the supervisor answers no more.
pub(crate) fn supervisor_died() -> String {
    format!("the supervisor died: {}", last())
}

/// The text a panic was raised with.
fn describe(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic whose value is no text".to_owned())
}

/// Runs a future to its end, or to its panic: the panic's text where it raised one. Net 1.
pub fn outlive<T>(life: impl Future<Output = T>) -> impl Future<Output = Result<T, String>> {
    // No async function: it would hold the future twice, as its argument and as what it awaits.
    AssertUnwindSafe(life)
        .catch_unwind()
        .map(|ended| ended.map_err(|_| last()))
}

/// Reports the death of the actor that holds it, if it dies unwinding.
pub struct DeathWatch(Option<Box<dyn FnOnce(String) + Send>>);

impl DeathWatch {
    /// Arms it. `report` runs at most once, with the panic's text.
    pub fn new(report: impl FnOnce(String) + Send + 'static) -> Self {
        Self(Some(Box::new(report)))
    }
}

impl Drop for DeathWatch {
    fn drop(&mut self) {
        // An actor dropped in order, at the end of its work or of the system, is no death.
        if std::thread::panicking()
            && let Some(report) = self.0.take()
        {
            report(last());
        }
    }
}

impl std::fmt::Debug for DeathWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DeathWatch")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use actix::{Actor, Context, Handler, Message};

    use super::*;

    #[derive(Message)]
    #[rtype(result = "()")]
    struct Trip;

    struct Fragile {
        _death: DeathWatch,
    }

    impl Actor for Fragile {
        type Context = Context<Self>;
    }

    impl Handler<Trip> for Fragile {
        type Result = ();

        fn handle(&mut self, _: Trip, _: &mut Self::Context) {
            panic!("tripped");
        }
    }

    #[actix::test]
    async fn a_panic_in_a_future_is_an_outcome_with_its_text() {
        install_hook();
        assert_eq!(outlive(async { 7 }).await, Ok(7));
        let text = outlive(async { panic!("over here") })
            .await
            .map(|(): ()| ())
            .unwrap_err();
        assert!(text.starts_with("over here at "), "{text}");
    }

    #[actix::test]
    async fn an_actor_that_dies_in_a_handler_is_reported_and_its_caller_released() {
        install_hook();
        let (report, reports) = mpsc::channel();
        let death = DeathWatch::new(move |text| report.send(text).unwrap());
        let fragile = Fragile { _death: death }.start();
        assert!(
            fragile.send(Trip).await.is_err(),
            "the caller meets a closed mailbox"
        );
        assert!(reports.recv().unwrap().starts_with("tripped at "));
    }

    #[test]
    fn an_actor_dropped_in_order_is_no_death() {
        let (report, reports) = mpsc::channel();
        drop(DeathWatch::new(move |text| report.send(text).unwrap()));
        assert!(reports.recv().is_err());
    }
}
