//! The figures of a reader beside other work, against the reader alone.

use crate::{
    bar::{Bar, Target},
    rounds::Rounds,
};

/// Speeds of readers by name, as shares of their speed alone.
#[derive(Default)]
pub struct Readers(Rounds);

impl Readers {
    /// Notes one round: million lookups per second beside work on the same filter, beside the same
    /// work on another one, and alone; and the million lookups, none of which missed.
    pub fn note(&mut self, name: &str, [own, control, alone]: [f64; 3], lookups: f64) {
        self.0.note(name, own, alone);
        self.0.note(format!("{name}, control"), control, alone);
        self.0.note(format!("{name}, lookups"), lookups, f64::NAN);
    }

    /// Returns the bar of a reader, with a note about the work beside it.
    pub fn bar(&self, name: &str, target: Target, work: &str) -> Bar {
        let control = self.0.row(&format!("{name}, control")).times;
        let note = format!(
            "with the work on another filter {control:.2}: what the machine alone costs; {work}; \
             no miss in {:.0} million lookups",
            self.0.sum(&format!("{name}, lookups"))
        );
        Bar::new(name, target, self.0.row(name).times, "of alone").note(note)
    }
}
