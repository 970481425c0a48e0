(** The statements of the theorems, spelled out again, and what they rest on. *)
From iris.program_logic Require Import adequacy.
From guira Require Import construction unique client.

Check (client_adequate :
  ∀ σ, adequate NotStuck client σ (λ v _, v = #true)).

Section statements.
  Context `{!heapGS Σ, LA : !layout, !pairs, !tableG Σ, HH : !hashes, !hash_specs Σ}.

  Check (contains_spec : ∀ (γ : table_names) (t : val) (i : nat) (q : Qp) (y : item),
    {{{ is_filter γ t ∗ token γ i q y }}}
      contains t (item_val y)
    {{{ RET #true; token γ i q y }}}).

  Check (insert_spec : ∀ (γ : table_names) (t : val) (y : item),
    item_good y →
    is_filter γ t -∗
    <<< ∀∀ X, contents γ X >>>
      insert t (item_val y) @ ↑N
    <<< ∃∃ r : bool,
        if r then ∃ i, ⌜X !! i = None⌝ ∗ contents γ (<[i := (y, false)]> X) ∗ token γ i 1 y
        else contents γ X, RET #r >>>).

  Check (remove_spec : ∀ (γ : table_names) (t : val) (i : nat) (y : item),
    is_filter γ t -∗ token γ i 1 y -∗
    <<< ∀∀ X, contents γ X >>>
      remove t (item_val y) @ ↑N
    <<< contents γ (delete i X), RET #true >>>).

  Check (insert_unique_spec : ∀ (γ : table_names) (t : val) (y : item),
    item_good y →
    is_filter γ t -∗
    <<< ∀∀ X, contents γ X >>>
      insert_unique t (item_val y) @ ↑N
    <<< ∃∃ r : val,
        ⌜r = NONEV ∨ r = SOMEV #false⌝ ∗ contents γ X ∨
        ⌜r = SOMEV #true⌝ ∗ ⌜no_unique X y⌝ ∗ ∃ i, ⌜X !! i = None⌝ ∗
          contents γ (<[i := (y, true)]> X) ∗ token γ i 1 y, RET r >>>).

  Check (relocate_spec : ∀ (γ : table_names) (t : val) (fp : Z) (x k : nat)
      (inc : option (item * nat)) (P Q : iProp Σ),
    item_good (fp, x) → k ≤ max_level → incoming_good inc (place x k) k →
    {{{ is_filter γ t ∗ reached γ (place x k) k ∗ P ∗ stores γ inc P Q }}}
      relocate t #fp #x #k (incoming_val inc k)
    {{{ (r : bool), RET #r; if r then Q else P }}}).

  Check (split_next_spec : ∀ (γ : table_names) (t : val),
    {{{ is_filter γ t }}} split_next t {{{ (r : bool), RET #r; True }}}).

  Check (split_out_of_turn_spec : ∀ (γ : table_names) (t : val) (b k : nat),
    b < first * 2 ^ k →
    {{{ is_filter γ t ∗ reached γ b k }}}
      split_out_of_turn t #b #k
    {{{ (r : bool), RET #r; if r then
        reached γ b (Datatypes.S k) ∗ reached γ (b + first * 2 ^ k) (Datatypes.S k) else True }}}).

  Check (new_table_spec :
    {{{ True }}} new_table #stripes {{{ γ t, RET t; is_filter γ t ∗ contents γ ∅ }}}).
End statements.

Print Assumptions client_adequate.
Print Assumptions contains_spec.
Print Assumptions contains_any_spec.
Print Assumptions insert_spec.
Print Assumptions remove_spec.
Print Assumptions insert_unique_spec.
Print Assumptions relocate_spec.
Print Assumptions split_next_spec.
Print Assumptions split_out_of_turn_spec.
Print Assumptions new_table_spec.
Print Assumptions insert_open.
Print Assumptions remove_open.
Print Assumptions stores_open.
Print Assumptions contents_exact.
