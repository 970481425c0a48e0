(** The filter: what lookups and inserts guarantee. *)
From guira Require Export writes.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (X : gmap nat (item * bool)).

  (** ** Tokens *)

  Definition item_good (y : item) : Prop := item_ok y ∧ fp_ok y.1.

  (** A share of the token of one inserted copy. *)
  Definition token γ i (q : Qp) (y : item) : iProp Σ := ⌜item_good y⌝ ∗ ∃ u, holds γ i q y u.

  Global Instance holds_as_fractional γ i q y u :
    AsFractional (holds γ i q y u) (λ q, holds γ i q y u) q.
  Proof. split; [done|apply _]. Qed.
  Global Instance token_timeless γ i q y : Timeless (token γ i q y).
  Proof. apply _. Qed.
  Global Instance token_fractional γ i y : Fractional (λ q, token γ i q y).
  Proof.
    intros q1 q2. unfold token. iSplit.
    - iIntros "[% (%u & H1 & H2)]". iSplitL "H1"; (iSplit; [done|]); iExists u; by iFrame.
    - iIntros "[[% (%u & H1)] [_ (%u' & H2)]]". iSplit; [done|].
      iDestruct (holds_agree with "H1 H2") as %[_ <-]. iExists u. iCombine "H1 H2" as "H".
      by iFrame.
  Qed.
  Global Instance token_as_fractional γ i q y :
    AsFractional (token γ i q y) (λ q, token γ i q y) q.
  Proof. split; [done|apply _]. Qed.

  Definition item_val (y : item) : val := (#y.1, #y.2)%V.

  Lemma locations_all x : x < locations → x < all_buckets.
  Proof. by rewrite all_locations. Qed.

  Lemma in_word_copies C fp x k l :
    fp_ok fp → x < locations → in_word C (place x k) k l → C fp x = cnt (slot_at fp x k) l.
  Proof. intros ? Hx%locations_all Hin. by apply Hin. Qed.

  (** What [is_in] returns. *)
  Definition matching fp x k l : Prop := 0 < cnt (slot_at fp x k) l.
  Global Instance matching_dec fp x k l : Decision (matching fp x k l).
  Proof. unfold matching. apply _. Defined.

  Lemma is_in_spec fp x k l b :
    k ≤ max_level → word_ok l →
    {{{ True }}} is_in #fp #x (#b, #(encode_word k l))%V
    {{{ RET #(bool_decide (matching fp x k l)); True }}}.
  Proof.
    iIntros (Hk Hl Φ) "_ HΦ". wp_lam. wp_pures. wp_apply level_spec; [done..|]. iIntros "_".
    wp_apply encode_slot_spec; [done..|]. iIntros "_". wp_pures.
    by wp_apply matches_spec.
  Qed.

  (** Whether one of two words has a match. *)
  Lemma either_spec fp x1 x2 k1 l1 k2 l2 b1 b2 :
    k1 ≤ max_level → word_ok l1 → k2 ≤ max_level → word_ok l2 →
    {{{ True }}}
      (if: is_in #fp #x1 (#b1, #(encode_word k1 l1))%V
       then #true
       else is_in #fp #x2 (Snd ((#b1, #(encode_word k1 l1)), (#b2, #(encode_word k2 l2)))%V))%E
    {{{ RET #(bool_decide (matching fp x1 k1 l1 ∨ matching fp x2 k2 l2)); True }}}.
  Proof.
    iIntros (???? Φ) "_ HΦ". wp_pures. wp_apply is_in_spec; [done..|]. iIntros "_".
    destruct (decide (matching fp x1 k1 l1)) as [Hm|Hm].
    - rewrite (bool_decide_eq_true_2 (matching fp x1 k1 l1)); [|done]. wp_pures.
      rewrite bool_decide_eq_true_2; [by iApply "HΦ"|by left].
    - rewrite (bool_decide_eq_false_2 (matching fp x1 k1 l1)); [|done]. wp_pures.
      wp_apply is_in_spec; [done..|]. iIntros "_".
      rewrite (bool_decide_ext (matching fp x2 k2 l2)
        (matching fp x1 k1 l1 ∨ matching fp x2 k2 l2));
        [by iApply "HΦ"|]. tauto.
  Qed.

  (** ** Lookups *)

  (** A lookup by the holder of a token, or of a share of it, is a hit. *)
  Theorem contains_spec γ t i q y :
    {{{ is_filter γ t ∗ token γ i q y }}}
      contains t (item_val y)
    {{{ RET #true; token γ i q y }}}.
  Proof.
    iIntros (Φ) "[(%bk & %vs & %ls & %gs & -> & #Hinv & _) [[%Hx %Hfp] (%u & Hy)]] HΦ".
    destruct y as [fp x]. unfold item_ok in Hx. unfold item_val. cbn [fst snd] in *.
    pose proof (alt_lt fp x Hx) as Hx2.
    iLöb as "IH". wp_rec. unfold table_val. wp_pures.
    wp_apply alt_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply stripe_spec; [done..|]. iIntros "_". unfold version_of. wp_pures.
    wp_apply (wp_load_version _ _ _ _ _ (holds γ i q (fp, x) u)
      (λ v, holds γ i q (fp, x) u ∗ knows γ (InPair fp x v))%I with "[$Hinv $Hy]");
      [apply stripe_lt|..].
    { iIntros (v d C S HSs) "Hy Hst".
      by iMod (learn_pair with "Hst Hy") as "($ & $ & $)". }
    iIntros (v) "[Hy #Hf]". wp_pures.
    wp_apply (load_both_spec γ bk vs ls gs x (alt fp x) True
      (λ k l, □ (⌜matching fp x k l⌝ ∨ knows γ (Stable fp (alt fp x) v) ∨
        knows γ (Passed (stripe fp x) v)))%I
      (λ k1 l1 k2 l2, □ (⌜matching fp x k1 l1 ∨ matching fp (alt fp x) k2 l2⌝ ∨
        knows γ (Passed (stripe fp x) v)))%I with "[$Hinv]"); [by apply locations_all..| |].
    { iSplit; [done|]. iSplit; [|iSplit; [|iIntros "!>"; by iSplit; iIntros]].
      - iIntros "!>" (k l C S Hin) "_ Hst".
        iMod (learn_other with "Hst Hf") as "[$ H]"; [done|].
        rewrite (in_word_copies C fp x k l); [|done..].
        iDestruct "H" as "[%|[#H|#H]]"; iModIntro; iModIntro; auto.
      - iIntros "!>" (k l k1 l1 C S Hin) "#H Hst". iDestruct "H" as "[%|[#H|#H]]".
        + iFrame. iIntros "!> !>". iLeft. iPureIntro. by left.
        + iMod (learn_passed with "Hst H") as "[$ H']".
          rewrite (in_word_copies C fp (alt fp x) k l); [|done..]. rewrite stripe_alt; [|done].
          iDestruct "H'" as "[%|#H']"; iModIntro; iModIntro; [|by iRight].
          iLeft. iPureIntro. by right.
        + iFrame. iIntros "!> !>". by iRight. }
    iIntros (k1 l1 k2 l2) "([%Hw1 _] & [%Hw2 _] & #Hfound)". wp_pures.
    destruct Hw1 as (_ & ? & ? & _), Hw2 as (_ & ? & ? & _).
    wp_apply either_spec; [done..|]. iIntros "_".
    case_bool_decide as Hm; wp_pures.
    { iApply "HΦ". iModIntro. iSplit; [done|]. iExists u. by iFrame. }
    iDestruct "Hfound" as "[%|#Hp]"; [done|].
    wp_apply (wp_load_version _ _ _ _ _ True (λ v', ⌜v' ≠ v⌝)%I with "[$Hinv]");
      [apply stripe_lt|..].
    { iSplit; [done|]. iIntros (v' d C S HSs) "_ Hst".
      iDestruct (passed_ne with "Hst Hp") as %Hne; [done|]. by iFrame. }
    iIntros (v') "%Hne". wp_pures.
    rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
    by iApply ("IH" with "Hy HΦ").
  Qed.

  (** Any other lookup returns something. *)
  Theorem contains_any_spec γ t y :
    item_good y →
    {{{ is_filter γ t }}} contains t (item_val y) {{{ (r : bool), RET #r; True }}}.
  Proof.
    iIntros ([Hx Hfp] Φ) "(%bk & %vs & %ls & %gs & -> & #Hinv & _) HΦ".
    destruct y as [fp x]. unfold item_ok in Hx. unfold item_val. cbn [fst snd] in *.
    pose proof (alt_lt fp x Hx) as Hx2.
    iLöb as "IH". wp_rec. unfold table_val. wp_pures.
    wp_apply alt_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply stripe_spec; [done..|]. iIntros "_". unfold version_of. wp_pures.
    wp_apply (wp_load_version _ _ _ _ _ True (λ v, True)%I with "[$Hinv]"); [apply stripe_lt|..].
    { iSplit; [done|]. by iIntros (v d C S HSs) "_ $". }
    iIntros (v) "_". wp_pures.
    wp_apply (load_both_spec γ bk vs ls gs x (alt fp x) True (λ _ _, True)%I
      (λ _ _ _ _, True)%I with "[$Hinv]"); [by apply locations_all..| |].
    { iSplit; [done|]. iSplit.
      - by iIntros "!>" (k l C S _) "_ $".
      - iSplit; [by iIntros "!>" (k l k1 l1 C S _) "_ $"|]. iIntros "!>". by iSplit; iIntros. }
    iIntros (k1 l1 k2 l2) "([%Hw1 _] & [%Hw2 _] & _)". wp_pures.
    destruct Hw1 as (_ & ? & ? & _), Hw2 as (_ & ? & ? & _).
    wp_apply either_spec; [done..|]. iIntros "_".
    case_bool_decide as Hm; wp_pures; [by iApply "HΦ"|].
    wp_apply (wp_load_version _ _ _ _ _ True (λ v, True)%I with "[$Hinv]"); [apply stripe_lt|..].
    { iSplit; [done|]. by iIntros (v' d C S HSs) "_ $". }
    iIntros (v') "_". wp_pures. case_bool_decide; wp_pures; [by iApply "HΦ"|]. by iApply "IH".
  Qed.

  (** ** Inserts *)

  (** One attempt to add a slot. [P] becomes [Q] by the copy that is added. *)
  Lemma try_add_spec γ bk vs ls gs fp x k1 l1 k2 l2 (P Q : iProp Σ) :
    item_good (fp, x) →
    {{{ inv N (table_inv γ bk vs gs) ∗ seen γ x k1 l1 ∗ seen γ (alt fp x) k2 l2 ∗ P ∗
        (∀ C C' S x', ⌜home (fp, x) x'⌝ -∗ ⌜one_more fp x' C C'⌝ -∗ P -∗
          protocol γ C S ={⊤ ∖ ↑N}=∗
          ∃ S', ⌜fst <$> S' = fst <$> S⌝ ∗ protocol γ C' S' ∗ Q) }}}
      try_add (table_val bk vs ls gs) #fp #x #(alt fp x)
        ((#(place x k1), #(encode_word k1 l1)),
         (#(place (alt fp x) k2), #(encode_word k2 l2)))%V
    {{{ r, RET r; ⌜r = NONEV⌝ ∗ P ∨ ⌜r = SOMEV #false⌝ ∗ P ∨ ⌜r = SOMEV #true⌝ ∗ Q }}}.
  Proof.
    iIntros ([Hx Hfp] Φ) "(#Hinv & [%Hw1 #Hr1] & [%Hw2 #Hr2] & HP & Hook) HΦ".
    unfold item_ok in Hx. cbn [fst snd] in *. pose proof (alt_lt fp x Hx) as Hx2.
    wp_lam. wp_pures.
    pose proof Hw1 as (_ & _ & Hl1 & _). pose proof Hw2 as (_ & _ & Hl2 & _).
    wp_apply slots_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply slots_spec; [done..|]. iIntros "_". wp_pures.
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ r, ∃ x' k l,
      ⌜r = (#x', (#(place x' k), #(encode_word k l)))%V ∧ home (fp, x) x' ∧ x' < locations⌝ ∗
      seen γ x' k l)%I).
    { case_bool_decide; wp_pures; iModIntro.
      - iExists (alt fp x), k2, l2. iSplit; [|by iFrame "#"]. iPureIntro.
        split_and!; [done|by right|done].
      - iExists x, k1, l1. iSplit; [|by iFrame "#"]. iPureIntro. split_and!; [done|by left|done]. }
    iIntros (?) "(%x' & %k & %l & (-> & %Hh & %Hx') & %Hw & #Hr)". wp_pures.
    pose proof Hw as (? & Hk & Hl & Hours). pose proof (locations_all _ Hx') as Hxa.
    wp_apply level_spec; [done..|]. iIntros "_".
    wp_pures. wp_apply encode_slot_spec; [done..|]. iIntros "_".
    wp_apply with_slot_spec; [done..|]. iIntros "_".
    destruct (lwith (slot_at fp x' k) l) as [l'|] eqn:Hwith; simpl; wp_pures; last first.
    { iApply "HΦ". iLeft. by iFrame. }
    assert (word_ok l') as Hl'.
    { eapply lwith_ok; [|done..]. by apply slot_at_ok. }
    unfold word_of, table_val. wp_pures.
    wp_apply (wp_cas_word γ bk vs gs _ k k l l' P Q (λ _ _, P) with "[$Hinv $Hr $HP Hook]").
    { done. }
    { apply Hl'. }
    { apply Forall_forall. intros s Hs.
      destruct (lwith_elem _ _ _ _ Hwith Hs) as [?| ->].
      - by eapply (proj1 (Forall_forall _ _) Hours).
      - by exists fp, x'. }
    { iSplit.
      - iIntros (C C' S Hin Hin' Hother) "HP Hst".
        iApply ("Hook" $! C C' S x' with "[//] [] HP Hst"). iPureIntro.
        by eapply one_more_with.
      - iIntros (k3 l3 C S Hin) "$ $". done. }
    iIntros (k3 l3 [|]) "(_ & _ & _ & H)"; wp_pures; iApply "HΦ"; iRight; [iRight|iLeft]; by iFrame.
  Qed.

  (** The number of copies is that of the items, plus one if the insert returns true. *)
  Theorem insert_spec γ t y :
    item_good y →
    is_filter γ t -∗
    <<< ∀∀ X, contents γ X >>>
      insert t (item_val y) @ ↑N
    <<< ∃∃ r : bool,
        if r then ∃ i, ⌜X !! i = None⌝ ∗ contents γ (<[i := (y, false)]> X) ∗ token γ i 1 y
        else contents γ X, RET #r >>>.
  Proof.
    iIntros (Hgood) "(%bk & %vs & %ls & %gs & -> & #Hinv & _)". iIntros (Φ) "AU".
    destruct y as [fp x]. pose proof Hgood as [Hx Hfp]. unfold item_ok in Hx. unfold item_val.
    cbn [fst snd] in *. pose proof (alt_lt fp x Hx) as Hx2.
    iLöb as "IH". wp_rec. unfold table_val. wp_pures.
    wp_apply alt_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply (load_both_spec γ bk vs ls gs x (alt fp x) True (λ _ _, True)%I
      (λ _ _ _ _, True)%I with "[$Hinv]"); [by apply locations_all..| |].
    { iSplit; [done|]. iSplit.
      - by iIntros "!>" (k l C S _) "_ $".
      - iSplit; [by iIntros "!>" (k l k1 l1 C S _) "_ $"|]. iIntros "!>". by iSplit; iIntros. }
    iIntros (k1 l1 k2 l2) "(#Hs1 & #Hs2 & _)". wp_pures.
    wp_apply (try_add_spec γ bk vs ls gs fp x k1 l1 k2 l2 _ (Φ #true)
      with "[$Hinv $Hs1 $Hs2 AU]"); [done|..].
    { iSplitL; [iExact "AU"|]. iIntros (C C' S x' Hh Hm) "AU Hst".
      iMod "AU" as (X) "[HX [_ Hclose]]".
      iMod (state_add _ C C' S X fp x x' with "Hst HX") as "(Hst & %i & %Hi & HX & Hy)"; [done..|].
      iMod ("Hclose" $! true with "[HX Hy]") as "HΦ".
      { iExists i. iFrame. iSplit; [done|]. iSplit; [done|]. by iExists false. }
      iModIntro. iExists S. by iFrame. }
    iIntros (r) "[[-> AU]|[[-> AU]|[-> HΦ]]]"; wp_pures.
    - iMod "AU" as (X) "[HX [_ Hclose]]". iApply ("Hclose" $! false with "HX").
    - by iApply "IH".
    - done.
  Qed.
End proofs.
