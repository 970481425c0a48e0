(** How the size and the hint advance: they are sizes that the table has reached. *)
From guira Require Export writes.

Section proofs.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Local Existing Instance table_reached.
  Implicit Types (b k p x s : nat) (γ : table_names) (bk vs ls gs : loc).
  Implicit Types (T : gmap nat (nat * list Z)) (z : nat * nat).

  (** ** What is known of a size *)

  (** All buckets of a level are there, and the first [p] of them have been split at this level. *)
  Definition split_to γ k p : iProp Σ :=
    ∃ R, own (reached_name γ) (◯ R) ∗
      ⌜k ≤ max_level ∧ p ≤ first * 2 ^ k ∧ (∀ b, b < first * 2 ^ k → (b, k) ∈ R) ∧
        ∀ b, b < p → (b, Datatypes.S k) ∈ R⌝.
  Definition size_seen γ z : iProp Σ := split_to γ z.1 z.2 ∗ ⌜size_fits z⌝.

  Global Instance split_to_persistent γ k p : Persistent (split_to γ k p).
  Proof. apply _. Qed.
  Global Instance split_to_timeless γ k p : Timeless (split_to γ k p).
  Proof. apply _. Qed.

  Lemma size_learn γ R T z :
    reached_ok R T → size_ok T z →
    own (reached_name γ) (● R) ==∗
    ∃ R', ⌜reached_ok R' T⌝ ∗ own (reached_name γ) (● R') ∗ size_seen γ z.
  Proof.
    iIntros (HR (Hk & Hp & Hall & Hsplit)) "HR".
    set (R1 := list_to_set ((λ b, (b, z.1)) <$> seq 0 (first * 2 ^ z.1)) : gset (nat * nat)).
    set (R2 := list_to_set ((λ b, (b, Datatypes.S z.1)) <$> seq 0 z.2) : gset (nat * nat)).
    assert (∀ b k, (b, k) ∈ R1 ↔ k = z.1 ∧ b < first * 2 ^ z.1) as HR1.
    { intros b k. unfold R1. rewrite elem_of_list_to_set elem_of_list_fmap. split.
      - intros (b' & [= -> ->] & Hb%elem_of_seq). lia.
      - intros [-> ?]. exists b. split; [done|]. apply elem_of_seq. lia. }
    assert (∀ b k, (b, k) ∈ R2 ↔ k = Datatypes.S z.1 ∧ b < z.2) as HR2.
    { intros b k. unfold R2. rewrite elem_of_list_to_set elem_of_list_fmap. split.
      - intros (b' & [= -> ->] & Hb%elem_of_seq). lia.
      - intros [-> ?]. exists b. split; [done|]. apply elem_of_seq. lia. }
    iMod (own_update with "HR") as "[HR Hn]".
    { apply auth_update_alloc, (gset_local_update R ∅ (R1 ∪ R2 ∪ R)). set_solver. }
    iModIntro. iExists _. iFrame "HR". iSplit; [|iSplit; [|done]].
    - iPureIntro. intros b k. rewrite !elem_of_union HR1 HR2.
      intros [[[-> ?]|[-> ?]]|?]; [by apply Hall|by apply Hsplit|by apply HR].
    - iExists _. iFrame "Hn". iPureIntro. split_and!; [done|lia|..]; intros b Hb;
        rewrite !elem_of_union HR1 HR2; auto.
  Qed.

  Lemma split_to_reached γ k p b : b < first * 2 ^ k → split_to γ k p -∗ reached γ b k.
  Proof.
    iIntros (Hb) "(%R & HR & %Hk & %Hp & %Hall & _)". iApply (own_mono with "HR").
    apply auth_frag_mono, gset_included. specialize (Hall b Hb). set_solver.
  Qed.

  Lemma split_to_le γ k p p' : p' ≤ p → split_to γ k p -∗ split_to γ k p'.
  Proof.
    iIntros (Hle) "(%R & HR & %Hk & %Hp & %Hall & %Hsplit)". iExists R. iFrame. iPureIntro.
    split_and!; [done|lia|done|]. intros b Hb. apply Hsplit. lia.
  Qed.

  Lemma split_to_next γ k p :
    p < first * 2 ^ k →
    split_to γ k p -∗ reached γ p (Datatypes.S k) -∗ split_to γ k (Datatypes.S p).
  Proof.
    iIntros (Hlt) "(%R & HR & %Hk & %Hp & %Hall & %Hsplit) Hr". unfold reached.
    iCombine "HR Hr" as "HR". iExists _. iFrame "HR". iPureIntro.
    split_and!; [done|lia|..]; intros b Hb; rewrite gset_op elem_of_union; [auto|].
    destruct (decide (b = p)) as [->|]; [set_solver|]. left. apply Hsplit. lia.
  Qed.

  Lemma split_to_knows γ R T k p :
    reached_ok R T → own (reached_name γ) (● R) -∗ split_to γ k p -∗
    ⌜(∀ b, b < first * 2 ^ k → reaches T b k) ∧ ∀ b, b < p → reaches T b (Datatypes.S k)⌝.
  Proof.
    iIntros (HR) "HR (%R' & HR' & %Hk & %Hp & %Hall & %Hsplit)".
    iDestruct (own_valid_2 with "HR HR'") as %[Hin%gset_included _]%auth_both_valid_discrete.
    iPureIntro. split; intros b Hb; apply HR, Hin; auto.
  Qed.

  Lemma size_seen_ok γ R T z :
    reached_ok R T → own (reached_name γ) (● R) -∗ size_seen γ z -∗ ⌜size_ok T z⌝.
  Proof.
    iIntros (HR) "HR [Hs [%Hk %Hp]]". iDestruct (split_to_knows with "HR Hs") as %[??]; [done|].
    iPureIntro. done.
  Qed.

  (** A bucket that has been split at a level, and its child. *)
  Lemma reached_split γ bk vs gs b k k' :
    b < first * 2 ^ k → k < k' →
    inv N (table_inv γ bk vs gs) -∗ reached γ b k' ={⊤}=∗
    reached γ b (Datatypes.S k) ∗ reached γ (b + first * 2 ^ k) (Datatypes.S k).
  Proof.
    iIntros (Hb Hk) "#Hinv #Hr".
    iMod (reached_child _ _ _ _ _ _ k with "Hinv Hr") as "$"; [done..|].
    iInv "Hinv"
      as (T D S R z1 h1) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (reached_knows with "HR Hr") as %(k1 & l & Hbl & ?); [done|].
    iMod (reached_learn _ _ _ b (Datatypes.S k) with "HR") as (R' HR') "[HR $]"; [done| |].
    { exists k1, l. split; [done|lia]. }
    iModIntro. iSplitL; [|done]. iNext. iExists T, D, S, R', z1, h1. by iFrame.
  Qed.

  (** The size that follows once so many buckets of a round have been split. *)
  Definition next_size k p : nat * nat :=
    if decide (p = first * 2 ^ k) then (Datatypes.S k, 0) else (k, p).

  Lemma size_next γ bk vs gs k p :
    (p = first * 2 ^ k → k < max_level) →
    inv N (table_inv γ bk vs gs) -∗ split_to γ k p ={⊤}=∗ size_seen γ (next_size k p).
  Proof.
    iIntros (Hlast) "#Hinv #Hs". iPoseProof "Hs" as "(%R0 & _ & %Hk & %Hp & _)".
    iInv "Hinv"
      as (T D S R z1 h1) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (split_to_knows with "HR Hs") as %[Hall Hsplit]; [done|].
    assert (size_ok T (next_size k p)) as Hok.
    { unfold next_size. case_decide as Heq; unfold size_ok; cbn [fst snd].
      - pose proof (round_pos (Datatypes.S k)). split_and!; [by apply Hlast|done| |lia].
        intros b Hb. rewrite Nat.pow_succ_r' in Hb.
        destruct (decide (b < first * 2 ^ k)) as [Hlt|Hge]; [apply Hsplit; lia|].
        replace b with (b - first * 2 ^ k + first * 2 ^ k) by lia.
        destruct (Hsplit (b - first * 2 ^ k)) as (k' & l & Hbl & ?); [lia|].
        eapply (shape_child T D HT); [done|lia|lia].
      - split_and!; [done|lia|done|done]. }
    iMod (size_learn with "HR") as (R' HR') "[HR $]"; [done..|].
    iModIntro. iSplitL; [|done]. iNext. iExists T, D, S, R', z1, h1. by iFrame.
  Qed.

  (** ** The programs *)

  Lemma wp_load_size γ bk vs gs :
    {{{ inv N (table_inv γ bk vs gs) }}}
      ! #(gs +ₗ 0)
    {{{ z, RET #(size_val z); size_seen γ z }}}.
  Proof.
    iIntros (Φ) "#Hinv HΦ".
    iInv "Hinv"
      as (T D S R z1 h1) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    wp_load. iMod (size_learn _ _ _ z1 with "HR") as (R' HR') "[HR #Hs]"; [done..|].
    iModIntro. iSplitR "HΦ"; [iNext; iExists T, D, S, R', z1, h1; by iFrame|].
    iApply ("HΦ" with "Hs").
  Qed.

  (** Of the size, or of the hint. *)
  Lemma fetch_max_spec γ bk vs gs (i : Z) z :
    i = 0%Z ∨ i = 1%Z →
    {{{ inv N (table_inv γ bk vs gs) ∗ size_seen γ z }}}
      fetch_max #(gs +ₗ i) #(size_val z)
    {{{ RET #(); True }}}.
  Proof.
    iIntros (Hi Φ) "[#Hinv #Hs] HΦ". iLöb as "IH". wp_rec. wp_pures. wp_bind (! _)%E.
    iApply (wp_wand _ _ _ (λ w, ∃ n : Z, ⌜w = #n⌝)%I).
    { iInv "Hinv"
      as (T D S R z1 h1) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
      destruct Hi as [-> | ->]; wp_load; iModIntro;
        (iSplitL; [iNext; iExists T, D, S, R, z1, h1; by iFrame|by iExists _]). }
    iIntros (?) "[%n ->]". wp_pures. case_bool_decide; wp_pures; [by iApply "HΦ"|].
    wp_bind (CmpXchg _ _ _).
    iApply (wp_wand _ _ _ (λ w, ∃ (v : val) (r : bool), ⌜w = (v, #r)%V⌝)%I); last first.
    { iIntros (?) "(%w & %r & ->)". wp_pures. destruct r; wp_pures; [by iApply "HΦ"|].
      by iApply "IH". }
    iInv "Hinv"
      as (T D S R z1 h1) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iDestruct (size_seen_ok with "HR Hs") as %Hok; [done|].
    destruct Hi as [-> | ->].
    - destruct (decide (#(size_val z1) = #n)); [wp_cmpxchg_suc|wp_cmpxchg_fail]; iModIntro;
        (iSplitL; [|by iExists _, _]); iNext.
      + iExists T, D, S, R, z, h1. by iFrame.
      + iExists T, D, S, R, z1, h1. by iFrame.
    - destruct (decide (#(size_val h1) = #n)); [wp_cmpxchg_suc|wp_cmpxchg_fail]; iModIntro;
        (iSplitL; [|by iExists _, _]); iNext.
      + iExists T, D, S, R, z1, z. by iFrame.
      + iExists T, D, S, R, z1, h1. by iFrame.
  Qed.

  Lemma pass_spec γ bk vs ls gs k p :
    {{{ inv N (table_inv γ bk vs gs) ∗ split_to γ k p }}}
      pass (table_val bk vs ls gs) #k #p
    {{{ p', RET #p'; ⌜p ≠ p' → k < max_level⌝ ∗ split_to γ k p' }}}.
  Proof.
    iIntros (Φ) "[#Hinv #Hs] HΦ".
    iAssert (∃ p0, ⌜p0 ≠ p → k < max_level⌝ ∗
      ▷ ∀ p', ⌜p0 ≠ p' → k < max_level⌝ -∗ split_to γ k p' -∗ Φ #p')%I
      with "[HΦ]" as (p0 Hlt) "HΦ".
    { iExists p. iSplit; [iPureIntro; congruence|]. iIntros "!>" (p' ?) "#?". iApply "HΦ".
      by iSplit. }
    iLöb as "IH" forall (p Hlt) "Hs". wp_rec. wp_pures. rewrite round_shift.
    iPoseProof "Hs" as "(%R0 & _ & %Hk & %Hp & _)".
    case_bool_decide as Heq; wp_pures; [by iApply "HΦ"|].
    assert (p < first * 2 ^ k) as Hround.
    { assert (p ≠ first * 2 ^ k) by (intros ->; done). lia. }
    iPoseProof (split_to_reached with "Hs") as "#Hr"; [done|].
    unfold word_of, table_val. wp_pures. fold (table_val bk vs ls gs).
    wp_apply (wp_load_word γ bk vs gs p k True (λ _ _, True)%I with "[$Hinv $Hr]").
    { iSplit; [done|]. by iIntros (k1 l C S _) "_ $". }
    iIntros (k1 l) "(%Hk1 & (% & %Hmax & %Hl & _) & #Hr1 & _)".
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    case_bool_decide as Hlevel; wp_pures; [|by iApply "HΦ"].
    replace (p + 1)%Z with (Z.of_nat (Datatypes.S p)) by lia.
    iApply fupd_wp. iMod (reached_split _ _ _ _ p k with "Hinv Hr1") as "[#Hr2 _]"; [done|lia|].
    iModIntro. iApply ("IH" with "[] HΦ []"); [iPureIntro; lia|].
    by iApply (split_to_next with "Hs Hr2").
  Qed.

  Lemma pack_spec z :
    {{{ True }}} pack #z.1 #z.2 {{{ RET #(size_val z); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_lam. wp_pures. unfold size_val.
    replace (z.1 * all_buckets + z.2)%Z with (Z.of_nat (z.1 * all_buckets + z.2)) by lia.
    by iApply "HΦ".
  Qed.

  (** The hint lags behind the size, in the same round. *)
  Lemma hint_for_spec z :
    size_fits z →
    {{{ True }}} hint_for #(size_val z) {{{ p, RET #(size_val (pair z.1 p)); ⌜p ≤ z.2⌝ }}}.
  Proof.
    iIntros (Hz Φ) "_ HΦ". pose proof group_size_pos as Hg.
    wp_lam. wp_pures. wp_apply level_of_spec; [done..|]. iIntros "_". wp_pures.
    rewrite round_shift.
    assert (∃ step : nat, Z.quot (Z.of_nat (first * 2 ^ z.1)) (Z.of_nat hints_per_round) = step)
      as [step ->].
    { destruct (decide (hints_per_round = 0)) as [->|].
      - exists 0. by rewrite Z.quot_0_r_ext.
      - eexists. rewrite Z.quot_div_nonneg; [|lia..]. by rewrite -Nat2Z.inj_div. }
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ w, ∃ step : nat, ⌜w = #step ∧ 0 < step⌝)%I).
    { case_bool_decide; wp_pures; iPureIntro; eexists; (split; [done|]); lia. }
    clear step. iIntros (?) "(%step & -> & %Hstep)". wp_pures.
    wp_apply split_of_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply level_of_spec; [done..|]. iIntros "_".
    rewrite Z.quot_div_nonneg; [|lia..]. rewrite -Nat2Z.inj_div -Nat2Z.inj_mul.
    wp_apply (pack_spec (z.1, z.2 / step * step)); [done|]. iIntros "_". iApply "HΦ".
    iPureIntro. rewrite Nat.mul_comm. apply Nat.mul_div_le. lia.
  Qed.

  (** An advance of the size preserves everything. *)
  Lemma advance_size_spec γ bk vs ls gs :
    {{{ inv N (table_inv γ bk vs gs) }}}
      advance_size (table_val bk vs ls gs)
    {{{ RET #(); True }}}.
  Proof.
    iIntros (Φ) "#Hinv HΦ". iLöb as "IH". wp_rec. unfold size_of, table_val. wp_pures.
    fold (table_val bk vs ls gs).
    wp_apply (wp_load_size with "Hinv"). iIntros (z) "#[Hs %Hz]". wp_pures.
    wp_apply level_of_spec; [done..|]. iIntros "_". wp_pures.
    wp_apply split_of_spec; [done..|]. iIntros "_".
    wp_apply (pass_spec with "[$Hinv $Hs]"). iIntros (p) "[%Hlast #Hp]". wp_pures.
    wp_apply split_of_spec; [done..|]. iIntros "_". wp_pures.
    case_bool_decide as Heq; wp_pures; [by iApply "HΦ"|].
    assert (z.2 ≠ p) as Hne by (intros Hzp; by rewrite Hzp in Heq). specialize (Hlast Hne).
    iApply fupd_wp. iMod (size_next with "Hinv Hp") as "#[Hnext %Hfits]"; [done|]. iModIntro.
    rewrite round_shift.
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ w, ⌜w = #(size_val (next_size z.1 p))⌝)%I).
    { unfold next_size. case_decide as Hround; wp_pures.
      - subst p. rewrite bool_decide_eq_true_2; [|done]. wp_pures.
        replace (z.1 + 1)%Z with (Z.of_nat (Datatypes.S z.1)) by lia.
        by wp_apply (pack_spec (Datatypes.S z.1, 0)).
      - rewrite bool_decide_eq_false_2; [|intros [= ?%Nat2Z.inj]; done]. wp_pures.
        by wp_apply (pack_spec (z.1, p)). }
    iIntros (? ->). unfold hint_of, table_val. wp_pures. fold (table_val bk vs ls gs).
    wp_apply (fetch_max_spec with "[$Hinv]"); [by left|by iFrame "Hnext"|]. iIntros "_". wp_pures.
    wp_apply hint_for_spec; [done..|]. iIntros (h) "%Hh". wp_pures.
    wp_apply hint_for_spec; [done..|]. iIntros (h0) "_". wp_pures.
    wp_bind (if: _ then _ else _)%E. iApply (wp_wand _ _ _ (λ w, ⌜w = #()⌝)%I); last first.
    { iIntros (? ->). wp_pures. by iApply "IH". }
    case_bool_decide; wp_pures; [|done].
    unfold table_val. wp_pures. fold (table_val bk vs ls gs).
    wp_apply (fetch_max_spec with "[$Hinv]"); [by right| |done].
    iSplit; [by iApply (split_to_le with "Hnext")|]. iPureIntro. destruct Hfits as [??].
    split; cbn [fst snd]; lia.
  Qed.
End proofs.

#[global] Typeclasses Opaque split_to.
