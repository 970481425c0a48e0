(** What removals guarantee: they hold a lock. *)
From guira Require Export filter.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (X : gmap nat (item * bool)).

  (** ** Removals *)

  Lemma fst_insert S s v d d' :
    S !! s = Some (v, d) → fst <$> <[s := (v, d')]> S = fst <$> S.
  Proof.
    intros HSs. rewrite fmap_insert. apply insert_id. by rewrite lookup_fmap HSs.
  Qed.

  Lemma ours_changed b k l l' (old n : Z) :
    n = 0%Z ∨ ours b k [n] → ours b k l → lchanged old n l = Some l' → ours b k l'.
  Proof.
    intros Hn Hl Hc. apply Forall_forall. intros t Ht.
    destruct (lchanged_elem _ _ _ _ _ Hc Ht) as [?|[-> ?]].
    - by eapply (proj1 (Forall_forall _ _) Hl).
    - destruct Hn as [?|Hn]; [done|]. by inversion Hn.
  Qed.

  (** What [find] returns: the bucket, the word, and the new word. *)
  Definition found γ fp x (r : val) : iProp Σ :=
    ∃ x' k l l', ⌜r = SOMEV (#(place x' k), #(encode_word k l), #(encode_word k l'))⌝ ∗
      ⌜home (fp, x) x' ∧ x' < locations ∧ lchanged (slot_at fp x' k) 0 l = Some l'⌝ ∗
      seen γ x' k l.

  Lemma find_spec γ fp x k1 l1 k2 l2 :
    item_good (fp, x) →
    {{{ seen γ x k1 l1 ∗ seen γ (alt fp x) k2 l2 }}}
      find #fp #x #(alt fp x)
        ((#(place x k1), #(encode_word k1 l1)),
         (#(place (alt fp x) k2), #(encode_word k2 l2)))%V
    {{{ r, RET r; ⌜r = NONEV ∧ ¬ matching fp x k1 l1 ∧ ¬ matching fp (alt fp x) k2 l2⌝ ∨
        found γ fp x r }}}.
  Proof.
    iIntros ([Hx Hfp] Φ) "[[%Hw1 #Hr1] [%Hw2 #Hr2]] HΦ".
    unfold item_ok in Hx. cbn [fst snd] in *. pose proof (alt_lt fp x Hx) as Hx2.
    pose proof Hw1 as (_ & Hk1 & Hl1 & _). pose proof Hw2 as (_ & Hk2 & Hl2 & _).
    wp_lam. wp_pures.
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply encode_slot_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply changed_spec; [done..|]. iIntros "_".
    destruct (lchanged (slot_at fp x k1) 0 l1) as [l'|] eqn:Hc; simpl; wp_pures.
    { iApply "HΦ". iModIntro. iRight. iExists x, k1, l1, l'. iSplit; [done|].
      iSplit; [|by iFrame "#"].
      iPureIntro. split_and!; [by left|done..]. }
    apply lchanged_None in Hc.
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply encode_slot_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply changed_spec; [done..|]. iIntros "_".
    destruct (lchanged (slot_at fp (alt fp x) k2) 0 l2) as [l'|] eqn:Hc2; simpl; wp_pures.
    - iApply "HΦ". iModIntro. iRight. iExists (alt fp x), k2, l2, l'. iSplit; [done|].
      iSplit; [|by iFrame "#"]. iPureIntro. split_and!; [by right|done..].
    - apply lchanged_None in Hc2. iApply "HΦ". iModIntro. iLeft. iPureIntro. unfold matching.
      split_and!; [done|lia..].
  Qed.

  (** Under the lock, one of two copies that the holder knows of is found. *)
  Lemma load_both_locked γ bk vs ls gs fp x s v d (P : iProp Σ) :
    item_good (fp, x) → s = stripe fp x →
    {{{ inv N (table_inv γ bk vs gs) ∗ owns γ s (v, d) ∗ P ∗
        □ (∀ C S, P -∗ owns γ s (v, d) -∗ protocol γ C S -∗
          P ∗ owns γ s (v, d) ∗ protocol γ C S ∗ ⌜0 < pair_copies C fp x⌝) }}}
      load_both (table_val bk vs ls gs) #x #(alt fp x)
    {{{ k1 l1 k2 l2, RET ((#(place x k1), #(encode_word k1 l1)),
                          (#(place (alt fp x) k2), #(encode_word k2 l2)));
        seen γ x k1 l1 ∗ seen γ (alt fp x) k2 l2 ∗ owns γ s (v, d) ∗ P ∗
        ⌜matching fp x k1 l1 ∨ matching fp (alt fp x) k2 l2⌝ }}}.
  Proof.
    iIntros ([Hx Hfp] -> Φ) "(#Hinv & Ho & HP & #Hpos) HΦ".
    unfold item_ok in Hx. cbn [fst snd] in *. pose proof (alt_lt fp x Hx) as Hx2.
    set (know := λ v, match d with
      Doomed _ => knows γ (Seen fp (alt fp x) v) | _ => knows γ (Stable fp (alt fp x) v) end).
    assert (∀ v, Persistent (know v)) by (intros v'; unfold know; destruct d; apply _).
    wp_apply (load_both_spec γ bk vs ls gs x (alt fp x) (owns γ (stripe fp x) (v, d) ∗ P)
      (λ k l, (owns γ (stripe fp x) (v, d) ∗ P) ∗ □ (⌜matching fp x k l⌝ ∨ know v))%I
      (λ k1 l1 k2 l2, (owns γ (stripe fp x) (v, d) ∗ P) ∗
        ⌜matching fp x k1 l1 ∨ matching fp (alt fp x) k2 l2⌝)%I
      with "[$Hinv $Ho $HP]"); [by apply locations_all..| |].
    { iSplit; [|iSplit; [|iIntros "!>"; iSplit;
        [by iIntros (k l) "[$ _]"|by iIntros (k1 l1 k2 l2) "[$ _]"]]].
      - iIntros "!>" (k l C S Hin) "[Ho HP] Hst".
        iDestruct ("Hpos" with "HP Ho Hst") as "(HP & Ho & Hst & %Hp)". iFrame "HP".
        pose proof (in_word_copies C fp x k l Hfp Hx Hin) as Heq.
        destruct (decide (0 < C fp x)) as [Hc|Hc].
        { iFrame. iIntros "!> !>". iLeft. iPureIntro. unfold matching. by rewrite -Heq. }
        assert (0 < C fp (alt fp x)) by (unfold pair_copies in Hp; case_decide; lia).
        unfold know. destruct d as [|y|y|y].
        4: { iMod (doomed_learn _ _ _ _ _ (alt fp x) with "Hst Ho") as "($ & $ & #Hs)";
               [done|by rewrite stripe_alt|done|]. by auto. }
        all: iEval (rewrite -(stripe_alt fp x Hx)) in "Ho";
          iMod (locked_learn _ _ _ _ (alt fp x) with "Hst Ho") as "($ & Ho & #Hs)"; [done..|];
          iEval (rewrite (stripe_alt fp x Hx)) in "Ho"; iFrame "Ho";
          iDestruct ("Hs" with "[//]") as "#Hs'"; by auto.
      - iIntros "!>" (k l k1 l1 C S Hin) "[[Ho HP] #H] Hst". iFrame "HP".
        iDestruct "H" as "[%|#Hk]"; [iFrame; by auto|].
        unfold know. destruct d as [|y|y|y].
        4: { iDestruct (doomed_knows with "Hst Ho Hk") as %Hc; [by rewrite stripe_alt|].
             iFrame. iPureIntro. right. unfold matching.
             by rewrite -(in_word_copies C fp (alt fp x) k l). }
        all: iDestruct (locked_knows with "Hst Ho Hk") as %Hc; [by rewrite stripe_alt|];
          iFrame; iPureIntro; right; unfold matching;
          by rewrite -(in_word_copies C fp (alt fp x) k l). }
    iIntros (k1 l1 k2 l2) "(#Hs1 & #Hs2 & [Ho HP] & %Hm)". iApply "HΦ". by iFrame "#∗".
  Qed.

  (** One attempt to clear a slot: the doomed copy goes. *)
  Lemma wp_cas_clear γ bk vs gs fp x v x' k l l' :
    item_good (fp, x) → home (fp, x) x' → x' < locations →
    lchanged (slot_at fp x' k) 0 l = Some l' →
    {{{ inv N (table_inv γ bk vs gs) ∗ seen γ x' k l ∗ owns γ (stripe fp x) (v, Doomed (fp, x)) }}}
      CmpXchg #(bk +ₗ place x' k) #(encode_word k l) #(encode_word k l')
    {{{ k1 l1 (r : bool), RET (#(encode_word k1 l1), #r);
        owns γ (stripe fp x) (v, if r then Idle else Doomed (fp, x)) }}}.
  Proof.
    iIntros ([Hx Hfp] Hh Hx' Hc Φ) "(#Hinv & [%Hw #Hr] & Ho) HΦ".
    unfold item_ok in Hx. cbn [fst snd] in *.
    pose proof Hw as (_ & Hk & Hl & Hours). pose proof (locations_all _ Hx') as Hxa.
    assert (word_ok l') as [Hlen _] by (eapply lchanged_ok; [by left|done..]).
    wp_apply (wp_cas_word γ bk vs gs _ k k l l' (owns γ (stripe fp x) (v, Doomed (fp, x)))
      (owns γ (stripe fp x) (v, Idle)) (λ _ _, owns γ (stripe fp x) (v, Doomed (fp, x)))
      with "[$Hinv $Hr $Ho]"); [done|done| | |].
    { by apply (ours_changed _ _ l l' (slot_at fp x' k) 0); [left|..]. }
    { iSplit.
      - iIntros (C C' S Hin Hin' Hother) "Ho Hst".
        iDestruct (owns_state with "Hst Ho") as %HSs.
        iMod (state_clear _ C C' S fp x x' v with "Hst Ho") as "[Hst $]"; [done..| |].
        { by eapply one_more_clear. }
        iModIntro. iExists _. iFrame. iPureIntro. by eapply fst_insert.
      - iIntros (k1 l1 C S Hin) "$ $". done. }
    iIntros (k1 l1 r) "(_ & _ & _ & Ho)". iApply "HΦ". by destruct r.
  Qed.

  Lemma try_change_spec γ bk vs ls gs fp x v x' k l l' :
    item_good (fp, x) → home (fp, x) x' → x' < locations →
    lchanged (slot_at fp x' k) 0 l = Some l' →
    {{{ inv N (table_inv γ bk vs gs) ∗ seen γ x' k l ∗ owns γ (stripe fp x) (v, Doomed (fp, x)) }}}
      try_change (table_val bk vs ls gs)
        (#(place x' k), #(encode_word k l), #(encode_word k l'))%V
    {{{ (r : bool), RET #r;
        owns γ (stripe fp x) (v, if r then Idle else Doomed (fp, x)) }}}.
  Proof.
    iIntros (???? Φ) "(#Hinv & #Hs & Ho) HΦ".
    wp_lam. wp_pures. unfold word_of, table_val. wp_pures.
    wp_apply (wp_cas_clear with "[$Hinv $Hs $Ho]"); [done..|].
    iIntros (k1 l1 r) "Ho". wp_pures. by iApply "HΦ".
  Qed.

  Lemma clear_again_spec γ bk vs ls gs fp x v :
    item_good (fp, x) →
    {{{ inv N (table_inv γ bk vs gs) ∗ owns γ (stripe fp x) (v, Doomed (fp, x)) }}}
      clear_again (table_val bk vs ls gs) #fp #x #(alt fp x)
    {{{ RET #(); owns γ (stripe fp x) (v, Idle) }}}.
  Proof.
    iIntros (Hgood Φ) "(#Hinv & Ho) HΦ". iLöb as "IH". wp_rec. wp_pures.
    wp_apply (load_both_locked γ bk vs ls gs fp x _ v _ True with "[$Hinv $Ho]"); [done..| |].
    { iSplit; [done|]. iIntros "!>" (C S) "_ Ho Hst".
      iDestruct (doomed_pair with "Hst Ho") as %?; [apply Hgood|]. by iFrame. }
    iIntros (k1 l1 k2 l2) "(#Hs1 & #Hs2 & Ho & _ & %Hm)".
    wp_apply (find_spec with "[$Hs1 $Hs2]"); [done|].
    iIntros (r) "[%Hr|(%x' & %k & %l & %l' & -> & (%Hh & %Hx' & %Hc) & #Hs)]"; [tauto|].
    wp_pures. wp_apply (try_change_spec with "[$Hinv $Hs $Ho]"); [done..|].
    iIntros ([|]) "Ho"; wp_pures; [by iApply "HΦ"|]. by iApply ("IH" with "Ho HΦ").
  Qed.

  (** A removal by the holder of a token succeeds. The item goes when the version is bumped. *)
  Theorem remove_spec γ t i y :
    is_filter γ t -∗ token γ i 1 y -∗
    <<< ∀∀ X, contents γ X >>>
      remove t (item_val y) @ ↑N
    <<< contents γ (delete i X), RET #true >>>.
  Proof.
    iIntros "(%bk & %vs & %ls & %gs & -> & #Hinv & #Hls) [%Hgood (%u & Hy)]". iIntros (Φ) "AU".
    destruct y as [fp x]. pose proof Hgood as [Hx Hfp]. unfold item_ok in Hx. unfold item_val.
    cbn [fst snd] in *. pose proof (alt_lt fp x Hx) as Hx2.
    wp_lam. wp_pures.
    wp_apply alt_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply stripe_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply (lock_spec with "Hls"); [apply stripe_lt|]. iIntros (v) "[Ho Hch]". wp_pures.
    wp_apply (load_both_locked γ bk vs ls gs fp x _ v _ (holds γ i 1 (fp, x) u)
      with "[$Hinv $Ho $Hy]"); [done..| |].
    { iIntros "!>" (C S) "Hy Ho Hst". iDestruct (holds_pair with "Hst Hy") as %[_ ?].
      iFrame. iPureIntro. lia. }
    iIntros (k1 l1 k2 l2) "(#Hs1 & #Hs2 & Ho & Hy & %Hm)".
    wp_apply (find_spec with "[$Hs1 $Hs2]"); [done|].
    iIntros (r) "[%Hr|(%x' & %k & %l & %l' & -> & (%Hh & %Hx' & %Hc) & #Hs)]"; [tauto|].
    wp_pures.
    wp_apply (bump_spec γ bk vs ls gs _ v Idle (Doomed (fp, x)) True
      (owns γ (stripe fp x) (Datatypes.S v, Doomed (fp, x)) ∗ Φ #true)%I
      with "[$Hinv $Ho Hy AU]"); [apply stripe_lt|..].
    { iSplit; [done|]. iIntros (C S) "_ Ho Hst".
      iMod "AU" as (X) "[HX [_ Hclose]]".
      iMod (state_bump_remove with "Hst HX Ho Hy") as "($ & HX & $)".
      by iMod ("Hclose" with "HX") as "$". }
    iIntros "[Ho HΦ]". wp_pures.
    wp_apply (try_change_spec with "[$Hinv $Hs $Ho]"); [done..|].
    iIntros (r) "Ho". wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ w, ⌜w = #()⌝ ∗ owns γ (stripe fp x) (Datatypes.S v, Idle))%I
      with "[Ho]").
    { destruct r; wp_pures; [by iFrame|].
      wp_apply (clear_again_spec with "[$Hinv $Ho]"); [done|]. iIntros "$". done. }
    iIntros (?) "[-> Ho]". wp_pures.
    wp_apply (unlock_spec with "[$Hls $Ho $Hch]"); [apply stripe_lt|]. iIntros "_".
    by wp_pures.
  Qed.

End proofs.
