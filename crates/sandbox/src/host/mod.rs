//! The membrane: every call a program makes passes it, once, in one way (04 §11).
//!
//! Bracket, gate, measure, funnel, close. A call that is not permitted, comes too late or fails is a
//! value inside the program; nothing here can trap. The one call that ends its program never gets
//! here: the engine does not copy what is past [`MAX_CALL_BYTES`](crate::program::MAX_CALL_BYTES).
//!
//! Always true: each call that is opened is closed, and a [`Call`] exists only between the two.

mod logs;
mod record;

use tokio::time::Instant;
use vocab::failure::{Failure, FailureClass};
use vocab::grant::Offer;
use vocab::operations::{Binding, Operation};

use crate::contract as wit;
use crate::contract::feedback::{ErrorKind, LogLevel};
use crate::program::InCalls;
use crate::services::{Call, Services};

pub use logs::{LogLine, Logs};
pub use record::{Calls, Capped, RecordedCall, Refusal};

/// What a program's runtime told of a failure the program did not catch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// The class of the failed call that was not caught.
    pub code: Option<FailureClass>,
    /// The key of the operation that failed.
    pub operation: Option<String>,
    /// The failure in the runtime's own words.
    pub rendering: String,
}

/// A code module that failed to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleError {
    /// The name it is imported by.
    pub key: String,
    /// What went wrong.
    pub message: String,
}

/// Failures a program may report; the rest is counted.
const MAX_REPORTS: usize = 16;

/// Characters of one report that are kept.
const MAX_RENDERING: usize = 64 * 1024;

/// The state behind every call of one program.
pub struct Membrane {
    services: Box<dyn Services>,
    offer: Offer,
    calls: Calls,
    logs: Logs,
    reports: Capped<Report>,
    module_errors: Capped<ModuleError>,
    in_calls: InCalls,
}

/// What is left of a membrane when its program has ended.
pub(crate) struct Left {
    pub(crate) services: Box<dyn Services>,
    pub(crate) calls: Calls,
    pub(crate) logs: Logs,
    pub(crate) reports: Capped<Report>,
    pub(crate) module_errors: Capped<ModuleError>,
}

impl Membrane {
    /// A membrane of an agent that may call what it is offered.
    pub(crate) fn new(services: Box<dyn Services>, offer: Offer, in_calls: InCalls) -> Self {
        Self {
            services,
            offer,
            calls: Calls::default(),
            logs: Logs::default(),
            reports: Capped::new(MAX_REPORTS),
            module_errors: Capped::new(MAX_REPORTS),
            in_calls,
        }
    }

    pub(crate) fn into_left(self) -> Left {
        Left {
            services: self.services,
            calls: self.calls,
            logs: self.logs,
            reports: self.reports,
            module_errors: self.module_errors,
        }
    }

    /// Carries one call: the only way from a function of the contract to the services.
    pub(crate) fn call<T>(
        &mut self,
        id: &'static str,
        act: impl FnOnce(&mut dyn Services, &Call) -> Result<T, Failure>,
    ) -> Result<T, wit::ApiError> {
        let began = Instant::now();
        let operation = Operation::find(id)
            .expect("a test holds the declared functions and the table in bijection");
        self.services.opened(operation);
        let call = Call {
            operation,
            ordinal: self.calls.open(),
        };
        let outcome = self.gate(operation).and_then(|()| {
            self.measure(operation);
            self.funnel(operation)?;
            self.calls.dispatch(operation);
            act(self.services.as_mut(), &call)
        });
        let failure = outcome.as_ref().err();
        self.calls.close(&call, failure);
        self.services
            .closed(operation, failure.map(|failure| failure.class));
        self.in_calls.add(began.elapsed());
        outcome.map_err(|failure| wit::ApiError {
            operation: operation.key().to_owned(),
            code: failure.class.into(),
            message: failure.message,
        })
    }

    fn gate(&mut self, operation: &'static Operation) -> Result<(), Failure> {
        if self.offer.offers(operation) {
            return Ok(());
        }
        let mut message = format!("`{}` is not available.", self.services.spelling(operation));
        if matches!(operation.binding, Binding::Ending(_)) {
            let instead: Vec<_> = self
                .offer
                .endings()
                .map(|ending| format!("`{}`", self.services.spelling(ending)))
                .collect();
            if !instead.is_empty() {
                message.push_str(&format!(" Use {} instead.", instead.join(" or ")));
            }
        }
        self.calls.refuse(operation, &message);
        Err(Failure::new(FailureClass::Unavailable, message))
    }

    fn measure(&mut self, operation: &'static Operation) {
        let ending = matches!(operation.binding, Binding::Ending(_));
        if !ending && !self.services.documented(operation) {
            self.calls.undocumented(operation);
        }
    }

    /// What stands between a permitted call and its dispatch.
    fn funnel(&self, operation: &'static Operation) -> Result<(), Failure> {
        if operation.outlives_clock() {
            return Ok(());
        }
        if self.services.clock_spent() {
            return Err(Failure::new(
                FailureClass::LimitExceeded,
                "the run's time is spent; nothing is carried out any more",
            ));
        }
        match self.services.pending(operation) {
            Some(reason) => Err(Failure::new(FailureClass::Refused, reason)),
            None => Ok(()),
        }
    }
}

impl wit::types::Host for Membrane {}

impl wit::feedback::Host for Membrane {
    fn log(&mut self, level: LogLevel, line: String) {
        self.logs.push(level, &line);
    }

    fn report_error(
        &mut self,
        kind: ErrorKind,
        code: Option<wit::FailureClass>,
        operation: Option<String>,
        rendering: String,
    ) {
        let report = Report {
            kind,
            code: code.map(FailureClass::from),
            operation,
            rendering: kept(rendering),
        };
        // A runtime may see one failure from two sides; each distinct one is told once.
        if !self.reports.items.contains(&report) {
            self.reports.push(report);
        }
    }

    fn report_module_error(&mut self, key: String, message: String) {
        let error = ModuleError {
            key,
            message: kept(message),
        };
        if !self.module_errors.items.contains(&error) {
            self.module_errors.push(error);
        }
    }
}

/// A text a guest made, cut where it would cost the host too much; it closes with what went.
fn kept(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(MAX_RENDERING) {
        let dropped = text[at..].chars().count();
        text.truncate(at);
        text.push_str(&format!("\n… {dropped} characters dropped"));
    }
    text
}

/// One class in two types: the contract's, which a guest sees, and gg's.
macro_rules! same {
    ($($word:ident),+) => {
        impl From<FailureClass> for wit::FailureClass {
            fn from(class: FailureClass) -> Self {
                match class { $(FailureClass::$word => Self::$word,)+ }
            }
        }

        impl From<wit::FailureClass> for FailureClass {
            fn from(class: wit::FailureClass) -> Self {
                match class { $(wit::FailureClass::$word => Self::$word,)+ }
            }
        }
    };
}

same!(
    InvalidArgument,
    NotFound,
    Conflict,
    LimitExceeded,
    IoError,
    Unavailable,
    Refused,
    Other
);
