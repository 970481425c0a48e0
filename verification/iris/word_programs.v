(** The programs on words, and that they compute the functions on lists. *)
From guira Require Export words.

Notation "e1 `land` e2" := (BinOp AndOp e1%E e2%E) (at level 40) : expr_scope.

Section programs.
  Context `{LA : !layout}.

  Definition low : val := λ: "w", "w" `land` #(Z.ones (Z.of_nat width)).
  Definition level : val := λ: "w", "w" ≫ #(width * capacity)%nat.
  Definition slots : val := λ: "w", "w" `land` #(Z.ones (Z.of_nat (width * capacity))).
  (** The empty word of a level. *)
  Definition empty_word : val := λ: "level", "level" ≪ #(width * capacity)%nat.

  (** Of the slots of a word, without its level. *)
  Definition matches_in : val := rec: "matches" "s" "w" :=
    if: "w" = #0 then #false else
    if: low "w" = "s" then #true else "matches" "s" ("w" ≫ #width).

  Definition with_in : val := rec: "with" "k" "s" "w" :=
    if: "k" = #0 then NONE else
    if: "w" = #0 then SOME "s" else
    match: "with" ("k" - #1) "s" ("w" ≫ #width) with
      NONE => NONE
    | SOME "r" => SOME (low "w" + ("r" ≪ #width))
    end.

  Definition changed_in : val := rec: "changed" "s" "new" "w" :=
    if: "w" = #0 then NONE else
    let: "here" := low "w" in
    if: "here" = "s" then
      if: "new" = #0 then SOME ("w" ≫ #width) else SOME ("w" - "here" + "new")
    else
    match: "changed" "s" "new" ("w" ≫ #width) with
      NONE => NONE
    | SOME "r" => SOME ("here" + ("r" ≪ #width))
    end.

  Definition halves_in : val := rec: "halves" "w" :=
    if: "w" = #0 then (#0, #0) else
    let: "r" := "halves" ("w" ≫ #width) in
    let: "s" := low "w" in
    let: "tail" := "s" ≫ #core_bits in
    let: "next" := ("s" `land` #(Z.ones (Z.of_nat core_bits))) + (("tail" ≫ #1) ≪ #core_bits) in
    if: ("tail" `land` #1) = #1 then (Fst "r", "next" + (Snd "r" ≪ #width))
    else ("next" + (Fst "r" ≪ #width), Snd "r").

  (** Whether a word has this slot. *)
  Definition matches : val := λ: "s" "w", matches_in "s" (slots "w").
  (** The word with one more slot, or NONE. *)
  Definition with_slot : val := λ: "s" "w",
    match: with_in #capacity "s" (slots "w") with
      NONE => NONE
    | SOME "r" => SOME ("r" + empty_word (level "w"))
    end.
  (** The word without a slot, or with another one in its place, or NONE. *)
  Definition changed : val := λ: "s" "new" "w",
    match: changed_in "s" "new" (slots "w") with
      NONE => NONE
    | SOME "r" => SOME ("r" + empty_word (level "w"))
    end.
  (** What stays, and what goes to the child. *)
  Definition halves : val := λ: "w",
    let: "r" := halves_in (slots "w") in
    let: "level" := level "w" + #1 in
    (Fst "r" + empty_word "level", Snd "r" + empty_word "level").

  (** The bucket of a location at a level, and the slot of a fingerprint there. *)
  Definition place_of : val := λ: "x" "level", "x" `rem` (#first ≪ "level").
  Definition encode_slot : val := λ: "fp" "x" "level",
    "fp" + (("x" `quot` (#first ≪ "level")) + (#marker ≪ (#max_level - "level"))) ≪ #core_bits.
End programs.

Section specs.
  Context `{LA : !layout, HG : !heapGS_gen hlc Σ}.
  Implicit Types (fp s n : Z) (x k b : nat) (l : list Z).

  Definition some_word (r : option (list Z)) : val :=
    match r with None => NONEV | Some l => SOMEV #(enc l) end.
  Definition some_level k (r : option (list Z)) : val :=
    match r with None => NONEV | Some l => SOMEV #(encode_word k l) end.

  Lemma enc_not_zero s l :
    slot_ok s → Forall slot_ok l →
    bool_decide (#(s + 2 ^ Z.of_nat width * enc l) = #0) = false.
  Proof.
    intros [??] Hok. pose proof (enc_nonneg l Hok). pose proof base_pos.
    apply bool_decide_eq_false_2. intros Heq. inversion Heq. nia.
  Qed.

  Lemma low_spec s e :
    (0 ≤ s < 2 ^ Z.of_nat width)%Z →
    {{{ True }}} low #(s + 2 ^ Z.of_nat width * e) {{{ RET #s; True }}}.
  Proof. iIntros (? Φ) "_ HΦ". wp_lam. wp_pures. rewrite land_low; [|done]. by iApply "HΦ". Qed.

  Lemma matches_in_spec s l :
    Forall slot_ok l →
    {{{ True }}} matches_in #s #(enc l) {{{ RET #(has_slot s l); True }}}.
  Proof.
    iIntros (Hok Φ) "_ HΦ". iInduction Hok as [|s' l Hs' Hok] "IH" forall (Φ).
    { wp_rec. wp_pures. by iApply "HΦ". }
    pose proof Hs' as [??].
    wp_rec. wp_pures. simpl. rewrite enc_not_zero; [|done..]. wp_pures.
    wp_apply low_spec; [lia|done|]. iIntros "_". wp_pures.
    rewrite has_slot_cons. destruct (decide (s' = s)) as [->|Hne].
    - rewrite bool_decide_eq_true_2; [|done]. wp_pures. by iApply "HΦ".
    - rewrite bool_decide_eq_false_2; [|congruence]. wp_pures.
      rewrite shift_high; [|lia]. by wp_apply "IH".
  Qed.

  Lemma with_in_spec k s l :
    Forall slot_ok l →
    {{{ True }}} with_in #k #s #(enc l)
    {{{ RET some_word (if decide (length l < k) then Some (l ++ [s]) else None); True }}}.
  Proof.
    iIntros (Hok Φ) "_ HΦ". iInduction Hok as [|s' l Hs' Hok] "IH" forall (k Φ).
    { wp_rec. wp_pures. case_bool_decide; wp_pures; simpl.
      - rewrite decide_False; [by iApply "HΦ"|]. simplify_eq/=. lia.
      - rewrite decide_True; [|destruct k; [done|lia]]. simpl. rewrite Z.mul_0_r Z.add_0_r.
        by iApply "HΦ". }
    pose proof Hs' as [??].
    wp_rec. wp_pures. case_bool_decide as Hk; wp_pures; simpl.
    { rewrite decide_False; [by iApply "HΦ"|]. simplify_eq/=. lia. }
    rewrite enc_not_zero; [|done..]. wp_pures.
    rewrite shift_high; [|lia].
    destruct k as [|k]; [done|]. replace (S k - 1)%Z with (Z.of_nat k) by lia.
    wp_apply "IH". iIntros "_". destruct (decide (length l < k)); simpl; wp_pures.
    - wp_apply low_spec; [lia|done|]. iIntros "_". wp_pures.
      rewrite decide_True; [|lia]. simpl. rewrite Z.shiftl_mul_pow2; [|lia].
      rewrite (Z.mul_comm (enc _)). by iApply "HΦ".
    - rewrite decide_False; [|lia]. by iApply "HΦ".
  Qed.

  Lemma changed_in_spec s n l :
    Forall slot_ok l →
    {{{ True }}} changed_in #s #n #(enc l) {{{ RET some_word (lchanged s n l); True }}}.
  Proof.
    iIntros (Hok Φ) "_ HΦ". iInduction Hok as [|s' l Hs' Hok] "IH" forall (Φ).
    { wp_rec. wp_pures. by iApply "HΦ". }
    pose proof Hs' as [??].
    wp_rec. wp_pures. simpl. rewrite enc_not_zero; [|done..]. wp_pures.
    wp_apply low_spec; [lia|done|]. iIntros "_". wp_pures.
    case_bool_decide as Heq; wp_pures.
    - simplify_eq. rewrite decide_True; [|done]. case_bool_decide as Hn; wp_pures.
      + simplify_eq. rewrite shift_high; [|lia]. simpl. by iApply "HΦ".
      + rewrite decide_False; [|congruence]. simpl.
        replace (s + 2 ^ Z.of_nat width * enc l - s + n)%Z
          with (n + 2 ^ Z.of_nat width * enc l)%Z by lia.
        by iApply "HΦ".
    - rewrite decide_False; [|congruence]. rewrite shift_high; [|lia].
      wp_apply "IH". iIntros "_". destruct (lchanged s n l) as [l'|]; simpl; wp_pures.
      + rewrite Z.shiftl_mul_pow2; [|lia]. rewrite (Z.mul_comm (enc l')). by iApply "HΦ".
      + by iApply "HΦ".
  Qed.

  Lemma halves_in_spec l :
    Forall slot_ok l →
    {{{ True }}} halves_in #(enc l)
    {{{ RET (#(enc (lhalves l).1), #(enc (lhalves l).2)); True }}}.
  Proof.
    iIntros (Hok Φ) "_ HΦ". iInduction Hok as [|s l Hs Hok] "IH" forall (Φ).
    { wp_rec. wp_pures. by iApply "HΦ". }
    pose proof Hs as [??].
    wp_rec. wp_pures. simpl. rewrite enc_not_zero; [|done..]. wp_pures.
    rewrite shift_high; [|lia]. wp_apply "IH". iIntros "_". wp_pures.
    wp_apply low_spec; [lia|done|]. iIntros "_". wp_pures.
    assert (Z.land s (Z.ones (Z.of_nat core_bits)) +
      Z.shiftl (Z.shiftr (Z.shiftr s (Z.of_nat core_bits)) 1) (Z.of_nat core_bits) = lnext s)%Z
      as ->.
    { unfold lnext. rewrite Z.land_ones; [|lia]. rewrite Z.shiftl_mul_pow2; [|lia].
      rewrite !Z.shiftr_div_pow2; [|lia..]. change (2 ^ 1)%Z with 2%Z.
      by rewrite (Z.mul_comm (_ / _ / _)). }
    assert (bool_decide (#(Z.land (Z.shiftr s (Z.of_nat core_bits)) 1) = #1) = lgoes s) as ->.
    { unfold lgoes. rewrite Z.shiftr_div_pow2; [|lia].
      change 1%Z with (Z.ones 1) at 1. rewrite Z.land_ones; [|lia]. change (2 ^ 1)%Z with 2%Z.
      rewrite Zmod_odd. by destruct (Z.odd _). }
    destruct (lgoes s); wp_pures; rewrite Z.shiftl_mul_pow2; try lia;
      rewrite (Z.mul_comm (enc _)); by iApply "HΦ".
  Qed.

  Lemma slots_spec k l :
    word_ok l → {{{ True }}} slots #(encode_word k l) {{{ RET #(enc l); True }}}.
  Proof.
    iIntros (? Φ) "_ HΦ". wp_lam. wp_pures. rewrite slots_word; [|done]. by iApply "HΦ".
  Qed.

  Lemma level_spec k l :
    word_ok l → {{{ True }}} level #(encode_word k l) {{{ RET #k; True }}}.
  Proof.
    iIntros (? Φ) "_ HΦ". wp_lam. wp_pures. rewrite level_word; [|done]. by iApply "HΦ".
  Qed.

  Lemma empty_word_spec k :
    {{{ True }}} empty_word #k {{{ RET #(2 ^ Z.of_nat (width * capacity) * Z.of_nat k); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_lam. wp_pures. rewrite Z.shiftl_mul_pow2; [|lia].
    rewrite Z.mul_comm. by iApply "HΦ".
  Qed.

  Lemma matches_spec s k l :
    word_ok l →
    {{{ True }}} matches #s #(encode_word k l) {{{ RET #(has_slot s l); True }}}.
  Proof.
    iIntros (Hl Φ) "_ HΦ". wp_lam. wp_pures. wp_apply slots_spec; [done..|]. iIntros "_".
    wp_apply matches_in_spec; [apply Hl|done|]. done.
  Qed.

  Lemma with_slot_spec s k l :
    word_ok l →
    {{{ True }}} with_slot #s #(encode_word k l) {{{ RET some_level k (lwith s l); True }}}.
  Proof.
    iIntros (Hl Φ) "_ HΦ". wp_lam. wp_pures. wp_apply slots_spec; [done..|]. iIntros "_".
    wp_apply (with_in_spec capacity); [apply Hl|done|]. iIntros "_". unfold lwith.
    case_decide; simpl; wp_pures; [|by iApply "HΦ"].
    wp_apply level_spec; [done..|]. iIntros "_". wp_apply empty_word_spec; [done|]. iIntros "_".
    wp_pures. by iApply "HΦ".
  Qed.

  Lemma changed_spec s n k l :
    word_ok l →
    {{{ True }}} changed #s #n #(encode_word k l) {{{ RET some_level k (lchanged s n l); True }}}.
  Proof.
    iIntros (Hl Φ) "_ HΦ". wp_lam. wp_pures. wp_apply slots_spec; [done..|]. iIntros "_".
    wp_apply changed_in_spec; [apply Hl|done|]. iIntros "_".
    destruct (lchanged s n l); simpl; wp_pures; [|by iApply "HΦ"].
    wp_apply level_spec; [done..|]. iIntros "_". wp_apply empty_word_spec; [done|]. iIntros "_".
    wp_pures. by iApply "HΦ".
  Qed.

  Lemma halves_spec k l :
    word_ok l →
    {{{ True }}} halves #(encode_word k l)
    {{{ RET (#(encode_word (S k) (lhalves l).1), #(encode_word (S k) (lhalves l).2)); True }}}.
  Proof.
    iIntros (Hl Φ) "_ HΦ". wp_lam. wp_pures. wp_apply slots_spec; [done..|]. iIntros "_".
    wp_apply halves_in_spec; [apply Hl|done|]. iIntros "_". wp_pures.
    wp_apply level_spec; [done..|]. iIntros "_". wp_pures.
    replace (k + 1)%Z with (Z.of_nat (S k)) by lia.
    wp_apply empty_word_spec; [done|]. iIntros "_". wp_pures.
    wp_apply empty_word_spec; [done|]. iIntros "_". wp_pures. by iApply "HΦ".
  Qed.

  Lemma round_shift k : Z.shiftl first k = Z.of_nat (first * 2 ^ k).
  Proof.
    rewrite Z.shiftl_mul_pow2; [|lia]. rewrite Nat2Z.inj_mul Nat2Z.inj_pow. done.
  Qed.

  Lemma place_of_spec x k :
    {{{ True }}} place_of #x #k {{{ RET #(place x k); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_lam. wp_pures. rewrite round_shift. pose proof (round_pos k).
    rewrite Z.rem_mod_nonneg; [|lia..]. rewrite -Nat2Z.inj_mod. by iApply "HΦ".
  Qed.

  Lemma encode_slot_spec fp x k :
    k ≤ max_level →
    {{{ True }}} encode_slot #fp #x #k {{{ RET #(slot_at fp x k); True }}}.
  Proof.
    iIntros (Hk Φ) "_ HΦ". wp_lam. wp_pures. rewrite round_shift. pose proof (round_pos k).
    rewrite Z.quot_div_nonneg; [|lia..]. rewrite -Nat2Z.inj_div.
    replace (max_level - k)%Z with (Z.of_nat (max_level - k)) by lia.
    rewrite (Z.shiftl_mul_pow2 marker); [|lia].
    rewrite (Z.shiftl_mul_pow2 _ core_bits); [|lia].
    replace (Z.of_nat (x `div` (first * 2 ^ k)) + marker * 2 ^ Z.of_nat (max_level - k))%Z
      with (Z.of_nat (tail x k)); last first.
    { unfold tail. rewrite Nat2Z.inj_add Nat2Z.inj_mul Nat2Z.inj_pow. done. }
    rewrite Z.mul_comm. by iApply "HΦ".
  Qed.
End specs.
