(** What moves and removals guarantee: operations that hold a lock. *)
From iris.bi.lib Require Import fractional.
From iris.program_logic Require Export atomic.
From iris.heap_lang Require Import proofmode notation.
From iris.heap_lang.lib Require Import assert.
From guira Require Export filter.
From iris.prelude Require Import options.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (X : gmap nat (item * bool)).
  Local Set Default Proof Using "Type*".

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
    { iApply "HΦ". iModIntro. iRight. iExists x, k1, l1, l'. iSplit; [done|]. iSplit; [|by iFrame "#"].
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
    { iSplit.
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
    wp_apply (wp_load_hint _ _ _ _ x2 x2 with "Hinv"). iIntros (z) "(% & % & #Hr1 & _)".
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
