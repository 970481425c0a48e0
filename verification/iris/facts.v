(** What threads learn of the protocol, and may rely on later. *)
From guira Require Export protocol.

Section facts.
  Context `{PR : !pairs, PG : !protocolG Σ}.
  Implicit Types (fp : Z) (b s v i : nat) (γ : names) (x : item) (d : phase).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state).

  (** Whoever holds a token and reads the version. *)
  Lemma learn_pair γ C S i q fp b u v d :
    S !! stripe fp b = Some (v, d) →
    protocol γ C S -∗ holds γ i q (fp, b) u ==∗
    protocol γ C S ∗ holds γ i q (fp, b) u ∗ knows γ (InPair fp b v).
  Proof.
    iIntros (HSs) "Hst Hx". iDestruct (holds_pair with "Hst Hx") as %[Hb Hpos].
    iFrame "Hx". iApply (state_learn with "Hst"). split; [done|]. exists v, d. auto.
  Qed.

  (** The first word has a match, or the second location has a copy. *)
  Lemma learn_other γ C S fp b v :
    b < locations →
    protocol γ C S -∗ knows γ (InPair fp b v) ==∗
    protocol γ C S ∗
      (⌜0 < C fp b⌝ ∨ knows γ (Stable fp (alt fp b) v) ∨ knows γ (Passed (stripe fp b) v)).
  Proof.
    iIntros (Hb) "Hst #Hf".
    iDestruct (state_knows with "Hst Hf") as %(_ & v' & d & HSs & [Hlt|[-> Hpos]]).
    - iMod (state_learn _ _ _ (Passed (stripe fp b) v) with "Hst") as "[$ #Hp]"; [|auto].
      by exists v', d.
    - destruct (decide (0 < C fp b)) as [|H0]; [by eauto|].
      iMod (state_learn _ _ _ (Stable fp (alt fp b) v') with "Hst") as "[$ #Hs]"; [|auto].
      split; [by apply alt_lt|]. exists v', d. rewrite stripe_alt; [|done]. split; [done|].
      right. split; [done|].
      assert (dooms S fp (alt fp b) ≤ dooms S fp b) as Hle.
      { unfold dooms. rewrite stripe_alt; [|done]. rewrite HSs. by apply one_if_alt. }
      unfold pair_copies in Hpos. case_decide; lia.
  Qed.

  Lemma learn_passed γ C S fp b v :
    protocol γ C S -∗ knows γ (Stable fp b v) ==∗
    protocol γ C S ∗ (⌜0 < C fp b⌝ ∨ knows γ (Passed (stripe fp b) v)).
  Proof.
    iIntros "Hst #Hf".
    iDestruct (state_knows with "Hst Hf") as %(_ & v' & d & HSs & [Hlt|[-> Hpos]]).
    - iMod (state_learn _ _ _ (Passed (stripe fp b) v) with "Hst") as "[$ #Hp]"; [|auto].
      by exists v', d.
    - iFrame. iLeft. iPureIntro. lia.
  Qed.

  Lemma passed_ne γ C S s v v' d :
    S !! s = Some (v', d) → protocol γ C S -∗ knows γ (Passed s v) -∗ ⌜v' ≠ v⌝.
  Proof.
    iIntros (HSs) "Hst Hp". iDestruct (state_knows with "Hst Hp") as %(v2 & d2 & HSs2 & Hlt).
    iPureIntro. rewrite HSs in HSs2. simplify_eq. lia.
  Qed.

  (** Under the lock, with nothing doomed, a copy that was seen stays. *)
  Lemma locked_learn γ C S fp b v d :
    b < locations → doomed d = None →
    protocol γ C S -∗ owns γ (stripe fp b) (v, d) ==∗
    protocol γ C S ∗ owns γ (stripe fp b) (v, d) ∗
      □ (⌜0 < C fp b⌝ → knows γ (Stable fp b v)).
  Proof.
    iIntros (Hb Hd) "Hst Ho". iDestruct (owns_state with "Hst Ho") as %HSs.
    destruct (decide (0 < C fp b)) as [Hpos|Hpos].
    - iMod (state_learn _ _ _ (Stable fp b v) with "Hst") as "[$ #Hf]".
      { split; [done|]. eexists _, _. split; [done|]. right. split; [done|].
        unfold dooms. rewrite HSs Hd. simpl. lia. }
      iFrame. by iIntros "!> !> _".
    - iFrame. by iIntros "!> !> %".
  Qed.

  Lemma locked_knows γ C S s fp b v d :
    s = stripe fp b →
    protocol γ C S -∗ owns γ s (v, d) -∗ knows γ (Stable fp b v) -∗ ⌜0 < C fp b⌝.
  Proof.
    iIntros (->) "Hst Ho #Hf". iDestruct (owns_state with "Hst Ho") as %HSs.
    iDestruct (state_knows with "Hst Hf") as %(_ & v' & d' & HSs' & Hpos).
    iPureIntro. rewrite HSs in HSs'. simplify_eq. lia.
  Qed.

  (** Under the lock, with an item doomed: what is seen of it stays, until it is cleared. *)
  Lemma doomed_learn γ C S fp b0 b v x :
    b < locations → stripe fp b0 = stripe fp b → 0 < C fp b →
    protocol γ C S -∗ owns γ (stripe fp b0) (v, Doomed x) ==∗
    protocol γ C S ∗ owns γ (stripe fp b0) (v, Doomed x) ∗ knows γ (Seen fp b v).
  Proof.
    iIntros (Hb Heq Hpos) "Hst Ho". iDestruct (owns_state with "Hst Ho") as %HSs.
    iFrame "Ho". iApply (state_learn with "Hst"). split; [done|]. rewrite -Heq.
    eexists _, _. split; [done|]. by right.
  Qed.

  Lemma doomed_knows γ C S fp b0 b v x :
    stripe fp b0 = stripe fp b →
    protocol γ C S -∗ owns γ (stripe fp b0) (v, Doomed x) -∗ knows γ (Seen fp b v) -∗
    ⌜0 < C fp b⌝.
  Proof.
    iIntros (Heq) "Hst Ho #Hf". iDestruct (owns_state with "Hst Ho") as %HSs.
    iDestruct (state_knows with "Hst Hf") as %(_ & v' & d & HSs' & Hpos).
    iPureIntro. rewrite -Heq HSs in HSs'. simplify_eq. destruct Hpos as [|[_ Hpos]]; [lia|].
    by apply Hpos.
  Qed.

  (** One of the two locations has the copy that is to be cleared. *)
  Lemma doomed_pair γ C S fp b v :
    b < locations →
    protocol γ C S -∗ owns γ (stripe fp b) (v, Doomed (fp, b)) -∗ ⌜0 < pair_copies C fp b⌝.
  Proof.
    iIntros (Hb) "Hst Ho". iDestruct (owns_state with "Hst Ho") as %HSs. unfold protocol.
    iDestruct "Hst" as "(%X & %F & _ & _ & _ & %Hgood & _)". iPureIntro.
    rewrite (good_exact _ _ _ Hgood fp b Hb). unfold spares. rewrite HSs. simpl.
    rewrite decide_True; [lia|apply same_refl].
  Qed.
End facts.
