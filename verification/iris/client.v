(** A closed program: readers whose assertions cannot fail, whatever the other threads do. *)
From iris.heap_lang Require Import proofmode notation adequacy.
From iris.heap_lang.lib Require Import assert par.
From guira Require Import filter.
From iris.prelude Require Import options.

(** * Threads *)

Section threads.
  Context `{HG : !heapGS Σ, PR : !pairs, PG : !protocolG Σ, HH : !hashes, HS : !hash_specs Σ}.
  Local Set Default Proof Using "Type*".

  (** Adds a copy, moves copies of the same fingerprint there and back, and removes one; for ever. *)
  Definition churn : val := rec: "churn" "t" "y" :=
    let: "fp" := Fst "y" in
    let: "b1" := Snd "y" in
    let: "b2" := alt_code "fp" "b1" in
    let: "added" := insert "t" "y" in
    relocate "t" "fp" "b1" #0;;
    relocate "t" "fp" "b2" #0;;
    (if: "added" then assert: (remove "t" "y") else #());;
    "churn" "t" "y".

  (** Looks an item up, for ever. *)
  Definition look : val := rec: "look" "t" "x" :=
    assert: (contains "t" "x");; "look" "t" "x".

  Lemma churn_spec γ t y :
    item_good y → {{{ is_filter γ t }}} churn t (item_val y) {{{ RET #(); False }}}.
  Proof.
    iIntros (Hy Φ) "#Ht HΦ". destruct y as [fp b]. iLöb as "IH".
    pose proof Hy as [Hb Hfp]. unfold item_ok in Hb. simpl in Hb, Hfp.
    wp_lam. unfold item_val. cbn [fst snd]. wp_pures.
    wp_apply (alt_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (insert_spec _ _ (fp, b) with "Ht"); [done|]. iIntros (added) "Hadded". wp_pures.
    wp_apply (relocate_spec _ _ fp b None with "Ht"); [done..|]. iIntros (r1) "_". wp_pures.
    wp_apply (relocate_spec _ _ fp (alt fp b) None with "Ht"); [|done|].
    { split; [by apply alt_lt|done]. }
    iIntros (r2) "_". wp_pures.
    destruct added; wp_pures; [|by iApply "IH"].
    iDestruct "Hadded" as (i) "Hy".
    wp_apply wp_assert.
    wp_apply (remove_spec _ _ _ (fp, b) with "[$Ht $Hy]"). iIntros "_".
    iSplit; [done|]. iNext. wp_pures. by iApply "IH".
  Qed.

  Lemma look_spec γ t i q x :
    {{{ is_filter γ t ∗ token γ i q x }}} look t (item_val x) {{{ RET #(); False }}}.
  Proof.
    iIntros (Φ) "[#Ht Hx] HΦ". iLöb as "IH". wp_lam. wp_pures.
    wp_apply wp_assert.
    wp_apply (contains_spec with "[$Ht $Hx]"). iIntros "Hx".
    iSplit; [done|]. iNext. wp_pures. by iApply ("IH" with "Hx").
  Qed.
End threads.

(** * Concrete numbers *)

Definition n : nat := 8.
Definition m : nat := 2.

(** As in the library, with the fingerprint itself as its hash. *)
Definition alt_n (fp : Z) (b : nat) : nat := Z.to_nat ((fp - b) mod n).
Definition stripe_m (fp : Z) : nat := Z.to_nat (fp mod m).

Lemma alt_n_lt fp b : b < n → alt_n fp b < n.
Proof. intros _. unfold alt_n. pose proof (Z.mod_pos_bound (fp - b) n). unfold n in *. lia. Qed.

Lemma alt_n_alt_n fp b : b < n → alt_n fp (alt_n fp b) = b.
Proof.
  intros Hb. unfold alt_n. pose proof (Z.mod_pos_bound (fp - b) n).
  rewrite Z2Nat.id; [|unfold n in *; lia].
  rewrite Zminus_mod_idemp_r. replace (fp - (fp - b))%Z with (b : Z) by lia.
  rewrite Z.mod_small; unfold n in *; lia.
Qed.

Lemma stripe_m_lt fp : stripe_m fp < m.
Proof. unfold stripe_m. pose proof (Z.mod_pos_bound fp m). unfold m in *. lia. Qed.

Local Instance pairs_n : pairs := {|
  buckets := n; stripes := m; alt := alt_n; stripe := stripe_m;
  alt_lt := alt_n_lt; alt_alt := alt_n_alt_n; stripe_lt := stripe_m_lt;
|}.

Local Instance hashes_n : hashes := {|
  alt_code := (λ: "fp" "b", ("fp" + #n - "b") `rem` #n)%V;
  stripe_code := (λ: "fp", "fp" `rem` #m)%V;
|}.

Local Instance hash_specs_n `{!heapGS Σ} : hash_specs Σ.
Proof.
  split.
  - iIntros (fp b Hfp Hb Φ) "_ HΦ". unfold fp_ok, buckets in *. simpl in *. wp_pures.
    rewrite Z.rem_mod_nonneg; [|unfold n in *; lia..].
    replace (#((fp + n - b) `mod` n)) with (#(alt_n fp b)); [by iApply "HΦ"|].
    unfold alt_n. rewrite Z2Nat.id; [|apply Z.mod_pos_bound; unfold n; lia].
    replace (fp + n - b)%Z with (fp - b + 1 * n)%Z by lia.
    rewrite Z.mod_add; [done|unfold n; lia].
  - iIntros (fp Hfp Φ) "_ HΦ". unfold fp_ok in *. simpl in *. wp_pures.
    rewrite Z.rem_mod_nonneg; [|unfold m; lia..].
    replace (#(fp `mod` m)) with (#(stripe_m fp)); [by iApply "HΦ"|].
    unfold stripe_m. rewrite Z2Nat.id; [done|apply Z.mod_pos_bound; unfold m; lia].
Qed.

(** * The program *)

(** The items [x] and [y] are aliases: the same pair, seen from its two buckets. [z] is another
    item of the same stripe that shares both buckets with [x]. *)
Definition item_x : item := (5%Z, 2).
Definition item_y : item := (5%Z, 3).
Definition item_z : item := (13%Z, 2).

Definition client : expr :=
  let: "t" := new_table #n #m in
  let: "x" := item_val item_x in
  let: "y" := item_val item_y in
  let: "z" := item_val item_z in
  Fork (churn "t" "y");;
  Fork (churn "t" "y");;
  Fork (churn "t" "z");;
  if: insert "t" "x" then
    ((assert: (contains "t" "x")) ||| (assert: (contains "t" "x")));;
    let: "removed" := remove "t" "x" in
    if: insert "t" "x" then
      Fork (look "t" "x");;
      Fork (look "t" "x");;
      "removed"
    else "removed"
  else #true.

Section proofs.
  Context `{!heapGS Σ, !spawnG Σ, !protocolG Σ}.
  Local Set Default Proof Using "Type*".

  Lemma client_spec : {{{ True }}} client {{{ RET #true; True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". unfold client.
    assert (item_good item_x ∧ item_good item_y ∧ item_good item_z) as (Hx & Hy & Hz).
    { unfold item_good, item_ok, fp_ok. simpl. unfold n. lia. }
    wp_apply new_table_spec; [unfold buckets; simpl; unfold n; lia|done|]. iIntros (γ t) "#Ht".
    wp_pures.
    wp_apply wp_fork; [by iApply (churn_spec with "Ht"); [|iIntros "!> []"]|]. wp_pures.
    wp_apply wp_fork; [by iApply (churn_spec with "Ht"); [|iIntros "!> []"]|]. wp_pures.
    wp_apply wp_fork; [by iApply (churn_spec with "Ht"); [|iIntros "!> []"]|]. wp_pures.
    wp_apply (insert_spec with "Ht"); [done|].
    iIntros ([|]) "Hx"; wp_pures; last by iApply "HΦ".
    iDestruct "Hx" as (i) "[Hx1 Hx2]".
    wp_smart_apply (wp_par (λ _, token γ i (1/2) item_x) (λ _, token γ i (1/2) item_x)
      with "[Hx1] [Hx2]").
    { wp_smart_apply wp_assert. wp_apply (contains_spec with "[$Ht $Hx1]"). iIntros "Hx".
      iSplit; [done|]. iNext. done. }
    { wp_smart_apply wp_assert. wp_apply (contains_spec with "[$Ht $Hx2]"). iIntros "Hx".
      iSplit; [done|]. iNext. done. }
    iIntros (v1 v2) "[Hx1 Hx2] !>". iCombine "Hx1 Hx2" as "Hx". wp_pures.
    wp_apply (remove_spec with "[$Ht $Hx]"). iIntros "_". wp_pures.
    wp_apply (insert_spec with "Ht"); [done|].
    iIntros ([|]) "Hx"; wp_pures; last by iApply "HΦ".
    iDestruct "Hx" as (j) "[Hx1 Hx2]".
    wp_apply (wp_fork with "[Hx1]").
    { iApply (look_spec with "[$Ht $Hx1]"). iIntros "!> !> []". }
    wp_pures.
    wp_apply (wp_fork with "[Hx2]").
    { iApply (look_spec with "[$Ht $Hx2]"). iIntros "!> !> []". }
    wp_pures. by iApply "HΦ".
  Qed.
End proofs.

Definition clientΣ : gFunctors := #[heapΣ; spawnΣ; protocolΣ].

(** Under every schedule: no assertion fails, no thread gets stuck, and the result is true. *)
Theorem client_adequate σ : adequate NotStuck client σ (λ v _, v = #true).
Proof.
  apply (heap_adequacy clientΣ). iIntros (?) "_".
  iApply client_spec; [done|]. by iIntros "!> _".
Qed.
