(** What every file imports. *)
From iris.algebra Require Export auth gset.
From iris.bi.lib Require Export fractional.
From iris.base_logic.lib Require Export ghost_map invariants.
From iris.program_logic Require Export atomic weakestpre.
From iris.heap_lang Require Export lang proofmode notation.
From iris.heap_lang.lib Require Export assert.
From iris.prelude Require Export options.

#[export] Set Default Proof Using "Type*".
