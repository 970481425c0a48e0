(** Single accesses that change the table: words, versions, and locks. *)
From guira Require Export locations.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (X : gmap nat (item * bool)).

  (** ** Changes of a word *)

  Lemma wp_cas_word γ bk vs gs b k0 k l l' (P Q : iProp Σ) (Qf : nat → list Z → iProp Σ) :
    word_facts b k l → length l' ≤ capacity → ours b k l' →
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ b k0 ∗ P ∗
        ((∀ C C' S, ⌜in_word C b k l⌝ -∗ ⌜in_word C' b k l'⌝ -∗ ⌜elsewhere C C' b k⌝ -∗ P -∗
            protocol γ C S ={⊤ ∖ ↑N}=∗
            ∃ S', ⌜fst <$> S' = fst <$> S⌝ ∗ protocol γ C' S' ∗ Q) ∧
         (∀ k1 l1 C S, ⌜in_word C b k1 l1⌝ -∗ P -∗
            protocol γ C S ={⊤ ∖ ↑N}=∗ protocol γ C S ∗ Qf k1 l1)) }}}
      CmpXchg #(bk +ₗ b) #(encode_word k l) #(encode_word k l')
    {{{ k1 l1 (done : bool), RET (#(encode_word k1 l1), #done);
        ⌜k0 ≤ k1⌝ ∗ ⌜word_facts b k1 l1⌝ ∗ reached γ b k1 ∗ if done then Q else Qf k1 l1 }}}.
  Proof.
    iIntros (Hfacts Hlen Hours Φ) "(#Hinv & #Hr & HP & Hook) HΦ".
    pose proof Hfacts as (_ & Hk & Hl & _).
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (reached_knows with "HR Hr") as %(k1 & l1 & Hb & Hk1); [done|].
    pose proof (shape_ok _ _ _ _ _ HT Hb) as Hl1.
    pose proof (shape_word T D HT _ _ _ Hb) as (? & ? & ? & ?).
    assert (word_facts b k1 l1) by done.
    iMod (reached_learn _ _ _ b k1 with "HR") as (R' HR') "[HR #Hr']"; [done|by exists k1, l1|].
    destruct (decide (encode_word k1 l1 = encode_word k l)) as [Heq|Hne].
    - apply word_inj in Heq as [-> ->]; [|done..].
      iDestruct (big_sepM_insert_acc with "HT") as "[Hb HT]"; [done|]. simpl.
      wp_cmpxchg_suc. iDestruct ("HT" $! (k, l') with "Hb") as "HT".
      iDestruct "Hook" as "[Hook _]".
      pose proof (shape_update T D b k l l' HT Hb Hlen Hours) as HT'.
      iMod ("Hook" $! (copies T D) (copies (<[b := (k, l')]> T) D) with "[] [] [] HP Hst")
        as (S' HSS) "[Hst HQ]".
      { iPureIntro. by apply shape_in_word. }
      { iPureIntro. apply shape_in_word; [done|]. apply lookup_insert. }
      { iPureIntro. by apply (update_elsewhere T D b k l l'). }
      assert (∀ b' k', reaches T b' k' → reaches (<[b := (k, l')]> T) b' k') as Hmono.
      { intros. by apply (update_reaches T b k l l'). }
      rewrite -HSS.
      iModIntro. iSplitR "HΦ HQ".
      + iNext. iExists _, D, S', R', z, h. iFrame. iPureIntro. unfold reached_ok, size_ok in *.
        split_and!; naive_solver.
      + iApply "HΦ". by iFrame "Hr' HQ".
    - iDestruct (big_sepM_lookup_acc with "HT") as "[Hb HT]"; [done|]. simpl.
      wp_cmpxchg_fail. iDestruct ("HT" with "Hb") as "HT".
      iDestruct "Hook" as "[_ Hook]".
      iMod ("Hook" $! k1 l1 with "[] HP Hst") as "[Hst HQ]".
      { iPureIntro. by apply shape_in_word. }
      iModIntro. iSplitR "HΦ HQ"; [iNext; iExists T, D, S, R', z, h; by iFrame|].
      iApply "HΦ". by iFrame "Hr' HQ".
  Qed.

  (** ** Versions and locks *)

  Lemma wp_load_version γ bk vs gs s (P : iProp Σ) (Q : nat → iProp Σ) :
    s < stripes →
    {{{ inv N (table_inv γ bk vs gs) ∗ P ∗
        (∀ v d C S, ⌜S !! s = Some (v, d)⌝ -∗ P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          protocol γ C S ∗ Q v) }}}
      ! #(vs +ₗ s)
    {{{ v, RET #v; Q v }}}.
  Proof.
    iIntros (Hs Φ) "(#Hinv & HP & Hook) HΦ".
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (state_stripe with "Hst") as %[[v d] Hv]; [done|].
    iDestruct (big_sepM_lookup_acc _ _ s v with "HS") as "[Hs HS]".
    { by rewrite lookup_fmap Hv. }
    wp_load. iDestruct ("HS" with "Hs") as "HS".
    iMod ("Hook" with "[//] HP Hst") as "[Hst HQ]".
    iModIntro. iSplitR "HΦ HQ"; [iNext; iExists T, D, S, R, z, h; by iFrame|].
    by iApply "HΦ".
  Qed.

  Lemma try_lock_spec γ bk vs ls gs s :
    s < stripes →
    {{{ [∗ list] s ∈ seq 0 stripes, inv Nlock (lock_inv γ bk ls s) }}}
      try_lock (table_val bk vs ls gs) #s
    {{{ (r : bool), RET #r; if r then ∃ v, owns γ s (v, Idle) ∗ children γ bk s else True }}}.
  Proof.
    iIntros (Hs Φ) "Hls HΦ".
    iDestruct (big_sepL_lookup _ _ s s with "Hls") as "#Hl"; [by apply lookup_seq|].
    wp_lam. wp_pures. unfold lock_of, table_val. wp_pures.
    wp_bind (CmpXchg _ _ _). iInv "Hl" as ([]) "[>Hls' Ho]".
    - wp_cmpxchg_fail. iModIntro. iSplitR "HΦ"; [iNext; iExists true; by iFrame|].
      wp_pures. by iApply "HΦ".
    - wp_cmpxchg_suc. iModIntro. iSplitL "Hls'"; [iNext; iExists true; by iFrame|].
      iDestruct "Ho" as "[(%v & Ho) Hc]". wp_pures. iApply "HΦ". iExists v. by iFrame.
  Qed.

  Lemma lock_spec γ bk vs ls gs s :
    s < stripes →
    {{{ [∗ list] s ∈ seq 0 stripes, inv Nlock (lock_inv γ bk ls s) }}}
      lock (table_val bk vs ls gs) #s
    {{{ v, RET #(); owns γ s (v, Idle) ∗ children γ bk s }}}.
  Proof.
    iIntros (Hs Φ) "#Hls HΦ". iLöb as "IH". wp_rec. wp_pures.
    wp_apply (try_lock_spec with "Hls"); [done|]. iIntros ([|]) "H"; wp_pures; [|by iApply "IH"].
    iDestruct "H" as (v) "H". by iApply "HΦ".
  Qed.

  Lemma unlock_spec γ bk vs ls gs s v :
    s < stripes →
    {{{ ([∗ list] s ∈ seq 0 stripes, inv Nlock (lock_inv γ bk ls s)) ∗
        owns γ s (v, Idle) ∗ children γ bk s }}}
      unlock (table_val bk vs ls gs) #s
    {{{ RET #(); True }}}.
  Proof.
    iIntros (Hs Φ) "(Hls & Ho & Hc) HΦ".
    iDestruct (big_sepL_lookup _ _ s s with "Hls") as "#Hl"; [by apply lookup_seq|].
    wp_lam. wp_pures. unfold lock_of, table_val. wp_pures.
    iInv "Hl" as (locked) "[>Hls' _]". wp_store. iModIntro.
    iSplitR "HΦ"; [iNext; iExists false; iFrame; by iExists v|]. by iApply "HΦ".
  Qed.

  Lemma bump_spec γ bk vs ls gs s v d d' (P Q : iProp Σ) :
    s < stripes →
    {{{ inv N (table_inv γ bk vs gs) ∗ owns γ s (v, d) ∗ P ∗
        (∀ C S, P -∗ owns γ s (v, d) -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          protocol γ C (<[s := (Datatypes.S v, d')]> S) ∗ Q) }}}
      bump (table_val bk vs ls gs) #s
    {{{ RET #(); Q }}}.
  Proof.
    iIntros (Hs Φ) "(#Hinv & Ho & HP & Hook) HΦ".
    wp_lam. wp_pures. unfold version_of, table_val. wp_pures.
    wp_apply (wp_load_version _ _ _ _ _ (owns γ s (v, d)) (λ v', ⌜v' = v⌝ ∗ owns γ s (v, d))%I
      with "[$Hinv $Ho]"); [done|..].
    { iIntros (v' d1 C S HSs) "Ho Hst".
      iDestruct (owns_state with "Hst Ho") as %HSs'. simplify_eq. by iFrame. }
    iIntros (?) "[-> Ho]". wp_pures.
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (owns_state with "Hst Ho") as %HSs.
    iDestruct (big_sepM_insert_acc _ _ s v with "HS") as "[Hs HS]".
    { by rewrite lookup_fmap HSs. }
    wp_store.
    iMod ("Hook" with "HP Ho Hst") as "[Hst HQ]".
    iDestruct ("HS" $! (Datatypes.S v) with "[Hs]") as "HS".
    { by replace (v + 1)%Z with (Datatypes.S v : Z) by lia. }
    iModIntro. iSplitR "HΦ HQ".
    { iNext. iExists T, D, _, R, z, h. iFrame. rewrite fmap_insert. by iFrame. }
    by iApply "HΦ".
  Qed.

  (** A step of the protocol between two accesses. *)
  Lemma protocol_step γ bk vs gs (P Q : iProp Σ) :
    inv N (table_inv γ bk vs gs) -∗ P -∗
    (∀ C S, P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
      ∃ S', ⌜fst <$> S' = fst <$> S⌝ ∗ protocol γ C S' ∗ Q) ={⊤}=∗ Q.
  Proof.
    iIntros "#Hinv HP Hook".
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iMod ("Hook" with "HP Hst") as (S' HSS) "[Hst HQ]". rewrite -HSS.
    iModIntro. iSplitR "HQ"; [|done]. iNext. iExists T, D, S', R, z, h. by iFrame.
  Qed.
End proofs.
