(** A closed program: readers whose assertions cannot fail, whatever the other threads do. *)
From iris.algebra Require Import excl.
From iris.heap_lang Require Import adequacy lib.par.
From guira Require Import construction unique.

(** * Threads *)

Section threads.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ, SG : !spawnG Σ}.
  Local Existing Instance spawn_tokG.

  (** Adds a copy, moves copies of the same fingerprint there and back, and removes one; for ever.
      The move back stores another item, which is removed later. The moves are planned at these
      levels. *)
  Definition churn : val := rec: "churn" "t" "y" "other" "k1" "k2" :=
    let: "fp" := Fst "y" in
    let: "x1" := Snd "y" in
    let: "x2" := alt_code "fp" "x1" in
    let: "added" := insert "t" "y" in
    relocate "t" "fp" "x1" "k1" #0;;
    let: "stored" :=
      relocate "t" "fp" "x2" "k2" (encode_slot (Fst "other") "x2" "k2") in
    (if: "added" then assert: (remove "t" "y") else #());;
    (if: "stored" then assert: (contains "t" "other");; assert: (remove "t" "other") else #());;
    "churn" "t" "y" "other" "k1" "k2".

  (** Splits the buckets whose turn it is, and advances the size, for ever. *)
  Definition grow : val := rec: "grow" "t" := split_next "t";; "grow" "t".

  (** Two calls of [insert_unique] at once, for ever: not both are told that the item is new. If one
      is, the item is there. *)
  Definition ask : val := rec: "ask" "t" "y" :=
    let: "is_new" := λ: "r", match: "r" with NONE => #false | SOME "new" => "new" end in
    let: "r" := insert_unique "t" "y" ||| insert_unique "t" "y" in
    let: "first" := "is_new" (Fst "r") in
    let: "second" := "is_new" (Snd "r") in
    assert: ~ ("first" && "second");;
    (if: "first" || "second" then assert: (contains "t" "y");; assert: (remove "t" "y") else #());;
    "ask" "t" "y".

  (** Looks an item up, for ever. *)
  Definition look : val := rec: "look" "t" "y" :=
    assert: (contains "t" "y");; "look" "t" "y".

  Lemma churn_spec γ t y y' k1 k2 :
    item_good y → item_good y' → home y' (alt y.1 y.2) → k1 ≤ max_level → k2 ≤ max_level →
    {{{ is_open γ t ∗ reached γ (place y.2 k1) k1 ∗ reached γ (place (alt y.1 y.2) k2) k2 }}}
      churn t (item_val y) (item_val y') #k1 #k2
    {{{ RET #(); False }}}.
  Proof.
    iIntros (Hy Hy' Hh Hk1 Hk2 Φ) "(#Ht & #Hr1 & #Hr2) HΦ". iPoseProof "Ht" as "[Hf _]".
    destruct y as [fp x], y' as [fp' x']. pose proof Hy as [Hx Hfp]. unfold item_ok in Hx.
    cbn [fst snd] in *. pose proof (alt_lt fp x Hx) as Hx2.
    iLöb as "IH". wp_lam. unfold item_val. cbn [fst snd]. wp_pures.
    wp_apply (alt_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (insert_open _ _ (fp, x) with "Ht"); [done|]. iIntros (added) "Hadded". wp_pures.
    wp_apply (relocate_spec _ _ fp x k1 None True True with "[$Hf $Hr1]"); [done..| |].
    { iSplit; [done|]. by iIntros. }
    iIntros (r1) "_". wp_pures.
    wp_apply encode_slot_spec; [done..|]. iIntros "_".
    wp_apply (relocate_spec _ _ fp (alt fp x) k2 (Some ((fp', x'), alt fp x)) True
      (∃ i, token γ i 1 (fp', x')) with "[$Hf $Hr2]"); [done..| |].
    { iSplit; [done|]. by iApply (stores_open with "Ht"). }
    iIntros (stored) "Hstored". wp_pures.
    wp_bind (if: #added then _ else _)%E.
    iApply (wp_wand _ _ _ (λ _, True)%I with "[Hadded]").
    { destruct added; wp_pures; [|done]. iDestruct "Hadded" as (i) "Hy".
      wp_apply wp_assert. wp_apply (remove_open _ _ _ (fp, x) with "[$Ht $Hy]"). iIntros "_".
      by iSplit. }
    iIntros (?) "_". wp_pures.
    destruct stored; wp_pures; [|by iApply "IH"].
    iDestruct "Hstored" as (i) "Hy".
    wp_apply wp_assert. wp_apply (contains_spec _ _ _ _ (fp', x') with "[$Hf $Hy]").
    iIntros "Hy". iSplit; [done|]. iNext. wp_pures.
    wp_apply wp_assert. wp_apply (remove_open _ _ _ (fp', x') with "[$Ht $Hy]"). iIntros "_".
    iSplit; [done|]. iNext. wp_pures. by iApply "IH".
  Qed.

  Lemma grow_spec γ t : {{{ is_filter γ t }}} grow t {{{ RET #(); False }}}.
  Proof.
    iIntros (Φ) "#Ht HΦ". iLöb as "IH". wp_rec.
    wp_apply (split_next_spec with "Ht"). iIntros (r) "_". wp_pures. by iApply "IH".
  Qed.

  (** Of those who are told that an item is new, one has the token [won] at a time. *)
  Definition asked γ won y : iProp Σ := own won (Excl ()) ∨ ∃ i, holds γ i 1 y true.
  Definition told won (r : val) : iProp Σ :=
    ∃ new : bool, ⌜r = NONEV ∧ new = false ∨ r = SOMEV #new⌝ ∗
      if new then own won (Excl ()) else True.

  Lemma insert_unique_asked γ t won y Φ :
    item_good y →
    is_open γ t -∗ inv (nroot .@ "asked") (asked γ won y) -∗ (∀ r, told won r -∗ Φ r) -∗
    WP insert_unique t (item_val y) {{ Φ }}.
  Proof.
    iIntros (Hy) "[#Ht #Hc] #Ha HΦ".
    awp_apply (insert_unique_spec with "Ht"); [done|]. iInv "Hc" as (X) ">HX".
    iAaccIntro with "HX".
    { iIntros "HX !>". iSplitL "HX"; [by iExists X|]. by iFrame. }
    iIntros (r) "[[%Hr HX]|(-> & %Hno & %i & _ & HX & Hi)]".
    { iModIntro. iSplitL "HX"; [iNext; by iExists X|]. iApply "HΦ". iExists false.
      iSplit; [|done]. iPureIntro. destruct Hr as [-> | ->]; [by left|by right]. }
    unfold token. iDestruct "Hi" as "[_ (%u & Hi)]".
    iDestruct (contents_holds with "HX Hi") as %Hi. rewrite lookup_insert in Hi. simplify_eq.
    iInv "Ha" as ">[Hwon|(%j & Hj)]".
    - iModIntro. iSplitL "Hi"; [iRight; by iExists i|].
      iModIntro. iSplitL "HX"; [iNext; by iExists _|]. iApply "HΦ". iExists true.
      iFrame "Hwon". iPureIntro. by right.
    - iDestruct (contents_holds with "HX Hj") as %Hj.
      iDestruct (holds_ne with "Hi Hj") as %Hne.
      rewrite lookup_insert_ne in Hj; [|done]. exfalso. eapply Hno; [done|].
      destruct y. apply same_refl.
  Qed.

  Lemma ask_spec γ t y :
    item_good y → {{{ is_open γ t }}} ask t (item_val y) {{{ RET #(); False }}}.
  Proof.
    iIntros (Hy Φ) "#Ho HΦ". iPoseProof "Ho" as "[Ht _]". iLöb as "IH". wp_rec. wp_pures.
    iMod (own_alloc (Excl ())) as (won) "Hwon"; [done|].
    iMod (inv_alloc (nroot .@ "asked") _ (asked γ won y) with "[Hwon]") as "#Ha".
    { iNext. by iLeft. }
    wp_smart_apply (wp_par (told won) (told won)).
    { iApply (insert_unique_asked with "Ho Ha"); [done|]. by iIntros (r) "$". }
    { iApply (insert_unique_asked with "Ho Ha"); [done|]. by iIntros (r) "$". }
    iIntros (r1 r2) "[(%new1 & %Hr1 & H1) (%new2 & %Hr2 & H2)] !>". wp_pures.
    wp_bind (Case _ _ _).
    iApply (wp_wand _ _ _ (λ w, ⌜w = #new1⌝)%I).
    { destruct Hr1 as [[-> ->]| ->]; by wp_pures. }
    iIntros (? ->). wp_pures. wp_bind (Case _ _ _).
    iApply (wp_wand _ _ _ (λ w, ⌜w = #new2⌝)%I).
    { destruct Hr2 as [[-> ->]| ->]; by wp_pures. }
    iIntros (? ->). wp_pures.
    iAssert ⌜new1 && new2 = false⌝%I as %Hboth.
    { destruct new1, new2; try done. by iDestruct (own_valid_2 with "H1 H2") as %[]. }
    iAssert (if new1 || new2 then own won (Excl ()) else True)%I with "[H1 H2]" as "Hwon".
    { destruct new1; [done|]. by destruct new2. }
    wp_apply wp_assert.
    wp_bind (if: _ then _ else _)%E. iApply (wp_wand _ _ _ (λ w, ⌜w = #(new1 && new2)⌝)%I).
    { destruct new1; by wp_pures. }
    iIntros (? ->). rewrite Hboth. wp_pures. iModIntro. iSplit; [done|]. iNext. wp_pures.
    wp_bind (if: #new1 then _ else _)%E.
    iApply (wp_wand _ _ _ (λ w, ⌜w = #(new1 || new2)⌝)%I).
    { destruct new1; by wp_pures. }
    iIntros (? ->). destruct (new1 || new2); wp_pures; [|by iApply "IH"].
    iApply fupd_wp. iInv "Ha" as ">[Hwon'|(%i & Hi)]".
    { by iDestruct (own_valid_2 with "Hwon Hwon'") as %[]. }
    iModIntro. iSplitL "Hwon"; [by iLeft|]. iModIntro.
    iAssert (token γ i 1 y) with "[Hi]" as "Hi".
    { unfold token. iSplit; [done|]. by iExists true. }
    wp_apply wp_assert. wp_apply (contains_spec with "[$Ht $Hi]"). iIntros "Hi".
    iSplit; [done|]. iNext. wp_pures.
    wp_apply wp_assert. wp_apply (remove_open with "[$Ho $Hi]"). iIntros "_".
    iSplit; [done|]. iNext. wp_pures. by iApply "IH".
  Qed.

  Lemma look_spec γ t i q y :
    {{{ is_filter γ t ∗ token γ i q y }}} look t (item_val y) {{{ RET #(); False }}}.
  Proof.
    iIntros (Φ) "[#Ht Hy] HΦ". iLöb as "IH". wp_lam. wp_pures.
    wp_apply wp_assert.
    wp_apply (contains_spec with "[$Ht $Hy]"). iIntros "Hy".
    iSplit; [done|]. iNext. wp_pures. by iApply ("IH" with "Hy").
  Qed.
End threads.

(** * Concrete numbers *)

(** Two buckets at level 0, each of which can be split into four. *)
Local Program Instance layout_n : layout := {|
  width := 15; capacity := 4; core_bits := 8; marker := 1; first := 2; max_level := 2;
|}.
Solve Obligations with lia.

Notation n := 8.
Notation m := 2.

(** The fingerprint itself is its hash. *)
Definition alt_n (fp : Z) (x : nat) : nat := Z.to_nat ((fp - x) mod n).
Definition stripe_m (fp : Z) (x : nat) : nat := Z.to_nat (fp mod m).

Lemma alt_n_lt fp x : x < n → alt_n fp x < n.
Proof. intros _. unfold alt_n. pose proof (Z.mod_pos_bound (fp - x) n). lia. Qed.

Lemma alt_n_alt_n fp x : x < n → alt_n fp (alt_n fp x) = x.
Proof.
  intros Hx. unfold alt_n. pose proof (Z.mod_pos_bound (fp - x) n).
  rewrite Z2Nat.id; [|lia].
  rewrite Zminus_mod_idemp_r. replace (fp - (fp - x))%Z with (x : Z) by lia.
  rewrite Z.mod_small; lia.
Qed.

Lemma stripe_m_lt fp x : stripe_m fp x < m.
Proof. unfold stripe_m. pose proof (Z.mod_pos_bound fp m). lia. Qed.

Local Instance pairs_n : pairs := {|
  locations := n; stripes := m; alt := alt_n; stripe := stripe_m;
  alt_lt := alt_n_lt; alt_alt := alt_n_alt_n; stripe_lt := stripe_m_lt;
  stripe_alt _ _ _ := eq_refl;
|}.

Local Instance hashes_n : hashes := {|
  alt_code := (λ: "fp" "x", ("fp" + #n - "x") `rem` #n)%V;
  stripe_code := (λ: "fp" "x", "fp" `rem` #m)%V;
  group_code := (λ: "g", #0)%V; group_size := 1; hints_per_round := 2;
|}.

Local Program Instance hash_specs_n `{!heapGS Σ} : hash_specs Σ := {| group _ := 0 |}.
Next Obligation. done. Qed.
Next Obligation. intros. simpl. lia. Qed.
Next Obligation. intros. simpl. lia. Qed.
Next Obligation.
  iIntros (Σ ? fp x [[??] _] Hx Φ) "_ HΦ". simpl in *. wp_pures.
  rewrite Z.rem_mod_nonneg; [|lia..].
  replace (#((fp + 8%nat - x) `mod` 8%nat)) with (#(alt_n fp x)); [by iApply "HΦ"|].
  unfold alt_n. rewrite Z2Nat.id; [|apply Z.mod_pos_bound; lia].
  replace (fp + 8%nat - x)%Z with (fp - x + 1 * 8%nat)%Z by lia.
  rewrite Z.mod_add; [done|lia].
Qed.
Next Obligation.
  iIntros (Σ ? fp x [[??] _] Hx Φ) "_ HΦ". simpl in *. wp_pures.
  rewrite Z.rem_mod_nonneg; [|lia..].
  replace (#(fp `mod` 2%nat)) with (#(stripe_m fp x)); [by iApply "HΦ"|].
  unfold stripe_m. rewrite Z2Nat.id; [done|apply Z.mod_pos_bound; lia].
Qed.
Next Obligation. iIntros (Σ ? b Φ) "_ HΦ". simpl. wp_pures. by iApply "HΦ". Qed.

(** * The program *)

(** The items [item_x] and [item_y] are aliases: the same pair, seen from its two locations.
    [item_z] and [item_w] are other items of the same stripe that share both locations with
    [item_x]. *)
Definition item_x : item := (5%Z, 2).
Definition item_y : item := (5%Z, 3).
Definition item_z : item := (13%Z, 2).
Definition item_w : item := (21%Z, 2).

Definition client : expr :=
  let: "t" := new_table #m in
  let: "x" := item_val item_x in
  let: "y" := item_val item_y in
  let: "z" := item_val item_z in
  Fork (churn "t" "y" "z" #0 #0);;
  Fork (churn "t" "z" "y" #0 #0);;
  Fork (grow "t");;
  Fork (ask "t" (item_val item_w));;
  Fork (if: split_out_of_turn "t" #1 #0 then
          Fork (churn "t" "y" "z" #1 #0);;
          if: split_out_of_turn "t" #0 #0 then
            Fork (churn "t" "z" "y" #1 #1);;
            if: split_out_of_turn "t" #2 #1 then churn "t" "y" "z" #1 #2 else #()
          else #()
        else #());;
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
  Context `{!heapGS Σ, !spawnG Σ, !tableG Σ}.

  Lemma client_spec : {{{ True }}} client {{{ RET #true; True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". unfold client.
    assert (item_good item_x ∧ item_good item_y ∧ item_good item_z ∧ item_good item_w)
      as (Hx & Hy & Hz & Hw).
    { unfold item_good, item_ok, fp_ok. simpl. lia. }
    wp_apply new_table_spec; [done|]. iIntros (γ t) "[#Ht HX]".
    iMod (inv_alloc (nroot .@ "contents") _ (∃ X, contents γ X)%I with "[HX]") as "#HX".
    { iNext. by iExists ∅. }
    iAssert (is_open γ t) as "#Ho"; [by iSplit|].
    wp_pures.
    iMod (reached_root _ _ 0 with "Ht") as "#H0"; [simpl; lia|].
    iMod (reached_root _ _ 1 with "Ht") as "#H1"; [simpl; lia|].
    wp_apply wp_fork.
    { iApply (churn_spec γ t item_y item_z 0 0 with "[$Ho]");
        [done|done|by left|simpl; lia..| |by iIntros "!> []"].
      iSplit; [iExact "H1"|iExact "H0"]. }
    wp_pures.
    wp_apply wp_fork.
    { iApply (churn_spec γ t item_z item_y 0 0 with "[$Ho]");
        [done|done|by left|simpl; lia..| |by iIntros "!> []"].
      iSplit; [iExact "H0"|iExact "H1"]. }
    wp_pures.
    wp_apply wp_fork.
    { iApply (grow_spec with "Ht"). by iIntros "!> []". }
    wp_pures.
    wp_apply wp_fork.
    { iApply (ask_spec γ t item_w with "Ho"); [done|]. by iIntros "!> []". }
    wp_pures.
    wp_apply wp_fork.
    { wp_apply (split_out_of_turn_spec γ t 1 0 with "[$Ht $H1]"); [simpl; lia|].
      iIntros ([|]) "Hs"; wp_pures; [|done]. iDestruct "Hs" as "[_ #H3]".
      wp_apply wp_fork.
      { iApply (churn_spec γ t item_y item_z 1 0 with "[$Ho]");
          [done|done|by left|simpl; lia..| |by iIntros "!> []"].
        iSplit; [iExact "H3"|iExact "H0"]. }
      wp_pures.
      wp_apply (split_out_of_turn_spec γ t 0 0 with "[$Ht $H0]"); [simpl; lia|].
      iIntros ([|]) "Hs"; wp_pures; [|done]. iDestruct "Hs" as "[_ #H2]".
      wp_apply wp_fork.
      { iApply (churn_spec γ t item_z item_y 1 1 with "[$Ho]");
          [done|done|by left|simpl; lia..| |by iIntros "!> []"].
        iSplit; [iExact "H2"|iExact "H3"]. }
      wp_pures.
      wp_apply (split_out_of_turn_spec γ t 2 1 with "[$Ht]"); [simpl; lia|iExact "H2"|].
      iIntros ([|]) "Hs"; wp_pures; [|done]. iDestruct "Hs" as "[#H2' _]".
      iApply (churn_spec γ t item_y item_z 1 2 with "[$Ho]");
        [done|done|by left|simpl; lia..| |by iIntros "!> []"].
      iSplit; [iExact "H3"|iExact "H2'"]. }
    wp_pures.
    wp_apply (insert_open with "Ho"); [done|].
    iIntros ([|]) "Hx"; wp_pures; last by iApply "HΦ".
    iDestruct "Hx" as (i) "[Hx1 Hx2]".
    wp_smart_apply (wp_par (λ _, token γ i (1/2) item_x) (λ _, token γ i (1/2) item_x)
      with "[Hx1] [Hx2]").
    { wp_smart_apply wp_assert. wp_apply (contains_spec with "[$Ht $Hx1]"). iIntros "Hx".
      iSplit; [done|]. iNext. done. }
    { wp_smart_apply wp_assert. wp_apply (contains_spec with "[$Ht $Hx2]"). iIntros "Hx".
      iSplit; [done|]. iNext. done. }
    iIntros (v1 v2) "[Hx1 Hx2] !>". iCombine "Hx1 Hx2" as "Hx". wp_pures.
    wp_apply (remove_open with "[$Ho $Hx]"). iIntros "_". wp_pures.
    wp_apply (insert_open with "Ho"); [done|].
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

Definition clientΣ : gFunctors := #[heapΣ; spawnΣ; tableΣ].

(** Under every schedule: no assertion fails, no thread gets stuck, and the result is true. *)
Theorem client_adequate σ : adequate NotStuck client σ (λ v _, v = #true).
Proof.
  apply (heap_adequacy clientΣ). iIntros (?) "_".
  iApply client_spec; [done|]. by iIntros "!> _".
Qed.
