(** What moves guarantee: they preserve everything. *)
From guira Require Export removals.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (X : gmap nat (item * bool)).

  (** ** Moves *)

  (** The first half of a move: a copy without a token of its own. *)
  Lemma copy_spec γ bk vs ls gs fp x x2 v (from : nat) :
    item_good (fp, x) → home (fp, x) x2 → x2 < locations →
    {{{ inv N (table_inv γ bk vs gs) ∗ owns γ (stripe fp x) (v, Idle) }}}
      copy (table_val bk vs ls gs) #fp #x2 #from
    {{{ (r : bool), RET #r; owns γ (stripe fp x) (v, if r then Copied (fp, x) else Idle) }}}.
  Proof.
    iIntros ([Hx Hfp] Hh Hx2 Φ) "(#Hinv & Ho) HΦ".
    unfold item_ok in Hx. cbn [fst snd] in *. pose proof (locations_all _ Hx2) as Hxa.
    iLöb as "IH". wp_rec. unfold hint_of, table_val. wp_pures.
    wp_apply (wp_load_hint _ _ _ _ x2 x2 with "Hinv"). iIntros (z) "(% & #Hr1 & _)".
    wp_apply level_in_spec; [done..|]. iIntros "_".
    wp_apply (follow_spec γ bk vs ls gs x2 _ True (λ _ _, True)%I with "[$Hinv $Hr1]"); [done| |].
    { iSplit; [done|]. by iIntros "!>" (k l C S _) "_ $". }
    iIntros (k l) "([%Hw #Hr] & _)". wp_pures.
    pose proof Hw as (_ & Hk & Hl & Hours).
    case_bool_decide; wp_pures; [by iApply "HΦ"|].
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply encode_slot_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply with_slot_spec; [done..|]. iIntros "_".
    destruct (lwith (slot_at fp x2 k) l) as [l'|] eqn:Hwith; simpl; wp_pures;
      [|by iApply "HΦ"].
    assert (word_ok l') as [Hlen _].
    { eapply lwith_ok; [|done..]. by apply slot_at_ok. }
    unfold word_of. wp_pures.
    wp_apply (wp_cas_word γ bk vs gs _ k k l l' (owns γ (stripe fp x) (v, Idle))
      (owns γ (stripe fp x) (v, Copied (fp, x))) (λ _ _, owns γ (stripe fp x) (v, Idle))
      with "[$Hinv $Hr $Ho]"); [done|done| | |].
    { apply Forall_forall. intros s Hs.
      destruct (lwith_elem _ _ _ _ Hwith Hs) as [?| ->].
      - by eapply (proj1 (Forall_forall _ _) Hours).
      - by exists fp, x2. }
    { iSplit.
      - iIntros (C C' S Hin Hin' Hother) "Ho Hst".
        iDestruct (owns_state with "Hst Ho") as %HSs.
        iMod (state_copy _ C C' S fp x x2 v with "Hst Ho") as "[Hst $]"; [done..| |].
        { by eapply one_more_with. }
        iModIntro. iExists _. iFrame. iPureIntro. by eapply fst_insert.
      - iIntros (k1 l1 C S Hin) "$ $". done. }
    iIntros (k1 l1 [|]) "(_ & _ & _ & Ho)"; wp_pures; [by iApply "HΦ"|].
    by iApply ("IH" with "Ho HΦ").
  Qed.

  Lemma clear_moved_spec γ bk vs ls gs fp x k0 v :
    item_good (fp, x) →
    {{{ inv N (table_inv γ bk vs gs) ∗ owns γ (stripe fp x) (v, Doomed (fp, x)) ∗
        knows γ (Seen fp x v) ∗ reached γ (place x k0) k0 }}}
      clear_moved (table_val bk vs ls gs) #fp #x #k0
    {{{ RET #(); owns γ (stripe fp x) (v, Idle) }}}.
  Proof.
    iIntros ([Hx Hfp] Φ) "(#Hinv & Ho & #Hseen & #Hr0) HΦ".
    unfold item_ok in Hx. cbn [fst snd] in *. pose proof (locations_all _ Hx) as Hxa.
    iLöb as "IH". wp_rec. wp_pures.
    wp_apply (follow_spec γ bk vs ls gs x k0 (owns γ (stripe fp x) (v, Doomed (fp, x)))
      (λ k l, owns γ (stripe fp x) (v, Doomed (fp, x)) ∗ ⌜matching fp x k l⌝)%I
      with "[$Hinv $Hr0 $Ho]"); [done| |].
    { iIntros "!>" (k l C S Hin) "Ho Hst".
      iDestruct (doomed_knows with "Hst Ho Hseen") as %Hc; [done|]. iFrame. iPureIntro.
      unfold matching. by rewrite -(in_word_copies C fp x k l). }
    iIntros (k l) "([%Hw #Hr] & Ho & %Hm)". wp_pures.
    pose proof Hw as (_ & Hk & Hl & Hours).
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply encode_slot_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply changed_spec; [done..|]. iIntros "_".
    destruct (lchanged (slot_at fp x k) 0 l) as [l'|] eqn:Hc; simpl; last first.
    { apply lchanged_None in Hc. unfold matching in Hm. lia. }
    wp_pures.
    unfold word_of, table_val. wp_pures.
    wp_apply (wp_cas_clear γ bk vs gs fp x v x k l l' (conj Hx Hfp) (or_introl eq_refl) Hx Hc
      with "[$Hinv $Ho]").
    { by iFrame "Hr". }
    iIntros (k1 l1 [|]) "Ho"; wp_pures; [by iApply "HΦ"|].
    by iApply ("IH" with "Ho HΦ").
  Qed.

  (** What comes into the slot that is left: an item, with the one of its locations that is in this
      bucket. *)
  Definition incoming_val (inc : option (item * nat)) k : val :=
    #(from_option (λ p, slot_at p.1.1 p.2 k) 0%Z inc).
  Definition incoming_good (inc : option (item * nat)) b k : Prop :=
    match inc with
    | None => True
    | Some (y, x') => item_good y ∧ home y x' ∧ x' < locations ∧ place x' k = b
    end.
  (** [P] becomes [Q] if it is stored. *)
  Definition stores γ (inc : option (item * nat)) (P Q : iProp Σ) : iProp Σ :=
    match inc with
    | None => P -∗ Q
    | Some (y, _) => ∀ C C' S x', ⌜home y x'⌝ -∗ ⌜one_more y.1 x' C C'⌝ -∗ P -∗
        protocol γ C S ={⊤ ∖ ↑N}=∗ protocol γ C' S ∗ Q
    end.

  Lemma change_slot_spec γ bk vs ls gs fp x v k k1 l inc (P Q : iProp Σ) :
    item_good (fp, x) → incoming_good inc (place x k) k → k ≤ k1 →
    word_facts (place x k) k1 l → (k1 = k → matching fp x k l) →
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ (place x k) k1 ∗
        owns γ (stripe fp x) (v, Doomed (fp, x)) ∗ knows γ (Seen fp x v) ∗ P ∗ stores γ inc P Q }}}
      change_slot (table_val bk vs ls gs) #(place x k) #k #(slot_at fp x k) (incoming_val inc k)
        #(encode_word k1 l)
    {{{ (r : bool), RET #r; if r then owns γ (stripe fp x) (v, Idle) ∗ Q
        else owns γ (stripe fp x) (v, Doomed (fp, x)) ∗ P ∗ stores γ inc P Q }}}.
  Proof.
    iIntros ([Hx Hfp] Hinc Hk1 Hw Hm Φ) "(#Hinv & #Hr & Ho & #Hseen & HP & Hstores) HΦ".
    unfold item_ok in Hx. cbn [fst snd] in *. pose proof (locations_all _ Hx) as Hxa.
    iLöb as "IH" forall (k1 l Hk1 Hw Hm) "Hr". wp_rec. unfold incoming_val. wp_pures.
    pose proof Hw as (_ & Hk & Hl & Hours).
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    destruct (decide (k1 = k)) as [->|Hne]; last first.
    { rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
      iApply "HΦ". by iFrame. }
    rewrite bool_decide_eq_true_2; [|done]. wp_pures. specialize (Hm eq_refl).
    wp_apply changed_spec; [done..|]. iIntros "_".
    destruct (lchanged (slot_at fp x k) _ l) as [l'|] eqn:Hc; simpl; last first.
    { apply lchanged_None in Hc. unfold matching in Hm. lia. }
    wp_pures. unfold word_of, table_val. wp_pures.
    assert (from_option (λ p : item * nat, slot_at p.1.1 p.2 k) 0%Z inc = 0%Z ∨
      ours (place x k) k [from_option (λ p : item * nat, slot_at p.1.1 p.2 k) 0%Z inc] ∧
      slot_ok (from_option (λ p : item * nat, slot_at p.1.1 p.2 k) 0%Z inc)) as Hn.
    { destruct inc as [[[fp1 x1] x1']|]; simpl; [|by left]. right.
      destruct Hinc as ([_ Hfp1] & _ & Hx1 & Hp1). cbn [fst snd] in *.
      pose proof (locations_all _ Hx1). split; [|by apply slot_at_ok].
      constructor; [|done]. by exists fp1, x1'. }
    assert (word_ok l') as [Hlen _] by (eapply lchanged_ok; [|done..]; tauto).
    wp_apply (wp_cas_word γ bk vs gs _ k k l l'
      (owns γ (stripe fp x) (v, Doomed (fp, x)) ∗ P ∗ stores γ inc P Q)
      (owns γ (stripe fp x) (v, Idle) ∗ Q)
      (λ k1 l1, (owns γ (stripe fp x) (v, Doomed (fp, x)) ∗ P ∗ stores γ inc P Q) ∗
        ⌜k1 = k → matching fp x k l1⌝)%I
      with "[$Hinv $Hr $Ho $HP $Hstores]"); [done|done| | |].
    { eapply ours_changed; [|done..]. tauto. }
    { iSplit.
      - iIntros (C C' S Hin Hin' Hother) "(Ho & HP & Hstores) Hst".
        iDestruct (owns_state with "Hst Ho") as %HSs.
        iDestruct (doomed_knows with "Hst Ho Hseen") as %HC; [done|].
        destruct inc as [[[fp1 x1] x1']|]; simpl in *.
        + destruct Hinc as ([Hx1 Hfp1] & Hh1 & Hx1' & Hp1). cbn [fst snd] in *.
          iMod (state_clear _ C (one_less fp x C) S fp x x v with "Hst Ho") as "[Hst $]";
            [done|by left|by apply one_more_less|].
          iMod ("Hstores" $! (one_less fp x C) C' _ x1' with "[//] [] HP Hst") as "[Hst $]".
          { iPureIntro. apply (one_more_replace C C' (place x k) k fp x fp1 x1' l l');
              auto using locations_all. }
          iModIntro. iExists _. iFrame. iPureIntro. by eapply fst_insert.
        + iMod (state_clear _ C C' S fp x x v with "Hst Ho") as "[Hst $]"; [done|by left| |].
          { by eapply one_more_clear. }
          iDestruct ("Hstores" with "HP") as "$".
          iModIntro. iExists _. iFrame. iPureIntro. by eapply fst_insert.
      - iIntros (k1 l1 C S Hin) "(Ho & $ & $) Hst".
        iDestruct (doomed_knows with "Hst Ho Hseen") as %HC; [done|]. iFrame. iPureIntro.
        intros ->. unfold matching. by rewrite -(in_word_copies C fp x k l1). }
    iIntros (k1 l1 [|]) "(%Hk1' & %Hw1 & #Hr1 & H)"; wp_pures.
    { by iApply "HΦ". }
    iDestruct "H" as "[(Ho & HP & Hstores) %Hm1]".
    by iApply ("IH" with "[] [] [] Ho HP Hstores HΦ Hr1").
  Qed.

  (** A move preserves all items. If it returns true, what comes in is stored. *)
  Theorem relocate_spec γ t fp x k inc (P Q : iProp Σ) :
    item_good (fp, x) → k ≤ max_level → incoming_good inc (place x k) k →
    {{{ is_filter γ t ∗ reached γ (place x k) k ∗ P ∗ stores γ inc P Q }}}
      relocate t #fp #x #k (incoming_val inc k)
    {{{ (r : bool), RET #r; if r then Q else P }}}.
  Proof.
    iIntros (Hgood Hk Hinc Φ)
      "((%bk & %vs & %ls & %gs & -> & #Hinv & #Hls) & #Hr & HP & Hstores) HΦ".
    pose proof Hgood as [Hx Hfp]. unfold item_ok in Hx.
    cbn [fst snd] in *. pose proof (alt_lt fp x Hx) as Hx2.
    wp_lam. unfold incoming_val. wp_pures.
    wp_apply alt_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply stripe_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply (lock_spec with "Hls"); [apply stripe_lt|]. iIntros (v) "[Ho Hch]". wp_pures.
    wp_apply place_of_spec; [done|]. iIntros "_". wp_pures.
    unfold word_of, table_val. wp_pures. fold (table_val bk vs ls gs).
    wp_apply (wp_load_word γ bk vs gs (place x k) k (owns γ (stripe fp x) (v, Idle))
      (λ k1 l, owns γ (stripe fp x) (v, Idle) ∗
        □ (⌜k1 = k⌝ → ⌜matching fp x k l⌝ → knows γ (Stable fp x v)))%I with "[$Hinv $Hr $Ho]").
    { iIntros (k1 l C S Hin) "Ho Hst".
      iMod (locked_learn with "Hst Ho") as "($ & $ & #Hs)"; [done..|].
      iIntros "!> !>" (-> Hm). iApply "Hs". iPureIntro. unfold matching in Hm.
      by rewrite (in_word_copies C fp x k l). }
    iIntros (k1 l) "(%Hk1 & %Hw & #Hr1 & Ho & #Hf)". wp_pures.
    pose proof Hw as (_ & ? & Hl & Hours).
    wp_apply encode_slot_spec; [done..|]. iIntros "_". wp_pures.
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ w, ∃ (r : bool) v, ⌜w = #r⌝ ∗ owns γ (stripe fp x) (v, Idle) ∗
      if r then Q else P)%I with "[Ho HP Hstores]"); last first.
    { iIntros (?) "(%r & %v' & -> & Ho & H)". wp_pures.
      wp_apply (unlock_spec with "[$Hls $Ho $Hch]"); [apply stripe_lt|]. iIntros "_".
      wp_pures. by iApply "HΦ". }
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    destruct (decide (k1 = k)) as [->|Hne]; last first.
    { rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
      iExists false, v. by iFrame. }
    rewrite bool_decide_eq_true_2; [|done]. wp_pures.
    wp_apply matches_spec; [done..|]. iIntros "_". unfold has_slot.
    case_bool_decide as Hm; wp_pures; last first.
    { iExists false, v. by iFrame. }
    iDestruct ("Hf" with "[//] [//]") as "#Hs".
    wp_apply (copy_spec with "[$Hinv $Ho]"); [done|by right|done|].
    iIntros ([|]) "Ho"; wp_pures; last first.
    { iExists false, v. by iFrame. }
    wp_apply (bump_spec γ bk vs ls gs _ v (Copied (fp, x)) (Doomed (fp, x)) True
      (owns γ (stripe fp x) (Datatypes.S v, Doomed (fp, x)) ∗ knows γ (Seen fp x (Datatypes.S v)))%I
      with "[$Hinv $Ho]"); [apply stripe_lt|..].
    { iSplit; [done|]. iIntros (C S) "_ Ho Hst".
      iDestruct (locked_knows with "Hst Ho Hs") as %HC; [done|].
      iMod (state_bump_move with "Hst Ho") as "[Hst Ho]"; [done|].
      by iMod (doomed_learn _ _ _ _ _ x with "Hst Ho") as "($ & $ & $)". }
    iIntros "[Ho #Hseen]". wp_pures.
    wp_apply (change_slot_spec γ bk vs ls gs fp x _ k k l inc P Q
      with "[$Hinv $Hr1 $Ho $Hseen $HP $Hstores]"); [done..|].
    iIntros ([|]) "[Ho H]"; wp_pures.
    { iExists true, _. by iFrame. }
    wp_apply (clear_moved_spec with "[$Hinv $Ho $Hseen $Hr]"); [done|]. iIntros "Ho". wp_pures.
    iExists _, _. iSplitR; [done|]. iFrame "Ho". iDestruct "H" as "[HP Hstores]".
    destruct inc as [[[fp1 x1] x1']|]; simpl.
    - destruct Hinc as ([_ Hfp1] & _ & Hx1 & _). cbn [fst snd] in *.
      pose proof (slot_at_ok fp1 x1' k Hfp1 (locations_all _ Hx1) Hk) as [Hpos _].
      rewrite bool_decide_eq_false_2; [done|]. intros [= Heq]. lia.
    - by iApply "Hstores".
  Qed.
End proofs.
