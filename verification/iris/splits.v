(** Splits, and what they guarantee: they preserve everything. *)
From guira Require Export sizes.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (X : gmap nat (item * bool)).

  (** ** Splits *)

  Lemma parent_child b k : b < first * 2 ^ k → parent (b + first * 2 ^ k) = b.
  Proof.
    intros Hb. unfold parent. pose proof first_pos as Hf.
    assert (Nat.log2 ((b + first * 2 ^ k) / first) = k) as ->; [|lia].
    rewrite (Nat.mul_comm first) Nat.div_add; [|lia].
    assert (b / first < 2 ^ k) by (apply Nat.div_lt_upper_bound; lia).
    apply Nat.log2_unique; [lia|]. rewrite Nat.pow_succ_r'. lia.
  Qed.

  Lemma children_acc γ bk s b k :
    b < first * 2 ^ k → k < max_level → group (b / group_size) = s →
    children γ bk s -∗
    child γ bk (b + first * 2 ^ k) ∗ (child γ bk (b + first * 2 ^ k) -∗ children γ bk s).
  Proof.
    iIntros (Hb Hk Hs) "Hch". set (c := b + first * 2 ^ k).
    assert (first ≤ c < all_buckets) as Hc.
    { pose proof (round_le 0 k) as Hle. pose proof (round_le (Datatypes.S k) max_level) as Hle'.
      rewrite Nat.pow_succ_r' in Hle'. simpl in Hle. unfold c, all_buckets. lia. }
    unfold children.
    iDestruct (big_sepL_lookup_acc _ _ (c - first) c with "Hch") as "[Hc Hch]".
    { apply lookup_seq. lia. }
    iDestruct ("Hc" with "[]") as "Hc".
    { iPureIntro. unfold c. by rewrite parent_child. }
    iFrame "Hc". iIntros "Hc". iApply "Hch". by iIntros.
  Qed.

  (** The switch: one compare-and-swap moves locations, and no copy. *)
  Lemma wp_cas_split γ bk vs gs b k l :
    word_facts b k l → k < max_level →
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ b k ∗
        (bk +ₗ (b + first * 2 ^ k)%nat) ↦ #(encode_word (Datatypes.S k) (lhalves l).2) }}}
      CmpXchg #(bk +ₗ b) #(encode_word k l) #(encode_word (Datatypes.S k) (lhalves l).1)
    {{{ k1 l1 (r : bool), RET (#(encode_word k1 l1), #r);
        ⌜k ≤ k1⌝ ∗ ⌜word_facts b k1 l1⌝ ∗ reached γ b k1 ∗
        if r then reached γ b (Datatypes.S k) ∗ reached γ (b + first * 2 ^ k) 0
        else ∃ w : Z, (bk +ₗ (b + first * 2 ^ k)%nat) ↦ #w }}}.
  Proof.
    iIntros (Hfacts Hk Φ) "(#Hinv & #Hr & Hc) HΦ".
    pose proof Hfacts as (_ & _ & Hl & Hours).
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (reached_knows with "HR Hr") as %(k1 & l1 & Hb & Hk1); [done|].
    pose proof (shape_ok _ _ _ _ _ HT Hb) as Hl1.
    pose proof (shape_word T D HT _ _ _ Hb) as (? & ? & ? & ?).
    assert (word_facts b k1 l1) by done.
    iMod (reached_learn _ _ _ b k1 with "HR") as (R1 HR1) "[HR #Hr1]"; [done|by exists k1, l1|].
    destruct (decide (encode_word k1 l1 = encode_word k l)) as [Heq|Hne].
    - apply word_inj in Heq as [-> ->]; [|done..].
      pose proof (split_new T D b k l HT Hb Hk) as Hnew.
      iDestruct (big_sepM_insert_acc with "HT") as "[Hb HT]"; [done|]. simpl.
      wp_cmpxchg_suc. iDestruct ("HT" $! (Datatypes.S k, (lhalves l).1) with "Hb") as "HT".
      iAssert ([∗ map] b ↦ w ∈ split_table T b k l, (bk +ₗ (b : nat)) ↦ #(encode_word w.1 w.2))%I
        with "[HT Hc]" as "HT".
      { iApply big_sepM_insert.
        { pose proof (round_pos k). rewrite lookup_insert_ne; [done|lia]. }
        iSplitL "Hc"; [iExact "Hc"|iExact "HT"]. }
      pose proof (split_shape T D b k l HT Hb Hk) as HT'.
      pose proof (split_reaches T D b k l HT Hb Hk) as Hmono.
      iDestruct (protocol_ext _ _ (copies (split_table T b k l) (split_levels D b k)) with "Hst")
        as "Hst".
      { intros fp x. by apply split_copies. }
      assert (reached_ok R1 (split_table T b k l)) as HR2.
      { intros b' k' ?. by apply Hmono, HR1. }
      pose proof (round_pos k).
      iMod (reached_learn _ _ _ b (Datatypes.S k) with "HR") as (R2 HR2') "[HR #Hr2]"; [done| |].
      { exists (Datatypes.S k), (lhalves l).1. split; [|done].
        rewrite /split_table lookup_insert_ne; [by rewrite lookup_insert|lia]. }
      iMod (reached_learn _ _ _ (b + first * 2 ^ k) 0 with "HR") as (R' HR') "[HR #Hr']"; [done| |].
      { exists (Datatypes.S k), (lhalves l).2. split; [by rewrite /split_table lookup_insert|lia]. }
      iModIntro. iSplitR "HΦ".
      + iNext. iExists _, _, S, R', z, h. iFrame. iPureIntro. unfold size_ok in *.
        split_and!; naive_solver.
      + iApply "HΦ". by iFrame "Hr1 Hr2 Hr'".
    - iDestruct (big_sepM_lookup_acc with "HT") as "[Hb HT]"; [done|]. simpl.
      wp_cmpxchg_fail. iDestruct ("HT" with "Hb") as "HT".
      iModIntro. iSplitR "HΦ Hc"; [iNext; iExists T, D, S, R1, z, h; by iFrame|].
      iApply "HΦ". iFrame "Hr1". iSplit; [done|]. iSplit; [done|]. by iExists _.
  Qed.

  (** A split preserves everything. Whatever it returns, the bucket has been split at this level. *)
  Lemma split_bucket_spec γ bk vs ls gs b k s :
    b < first * 2 ^ k → k < max_level → group (b / group_size) = s →
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ b k ∗ children γ bk s }}}
      split_bucket (table_val bk vs ls gs) #b #k
    {{{ (r : bool), RET #r; children γ bk s ∗
        reached γ b (Datatypes.S k) ∗ reached γ (b + first * 2 ^ k) (Datatypes.S k) }}}.
  Proof.
    iIntros (Hb Hk Hs Φ) "(#Hinv & #Hr & Hch) HΦ". wp_lam. wp_pures.
    iDestruct (children_acc _ _ _ b k with "Hch") as "[Hc Hch]"; [done..|].
    unfold word_of, table_val. wp_pures. fold (table_val bk vs ls gs).
    (* Whether the child is still out of reach shows in the level of the parent. *)
    wp_bind (! _)%E.
    iApply (wp_wand _ _ _ (λ w, ∃ k1 l, ⌜w = #(encode_word k1 l)⌝ ∗ ⌜k ≤ k1⌝ ∗
      ⌜word_facts b k1 l⌝ ∗ reached γ b k1 ∗
      if decide (k1 = k) then ∃ w : Z, (bk +ₗ (b + first * 2 ^ k)%nat) ↦ #w
      else child γ bk (b + first * 2 ^ k))%I with "[Hc]").
    { iDestruct "Hc" as "[Hc|#Hc]".
      - wp_apply (wp_load_word γ bk vs gs b k True (λ _ _, True)%I with "[$Hinv $Hr]").
        { iSplit; [done|]. by iIntros (k1 l C S _) "_ $". }
        iIntros (k1 l) "(% & % & Hr' & _)". iExists k1, l. iFrame "Hr'".
        do 3 (iSplit; [done|]). case_decide; [done|]. by iLeft.
      - iInv "Hinv"
          as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
        iDestruct (reached_knows with "HR Hr") as %(k1 & l & Hbl & Hk1); [done|].
        iDestruct (reached_knows with "HR Hc") as %(k2 & l2 & Hcl & _); [done|].
        destruct (shape_parent T D HT b k Hb) as (k3 & l3 & Hbl3 & ?); [by eexists|].
        rewrite Hbl in Hbl3. simplify_eq.
        iMod (reached_learn _ _ _ b k3 with "HR") as (R' HR') "[HR #Hr']";
          [done|by exists k3, l3|].
        iDestruct (big_sepM_lookup_acc _ _ b (k3, l3) with "HT") as "[Hb HT]"; [done|]. simpl.
        wp_load. iDestruct ("HT" with "Hb") as "HT".
        iModIntro. iSplitL; [iNext; iExists T, D, S, R', z, h; by iFrame|].
        iExists k3, l3. iFrame "Hr'". destruct (shape_word T D HT _ _ _ Hbl) as (? & ? & ? & ?).
        do 2 (iSplit; [done|]). iSplit.
        { iPureIntro. split_and!; try done. by eapply shape_ok. }
        rewrite decide_False; [|lia]. by iRight. }
    iIntros (?) "(%k1 & %l & -> & %Hk1 & %Hw & #Hr1 & Hc)".
    iAssert (∀ (r : bool) k', ⌜k < k'⌝ -∗ reached γ b k' -∗ children γ bk s ={⊤}=∗ Φ #r)%I
      with "[HΦ]" as "HΦ".
    { iIntros (r k' Hk') "#Hr' Hch".
      iMod (reached_split _ _ _ _ _ k with "Hinv Hr'") as "#[Hb' Hc']"; [done..|].
      iModIntro. iApply "HΦ". by iFrame "#∗". }
    iLöb as "IH" forall (k1 l Hk1 Hw) "Hr1". wp_rec. wp_pures.
    pose proof Hw as (_ & Hkm & Hl & Hours).
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    destruct (decide (k1 = k)) as [->|Hne]; last first.
    { rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
      iApply ("HΦ" with "[] Hr1"); [iPureIntro; lia|]. by iApply "Hch". }
    rewrite bool_decide_eq_true_2; [|done]. wp_pures.
    wp_apply halves_spec; [done..|]. iIntros "_". wp_pures.
    unfold word_of, table_val. wp_pures. fold (table_val bk vs ls gs).
    rewrite round_shift -Nat2Z.inj_add.
    iDestruct "Hc" as (w) "Hc". wp_store. wp_pures.
    wp_apply (wp_cas_split γ bk vs gs b k l with "[$Hinv $Hr1 $Hc]"); [done..|].
    iIntros (k2 l2 [|]) "(%Hk2 & %Hw2 & #Hr2 & Hc)"; wp_pures.
    { iDestruct "Hc" as "[#Hb' #Hc']".
      iApply ("HΦ" with "[] Hb'"); [iPureIntro; lia|]. iApply "Hch". by iRight. }
    iApply ("IH" with "[//] [//] Hch [Hc] HΦ Hr2"). case_decide; [done|]. by iLeft.
  Qed.

  (** Splits of neighbours, under the lock of their group. *)
  Lemma split_buckets_spec γ bk vs ls gs b last k g p :
    last ≤ first * 2 ^ k → k < max_level →
    (∀ b', b ≤ b' → b' < last → b' / group_size = g) →
    {{{ inv N (table_inv γ bk vs gs) ∗ split_to γ k p ∗ children γ bk (group g) }}}
      split_buckets (table_val bk vs ls gs) #b #last #k
    {{{ RET #(); children γ bk (group g) }}}.
  Proof.
    iIntros (Hlast Hk Hg Φ) "(#Hinv & #Hs & Hch) HΦ". iLöb as "IH" forall (b Hg).
    wp_rec. wp_pures. case_bool_decide as Hlt; wp_pures; [|by iApply "HΦ"].
    iPoseProof (split_to_reached _ _ _ b with "Hs") as "#Hr"; [lia|].
    wp_apply (split_bucket_spec γ bk vs ls gs b k (group g) with "[$Hinv $Hr $Hch]");
      [lia|done|by rewrite Hg; [|lia..]|].
    iIntros (r) "[Hch _]". wp_pures. replace (b + 1)%Z with (Z.of_nat (Datatypes.S b)) by lia.
    iApply ("IH" with "[] Hch HΦ"). iPureIntro. intros b' ??. apply Hg; lia.
  Qed.

  (** Splits that are due preserve everything. *)
  Theorem split_next_spec γ t :
    {{{ is_filter γ t }}} split_next t {{{ (r : bool), RET #r; True }}}.
  Proof.
    iIntros (Φ) "(%bk & %vs & %ls & %gs & -> & #Hinv & #Hls) HΦ". pose proof group_size_pos as Hg.
    wp_lam. unfold size_of, table_val. wp_pures. fold (table_val bk vs ls gs).
    wp_apply (wp_load_size with "Hinv"). iIntros (z) "#[Hs %Hz]". wp_pures.
    wp_apply level_of_spec; [done..|]. iIntros "_". wp_pures.
    case_bool_decide as Hmax; wp_pures; [by iApply "HΦ"|].
    assert (z.1 < max_level) as Hk.
    { destruct Hz as [Hle _]. assert (z.1 ≠ max_level) by (intros Heq; by rewrite Heq in Hmax).
      lia. }
    wp_lam. wp_pures. wp_apply level_of_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply split_of_spec; [done..|]. iIntros "_". wp_pures. rewrite round_shift.
    rewrite Z.quot_div_nonneg; [|lia..]. rewrite -Nat2Z.inj_div.
    set (g := z.2 / group_size).
    assert (∀ b, z.2 ≤ b → b < g * group_size + group_size → b / group_size = g) as Hgroup.
    { intros b Hb Hlt. symmetry. apply (Nat.div_unique b group_size g (b - g * group_size)).
      - lia.
      - pose proof (Nat.mul_div_le z.2 group_size). unfold g in *. lia. }
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ w, ∃ last : nat, ⌜w = #last ∧ last ≤ first * 2 ^ z.1 ∧
      last ≤ g * group_size + group_size⌝)%I).
    { case_bool_decide; wp_pures; iPureIntro; [exists (g * group_size + group_size)|eexists];
        (split; [|split]); try done; try lia. do 2 f_equal. lia. }
    iIntros (?) "(%last & -> & %Hround & %Hlast)". wp_pures.
    wp_apply group_spec; [done|]. iIntros "_". wp_pures.
    wp_apply (try_lock_spec with "Hls"); [apply group_lt|]. iIntros ([|]) "H"; wp_pures;
      [|by iApply "HΦ"].
    iDestruct "H" as (v) "[Ho Hch]".
    wp_apply level_of_spec; [done..|]. iIntros "_".
    wp_apply split_of_spec; [done..|]. iIntros "_".
    wp_apply (split_buckets_spec _ _ _ _ _ _ last _ g with "[$Hinv $Hs $Hch]"); [done..| |].
    { intros b ??. apply Hgroup; lia. }
    iIntros "Hch". wp_pures.
    wp_apply (unlock_spec with "[$Hls $Ho $Hch]"); [apply group_lt|]. iIntros "_". wp_pures.
    wp_apply (advance_size_spec with "Hinv"). iIntros "_". wp_pures. by iApply "HΦ".
  Qed.

  (** A split out of turn preserves everything. If it returns true, the bucket was split. *)
  Theorem split_out_of_turn_spec γ t b k :
    b < first * 2 ^ k →
    {{{ is_filter γ t ∗ reached γ b k }}}
      split_out_of_turn t #b #k
    {{{ (r : bool), RET #r; if r then
        reached γ b (Datatypes.S k) ∗ reached γ (b + first * 2 ^ k) (Datatypes.S k) else True }}}.
  Proof.
    iIntros (Hb Φ) "((%bk & %vs & %ls & %gs & -> & #Hinv & #Hls) & #Hr) HΦ".
    pose proof group_size_pos as Hg.
    wp_lam. unfold size_of, table_val. wp_pures. fold (table_val bk vs ls gs).
    wp_apply (wp_load_size with "Hinv"). iIntros (z) "#[Hs %Hz]". wp_pures.
    wp_apply level_of_spec; [done..|]. iIntros "_". wp_pures.
    case_bool_decide as Hmax; wp_pures; [by iApply "HΦ"|].
    wp_apply level_of_spec; [done..|]. iIntros "_". wp_pures.
    case_bool_decide as Hk; wp_pures; [|by iApply "HΦ"].
    assert (k < max_level) as Hlt.
    { injection Hk as Hk. apply Nat2Z.inj in Hk. destruct Hz as [Hle _].
      assert (z.1 ≠ max_level) by (intros Heq; by rewrite Heq in Hmax). lia. }
    rewrite Z.quot_div_nonneg; [|lia..]. rewrite -Nat2Z.inj_div.
    wp_apply group_spec; [done|]. iIntros "_". wp_pures.
    wp_apply (lock_spec with "Hls"); [apply group_lt|]. iIntros (v) "[Ho Hch]". wp_pures.
    wp_apply (split_bucket_spec with "[$Hinv $Hr $Hch]"); [done..|].
    iIntros (r) "(Hch & #Hb' & #Hc')". wp_pures.
    wp_apply (unlock_spec with "[$Hls $Ho $Hch]"); [apply group_lt|]. iIntros "_". wp_pures.
    wp_apply (advance_size_spec with "Hinv"). iIntros "_". wp_pures. iApply "HΦ".
    destruct r; [by iFrame "#"|done].
  Qed.
End proofs.
