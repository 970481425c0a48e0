(** The making of a table, and what the operations guarantee to clients that do not count items. *)
From guira Require Export moves splits.

(** * Construction *)

Section construction.
  Context `{HG : !heapGS Σ, LA : !layout, PR : !pairs, TG : !tableG Σ, HH : !hashes}.
  Context `{HS : !hash_specs Σ}.
  Local Existing Instance table_reached.
  Implicit Types (s c : nat) (γ : table_names).

  Lemma big_sepM_map_seq {A} (Φ : nat → A → iProp Σ) k (xs : list A) :
    ([∗ list] i ↦ x ∈ xs, Φ (k + i) x) ⊢ [∗ map] i ↦ x ∈ map_seq (M:=gmap nat A) k xs, Φ i x.
  Proof.
    revert k. induction xs as [|x xs IH]; intros k; simpl; [by rewrite big_sepM_empty|].
    iIntros "[Hx Hxs]". rewrite big_sepM_insert; last first.
    { apply lookup_map_seq_None. lia. }
    rewrite Nat.add_0_r. iFrame "Hx". iApply IH.
    iApply (big_sepL_mono with "Hxs"). iIntros (i y _) "H".
    by rewrite Nat.add_succ_r.
  Qed.

  Lemma big_sepL_seq_replicate {A} (Φ : nat → A → iProp Σ) (a : A) k n :
    ([∗ list] i ↦ x ∈ replicate n a, Φ (k + i) x) ⊢ [∗ list] i ∈ seq k n, Φ i a.
  Proof.
    revert k. induction n as [|n IH]; intros k; simpl; [done|].
    rewrite Nat.add_0_r. iIntros "[$ H]". iApply (IH (S k)).
    iApply (big_sepL_mono with "H"). iIntros (i ? _) "H". by rewrite Nat.add_succ_r.
  Qed.

  Lemma big_sepM_seq_replicate {A} (Φ : nat → A → iProp Σ) (a : A) n k :
    ([∗ map] i ↦ x ∈ map_seq (M:=gmap nat A) k (replicate n a), Φ i x) ⊢
    [∗ list] i ∈ seq k n, Φ i a.
  Proof.
    revert k. induction n as [|n IH]; intros k; simpl; [by iIntros|].
    iIntros "H". rewrite big_sepM_insert; last first.
    { apply lookup_map_seq_None. lia. }
    iDestruct "H" as "[$ H]". by iApply IH.
  Qed.

  (** The memory of each child goes to the lock of its parent's group. *)
  Lemma to_group (P : iProp Σ) g k n :
    P ⊢ [∗ list] s ∈ seq k n, ⌜g = s⌝ → P.
  Proof.
    revert k. induction n as [|n IH]; intros k; simpl; [by iIntros|].
    destruct (decide (g = k)) as [->|Hne].
    - iIntros "HP". iSplitL; [by iIntros|].
      iApply big_sepL_intro. iIntros "!>" (j s [-> ?]%lookup_seq Hs). lia.
    - iIntros "HP". iSplitR; [by iIntros (?)|]. by iApply IH.
  Qed.

  Lemma to_groups (Φ : nat → iProp Σ) (g : nat → nat) (cs : list nat) n :
    ([∗ list] c ∈ cs, Φ c) ⊢ [∗ list] s ∈ seq 0 n, [∗ list] c ∈ cs, ⌜g c = s⌝ → Φ c.
  Proof.
    induction cs as [|c cs IH]; simpl.
    - iIntros "_". iApply big_sepL_intro. iIntros "!>" (j s _). by rewrite /=.
    - iIntros "[Hc Hcs]". iApply (big_sepL_sep_2 with "[Hc]"); [by iApply to_group|by iApply IH].
  Qed.

  Lemma encode_zero : encode_word 0 [] = 0%Z.
  Proof. unfold encode_word. simpl. lia. Qed.

  Theorem new_table_spec :
    {{{ True }}} new_table #stripes {{{ γ t, RET t; is_filter γ t ∗ contents γ ∅ }}}.
  Proof.
    iIntros (Φ) "_ HΦ". pose proof (stripe_lt 0 0) as Hs. pose proof first_pos as Hf.
    pose proof (round_le 0 max_level (Nat.le_0_l _)) as Hall. rewrite Nat.mul_1_r in Hall.
    fold all_buckets in Hall.
    wp_lam. wp_pures.
    wp_apply wp_allocN; [lia|done|]. iIntros (bk) "[Hbk _]". wp_pures.
    wp_apply wp_allocN; [lia|done|]. iIntros (vs) "[Hvs _]". wp_pures.
    wp_apply wp_allocN; [lia|done|]. iIntros (ls) "[Hls _]". wp_pures.
    wp_apply wp_allocN; [lia|done|]. iIntros (gs) "[Hgs _]". wp_pures.
    rewrite !Nat2Z.id.
    set (T := map_seq (M:=gmap nat (nat * list Z)) 0 (replicate first (0, []))).
    set (S := map_seq (M:=gmap nat stripe_state) 0 (replicate stripes (0, Idle))).
    assert (∀ b w, T !! b = Some w ↔ w = (0, []) ∧ b < first) as HT.
    { intros b w. unfold T. rewrite lookup_map_seq_0. rewrite lookup_replicate. naive_solver. }
    assert (∀ s st, S !! s = Some st → st = (0, Idle)) as HS1.
    { intros s st. unfold S. rewrite lookup_map_seq_0. by intros [-> _]%lookup_replicate. }
    assert (shape T (λ _, 0)) as Hshape.
    { split.
      - intros x Hx. exists []. apply HT. split; [done|].
        pose proof (place_lt x 0). simpl in *. lia.
      - by intros b k l x [[= -> ->] ?]%HT.
      - intros b k l [[= -> ->] ?]%HT. simpl. split_and!; [lia..|constructor].
      - intros b k l j [[= -> ->] ?]%HT. lia.
      - intros b j Hb [w [-> ?]%HT]. pose proof (round_le 0 j). simpl in *. lia. }
    iMod (state_alloc (copies T (λ _, 0)) S) as (γp) "(Hst & HX & Hos)".
    { intros s Hs'. unfold S. rewrite lookup_map_seq_0. exists (0, Idle).
      by apply lookup_replicate. }
    { by intros s st ->%HS1. }
    { intros fp x. unfold copies. case_decide; [|done].
      destruct (T !! place x 0) as [[k l]|] eqn:Hw; [|done].
      by apply HT in Hw as [[= -> ->] _]. }
    iMod (own_alloc (● (∅ : gset (nat * nat)))) as (γr) "HR".
    { by apply auth_auth_valid. }
    set (γ := TableNames γp γr).
    assert (size_ok T (0, 0)) as Hsize.
    { unfold size_ok. simpl. split_and!; [lia..| |lia].
      intros b Hb. exists 0, []. split; [|done]. apply HT. split; [done|lia]. }
    assert (replicate all_buckets (#0 : val) =
      replicate first #0 ++ replicate (all_buckets - first) #0) as ->.
    { rewrite -replicate_add. f_equal. lia. }
    iDestruct (array_app with "Hbk") as "[Hbk Hch]". rewrite replicate_length.
    iDestruct "Hgs" as "Hgs". iEval (simpl; rewrite !array_cons array_nil) in "Hgs".
    iDestruct "Hgs" as "(Hz & Hh & _)".
    iMod (inv_alloc N _ (table_inv γ bk vs gs) with "[Hbk Hvs Hz Hh HR Hst]") as "#Hinv".
    { iNext. iExists T, (λ _, 0), S, ∅, (0, 0), (0, 0). iFrame "Hst HR".
      iSplit; [done|]. iSplit; [by iIntros|]. do 2 (iSplit; [done|]).
      iSplitL "Hbk"; [|iSplitL "Hvs"; [|iSplitL "Hz"]].
      - unfold T. iApply (big_sepM_map_seq (λ b w, (bk +ₗ b) ↦ #(encode_word w.1 w.2))%I).
        unfold array. simpl.
        replace (replicate first #0) with ((λ w : nat * list Z, #(encode_word w.1 w.2)) <$>
          replicate first (0, [])).
        { by rewrite big_sepL_fmap. }
        rewrite fmap_replicate. simpl. by rewrite encode_zero.
      - unfold S. rewrite big_sepM_fmap.
        iApply (big_sepM_map_seq (λ s st, (vs +ₗ s) ↦ #(st.1 : nat))%I).
        unfold array. rewrite -(fmap_replicate (λ st : stripe_state, #(st.1 : nat)) _ (0, Idle)).
        by rewrite big_sepL_fmap.
      - by rewrite loc_add_0.
      - done. }
    iAssert (|={⊤}=> [∗ list] s ∈ seq 0 stripes, inv Nlock (lock_inv γ bk ls s))%I
      with "[Hls Hos Hch]" as ">#Hlocks".
    { iApply big_sepL_fupd.
      iAssert ([∗ list] s ∈ seq 0 stripes, owns γ s (0, Idle))%I with "[Hos]" as "Hos".
      { by iApply (big_sepM_seq_replicate (λ s st, owns γ s st)). }
      iAssert ([∗ list] s ∈ seq 0 stripes, (ls +ₗ (s : nat)) ↦ #false)%I with "[Hls]" as "Hls".
      { by iApply (big_sepL_seq_replicate (λ s r, (ls +ₗ s) ↦ r)%I #false 0 with "Hls"). }
      iAssert ([∗ list] c ∈ seq first (all_buckets - first), child γ bk c)%I
        with "[Hch]" as "Hch".
      { iApply (big_sepL_seq_replicate (λ c r, child γ bk c)%I #0 first).
        unfold array. iApply (big_sepL_mono with "Hch").
        iIntros (i w [-> ?]%lookup_replicate) "H". iLeft. iExists 0%Z.
        by rewrite loc_add_assoc -Nat2Z.inj_add. }
      iDestruct (to_groups _ (λ c, group (parent c / group_size)) with "Hch") as "Hch".
      iDestruct (big_sepL_sep_2 with "Hls Hos") as "H".
      iDestruct (big_sepL_sep_2 with "H Hch") as "H".
      iApply (big_sepL_mono with "H"). iIntros (k s _) "[[Hl Ho] Hc]".
      iApply inv_alloc. iNext. iExists false. iFrame. by iExists 0. }
    iApply ("HΦ" $! γ). iFrame "HX". iExists bk, vs, ls, gs. by iFrame "#".
  Qed.

  (** A bucket of level 0 is there from the start. *)
  Lemma reached_root γ t b : b < first → is_filter γ t ={⊤}=∗ reached γ b 0.
  Proof.
    iIntros (Hb) "(%bk & %vs & %ls & %gs & -> & #Hinv & _)".
    iInv "Hinv" as (T D S R z h) "(>%HT & >%HR & >%Hz & >%Hh & >HT & >HS & >Hz & >Hh & >HR & >Hst)".
    iMod (reached_learn _ _ _ b 0 with "HR") as (R' HR') "[HR $]"; [done| |].
    { pose proof (round_le 0 z.1 (Nat.le_0_l _)) as Hle. simpl in Hle.
      destruct Hz as (_ & _ & Hz & _). destruct (Hz b) as (k & l & Hbl & _); [lia|].
      exists k, l. split; [done|lia]. }
    iModIntro. iSplitL; [|done]. iNext. iExists T, D, S, R', z, h. by iFrame.
  Qed.

  (** ** For clients that do not count items *)

  Definition is_open γ t : iProp Σ :=
    is_filter γ t ∗ inv (nroot .@ "contents") (∃ X, contents γ X).

  Theorem insert_open γ t y Φ :
    item_good y →
    is_open γ t -∗ (∀ r : bool, (if r then ∃ i, token γ i 1 y else True) -∗ Φ #r) -∗
    WP insert t (item_val y) {{ Φ }}.
  Proof.
    iIntros (Hy) "[#Ht #Hc] HΦ".
    awp_apply (insert_spec with "Ht"); [done|]. iInv "Hc" as (X) ">HX".
    iAaccIntro with "HX".
    { iIntros "HX !>". iSplitL "HX"; [by iExists X|]. by iFrame. }
    iIntros ([|]) "H !>".
    - iDestruct "H" as (i) "(_ & HX & Hy)". iSplitL "HX"; [iNext; by iExists _|].
      iApply "HΦ". by iExists i.
    - iSplitL "H"; [iNext; by iExists _|]. by iApply "HΦ".
  Qed.

  Theorem remove_open γ t i y Φ :
    is_open γ t ∗ token γ i 1 y -∗ (True -∗ Φ #true) -∗ WP remove t (item_val y) {{ Φ }}.
  Proof.
    iIntros "[[#Ht #Hc] Hy] HΦ".
    awp_apply (remove_spec with "Ht Hy"). iInv "Hc" as (X) ">HX".
    iAaccIntro with "HX".
    { iIntros "HX !>". iSplitL "HX"; [by iExists X|]. by iFrame. }
    iIntros "HX !>". iSplitL "HX"; [iNext; by iExists _|]. by iApply "HΦ".
  Qed.

  (** A move that stores an item hands out its token. *)
  Theorem stores_open γ t y x' :
    item_good y → is_open γ t -∗ stores γ (Some (y, x')) True (∃ i, token γ i 1 y).
  Proof.
    iIntros ([Hx Hfp]) "[_ #Hc]". destruct y as [fp x]. unfold item_ok in Hx.
    cbn [stores fst snd] in *. iIntros (C C' S x1 Hh Hm) "_ Hst".
    iInv "Hc" as (X) ">HX".
    iMod (state_add _ C C' S X fp x x1 with "Hst HX") as "(Hst & %i & _ & HX & Hy)"; [done..|].
    iModIntro. iSplitL "HX"; [iNext; by iExists _|]. iModIntro. iFrame "Hst". iExists i.
    iSplit; [done|]. by iExists false.
  Qed.
End construction.

#[global] Typeclasses Opaque token.
