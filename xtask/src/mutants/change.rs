//! What a structural mutant changes.

/// A structural mutant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// The name in the list of places.
    pub(super) name: &'static str,
    /// The fault in a few words, for the documentation.
    pub(super) what: &'static str,
    pub(super) change: Change,
    /// Whether a model that runs out of time counts as having noticed the fault.
    pub(super) may_hang: bool,
    /// Why it may survive, by the layout of the models.
    pub(super) reasons: [Option<&'static str>; 2],
    /// Whether only models with plain words can notice it.
    pub(super) only_plain: bool,
    /// The tables in which it is planted, if its statement stands in code for several.
    pub(super) tables: Tables,
}

/// Tables that share the code of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tables {
    All,
    /// Those of a fixed size.
    Fixed,
    /// Those that grow.
    Growing,
}

impl Fault {
    /// Allows the fault to survive, for this reason.
    pub(super) const fn survives(self, reason: &'static str) -> Self {
        Self { reasons: [Some(reason); 2], ..self }
    }

    /// Lets a model that does not come to an end count as having noticed the fault.
    pub(super) const fn may_hang(self) -> Self {
        Self { may_hang: true, ..self }
    }

    /// Keeps the fault to these tables. Its statement stands in code for both.
    pub(super) const fn only_in(self, tables: Tables) -> Self {
        Self { tables, ..self }
    }

    /// Keeps the fault to the models with plain words.
    pub(super) const fn only_plain(self) -> Self {
        Self { only_plain: true, ..self }
    }

    /// Allows the fault to survive with plain words, for this reason.
    pub(super) const fn survives_in_plain_words(self, reason: &'static str) -> Self {
        Self { reasons: [Some(reason), self.reasons[1]], ..self }
    }

    /// Allows the fault to survive with semi-sorted words, for this reason.
    pub(super) const fn survives_in_semi_sorted_words(self, reason: &'static str) -> Self {
        Self { reasons: [self.reasons[0], Some(reason)], ..self }
    }
}

/// A change of a statement, a match arm, or a field of a struct expression.
///
/// Replacement code is Rust; `$` in it stands for the original code. A statement's *value* is the
/// initializer of a `let`, the operand of a `return`, the right side of an assignment, the body of
/// an arm, or the expression itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// The statement does not run.
    Delete,
    /// The value is replaced.
    Instead(&'static str),
    /// The condition of an `if` or `while`, or the guard of an arm, is replaced.
    Condition(&'static str),
    /// This code runs first.
    Before(&'static str),
    /// This code runs next.
    After(&'static str),
    /// Before the statement a local variable takes the value of some code.
    Rebind { name: &'static str, value: &'static str },
    /// The statement runs only after as many of the following statements.
    Delay(usize),
    /// While the value is computed, the mutant of this name is on: a shared helper's fault for one
    /// of its callers.
    During(&'static str),
    /// While the value is computed, all orderings lack this half: for one caller of shared helpers.
    Weaken(Half),
}

/// What an ordering stronger than Relaxed is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Half {
    Acquire,
    Release,
}

/// Declares a fault.
pub(super) const fn fault(name: &'static str, what: &'static str, change: Change) -> Fault {
    Fault {
        name,
        what,
        change,
        may_hang: false,
        reasons: [None; 2],
        only_plain: false,
        tables: Tables::All,
    }
}
