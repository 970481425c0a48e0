//! Rewrites a file of the library so that its mutants are selected at run time.
//!
//! Every edit replaces a range of the original text by a template of new code and parts of the
//! original, which are rewritten in turn.

use std::{collections::BTreeMap, ops::Range};

use anyhow::{Context, Result, bail, ensure};

use super::{
    catalogue::{Change, Tables},
    library::Mutant,
    orderings::Site,
    syntax::{Node, Syntax},
};

/// Stands in templates around the range of a part of the original.
const MARK: char = '\u{1}';

/// A part of the original, in a template.
fn original(Range { start, end }: &Range<usize>) -> String {
    format!("{MARK}{start}..{end}{MARK}")
}

/// A template for a range of the original text. Of two for the same range the one with the smaller
/// layer is the outer one.
#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    layer: u8,
    template: String,
}

/// A delayed statement: its position, how far it is delayed, and the code that asks for it.
type Delayed = (usize, usize, String);

/// The edits of a file.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: Vec<Edit>,
    /// By the number of the block.
    delays: BTreeMap<usize, Vec<Delayed>>,
}

impl Edits {
    /// Adds the mutants of an ordering, the first one with this number.
    pub(super) fn weaken(&mut self, site: &Site, first: usize) {
        let mutants: Vec<String> = (first..)
            .zip(site.weaker)
            .map(|(number, weaker)| format!("({number}, ::core::sync::atomic::Ordering::{weaker})"))
            .collect();
        let (ordering, mutants) = (original(&site.range), mutants.join(", "));
        let template = format!("crate::mutants::order({ordering}, &[{mutants}])");
        self.edits.push(Edit { range: site.range.clone(), layer: 4, template });
    }

    /// Adds the mutants of a node, the first one with this number.
    pub(super) fn mark(
        &mut self,
        syntax: &Syntax,
        node: &Node,
        first: usize,
        mutants: &[Mutant],
    ) -> Result<()> {
        let [mut values, mut extents, mut conditions] = [const { String::new() }; 3];
        let [mut before, mut after] = [const { String::new() }; 2];
        let mut deleted = Vec::new();
        for (number, mutant) in (first..).zip(mutants) {
            let on = match mutant.tables {
                Tables::All => format!("crate::mutants::on({number})"),
                Tables::Fixed => format!("(crate::mutants::on({number}) && !S::GROWS)"),
                Tables::Growing => format!("(crate::mutants::on({number}) && S::GROWS)"),
            };
            let is_statement = node.position.is_some();
            match mutant.change.as_ref().context("no change")? {
                Change::Instead(code) => {
                    values += &format!("if {on} {{ {} }} else ", filled(code, node.value.as_ref()));
                }
                Change::During(_) | Change::WithoutAcquire | Change::WithoutRelease => {
                    let extent = format!("crate::mutants::extent({number}, {on})");
                    extents += &format!("let _extent{number} = {extent}; ");
                }
                Change::If(code) => {
                    let code = filled(code, node.condition.as_ref());
                    conditions += &format!("if {on} {{ {code} }} else ");
                }
                Change::Before(code) if is_statement => {
                    before += &format!("if {on} {{ {code} }} ");
                }
                Change::Before(code) => extents += &format!("if {on} {{ {code} }} "),
                _ if !is_statement => bail!("only a statement can be changed in this way"),
                Change::Let(name, value) => {
                    before += &format!("let {name} = if {on} {{ {value} }} else {{ {name} }}; ");
                }
                Change::After(code) => after += &format!(" if {on} {{ {code} }}"),
                Change::Delete => deleted.push(on),
                Change::Delay(by) => self.delay(syntax, node, *by, on)?,
            }
        }
        if !values.is_empty() || !extents.is_empty() {
            let range = node.value.clone().context("there is no value to change")?;
            let (open, close) = if node.is_open { ("", "") } else { ("(", ")") };
            let value = original(&range);
            let template = format!("{open}{values}{{ {extents}{value} }}{close}");
            self.edits.push(Edit { range, layer: 2, template });
        }
        if !conditions.is_empty() {
            let range = node.condition.clone().context("there is no condition to change")?;
            let template = format!("({conditions}{{ {} }})", original(&range));
            self.edits.push(Edit { range, layer: 3, template });
        }
        if !deleted.is_empty() {
            ensure!(node.declares.is_empty(), "a `let` cannot be deleted");
            before += &format!("if !({}) {{ ", deleted.join(" | "));
            after.insert_str(0, " }");
        }
        if !before.is_empty() || !after.is_empty() {
            let template = format!("{before}{}{after}", original(&node.range));
            self.edits.push(Edit { range: node.range.clone(), layer: 1, template });
        }
        Ok(())
    }

    /// Adds a delayed statement.
    fn delay(&mut self, syntax: &Syntax, node: &Node, by: usize, on: String) -> Result<()> {
        let (block, position) = node.position.context("no statement")?;
        match syntax.statements(block).get(position + by) {
            None => bail!("fewer than {by} statements follow"),
            Some(last) if last.is_tail => bail!("its block has a value, which nothing can follow"),
            Some(_) => self.delays.entry(block).or_default().push((position, by, on)),
        }
        Ok(())
    }

    /// Adds the edits for delayed statements of a block, one for each group of those that overlap.
    fn permute(&mut self, statements: &[&Node], mut delays: Vec<Delayed>) {
        delays.sort_by_key(|&(position, ..)| position);
        while let Some(&(start, by, _)) = delays.first() {
            let (mut end, mut count) = (start + by, 1);
            while let Some(&(position, by, _)) = delays.get(count)
                && position <= end
            {
                end = end.max(position + by);
                count += 1;
            }
            let group = delays.drain(..count);
            let template = permuted(&statements[start..=end], start, group);
            let range = statements[start].range.start..statements[end].range.end;
            self.edits.push(Edit { range, layer: 0, template });
        }
    }

    /// The text with these edits made.
    pub(super) fn applied_to(mut self, text: &str, syntax: &Syntax) -> String {
        for (block, delays) in std::mem::take(&mut self.delays) {
            self.permute(&syntax.statements(block), delays);
        }
        self.edits.sort_by_key(|edit| (edit.range.start, usize::MAX - edit.range.end, edit.layer));
        render(text, 0..text.len(), &self.edits)
    }
}

/// These statements, the first of which has the position `start`, once for every order that one of
/// them can be delayed to.
fn permuted(statements: &[&Node], start: usize, delays: impl Iterator<Item = Delayed>) -> String {
    // The last declaration of a name is the one that is seen later.
    let declared: BTreeMap<&String, bool> = statements
        .iter()
        .flat_map(|statement| &statement.declares)
        .map(|(name, is_mut)| (name, *is_mut))
        .collect();
    let list = |of: fn((&&String, &bool)) -> String| declared.iter().map(of).collect::<String>();
    let names = list(|(name, _)| format!("{name}, "));
    let patterns = list(|(name, is_mut)| format!("{}{name}, ", if *is_mut { "mut " } else { "" }));
    let has_names = !names.is_empty();
    let in_order = |order: &[usize]| {
        let code = order.iter().map(|&place| original(&statements[place].range) + " ");
        let result = if has_names { format!("({names}) ") } else { String::new() };
        format!("{{ {}{result}}}", code.collect::<String>())
    };
    let orders: Vec<usize> = (0..statements.len()).collect();
    let mut template = if has_names { format!("let ({patterns}) = ") } else { String::new() };
    for (position, by, on) in delays {
        let mut order = orders.clone();
        order[position - start..=position - start + by].rotate_left(1);
        template += &format!("if {on} {} else ", in_order(&order));
    }
    template + &in_order(&orders) + if has_names { ";" } else { "" }
}

/// Code with the original in the place of each `$`.
fn filled(code: &str, range: Option<&Range<usize>>) -> String {
    code.replace('$', &range.map(original).unwrap_or_default())
}

/// A range of the text with these edits made, as far as they are within it. Outer ones come first.
fn render(text: &str, range: Range<usize>, edits: &[Edit]) -> String {
    let mut rendered = String::new();
    let mut done = range.start;
    for (index, edit) in edits.iter().enumerate() {
        if edit.range.start < done || edit.range.end > range.end {
            continue;
        }
        rendered += &text[done..edit.range.start];
        for (number, piece) in edit.template.split(MARK).enumerate() {
            // Every second piece stands between two marks.
            match piece.split_once("..").filter(|_| number % 2 == 1) {
                None => rendered += piece,
                Some((start, end)) => {
                    let [start, end] = [start, end].map(|at| at.parse().expect("a marked range"));
                    rendered += &render(text, start..end, &edits[index + 1..]);
                }
            }
        }
        done = edit.range.end;
    }
    rendered + &text[done..range.end]
}
