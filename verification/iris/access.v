(** Single accesses to the table: its invariant, and a lemma for each kind of load. *)
From guira Require Export facts shape programs.

Class tableG Σ := TableG {
  table_protocol :> protocolG Σ;
  table_reached : inG Σ (authR (gsetUR (nat * nat)));
}.
Local Existing Instance table_reached.
Definition tableΣ : gFunctors := #[protocolΣ; GFunctor (authR (gsetUR (nat * nat)))].
Global Instance subG_tableΣ {Σ} : subG tableΣ Σ → tableG Σ.
Proof. solve_inG. Qed.

Record table_names := TableNames { protocol_names :> names; reached_name : gname }.


Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Local Existing Instance table_reached.
  Implicit Types (fp : Z) (b k x s v i : nat) (γ : table_names) (l : list Z).
  Implicit Types (bk vs ls gs : loc) (d : phase) (D : nat → nat).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (T : gmap nat (nat * list Z)).

  Definition N := nroot .@ "filter".
  Definition Nlock := nroot .@ "lock".

  (** Bucket [b] has been reached at level [k]. *)
  Definition reached γ b k : iProp Σ := own (reached_name γ) (◯ {[ (b, k) ]}).
  Definition reached_ok (R : gset (nat * nat)) T : Prop := ∀ b k, (b, k) ∈ R → reaches T b k.

  (** A size: the level of a round, and the number of buckets that have been split in it. *)
  Definition size_val (z : nat * nat) : Z := Z.of_nat (z.1 * all_buckets + z.2).
  Definition size_ok T (z : nat * nat) : Prop :=
    z.1 ≤ max_level ∧ z.2 < first * 2 ^ z.1 ∧
    (∀ b, b < first * 2 ^ z.1 → reaches T b z.1) ∧ ∀ b, b < z.2 → reaches T b (Datatypes.S z.1).

  Definition table_inv γ bk vs gs : iProp Σ :=
    ∃ T D S R z h,
      ⌜shape T D⌝ ∗ ⌜reached_ok R T⌝ ∗ ⌜size_ok T z⌝ ∗ ⌜size_ok T h⌝ ∗
      ([∗ map] b ↦ w ∈ T, (bk +ₗ (b : nat)) ↦ #(encode_word w.1 w.2)) ∗
      ([∗ map] s ↦ v ∈ fst <$> S, (vs +ₗ (s : nat)) ↦ #(v : nat)) ∗
      (gs +ₗ 0) ↦ #(size_val z) ∗ (gs +ₗ 1) ↦ #(size_val h) ∗
      own (reached_name γ) (● R) ∗ protocol γ (copies T D) S.

  (** A child whose parent has not been split is memory of the parent's lock. *)
  Definition parent c : nat := c - first * 2 ^ Nat.log2 (c / first).
  Definition child γ bk c : iProp Σ := (∃ w : Z, (bk +ₗ (c : nat)) ↦ #w) ∨ reached γ c 0.
  Definition children γ bk s : iProp Σ :=
    [∗ list] c ∈ seq first (all_buckets - first),
      ⌜group (parent c / group_size) = s⌝ → child γ bk c.

  Definition lock_inv γ bk ls s : iProp Σ :=
    ∃ locked : bool, (ls +ₗ s) ↦ #locked ∗
      if locked then True else (∃ v, owns γ s (v, Idle)) ∗ children γ bk s.

  Definition table_val bk vs ls gs : val := (#bk, #vs, #ls, #gs)%V.

  Definition is_filter γ (t : val) : iProp Σ :=
    ∃ bk vs ls gs, ⌜t = table_val bk vs ls gs⌝ ∗ inv N (table_inv γ bk vs gs) ∗
      [∗ list] s ∈ seq 0 stripes, inv Nlock (lock_inv γ bk ls s).

  Global Instance is_filter_persistent γ t : Persistent (is_filter γ t).
  Proof. apply _. Qed.
  Global Instance reached_persistent γ b k : Persistent (reached γ b k).
  Proof. apply _. Qed.
  Global Instance reached_timeless γ b k : Timeless (reached γ b k).
  Proof. apply _. Qed.

  (** ** Buckets that have been reached *)

  Lemma reached_learn γ R T b k :
    reached_ok R T → reaches T b k →
    own (reached_name γ) (● R) ==∗
    ∃ R', ⌜reached_ok R' T⌝ ∗ own (reached_name γ) (● R') ∗ reached γ b k.
  Proof.
    iIntros (HR Hb) "HR".
    iMod (own_update with "HR") as "[HR Hb]".
    { apply auth_update_alloc, (gset_local_update R ∅ ({[(b, k)]} ∪ R)). set_solver. }
    iModIntro. iExists _. iFrame "HR". iSplit.
    - iPureIntro. intros b' k' [[= -> ->]%elem_of_singleton|?]%elem_of_union; [done|by apply HR].
    - iApply (own_mono with "Hb"). apply auth_frag_mono, gset_included. set_solver.
  Qed.

  Lemma reached_knows γ R T b k :
    reached_ok R T → own (reached_name γ) (● R) -∗ reached γ b k -∗ ⌜reaches T b k⌝.
  Proof.
    iIntros (HR) "HR Hb".
    iDestruct (own_valid_2 with "HR Hb") as %[Hin%gset_included _]%auth_both_valid_discrete.
    iPureIntro. apply HR. set_solver.
  Qed.

  Lemma reached_child γ bk vs gs b k j E :
    ↑N ⊆ E → b < first * 2 ^ j → j < k →
    inv N (table_inv γ bk vs gs) -∗ reached γ b k ={E}=∗
    reached γ (b + first * 2 ^ j) (Datatypes.S j).
  Proof.
    iIntros (HE Hb Hj) "#Hinv #Hr".
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (reached_knows with "HR Hr") as %(k' & l & Hk & ?); [done|].
    iMod (reached_learn _ _ _ (b + first * 2 ^ j) (Datatypes.S j) with "HR")
      as (R' HR') "[HR $]"; [done|eapply shape_child; [done..|lia]|].
    iModIntro. iSplitL; [|done]. iNext. iExists T, D, S, R', z, h. by iFrame.
  Qed.

  (** ** Loads *)

  Definition word_facts b k l : Prop :=
    b < first * 2 ^ k ∧ k ≤ max_level ∧ word_ok l ∧ ours b k l.

  Lemma wp_load_word_step γ bk vs gs b k0 (P : iProp Σ) (Q : nat → list Z → iProp Σ) :
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ b k0 ∗ P ∗
        (∀ k l C S, ⌜in_word C b k l⌝ -∗ P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          ∃ S', ⌜fst <$> S' = fst <$> S⌝ ∗ protocol γ C S' ∗ Q k l) }}}
      ! #(bk +ₗ b)
    {{{ k l, RET #(encode_word k l);
        ⌜k0 ≤ k⌝ ∗ ⌜word_facts b k l⌝ ∗ reached γ b k ∗ Q k l }}}.
  Proof.
    iIntros (Φ) "(#Hinv & #Hr & HP & Hook) HΦ".
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (reached_knows with "HR Hr") as %(k & l & Hb & Hk); [done|].
    iDestruct (big_sepM_lookup_acc with "HT") as "[Hb HT]"; [done|]. simpl.
    wp_load. iDestruct ("HT" with "Hb") as "HT".
    iMod ("Hook" $! k l with "[] HP Hst") as (S' HSS) "[Hst HQ]".
    { iPureIntro. by apply shape_in_word. }
    iMod (reached_learn _ _ _ b k with "HR") as (R' HR') "[HR #Hr']"; [done|by exists k, l|].
    rewrite -HSS.
    iModIntro. iSplitR "HΦ HQ"; [iNext; iExists T, D, S', R', z, h; by iFrame|].
    iApply "HΦ". iFrame "HQ Hr'". iPureIntro. split; [done|].
    destruct (shape_word T D HT _ _ _ Hb) as (? & ? & ? & ?). split_and!; try done.
    by eapply shape_ok.
  Qed.

  Lemma wp_load_word γ bk vs gs b k0 (P : iProp Σ) (Q : nat → list Z → iProp Σ) :
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ b k0 ∗ P ∗
        (∀ k l C S, ⌜in_word C b k l⌝ -∗ P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          protocol γ C S ∗ Q k l) }}}
      ! #(bk +ₗ b)
    {{{ k l, RET #(encode_word k l);
        ⌜k0 ≤ k⌝ ∗ ⌜word_facts b k l⌝ ∗ reached γ b k ∗ Q k l }}}.
  Proof.
    iIntros (Φ) "(#Hinv & #Hr & HP & Hook) HΦ".
    iApply (wp_load_word_step _ _ _ _ _ _ P Q with "[$Hinv $Hr $HP Hook] HΦ").
    iIntros (k l C S Hin) "HP Hst". iMod ("Hook" with "[//] HP Hst") as "[Hst HQ]".
    iExists S. by iFrame.
  Qed.

  (** What is known of a location that was loaded: [l] are the slots of its bucket. *)
  Definition seen γ x k l : iProp Σ :=
    ⌜word_facts (place x k) k l⌝ ∗ reached γ (place x k) k.

  Lemma descend_spec x k k' :
    k ≤ k' →
    {{{ True }}} descend #x #(place x k) #k #k'
    {{{ k1, RET #k1;
        ⌜place x k1 = place x k ∧ k1 = k' ∨ place x k1 ≠ place x k ∧
         ∃ j, k1 = Datatypes.S j ∧ k ≤ j < k' ∧ place x j = place x k⌝ }}}.
  Proof.
    iIntros (Hk Φ) "_ HΦ". remember (place x k) as b eqn:Hb.
    assert (∃ k2, k ≤ k2 ≤ k' ∧ place x k2 = b ∧ k2 = k) as (k2 & Hk2 & Hp2 & Heq2) by eauto.
    rewrite -{2}Heq2. clear Heq2. iLöb as "IH" forall (k2 Hk2 Hp2). wp_rec. wp_pures.
    destruct (decide (k2 = k')) as [->|Hne].
    { rewrite bool_decide_eq_true_2; [|done]. wp_pures. iApply "HΦ". iPureIntro. by left. }
    rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
    replace (k2 + 1)%Z with (Z.of_nat (Datatypes.S k2)) by lia.
    wp_apply place_of_spec; [done|]. iIntros "_". wp_pures.
    destruct (decide (place x (Datatypes.S k2) = b)) as [Hp|Hp].
    - rewrite bool_decide_eq_true_2; [|by rewrite Hp]. wp_pures.
      iApply ("IH" with "[] [//] HΦ"). iPureIntro. lia.
    - rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
      iApply "HΦ". iPureIntro. right. split; [done|]. exists k2. split_and!; [done|lia..|done].
  Qed.

  (** The load of a location: the level in the word decides. *)
  Lemma follow_step γ bk vs ls gs x k0 (P : iProp Σ) (Q : nat → list Z → iProp Σ) :
    x < all_buckets →
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ (place x k0) k0 ∗ P ∗
        □ (∀ k l C S, ⌜in_word C (place x k) k l⌝ -∗ P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          ∃ S', ⌜fst <$> S' = fst <$> S⌝ ∗ protocol γ C S' ∗ Q k l) }}}
      follow (table_val bk vs ls gs) #x #k0
    {{{ k l, RET (#(place x k), #(encode_word k l)); seen γ x k l ∗ Q k l }}}.
  Proof.
    iIntros (Hx Φ) "(#Hinv & #Hr & HP & #Hook) HΦ". iLöb as "IH" forall (k0) "Hr".
    wp_rec. wp_pures. wp_apply place_of_spec; [done|]. iIntros "_". wp_pures.
    unfold word_of, table_val. wp_pures.
    wp_apply (wp_load_word_step γ bk vs gs _ k0 P
      (λ k l, if decide (place x k = place x k0) then Q k l else P)%I with "[$Hinv $Hr $HP]").
    { iIntros (k l C S Hin) "HP Hst". case_decide as Heq; [|iExists S; by iFrame].
      rewrite -Heq in Hin. by iApply ("Hook" with "[//] HP Hst"). }
    iIntros (k l) "(%Hk & %Hfacts & #Hr' & HQ)". wp_pures.
    destruct Hfacts as (? & ? & ? & ?).
    wp_apply level_spec; [done..|]. iIntros "_".
    wp_apply descend_spec; [done..|]. iIntros (k1 Hk1). wp_pures.
    wp_apply place_of_spec; [done|]. iIntros "_". wp_pures.
    destruct Hk1 as [[Heq ->]|(Hne & j & -> & [Hj0 Hj] & Hpj)].
    - rewrite bool_decide_eq_true_2; [|by rewrite Heq]. wp_pures.
      rewrite decide_True; [|done]. rewrite -Heq. iApply "HΦ". iFrame "HQ". rewrite Heq.
      iModIntro. rewrite /seen Heq. iFrame "Hr'". done.
    - rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
      iMod (reached_child _ _ _ _ _ _ j with "Hinv Hr'") as "#Hc"; [done| |done|].
      { rewrite -Hpj. apply place_lt. }
      rewrite decide_False; last first.
      { intros Heq. apply Hne. rewrite -(place_place x (Datatypes.S j) k); [|lia].
        rewrite Heq. apply place_idem. pose proof (place_lt x k0).
        pose proof (round_le k0 (Datatypes.S j)). lia. }
      iApply ("IH" with "HQ HΦ").
      rewrite place_next Hpj. pose proof (place_next x j). case_match; [done|].
      exfalso. apply Hne. lia.
  Qed.

  Lemma follow_spec γ bk vs ls gs x k0 (P : iProp Σ) (Q : nat → list Z → iProp Σ) :
    x < all_buckets →
    {{{ inv N (table_inv γ bk vs gs) ∗ reached γ (place x k0) k0 ∗ P ∗
        □ (∀ k l C S, ⌜in_word C (place x k) k l⌝ -∗ P -∗ protocol γ C S ={⊤ ∖ ↑N}=∗
          protocol γ C S ∗ Q k l) }}}
      follow (table_val bk vs ls gs) #x #k0
    {{{ k l, RET (#(place x k), #(encode_word k l)); seen γ x k l ∗ Q k l }}}.
  Proof.
    iIntros (Hx Φ) "(#Hinv & #Hr & HP & #Hook) HΦ".
    iApply (follow_step _ _ _ _ _ _ _ P Q with "[$Hinv $Hr $HP] HΦ"); [done|].
    iIntros "!>" (k l C S Hin) "HP Hst". iMod ("Hook" with "[//] HP Hst") as "[Hst HQ]".
    iExists S. by iFrame.
  Qed.
End proofs.

#[global] Typeclasses Opaque reached.
