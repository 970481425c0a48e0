(** The tree of buckets: what a change of a word does to it, and that a split preserves it. *)
From guira Require Export words pairs.

(** The buckets: their levels and slots. [D x] is the level of the bucket of a location. *)
Section shape.
  Context `{LA : !layout}.
  Implicit Types (fp : Z) (b k x j : nat) (l : list Z) (D : nat → nat).
  Implicit Types (T : gmap nat (nat * list Z)) (C : Z → nat → nat).

  Definition reaches T b k : Prop := ∃ k' l, T !! b = Some (k', l) ∧ k ≤ k'.

  Record shape T D : Prop := {
    shape_leaf x : x < all_buckets → ∃ l, T !! place x (D x) = Some (D x, l);
    shape_here b k l x : T !! b = Some (k, l) → x < all_buckets → place x k = b → D x = k;
    shape_word b k l : T !! b = Some (k, l) →
      b < first * 2 ^ k ∧ k ≤ max_level ∧ length l ≤ capacity ∧ ours b k l;
    shape_child b k l j : T !! b = Some (k, l) → b < first * 2 ^ j → j < k →
      reaches T (b + first * 2 ^ j) (S j);
    shape_parent b j : b < first * 2 ^ j → is_Some (T !! (b + first * 2 ^ j)) →
      reaches T b (S j);
  }.

  Definition copies T D fp x : nat :=
    if decide (fp_ok fp ∧ x < all_buckets) then
      match T !! place x (D x) with
      | Some (_, l) => cnt (slot_at fp x (D x)) l
      | None => 0
      end
    else 0.

  (** The numbers of copies in the locations of one bucket. *)
  Definition in_word C b k l : Prop :=
    ∀ fp x, fp_ok fp → x < all_buckets → place x k = b → C fp x = cnt (slot_at fp x k) l.
  Definition elsewhere C C' b k : Prop :=
    ∀ fp x, ¬ (fp_ok fp ∧ x < all_buckets ∧ place x k = b) → C' fp x = C fp x.

  Lemma shape_in_word T D b k l : shape T D → T !! b = Some (k, l) → in_word (copies T D) b k l.
  Proof.
    intros Hs Hb fp x Hfp Hx Hp. unfold copies. rewrite decide_True; [|done].
    rewrite (shape_here T D Hs b k l x); [|done..]. by rewrite Hp Hb.
  Qed.

  Lemma shape_ok T D b k l : shape T D → T !! b = Some (k, l) → word_ok l.
  Proof. intros Hs (? & ? & ? & ?)%(shape_word T D Hs). split; [done|]. by eapply ours_ok. Qed.

  (** A word is replaced by another one of its level. *)
  Lemma shape_update T D b k l l' :
    shape T D → T !! b = Some (k, l) → length l' ≤ capacity → ours b k l' →
    shape (<[b := (k, l')]> T) D.
  Proof.
    intros Hs Hb Hlen Hl'.
    assert (∀ b' k', reaches T b' k' → reaches (<[b := (k, l')]> T) b' k') as Hr.
    { intros b' k' (k1 & l1 & H1 & ?). destruct (decide (b' = b)) as [->|].
      - exists k1, l'. rewrite lookup_insert. split; [|done]. congruence.
      - exists k1, l1. by rewrite lookup_insert_ne. }
    split.
    - intros x Hx. destruct (shape_leaf T D Hs x Hx) as [l1 H1].
      destruct (decide (place x (D x) = b)) as [Heq|].
      + exists l'. rewrite Heq lookup_insert. f_equal. rewrite Heq Hb in H1. congruence.
      + exists l1. by rewrite lookup_insert_ne.
    - intros b' k' l1 x H1 Hx Hp. destruct (decide (b' = b)) as [->|].
      + rewrite lookup_insert in H1. simplify_eq. by eapply (shape_here T D Hs).
      + rewrite lookup_insert_ne in H1; [|done]. by eapply (shape_here T D Hs).
    - intros b' k' l1 H1. destruct (decide (b' = b)) as [->|].
      + rewrite lookup_insert in H1. simplify_eq.
        destruct (shape_word T D Hs _ _ _ Hb) as (? & ? & ? & ?). done.
      + rewrite lookup_insert_ne in H1; [|done]. by eapply (shape_word T D Hs).
    - intros b' k' l1 j H1 ??. apply Hr. destruct (decide (b' = b)) as [->|].
      + rewrite lookup_insert in H1. simplify_eq. by eapply (shape_child T D Hs).
      + rewrite lookup_insert_ne in H1; [|done]. by eapply (shape_child T D Hs).
    - intros b' j ? H1. apply Hr. apply (shape_parent T D Hs); [done|].
      destruct H1 as [w H1]. destruct (decide (b' + first * 2 ^ j = b)) as [Heq|].
      + rewrite Heq Hb. by eexists.
      + rewrite lookup_insert_ne in H1; [|done]. by eexists.
  Qed.

  Lemma update_elsewhere T D b k l l' :
    shape T D → T !! b = Some (k, l) →
    elsewhere (copies T D) (copies (<[b := (k, l')]> T) D) b k.
  Proof.
    intros Hs Hb fp x Hnot. unfold copies. case_decide as Hok; [|done].
    destruct (decide (place x (D x) = b)) as [Heq|Hne]; [|by rewrite lookup_insert_ne].
    exfalso. apply Hnot. split_and!; [tauto..|].
    destruct (shape_leaf T D Hs x) as [l1 H1]; [tauto|]. rewrite Heq Hb in H1. simplify_eq.
    congruence.
  Qed.

  Lemma update_reaches T b k l l' b' k' :
    T !! b = Some (k, l) → reaches T b' k' → reaches (<[b := (k, l')]> T) b' k'.
  Proof.
    intros Hb (k1 & l1 & H1 & ?). destruct (decide (b' = b)) as [->|].
    - exists k1, l'. rewrite lookup_insert. split; [|done]. congruence.
    - exists k1, l1. by rewrite lookup_insert_ne.
  Qed.

  (** ** Changes of a word *)

  Lemma cnt_place fp x k fp' x' b :
    fp_ok fp → fp_ok fp' → place x k = b → place x' k = b →
    slot_at fp x k = slot_at fp' x' k ↔ fp' = fp ∧ x' = x.
  Proof.
    intros. split; [|by intros [-> ->]]. intros [-> ->]%slot_at_inj; [done..|congruence].
  Qed.

  Lemma one_more_with C C' b k fp x l l' :
    fp_ok fp → x < all_buckets → place x k = b → lwith (slot_at fp x k) l = Some l' →
    in_word C b k l → in_word C' b k l' → elsewhere C C' b k → one_more fp x C C'.
  Proof.
    intros Hfp Hx Hp Hl Hin Hin' Hother fp' x'.
    destruct (decide (fp_ok fp' ∧ x' < all_buckets ∧ place x' k = b)) as [(Hfp' & Hx' & Hp')|Hnot].
    - rewrite (Hin' fp' x') // (Hin fp' x') // (lwith_Some _ _ _ _ Hl).
      pose proof (cnt_place fp x k fp' x' b Hfp Hfp' Hp Hp').
      repeat case_decide; tauto.
    - rewrite Hother; [|done]. rewrite decide_False; [lia|]. intros [-> ->]. tauto.
  Qed.

  Lemma one_more_clear C C' b k fp x l l' :
    fp_ok fp → x < all_buckets → k ≤ max_level → place x k = b →
    lchanged (slot_at fp x k) 0 l = Some l' →
    in_word C b k l → in_word C' b k l' → elsewhere C C' b k → one_more fp x C' C.
  Proof.
    intros Hfp Hx Hk Hp Hl Hin Hin' Hother fp' x'.
    destruct (decide (fp_ok fp' ∧ x' < all_buckets ∧ place x' k = b)) as [(Hfp' & Hx' & Hp')|Hnot].
    - rewrite (Hin' fp' x') // (Hin fp' x') //.
      pose proof (cnt_place fp x k fp' x' b Hfp Hfp' Hp Hp').
      pose proof (slot_at_ok fp' x' k Hfp' Hx' Hk) as [??].
      assert (slot_at fp' x' k ≠ 0%Z) as Hne by lia.
      pose proof (lchanged_Some _ _ _ _ Hl _ Hne) as Hc. rewrite decide_False in Hc; [|done].
      repeat case_decide; try lia; exfalso; intuition congruence.
    - rewrite Hother; [|done]. rewrite decide_False; [lia|]. intros [-> ->]. tauto.
  Qed.

  (** The counts between the two halves of a replacement. *)
  Definition one_less fp x C : Z → nat → nat :=
    λ fp' x', C fp' x' - (if decide (fp' = fp ∧ x' = x) then 1 else 0).

  Lemma one_more_less fp x C : 0 < C fp x → one_more fp x (one_less fp x C) C.
  Proof. intros ? fp' x'. unfold one_less. case_decide; naive_solver lia. Qed.

  Lemma one_more_replace C C' b k fp x fp1 x1 l l' :
    fp_ok fp → x < all_buckets → place x k = b →
    fp_ok fp1 → x1 < all_buckets → place x1 k = b → k ≤ max_level →
    lchanged (slot_at fp x k) (slot_at fp1 x1 k) l = Some l' → 0 < C fp x →
    in_word C b k l → in_word C' b k l' → elsewhere C C' b k →
    one_more fp1 x1 (one_less fp x C) C'.
  Proof.
    intros Hfp Hx Hp Hfp1 Hx1 Hp1 Hk Hl Hpos Hin Hin' Hother fp' x'. unfold one_less.
    destruct (decide (fp_ok fp' ∧ x' < all_buckets ∧ place x' k = b)) as [(Hfp' & Hx' & Hp')|Hnot].
    - rewrite (Hin' fp' x') // (Hin fp' x') //. rewrite (Hin fp x) // in Hpos.
      pose proof (cnt_place fp x k fp' x' b Hfp Hfp' Hp Hp').
      pose proof (cnt_place fp1 x1 k fp' x' b Hfp1 Hfp' Hp1 Hp').
      pose proof (slot_at_ok fp' x' k Hfp' Hx' Hk) as [??].
      assert (slot_at fp' x' k ≠ 0%Z) as Hne by lia.
      pose proof (lchanged_Some _ _ _ _ Hl _ Hne) as Hc.
      repeat case_decide; try lia; try (exfalso; intuition congruence);
        destruct_and?; subst; lia.
    - rewrite Hother; [|done]. rewrite !decide_False; [lia|..]; intros [-> ->]; tauto.
  Qed.

  (** ** Splits *)

  Lemma child_inj b b' j k :
    b < first * 2 ^ k → b' < first * 2 ^ j → b' + first * 2 ^ j = b + first * 2 ^ k →
    j = k ∧ b' = b.
  Proof.
    intros Hb Hb' Heq. assert (j < k ∨ j = k ∨ k < j) as [Hlt|[->|Hlt]] by lia.
    - exfalso. assert (first * 2 ^ S j ≤ first * 2 ^ k) as Hle by (apply round_le; lia).
      rewrite Nat.pow_succ_r' in Hle. lia.
    - lia.
    - exfalso. assert (first * 2 ^ S k ≤ first * 2 ^ j) as Hle by (apply round_le; lia).
      rewrite Nat.pow_succ_r' in Hle. lia.
  Qed.

  Lemma place_child x b k :
    b < first * 2 ^ k → place x (S k) = b ∨ place x (S k) = b + first * 2 ^ k → place x k = b.
  Proof.
    intros Hb Hx. rewrite place_next in Hx. pose proof (place_lt x k).
    destruct (Nat.odd _); lia.
  Qed.

  Definition split_table T b k l : gmap nat (nat * list Z) :=
    <[b + first * 2 ^ k := (S k, (lhalves l).2)]> (<[b := (S k, (lhalves l).1)]> T).
  Definition split_levels D b k : nat → nat := λ x, if decide (place x k = b) then S k else D x.

  Section split.
    Context T D b k l (Hs : shape T D) (Hb : T !! b = Some (k, l)) (Hk : k < max_level).
    Local Set Default Proof Using "All".
    Let c := b + first * 2 ^ k.
    Let T' := split_table T b k l.
    Let D' := split_levels D b k.

    Lemma split_new : T !! c = None.
    Proof.
      destruct (shape_word T D Hs _ _ _ Hb) as (Hlt & _).
      destruct (T !! c) eqn:Hc; [|done].
      destruct (shape_parent T D Hs b k Hlt) as (k' & l' & H' & ?); [by eexists|].
      rewrite Hb in H'. simplify_eq. lia.
    Qed.

    Lemma split_cases b' :
      b' = c ∧ T' !! b' = Some (S k, (lhalves l).2) ∨
      b' = b ∧ T' !! b' = Some (S k, (lhalves l).1) ∨
      b' ≠ c ∧ b' ≠ b ∧ T' !! b' = T !! b'.
    Proof.
      unfold T', split_table. fold c. pose proof (round_pos k).
      destruct (decide (b' = c)) as [->|Hc]; [left; by rewrite lookup_insert|right].
      rewrite lookup_insert_ne; [|done].
      destruct (decide (b' = b)) as [->|]; [left; by rewrite lookup_insert|right].
      by rewrite lookup_insert_ne.
    Qed.

    Lemma split_reaches b' k' : reaches T b' k' → reaches T' b' k'.
    Proof.
      pose proof split_new as Hnew. unfold reaches.
      intros (k1 & l1 & Hw1 & ?). destruct (split_cases b') as [[-> Hc]|[[-> Hc]|(? & ? & Hc)]];
        rewrite Hc; simplify_eq; eauto with lia.
    Qed.

    Lemma split_shape : shape T' D'.
    Proof.
      pose proof split_new as Hnew. pose proof split_cases as Hcases.
      pose proof split_reaches as Hmono. pose proof (round_pos k) as Hpos.
      destruct (shape_word T D Hs _ _ _ Hb) as (Hlt & _ & Hlen & Hours).
      pose proof (halves_length l) as [??].
      destruct (halves_ours b k l Hk Hours) as [??].
      assert (∀ x, x < all_buckets → place x k = b → D x = k) as Hat.
      { intros x ??. by eapply (shape_here T D Hs). }
      split.
      - intros x Hx. unfold D', split_levels. case_decide as Hp.
        + pose proof (place_next x k) as Hn. rewrite Hp in Hn.
          destruct (Nat.odd _); [|rewrite Nat.add_0_r in Hn]; rewrite Hn.
          * destruct (Hcases (b + first * 2 ^ k)) as [[_ ->]|[[? _]|(Hne & _)]]; [eauto|lia|done].
          * destruct (Hcases b) as [[? _]|[[_ ->]|(_ & ? & _)]]; [unfold c in *; lia|eauto|done].
        + destruct (shape_leaf T D Hs x Hx) as [l1 Hw1]. exists l1.
          destruct (Hcases (place x (D x))) as [[Heq _]|[[Heq _]|(_ & _ & ->)]]; [| |done].
          * rewrite Heq Hnew in Hw1. done.
          * rewrite Heq Hb in Hw1. by simplify_eq.
      - intros b' k' l1 x Hw1 Hx Hp. unfold D', split_levels.
        destruct (Hcases b') as [[Heq Hc]|[[Heq Hc]|(? & ? & Hc)]]; rewrite Hc in Hw1; simplify_eq.
        + rewrite decide_True; [done|]. by apply place_child; auto.
        + rewrite decide_True; [done|]. by apply place_child; auto.
        + pose proof (shape_here T D Hs _ _ _ x Hw1 Hx eq_refl). rewrite decide_False; [done|].
          intros Hpb. pose proof (Hat x Hx Hpb). assert (k' = k) as -> by congruence. done.
      - intros b' k' l1 Hw1.
        destruct (Hcases b') as [[Heq Hc]|[[Heq Hc]|(? & ? & Hc)]]; rewrite Hc in Hw1; simplify_eq.
        + split_and!; try done; try lia. simpl. unfold c. lia.
        + split_and!; try done; try lia. simpl. lia.
        + by eapply (shape_word T D Hs).
      - intros b' k' l1 j Hw1 Hj Hjk.
        destruct (Hcases b') as [[Heq Hc]|[[Heq Hc]|(? & ? & Hc)]]; rewrite Hc in Hw1; simplify_eq.
        + pose proof (round_le j k). unfold c in *. lia.
        + destruct (decide (j = k)) as [->|].
          * exists (S k), (lhalves l).2. split; [|done].
            destruct (Hcases c) as [[_ ?]|[[? _]|(? & _)]]; [done|unfold c in *; lia|done].
          * apply Hmono. eapply (shape_child T D Hs); [done|done|lia].
        + apply Hmono. by eapply (shape_child T D Hs).
      - intros b' j Hj [w Hw].
        destruct (Hcases (b' + first * 2 ^ j)) as [[Heq Hc]|[[Heq Hc]|(? & ? & Hc)]].
        + unfold c in Heq. apply child_inj in Heq as [-> ->]; [|done..].
          destruct (Hcases b) as [[? _]|[[_ ?]|(_ & ? & _)]]; [unfold c in *; lia| |done].
          by exists (S k), (lhalves l).1.
        + apply Hmono. apply (shape_parent T D Hs); [done|]. rewrite Heq Hb. by eexists.
        + apply Hmono. apply (shape_parent T D Hs); [done|]. rewrite -Hc Hw. by eexists.
    Qed.

    (** A split changes the content of no location. *)
    Lemma split_copies fp x : copies T' D' fp x = copies T D fp x.
    Proof.
      pose proof split_new as Hnew. pose proof split_cases as Hcases. pose proof (round_pos k).
      destruct (shape_word T D Hs _ _ _ Hb) as (Hlt & _ & Hlen & Hours).
      unfold copies. case_decide as Hok; [|done]. destruct Hok as [Hfp Hx].
      unfold D', split_levels. case_decide as Hp.
      - rewrite (shape_here T D Hs _ _ _ x Hb Hx Hp) Hp Hb.
        rewrite (halves_cnt b k l fp x Hk Hours Hfp Hp).
        pose proof (place_next x k) as Hn. rewrite Hp in Hn. rewrite Hn.
        destruct (Nat.odd _); [|rewrite Nat.add_0_r].
        + destruct (Hcases (b + first * 2 ^ k)) as [[_ ->]|[[? _]|(Hne & _)]]; [done|lia|done].
        + destruct (Hcases b) as [[? _]|[[_ ->]|(_ & ? & _)]]; [unfold c in *; lia|done|done].
      - destruct (shape_leaf T D Hs x Hx) as [l1 Hw1].
        destruct (Hcases (place x (D x))) as [[Heq _]|[[Heq _]|(_ & _ & ->)]]; [| |done].
        + rewrite Heq Hnew in Hw1. done.
        + rewrite Heq Hb in Hw1. by simplify_eq.
    Qed.
  End split.
End shape.
