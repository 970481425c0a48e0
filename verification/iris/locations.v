(** Loads of both locations of an item: they begin at the hint, and the levels in the words decide. *)
From guira Require Export access.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (D : nat → nat).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (T : gmap nat (nat * list Z)).

  (** ** The size and the hint *)

  Definition level_at x (z : nat * nat) : nat :=
    if decide (place x z.1 < z.2) then Datatypes.S z.1 else z.1.

  Lemma size_reaches T D z x :
    shape T D → size_ok T z → reaches T (place x (level_at x z)) (level_at x z).
  Proof.
    intros HT (Hk & Hp & Hall & Hsplit). unfold level_at. case_decide as Hx.
    - destruct (Hsplit _ Hx) as (k' & l & Hl & Hk'). rewrite place_next.
      destruct (Nat.odd _); [|rewrite Nat.add_0_r; by exists k', l].
      eapply (shape_child T D HT); [done|apply place_lt|lia].
    - apply Hall, place_lt.
  Qed.

  Definition size_fits (z : nat * nat) : Prop := z.1 ≤ max_level ∧ z.2 < first * 2 ^ z.1.

  Lemma size_fits_all z : size_fits z → z.2 < all_buckets.
  Proof.
    intros [Hk ?]. pose proof (round_le _ _ Hk). unfold all_buckets. lia.
  Qed.

  Lemma level_of_spec z :
    size_fits z → {{{ True }}} level_of #(size_val z) {{{ RET #z.1; True }}}.
  Proof.
    iIntros (Hz%size_fits_all Φ) "_ HΦ". wp_lam. wp_pures. unfold size_val.
    rewrite Z.quot_div_nonneg; [|lia..]. rewrite -Nat2Z.inj_div.
    rewrite Nat.div_add_l; [|lia]. rewrite Nat.div_small; [|lia].
    rewrite Nat.add_0_r. by iApply "HΦ".
  Qed.

  Lemma split_of_spec z :
    size_fits z → {{{ True }}} split_of #(size_val z) {{{ RET #z.2; True }}}.
  Proof.
    iIntros (Hz%size_fits_all Φ) "_ HΦ". wp_lam. wp_pures. unfold size_val.
    rewrite Z.rem_mod_nonneg; [|lia..]. rewrite -Nat2Z.inj_mod.
    rewrite Nat.add_comm Nat.mod_add; [|lia]. rewrite Nat.mod_small; [|lia]. by iApply "HΦ".
  Qed.

  Lemma level_in_spec x z :
    size_fits z → {{{ True }}} level_in #x #(size_val z) {{{ RET #(level_at x z); True }}}.
  Proof.
    iIntros (Hz Φ) "_ HΦ". wp_lam. wp_pures.
    wp_apply level_of_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply split_of_spec; [done..|]. iIntros "_".
    wp_apply place_of_spec; [done|]. iIntros "_". wp_pures.
    unfold level_at. case_decide as Hx.
    - rewrite bool_decide_eq_true_2; [|lia]. wp_pures.
      replace (z.1 + 1)%Z with (Z.of_nat (Datatypes.S z.1)) by lia. by iApply "HΦ".
    - rewrite bool_decide_eq_false_2; [|lia]. wp_pures. by iApply "HΦ".
  Qed.

  Lemma wp_load_hint γ bk vs gs x1 x2 :
    {{{ inv N (table_inv γ bk vs gs) }}}
      ! #(gs +ₗ 1)
    {{{ z, RET #(size_val z); ⌜size_fits z⌝ ∗
        reached γ (place x1 (level_at x1 z)) (level_at x1 z) ∗
        reached γ (place x2 (level_at x2 z)) (level_at x2 z) }}}.
  Proof.
    iIntros (Φ) "#Hinv HΦ".
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    wp_load.
    iMod (reached_learn _ _ _ (place x1 (level_at x1 h)) (level_at x1 h) with "HR")
      as (R1 HR1) "[HR #H1]"; [done|by eapply size_reaches|].
    iMod (reached_learn _ _ _ (place x2 (level_at x2 h)) (level_at x2 h) with "HR")
      as (R2 HR2) "[HR #H2]"; [done|by eapply size_reaches|].
    iModIntro. iSplitR "HΦ"; [iNext; iExists T, D, S, R2, z, h; by iFrame|].
    iApply "HΦ". iFrame "#". destruct Hh as (? & ? & _). done.
  Qed.

  (** Loads the locations of an item. The caller has [P] before, [P1] in between, and [Q]
      afterwards, and gets [P] back if the words have to be loaded again. *)
  Section both.
    Context (γ : table_names) (bk vs ls gs : loc) (x1 x2 : nat).
    Context (P : iProp Σ) (P1 : nat → list Z → iProp Σ) (Q : nat → list Z → nat → list Z → iProp Σ).

    Definition hooks : iProp Σ :=
      □ (∀ k l C S, ⌜in_word C (place x1 k) k l⌝ -∗ P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          ∃ S', ⌜fst <$> S' = fst <$> S⌝ ∗ protocol γ C S' ∗ P1 k l) ∗
      □ (∀ k l k1 l1 C S, ⌜in_word C (place x2 k) k l⌝ -∗ P1 k1 l1 -∗
          protocol γ C S ={⊤ ∖ ↑N}=∗ protocol γ C S ∗ Q k1 l1 k l) ∗
      □ ((∀ k l, P1 k l ={⊤}=∗ P) ∧ (∀ k1 l1 k2 l2, Q k1 l1 k2 l2 ={⊤}=∗ P)).

    Lemma follow_both_spec k1 k2 :
      x1 < all_buckets → x2 < all_buckets →
      {{{ inv N (table_inv γ bk vs gs) ∗ reached γ (place x1 k1) k1 ∗ reached γ (place x2 k2) k2 ∗
          P ∗ hooks }}}
        follow_both (table_val bk vs ls gs) #x1 #k1 #x2 #k2
      {{{ k1 l1 k2 l2, RET ((#(place x1 k1), #(encode_word k1 l1)),
                            (#(place x2 k2), #(encode_word k2 l2)));
          seen γ x1 k1 l1 ∗ seen γ x2 k2 l2 ∗ Q k1 l1 k2 l2 }}}.
    Proof.
      iIntros (Hx1 Hx2 Φ) "(#Hinv & #Hr1 & #Hr2 & HP & #H1 & #H2 & #Hback) HΦ".
      iLöb as "IH". wp_rec. wp_pures.
      wp_apply (follow_step _ _ _ _ _ _ _ P P1 with "[$Hinv $HP $Hr1 $H1]"); [done|].
      iIntros (k1' l1) "[#[%Hw1 Hs1] HP1]". wp_pures.
      wp_apply (follow_spec _ _ _ _ _ _ _ (P1 k1' l1) (λ k l, Q k1' l1 k l)
        with "[$Hinv $HP1 $Hr2]"); [done| |].
      { iIntros "!>" (k l C S Hin) "HP Hst". by iApply ("H2" with "[//] HP Hst"). }
      iIntros (k2' l2) "[#[%Hw2 Hs2] HQ]". wp_pures.
      wp_bind (if: _ then #true else _)%E.
      iApply (wp_wand _ _ _ (λ w, ∃ r : bool, ⌜w = #r⌝)%I).
      { case_bool_decide; simpl; wp_pures; [|by iExists true].
        destruct Hw1 as (_ & _ & ? & _), Hw2 as (_ & _ & ? & _).
        wp_apply level_spec; [done..|]. iIntros "_". wp_pures. wp_apply level_spec; [done..|].
        iIntros "_". wp_pures. by iExists _. }
      iIntros (?) "(%r & ->)". destruct r; wp_pures.
      - iApply "HΦ". iFrame "HQ". iModIntro. by iSplit; iSplit.
      - iDestruct "Hback" as "[_ Hback2]". iMod ("Hback2" with "HQ") as "HP".
        by iApply ("IH" with "HP HΦ").
    Qed.

    Lemma load_both_step :
      x1 < all_buckets → x2 < all_buckets →
      {{{ inv N (table_inv γ bk vs gs) ∗ P ∗ hooks }}}
        load_both (table_val bk vs ls gs) #x1 #x2
      {{{ k1 l1 k2 l2, RET ((#(place x1 k1), #(encode_word k1 l1)),
                            (#(place x2 k2), #(encode_word k2 l2)));
          seen γ x1 k1 l1 ∗ seen γ x2 k2 l2 ∗ Q k1 l1 k2 l2 }}}.
    Proof.
      iIntros (Hx1 Hx2 Φ) "(#Hinv & HP & #H1 & #H2 & #Hback) HΦ".
      wp_lam. wp_pures. unfold hint_of. wp_pures.
      wp_apply (wp_load_hint _ _ _ _ x1 x2 with "Hinv"). iIntros (z) "(% & #Hr1 & #Hr2)".
      set (k1 := level_at x1 z). set (k2 := level_at x2 z).
      wp_pures. wp_apply level_in_spec; [done..|]. iIntros "_". wp_pures.
      wp_apply level_in_spec; [done..|]. iIntros "_". wp_pures.
      wp_apply place_of_spec; [done|]. iIntros "_". wp_pures.
      wp_apply place_of_spec; [done|]. iIntros "_". wp_pures.
      unfold word_of, table_val. wp_pures. fold (table_val bk vs ls gs).
      (* A word counts if it has the level that was expected. *)
      wp_apply (wp_load_word_step γ bk vs gs _ k1 P
        (λ k l, if decide (k = k1) then P1 k l else P)%I with "[$Hinv $Hr1 $HP]").
      { iIntros (k l C S Hin) "HP Hst". case_decide as Heq; [|iExists S; by iFrame].
        subst k. by iApply ("H1" with "[//] HP Hst"). }
      iIntros (k1' l1) "(_ & %Hw1 & #Hs1 & HP)". wp_pures.
      wp_apply (wp_load_word γ bk vs gs _ k2 (if decide (k1' = k1) then P1 k1' l1 else P)%I
        (λ k l, if decide (k1' = k1 ∧ k = k2) then Q k1' l1 k l else
          if decide (k1' = k1) then P1 k1' l1 else P)%I with "[$Hinv $Hr2 $HP]").
      { iIntros (k l C S Hin) "HP Hst". destruct (decide (k1' = k1 ∧ k = k2)) as [[-> ->]|];
          [|by iFrame].
        rewrite decide_True; [|done]. by iApply ("H2" with "[//] HP Hst"). }
      iIntros (k2' l2) "(_ & %Hw2 & #Hs2 & HQ)". wp_pures.
      pose proof Hw1 as (_ & _ & ? & _). pose proof Hw2 as (_ & _ & ? & _).
      wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
      destruct (decide (k1' = k1)) as [->|Hne1]; last first.
      { rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
        rewrite decide_False; [|tauto].
        wp_apply (follow_both_spec with "[$Hinv $Hr1 $Hr2 $HQ]"); [done..| |done].
        by iFrame "#". }
      rewrite bool_decide_eq_true_2; [|done]. wp_pures.
      wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
      destruct (decide (k2' = k2)) as [->|Hne2].
      - rewrite bool_decide_eq_true_2; [|done]. wp_pures. rewrite decide_True; [|done].
        iApply "HΦ". iFrame "HQ". iModIntro. by iSplit; iSplit.
      - rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
        rewrite decide_False; [|tauto].
        iAssert (|={⊤}=> P)%I with "[HQ]" as ">HP".
        { iDestruct "Hback" as "[Hback1 _]". by iApply "Hback1". }
        wp_apply (follow_both_spec with "[$Hinv $Hr1 $Hr2 $HP]"); [done..| |done].
        by iFrame "#".
    Qed.
  End both.

  Lemma load_both_spec γ bk vs ls gs x1 x2 (P : iProp Σ) (P1 : nat → list Z → iProp Σ)
      (Q : nat → list Z → nat → list Z → iProp Σ) :
    x1 < all_buckets → x2 < all_buckets →
    {{{ inv N (table_inv γ bk vs gs) ∗ P ∗
        □ (∀ k l C S, ⌜in_word C (place x1 k) k l⌝ -∗ P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          protocol γ C S ∗ P1 k l) ∗
        □ (∀ k l k1 l1 C S, ⌜in_word C (place x2 k) k l⌝ -∗ P1 k1 l1 -∗
          protocol γ C S ={⊤ ∖ ↑N}=∗ protocol γ C S ∗ Q k1 l1 k l) ∗
        □ ((∀ k l, P1 k l -∗ P) ∧ (∀ k1 l1 k2 l2, Q k1 l1 k2 l2 -∗ P)) }}}
      load_both (table_val bk vs ls gs) #x1 #x2
    {{{ k1 l1 k2 l2, RET ((#(place x1 k1), #(encode_word k1 l1)),
                          (#(place x2 k2), #(encode_word k2 l2)));
        seen γ x1 k1 l1 ∗ seen γ x2 k2 l2 ∗ Q k1 l1 k2 l2 }}}.
  Proof.
    iIntros (Hx1 Hx2 Φ) "(#Hinv & HP & #H1 & #H2 & #Hback) HΦ".
    iApply (load_both_step _ _ _ _ _ _ _ P P1 Q with "[$Hinv $HP] HΦ"); [done..|].
    iFrame "H2". iSplit.
    - iIntros "!>" (k l C S Hin) "HP Hst".
      iMod ("H1" with "[//] HP Hst") as "[Hst HQ]". iExists S. by iFrame.
    - iIntros "!>". iSplit.
      + iIntros (k l) "H !>". iDestruct "Hback" as "[Hback _]". by iApply "Hback".
      + iIntros (k1 l1 k2 l2) "H !>". iDestruct "Hback" as "[_ Hback]". by iApply "Hback".
  Qed.
End proofs.
