(** [insert_unique]: of overlapping calls for one item, at most one is told that it is new. *)
From guira Require Export removals.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (X : gmap nat (item * bool)).

  (** Under the lock. [P] becomes [Q] if the item is added. *)
  Lemma add_if_absent_spec γ bk vs ls gs fp x v (P Q : iProp Σ) :
    item_good (fp, x) →
    {{{ inv N (table_inv γ bk vs gs) ∗ owns γ (stripe fp x) (v, Idle) ∗ P ∗
        □ (∀ C C' S x', ⌜home (fp, x) x'⌝ -∗ ⌜one_more fp x' C C'⌝ -∗ P -∗
          owns γ (stripe fp x) (v, Checked (fp, x)) -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          protocol γ C' (<[stripe fp x := (v, Idle)]> S) ∗ owns γ (stripe fp x) (v, Idle) ∗ Q) }}}
      add_if_absent (table_val bk vs ls gs) #fp #x #(alt fp x)
    {{{ r, RET r; owns γ (stripe fp x) (v, Idle) ∗
        (⌜r = NONEV ∨ r = SOMEV #false⌝ ∗ P ∨ ⌜r = SOMEV #true⌝ ∗ Q) }}}.
  Proof.
    iIntros (Hgood Φ) "(#Hinv & Ho & HP & #Hook) HΦ".
    pose proof Hgood as [Hx Hfp]. unfold item_ok in Hx. cbn [fst snd] in *.
    pose proof (alt_lt fp x Hx) as Hx2.
    iAssert (□ (owns γ (stripe fp x) (v, Checked (fp, x)) ={⊤}=∗ owns γ (stripe fp x) (v, Idle)))%I
      as "#Hback".
    { iIntros "!> Ho".
      iApply (protocol_step _ _ _ _ (owns γ (stripe fp x) (v, Checked (fp, x))) with "Hinv Ho").
      iIntros (C S) "Ho Hst". iDestruct (owns_state with "Hst Ho") as %HSs.
      iMod (state_uncheck with "Hst Ho") as "[Hst Ho]"; [done|].
      iModIntro. iExists _. iFrame. iPureIntro. by eapply fst_insert. }
    iLöb as "IH". wp_rec. wp_pures.
    wp_apply (load_both_step γ bk vs ls gs x (alt fp x) (owns γ (stripe fp x) (v, Idle))
      (λ k l, owns γ (stripe fp x) (v, Checked (fp, x)) ∨
        owns γ (stripe fp x) (v, Idle) ∗
        □ (⌜matching fp x k l⌝ ∨ knows γ (Stable fp (alt fp x) v)))%I
      (λ k1 l1 k2 l2, owns γ (stripe fp x) (v, Checked (fp, x)) ∨
        owns γ (stripe fp x) (v, Idle) ∗
        ⌜matching fp x k1 l1 ∨ matching fp (alt fp x) k2 l2⌝)%I
      with "[$Hinv $Ho]"); [by apply locations_all..| |].
    { iSplit; [|iSplit].
      3: { iIntros "!>". iSplit; [iIntros (k l)|iIntros (k1 l1 k2 l2)];
             (iIntros "[Ho|[$ _]]"; [by iApply "Hback"|done]). }
      - iIntros "!>" (k l C S Hin) "Ho Hst".
        pose proof (in_word_copies C fp x k l Hfp Hx Hin) as Heq.
        destruct (decide (0 < C fp x)) as [Hc|Hc].
        { iModIntro. iExists S. iFrame "Hst". iSplit; [done|]. iRight. iFrame "Ho".
          iIntros "!>". iLeft. iPureIntro. unfold matching. by rewrite -Heq. }
        destruct (decide (pair_copies C fp x = 0)) as [H0|H0].
        { iDestruct (owns_state with "Hst Ho") as %HSs.
          iMod (state_check with "Hst Ho") as "[Hst Ho]"; [done..|].
          iModIntro. iExists _. iFrame "Hst". iSplit; [iPureIntro; by eapply fst_insert|].
          by iLeft. }
        assert (0 < C fp (alt fp x)) as Hc2 by (unfold pair_copies in H0; case_decide; lia).
        iEval (rewrite -(stripe_alt fp x Hx)) in "Ho".
        iMod (locked_learn _ _ _ _ (alt fp x) with "Hst Ho") as "(Hst & Ho & #Hs)"; [done..|].
        iEval (rewrite (stripe_alt fp x Hx)) in "Ho".
        iDestruct ("Hs" with "[//]") as "#Hs'".
        iModIntro. iExists S. iFrame "Hst". iSplit; [done|]. iRight. iFrame "Ho".
        iIntros "!>". by iRight.
      - iIntros "!>" (k l k1 l1 C S Hin) "[Ho|[Ho #H]] Hst".
        { iFrame "Hst". by iLeft. }
        iDestruct "H" as "[%|#Hk]".
        { iFrame "Hst". iRight. iFrame "Ho". iPureIntro. by left. }
        iDestruct (locked_knows with "Hst Ho Hk") as %Hc; [by rewrite stripe_alt|].
        iFrame "Hst". iRight. iFrame "Ho". iPureIntro. right. unfold matching.
        by rewrite -(in_word_copies C fp (alt fp x) k l). }
    iIntros (k1 l1 k2 l2) "(#Hs1 & #Hs2 & Ho)". wp_pures.
    iPoseProof "Hs1" as "[%Hw1 _]". iPoseProof "Hs2" as "[%Hw2 _]".
    destruct Hw1 as (_ & ? & ? & _), Hw2 as (_ & ? & ? & _).
    wp_apply either_spec; [done..|]. iIntros "_".
    case_bool_decide as Hm; wp_pures.
    { iAssert (|={⊤}=> owns γ (stripe fp x) (v, Idle))%I with "[Ho]" as ">Ho".
      { iDestruct "Ho" as "[Ho|[$ _]]"; [by iApply "Hback"|done]. }
      iApply "HΦ". iModIntro. iFrame "Ho". iLeft. iFrame "HP". iPureIntro. by right. }
    iDestruct "Ho" as "[Ho|[_ %]]"; [|done].
    wp_apply (try_add_spec γ bk vs ls gs fp x k1 l1 k2 l2
      (owns γ (stripe fp x) (v, Checked (fp, x)) ∗ P) (owns γ (stripe fp x) (v, Idle) ∗ Q)
      with "[$Hinv $Hs1 $Hs2 $Ho $HP]"); [done|..].
    { iIntros (C C' S x' Hh Hmore) "[Ho HP] Hst".
      iDestruct (owns_state with "Hst Ho") as %HSs.
      iMod ("Hook" with "[//] [//] HP Ho Hst") as "(Hst & Ho & HQ)".
      iModIntro. iExists _. iFrame. iPureIntro. by eapply fst_insert. }
    iIntros (r) "[[-> [Ho HP]]|[[-> [Ho HP]]|[-> [Ho HQ]]]]".
    - iMod ("Hback" with "Ho") as "Ho". wp_pures. iApply "HΦ". iModIntro. iFrame "Ho". iLeft.
      iFrame "HP". iPureIntro. by left.
    - iMod ("Hback" with "Ho") as "Ho". wp_pures. by iApply ("IH" with "Ho HP HΦ").
    - wp_pures. iApply "HΦ". iModIntro. iFrame "Ho". iRight. by iFrame "HQ".
  Qed.

  (** At the moment at which a call is told "new", no item of this pair is there that another call
      of [insert_unique] added. *)
  Theorem insert_unique_spec γ t y :
    item_good y →
    is_filter γ t -∗
    <<< ∀∀ X, contents γ X >>>
      insert_unique t (item_val y) @ ↑N
    <<< ∃∃ r : val,
        ⌜r = NONEV ∨ r = SOMEV #false⌝ ∗ contents γ X ∨
        ⌜r = SOMEV #true⌝ ∗ ⌜no_unique X y⌝ ∗ ∃ i, ⌜X !! i = None⌝ ∗
          contents γ (<[i := (y, true)]> X) ∗ token γ i 1 y, RET r >>>.
  Proof.
    iIntros (Hgood) "(%bk & %vs & %ls & %gs & -> & #Hinv & #Hls)". iIntros (Φ) "AU".
    destruct y as [fp x]. pose proof Hgood as [Hx Hfp]. unfold item_ok in Hx. unfold item_val.
    cbn [fst snd] in *.
    wp_lam. wp_pures. wp_apply stripe_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply (lock_spec with "Hls"); [apply stripe_lt|]. iIntros (v) "[Ho Hch]". wp_pures.
    wp_apply alt_spec; [done..|]. iIntros "_".
    wp_apply (add_if_absent_spec γ bk vs ls gs fp x v _ (Φ (SOMEV #true))
      with "[$Hinv $Ho AU]"); [done|..].
    { iSplitL; [iExact "AU"|]. iIntros "!>" (C C' S x' Hh Hm) "AU Ho Hst".
      iMod "AU" as (X) "[HX [_ Hclose]]".
      iMod (state_add_unique _ C C' S X fp x x' v with "Hst HX Ho")
        as "(%Hno & $ & $ & %i & %Hi & HX & Hy)"; [done..|].
      iApply ("Hclose" $! (SOMEV #true)). iRight. do 2 (iSplit; [done|]). iExists i.
      iSplit; [done|]. iFrame "HX". iSplit; [done|]. by iExists true. }
    iIntros (r) "[Ho H]". wp_pures.
    wp_apply (unlock_spec with "[$Hls $Ho $Hch]"); [apply stripe_lt|]. iIntros "_". wp_pures.
    iDestruct "H" as "[[%Hr AU]|[-> HΦ]]"; [|done].
    iMod "AU" as (X) "[HX [_ Hclose]]". iApply ("Hclose" $! r). iLeft. by iFrame "HX".
  Qed.
End proofs.
