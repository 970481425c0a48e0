//! Rewrites a file of the library so that its mutants are selected at run time.
//!
//! Every edit replaces a range of the original text by a template of new code and parts of the
//! original, which are rewritten in turn.

use std::{collections::BTreeMap, ops::Range};

use anyhow::{Context, Result, bail, ensure};

use super::{
    change::{Change, Tables},
    orderings::Site,
    syntax::{Node, Sibling, Syntax},
};

/// The code that asks whether a mutant is selected, for a statement of these tables.
fn on(number: usize, tables: Tables) -> String {
    let on = format!("crate::mutants::on({number})");
    match tables {
        Tables::All => on,
        Tables::Fixed => format!("({on} && !S::GROWS)"),
        Tables::Growing => format!("({on} && S::GROWS)"),
    }
}

/// The code that begins an extent of a mutant.
fn extent(number: usize, tables: Tables) -> String {
    let is_meant = match tables {
        Tables::All => "true",
        Tables::Fixed => "!S::GROWS",
        Tables::Growing => "S::GROWS",
    };
    format!("let _extent{number} = crate::mutants::extent({number}, {is_meant}); ")
}

/// A part of a template.
#[derive(Clone, Debug)]
enum Piece {
    New(String),
    /// A part of the original text.
    Original(Range<usize>),
}

/// A template for a range of the original text. Of two for the same range the one with the smaller
/// layer is the outer one.
#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    layer: u8,
    template: Vec<Piece>,
}

/// The edits of a file.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<Edit>);

/// A mutant, its change, and the tables in which it is planted.
type Numbered = (usize, Change, Tables);

/// A delayed statement: its position, how far it is delayed, and by which mutant.
pub(super) type Delayed = (usize, usize, usize, Tables);

impl Edits {
    /// Adds the mutants of an ordering, each with its number.
    pub(super) fn weaken(&mut self, site: &Site, numbers: &[usize]) {
        let weaker: Vec<String> = numbers
            .iter()
            .zip(site.weaker)
            .map(|(number, weaker)| format!("({number}, ::core::sync::atomic::Ordering::{weaker})"))
            .collect();
        self.0.push(Edit {
            range: site.range.clone(),
            layer: 4,
            template: vec![
                Piece::New("crate::mutants::order(".to_owned()),
                Piece::Original(site.range.clone()),
                Piece::New(format!(", &[{}])", weaker.join(", "))),
            ],
        });
    }

    /// Adds the mutants of one statement, arm, field or body.
    pub(super) fn mark(
        &mut self,
        syntax: &Syntax,
        node: &Node,
        mutants: &[Numbered],
    ) -> Result<()> {
        self.change_value(node, mutants)?;
        self.change_condition(node, mutants)?;
        self.change_statement(node, mutants)?;
        if mutants.iter().any(|(_, change, _)| matches!(change, Change::Delay(_))) {
            let (block, _) = node.position.context("only a statement can be delayed")?;
            // Checked here, so that the message names the mutants.
            delays_within(&syntax.blocks[block], node, mutants)?;
        }
        Ok(())
    }

    /// Replaces values, and wraps them where something holds while they are computed.
    fn change_value(&mut self, node: &Node, mutants: &[Numbered]) -> Result<()> {
        let mut template = Vec::new();
        let mut extents = Vec::new();
        for &(number, change, tables) in mutants {
            match change {
                Change::Instead(code) => {
                    template.push(Piece::New(format!("if {} {{ ", on(number, tables))));
                    template.extend(filled(code, node.value.as_ref()));
                    template.push(Piece::New(" } else ".to_owned()));
                }
                Change::Before(code) if node.position.is_none() => {
                    extents.push(format!("if {} {{ {code} }} ", on(number, tables)));
                }
                Change::During(_) | Change::Weaken(_) => {
                    extents.push(extent(number, tables));
                }
                _ => {}
            }
        }
        if template.is_empty() && extents.is_empty() {
            return Ok(());
        }
        let value = node.value.clone().context("there is no value to change")?;
        let (open, close) = if node.needs_parentheses { ("(", ")") } else { ("", "") };
        template.insert(0, Piece::New(open.to_owned()));
        template.push(Piece::New(format!("{{ {}", extents.concat())));
        template.push(Piece::Original(value.clone()));
        template.push(Piece::New(format!(" }}{close}")));
        self.0.push(Edit { range: value, layer: 2, template });
        Ok(())
    }

    /// Replaces the condition.
    fn change_condition(&mut self, node: &Node, mutants: &[Numbered]) -> Result<()> {
        let mut template = vec![Piece::New("(".to_owned())];
        for &(number, change, tables) in mutants {
            if let Change::Condition(code) = change {
                template.push(Piece::New(format!("if {} {{ ", on(number, tables))));
                template.extend(filled(code, node.condition.as_ref()));
                template.push(Piece::New(" } else ".to_owned()));
            }
        }
        if template.len() > 1 {
            let condition = node.condition.clone().context("there is no condition to change")?;
            template.push(Piece::New("{ ".to_owned()));
            template.push(Piece::Original(condition.clone()));
            template.push(Piece::New(" })".to_owned()));
            self.0.push(Edit { range: condition, layer: 3, template });
        }
        Ok(())
    }

    /// Deletes the statement, and puts others before and after it.
    fn change_statement(&mut self, node: &Node, mutants: &[Numbered]) -> Result<()> {
        let (mut before, mut after, mut deleted) = (Vec::new(), Vec::new(), Vec::new());
        for &(number, change, tables) in mutants {
            let on = on(number, tables);
            match change {
                Change::Before(code) if node.position.is_some() => {
                    before.push(format!("if {on} {{ {code} }} "));
                }
                Change::Rebind { name, value } => {
                    let rebound = format!("if {on} {{ {value} }} else {{ {name} }}");
                    before.push(format!("let {name} = {rebound}; "));
                }
                Change::After(code) => after.push(format!(" if {on} {{ {code} }}")),
                Change::Delete => deleted.push(on),
                _ => continue,
            }
            ensure!(
                node.position.is_some() || matches!(change, Change::Before(_)),
                "only a statement can be deleted, or followed by another"
            );
        }
        if before.is_empty() && after.is_empty() && deleted.is_empty() {
            return Ok(());
        }
        ensure!(deleted.is_empty() || !node.is_let, "a `let` cannot be deleted");
        if !deleted.is_empty() {
            before.push(format!("if !({}) {{ ", deleted.join(" | ")));
            after.insert(0, " }".to_owned());
        }
        let template = vec![
            Piece::New(before.concat()),
            Piece::Original(node.range.clone()),
            Piece::New(after.concat()),
        ];
        self.0.push(Edit { range: node.range.clone(), layer: 1, template });
        Ok(())
    }

    /// Adds the delayed statements of a block, each by its position in it.
    pub(super) fn delay(&mut self, siblings: &[Sibling], delays: &[Delayed]) {
        let mut delays = delays.to_vec();
        delays.sort_by_key(|&(position, ..)| position);
        let mut group: Vec<Delayed> = Vec::new();
        let mut end = 0;
        for delay in delays {
            if delay.0 > end || group.is_empty() {
                self.permute(siblings, &group, end);
                group.clear();
            }
            end = end.max(delay.0 + delay.1);
            group.push(delay);
        }
        self.permute(siblings, &group, end);
    }

    /// Writes a group of statements once for every order that one of them can be delayed to.
    fn permute(&mut self, siblings: &[Sibling], group: &[Delayed], end: usize) {
        let Some(&(start, ..)) = group.first() else { return };
        let range = siblings[start].range.start..siblings[end].range.end;
        let declared = siblings[start..=end].iter().flat_map(|sibling| &sibling.declares);
        // The last declaration of a name is the one that is seen later.
        let declared: BTreeMap<&String, bool> =
            declared.map(|(name, is_mut)| (name, *is_mut)).collect();
        let names: Vec<&str> = declared.keys().map(|name| name.as_str()).collect();
        let result =
            if names.is_empty() { String::new() } else { format!("({},) ", names.join(", ")) };
        let mut template = Vec::new();
        if !names.is_empty() {
            let patterns: Vec<String> = declared
                .iter()
                .map(|(name, is_mut)| format!("{}{name},", if *is_mut { "mut " } else { "" }))
                .collect();
            template.push(Piece::New(format!("let ({}) = ", patterns.join(" "))));
        }
        let push_all = |template: &mut Vec<Piece>, order: &[usize]| {
            template.push(Piece::New("{ ".to_owned()));
            for &position in order {
                template.push(Piece::Original(siblings[position].range.clone()));
                template.push(Piece::New(" ".to_owned()));
            }
            template.push(Piece::New(format!("{result}}}")));
        };
        let original: Vec<usize> = (start..=end).collect();
        for &(position, by, number, tables) in group {
            let mut order = original.clone();
            order[position - start..=position - start + by].rotate_left(1);
            template.push(Piece::New(format!("if {} ", on(number, tables))));
            push_all(&mut template, &order);
            template.push(Piece::New(" else ".to_owned()));
        }
        push_all(&mut template, &original);
        template.push(Piece::New(if names.is_empty() { "" } else { ";" }.to_owned()));
        self.0.push(Edit { range, layer: 0, template });
    }

    /// The text with these edits made.
    pub(super) fn applied_to(mut self, text: &str) -> String {
        self.0.sort_by_key(|edit| (edit.range.start, usize::MAX - edit.range.end, edit.layer));
        render(text, 0..text.len(), &self.0)
    }
}

/// How far each of the mutants delays the statement.
pub(super) fn delays_within(
    siblings: &[Sibling],
    node: &Node,
    mutants: &[Numbered],
) -> Result<Vec<Delayed>> {
    let mut delays = Vec::new();
    for &(number, change, tables) in mutants {
        let (Change::Delay(by), Some((_, position))) = (change, node.position) else { continue };
        match siblings.get(position + by) {
            Some(last) if !last.is_tail => delays.push((position, by, number, tables)),
            Some(_) => bail!("no statement can be delayed beyond the value of its block"),
            None => bail!("fewer than {by} statements follow"),
        }
    }
    Ok(delays)
}

/// Code with the original in the place of each `$`.
fn filled(code: &str, original: Option<&Range<usize>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, part) in code.split('$').enumerate() {
        if index > 0 {
            pieces.extend(original.cloned().map(Piece::Original));
        }
        pieces.push(Piece::New(part.to_owned()));
    }
    pieces
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
        for piece in &edit.template {
            match piece {
                Piece::New(code) => rendered += code,
                Piece::Original(part) => {
                    rendered += &render(text, part.clone(), &edits[index + 1..]);
                }
            }
        }
        done = edit.range.end;
    }
    rendered + &text[done..range.end]
}
