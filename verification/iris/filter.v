(** The filter: what each operation guarantees. *)
From iris.bi.lib Require Import fractional.
From iris.heap_lang Require Import proofmode notation.
From guira Require Export table.
From iris.prelude Require Import options.

Section proofs.
  Context `{HG : !heapGS Σ, PR : !pairs, PG : !protocolG Σ, HH : !hashes, HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b s v i : nat) (γ : names) (l : list Z) (bk vs ls : loc).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (T : gmap nat (list Z)).

  (** ** Tokens *)

  Definition item_good (x : item) : Prop := item_ok x ∧ fp_ok x.1.

  (** A share of the token of one inserted copy. *)
  Definition token γ i (q : Qp) (x : item) : iProp Σ := ⌜item_good x⌝ ∗ holds γ i q x.

  Global Instance token_timeless γ i q x : Timeless (token γ i q x).
  Proof. apply _. Qed.
  Global Instance token_fractional γ i x : Fractional (λ q, token γ i q x).
  Proof.
    intros q1 q2. unfold token. iSplit.
    - iIntros "[% [H1 H2]]". by iFrame.
    - iIntros "[[% H1] [_ H2]]". iSplit; [done|]. iCombine "H1 H2" as "H". by iFrame.
  Qed.
  Global Instance token_as_fractional γ i q x :
    AsFractional (token γ i q x) (λ q, token γ i q x) q.
  Proof. split; [done|apply _]. Qed.

  Definition item_val (x : item) : val := (#x.1, #x.2)%V.

  (** ** Lookups *)

  Local Set Default Proof Using "Type*".

  Lemma see_stable γ C S fp b v l :
    fp ≠ 0%Z → word_at C b l →
    protocol γ C S -∗ knows γ (Stable fp b v) ==∗
    protocol γ C S ∗ (⌜0 < cnt fp l⌝ ∨ knows γ (Passed (stripe fp) v)).
  Proof.
    iIntros (Hfp Hat) "Hst #Hf".
    iDestruct (state_knows with "Hst Hf") as %(v' & d & HSs & [Hlt|[-> Hpos]]).
    - iMod (state_learn _ _ _ (Passed (stripe fp) v) with "Hst") as "[$ #Hp]".
      { by exists v', d. }
      by iRight.
    - iFrame. iLeft. iPureIntro. unfold stable in Hpos. rewrite Hat in Hpos; [lia|done].
  Qed.

  Lemma wp_load_seek γ bk vs fp b b' v :
    fp ≠ 0%Z → b < buckets →
    {{{ inv N (table_inv γ bk vs) ∗ knows γ (Stable fp b' v) }}}
      ! #(bk +ₗ b)
    {{{ l, RET #(enc l); ⌜word_ok l⌝ ∗
        (⌜b' = b⌝ → ⌜0 < cnt fp l⌝ ∨ knows γ (Passed (stripe fp) v)) }}}.
  Proof.
    iIntros (Hfp Hb Φ) "[#Hinv #Hf] HΦ".
    iApply (wp_load_word _ _ _ _
      (λ l, ⌜b' = b⌝ → ⌜0 < cnt fp l⌝ ∨ knows γ (Passed (stripe fp) v))%I with "[]"); [done|..].
    { iFrame "Hinv". iIntros (l C S Hat) "Hst".
      destruct (decide (b' = b)) as [->|Hne].
      - iMod (see_stable with "Hst Hf") as "[$ H]"; [done..|]. by iIntros "!> _".
      - iFrame. by iIntros "!> %". }
    done.
  Qed.

  (** A lookup by the holder of a token, or of a share of it, is a hit. *)
  Theorem contains_spec γ t i q x :
    {{{ is_filter γ t ∗ token γ i q x }}}
      contains t (item_val x)
    {{{ RET #true; token γ i q x }}}.
  Proof.
    iIntros (Φ) "[(%bk & %vs & %ls & -> & #Hinv & _) [[%Hb %Hfp] Hx]] HΦ".
    destruct x as [fp b]. unfold item_ok in Hb. unfold item_val. simpl in *.
    assert (fp ≠ 0%Z) as Hfp0 by (unfold fp_ok in Hfp; lia).
    iLöb as "IH". wp_rec. wp_pures.
    wp_apply (alt_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (stripe_spec with "[//]"); [done..|]. iIntros "_".
    unfold version_of. wp_pures.
    wp_apply (wp_load_version _ _ _ _
      (λ v, holds γ i q (fp, b) ∗ ∃ b', ⌜home (fp, b) b'⌝ ∗ knows γ (Stable fp b' v))%I
      with "[Hx]"); [apply stripe_lt|..].
    { iFrame "Hinv". iIntros (v d C S HSs) "Hst".
      iDestruct (holds_stable with "Hst Hx") as %(b' & Hh & Hpos).
      iMod (state_learn _ _ _ (Stable fp b' v) with "Hst") as "[$ #Hf]".
      { exists v, d. naive_solver. }
      iModIntro. iFrame. iExists b'. by iSplit. }
    iIntros (v) "[Hx (%b' & %Hh & #Hf)]". wp_pures.
    unfold word_of. wp_pures.
    wp_apply (wp_load_seek _ _ _ fp b b' v); [done..|by iFrame "#"|].
    iIntros (l1) "[%Hl1 #H1]". wp_pures.
    wp_apply (wp_load_seek _ _ _ fp (alt fp b) b' v); [done|by apply alt_lt|by iFrame "#"|].
    iIntros (l2) "[%Hl2 #H2]". wp_pures.
    wp_apply (wp_load_version _ _ _ _
      (λ v', ⌜0 < cnt fp l1 ∨ 0 < cnt fp l2 ∨ v' ≠ v⌝)%I); [apply stripe_lt|..].
    { iFrame "Hinv". iIntros (v' d C S HSs) "Hst".
      iAssert (⌜0 < cnt fp l1 ∨ 0 < cnt fp l2⌝ ∨ knows γ (Passed (stripe fp) v))%I as "#[%|Hp]".
      { destruct Hh as [-> | ->].
        - iDestruct ("H1" with "[//]") as "[%|$]". iLeft. by iLeft.
        - iDestruct ("H2" with "[//]") as "[%|$]". iLeft. by iRight. }
      - iFrame. iPureIntro. tauto.
      - iDestruct (state_knows with "Hst Hp") as %(v2 & d2 & HSs2 & Hlt).
        iFrame. iPureIntro. simplify_eq. right. right. lia. }
    iIntros (v') "%Hfound". wp_pures.
    wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
    case_bool_decide as H1; wp_pures.
    { iApply "HΦ". by iFrame. }
    wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
    case_bool_decide as H2; wp_pures.
    { iApply "HΦ". by iFrame. }
    rewrite bool_decide_eq_false_2; [|intros [=]; lia]. wp_pures.
    by iApply ("IH" with "Hx HΦ").
  Qed.

  (** Any other lookup returns something. *)
  Theorem contains_any_spec γ t x :
    item_good x →
    {{{ is_filter γ t }}} contains t (item_val x) {{{ (r : bool), RET #r; True }}}.
  Proof.
    iIntros ([Hb Hfp] Φ) "(%bk & %vs & %ls & -> & #Hinv & _) HΦ".
    destruct x as [fp b]. unfold item_ok in Hb. unfold item_val. simpl in *.
    iLöb as "IH". wp_rec. wp_pures.
    wp_apply (alt_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (stripe_spec with "[//]"); [done..|]. iIntros "_".
    unfold version_of. wp_pures.
    wp_apply (wp_load_version _ _ _ _ (λ _, True)%I); [apply stripe_lt|..].
    { iFrame "Hinv". iIntros (v d C S HSs) "$". done. }
    iIntros (v) "_". wp_pures. unfold word_of. wp_pures.
    wp_apply (wp_load_word _ _ _ _ (λ _, True)%I); [done|..].
    { iFrame "Hinv". iIntros (l C S Hat) "$". done. }
    iIntros (l1) "[%Hl1 _]". wp_pures.
    wp_apply (wp_load_word _ _ _ _ (λ _, True)%I); [by apply alt_lt|..].
    { iFrame "Hinv". iIntros (l C S Hat) "$". done. }
    iIntros (l2) "[%Hl2 _]". wp_pures.
    wp_apply (wp_load_version _ _ _ _ (λ _, True)%I); [apply stripe_lt|..].
    { iFrame "Hinv". iIntros (v' d C S HSs) "$". done. }
    iIntros (v') "_". wp_pures.
    wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
    case_bool_decide as H1; wp_pures; [by iApply "HΦ"|].
    wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
    case_bool_decide as H2; wp_pures; [by iApply "HΦ"|].
    case_bool_decide; wp_pures; [by iApply "HΦ"|]. by iApply "IH".
  Qed.

  (** ** Inserts *)

  Theorem insert_spec γ t x :
    item_good x →
    {{{ is_filter γ t }}}
      insert t (item_val x)
    {{{ (r : bool), RET #r; if r then ∃ i, token γ i 1 x else True }}}.
  Proof.
    iIntros ([Hb Hfp] Φ) "(%bk & %vs & %ls & -> & #Hinv & _) HΦ".
    destruct x as [fp b]. unfold item_ok in Hb. unfold item_val. simpl in *.
    assert (fp ≠ 0%Z) as Hfp0 by (unfold fp_ok in Hfp; lia).
    iLöb as "IH". wp_rec. wp_pures.
    wp_apply (alt_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    unfold word_of. wp_pures.
    wp_apply (wp_load_word _ _ _ _ (λ _, True)%I); [done|..].
    { iFrame "Hinv". iIntros (l C S Hat) "$". done. }
    iIntros (l1) "[%Hl1 _]". wp_pures.
    wp_apply (wp_load_word _ _ _ _ (λ _, True)%I); [by apply alt_lt|..].
    { iFrame "Hinv". iIntros (l C S Hat) "$". done. }
    iIntros (l2) "[%Hl2 _]". wp_pures.
    wp_apply (free_spec with "[//]"); [done|]. iIntros "_".
    wp_apply (free_spec with "[//]"); [done|]. iIntros "_". wp_pures.
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ r, ∃ b1 l, ⌜r = (#b1, #(enc l))%V ∧ home (fp, b) b1 ∧ word_ok l⌝)%I).
    { case_bool_decide; wp_pures; iPureIntro.
      - eexists _, l2. split_and!; [done|by right|done].
      - eexists _, l1. split_and!; [done|by left|done]. }
    iIntros (?) "(%b1 & %l & -> & %Hh & %Hl)". wp_pures.
    wp_apply (put_spec with "[//]"); [done|]. iIntros "_".
    destruct (lreplace 0 fp l) as [l'|] eqn:Hput; simpl; wp_pures; last by iApply "HΦ".
    wp_apply (wp_cas_word _ _ _ b1 l l' (∃ i, holds γ i 1 (fp, b))%I (λ _, True)%I).
    { by eapply (home_lt (fp, b)). }
    { done. }
    { eapply lreplace_ok; [|done..]. unfold slot_ok, fp_ok in *. lia. }
    { iFrame "Hinv". iSplit.
      - iIntros (C C' S Hat Hset) "Hst".
        iMod (state_add with "Hst") as "[Hst Hx]"; [done|done|by eapply one_more_put|].
        iModIntro. iExists S. by iFrame.
      - iIntros (l3 C S Hat) "$". done. }
    iIntros (l3 [|]) "[_ H]"; wp_pures.
    - iApply "HΦ". iDestruct "H" as (i) "H". iExists i. by iFrame.
    - by iApply "IH".
  Qed.

  (** The first half of a move: it has a token of its own. *)
  Lemma copy_to_spec γ t fp b0 b :
    item_good (fp, b0) → home (fp, b0) b →
    {{{ is_filter γ t }}}
      copy_to t #b #fp
    {{{ (r : bool), RET #r; if r then ∃ i, holds γ i 1 (fp, b0) else True }}}.
  Proof.
    iIntros ([Hb Hfp] Hh Φ) "(%bk & %vs & %ls & -> & #Hinv & _) HΦ".
    unfold item_ok in Hb. simpl in *.
    assert (fp ≠ 0%Z) as Hfp0 by (unfold fp_ok in Hfp; lia).
    assert (b < buckets) as Hb' by by eapply (home_lt (fp, b0)).
    iLöb as "IH". wp_rec. unfold word_of. wp_pures.
    wp_apply (wp_load_word _ _ _ _ (λ _, True)%I); [done|..].
    { iFrame "Hinv". iIntros (l C S Hat) "$". done. }
    iIntros (l) "[%Hl _]". wp_pures.
    wp_apply (put_spec with "[//]"); [done|]. iIntros "_".
    destruct (lreplace 0 fp l) as [l'|] eqn:Hput; simpl; wp_pures; last by iApply "HΦ".
    wp_apply (wp_cas_word _ _ _ b l l' (∃ i, holds γ i 1 (fp, b0))%I (λ _, True)%I).
    { done. }
    { done. }
    { eapply lreplace_ok; [|done..]. unfold slot_ok, fp_ok in *. lia. }
    { iFrame "Hinv". iSplit.
      - iIntros (C C' S Hat Hset) "Hst".
        iMod (state_add _ _ _ _ fp b0 b with "Hst") as "[Hst Hx]"; [done|done|by eapply one_more_put|].
        iModIntro. iExists S. by iFrame.
      - iIntros (l3 C S Hat) "$". done. }
    iIntros (l3 [|]) "[_ H]"; wp_pures.
    - by iApply "HΦ".
    - by iApply "IH".
  Qed.

  (** ** Clearing *)

  (** What comes into the slot that is left. *)
  Definition incoming_val (inc : option item) : val := #(from_option fst 0%Z inc).
  Definition incoming_good (inc : option item) b : Prop :=
    match inc with None => True | Some x => item_good x ∧ home x b end.
  Definition incoming_token γ (inc : option item) : iProp Σ :=
    match inc with None => True | Some x => ∃ i, token γ i 1 x end.

  Lemma clear_slot_spec γ t fp b v l inc :
    fp_ok fp → b < buckets → word_ok l → 0 < cnt fp l → incoming_good inc b →
    {{{ is_filter γ t ∗ owns γ (stripe fp) (v, Some (fp, b)) }}}
      clear_slot t #b #fp (incoming_val inc) #(enc l)
    {{{ RET #(); owns γ (stripe fp) (v, None) ∗ incoming_token γ inc }}}.
  Proof.
    iIntros (Hfp Hb Hl Hpos Hinc Φ) "[(%bk & %vs & %ls & -> & #Hinv & _) Ho] HΦ".
    assert (fp ≠ 0%Z) as Hfp0 by (unfold fp_ok in Hfp; lia).
    iLöb as "IH" forall (l Hl Hpos). wp_rec. unfold word_of, incoming_val. wp_pures.
    wp_apply (replace_spec with "[//]"); [done|]. iIntros "_".
    destruct (lreplace fp _ l) as [l'|] eqn:Hrep; simpl; last first.
    { apply lreplace_None in Hrep. lia. }
    wp_pures.
    wp_apply (wp_cas_word _ _ _ b l l'
      (owns γ (stripe fp) (v, None) ∗ incoming_token γ inc)%I
      (λ l1, ⌜0 < cnt fp l1⌝ ∗ owns γ (stripe fp) (v, Some (fp, b)))%I with "[Ho]").
    { done. }
    { done. }
    { eapply lreplace_ok; [|done..]. unfold slot_ok.
      destruct inc as [[fp1 b1]|]; simpl; [|lia].
      destruct Hinc as [[_ Hfp1] _]. unfold fp_ok in *. simpl in *. lia. }
    { iFrame "Hinv". iSplit.
      - iIntros (C C' S Hat Hset) "Hst".
        iDestruct (owns_state with "Hst Ho") as %HSs.
        iDestruct (state_doomed with "Hst") as %HC; [done|].
        assert (fst <$> <[stripe fp:=(v, None)]> S = fst <$> S) as HS'.
        { rewrite fmap_insert. apply insert_id. by rewrite lookup_fmap HSs. }
        destruct inc as [[fp1 b1]|]; simpl in *.
        + destruct Hinc as [Hgood Hh].
          pose proof (proj2 Hgood) as Hfp1. unfold fp_ok in Hfp1. simpl in Hfp1.
          iMod (state_clear _ _ (one_less fp b C) with "Hst Ho") as "[Hst $]".
          { by apply one_more_less. }
          iMod (state_add _ _ C' _ fp1 b1 b with "Hst") as "[Hst (%i & Hi)]".
          { apply Hgood. }
          { done. }
          { eapply one_more_replace; [done| |done..]. lia. }
          iModIntro. iExists _. iSplit; [done|]. iFrame. iExists i. by iFrame.
        + iMod (state_clear _ _ C' with "Hst Ho") as "[Hst $]".
          { by eapply one_more_clear. }
          iModIntro. iExists _. by iFrame.
      - iIntros (l1 C S Hat) "Hst".
        iDestruct (owns_state with "Hst Ho") as %HSs.
        iDestruct (state_doomed with "Hst") as %HC; [done|].
        iFrame. iPureIntro. by rewrite -(Hat fp Hfp0). }
    iIntros (l1 [|]) "[%Hl1 H]"; wp_pures.
    - by iApply "HΦ".
    - iDestruct "H" as "[%Hpos1 Ho]". by iApply ("IH" with "[//] [//] Ho HΦ").
  Qed.

  (** Under the lock, a copy that was seen stays. *)
  Lemma locked_learn γ C S fp b v :
    protocol γ C S -∗ owns γ (stripe fp) (v, None) ==∗
    protocol γ C S ∗ owns γ (stripe fp) (v, None) ∗ □ (⌜0 < C fp b⌝ → knows γ (Stable fp b v)).
  Proof.
    iIntros "Hst Ho". iDestruct (owns_state with "Hst Ho") as %HSs.
    destruct (decide (0 < C fp b)) as [Hpos|Hpos].
    - iMod (state_learn _ _ _ (Stable fp b v) with "Hst") as "[$ #Hf]".
      { eexists _, _. split; [done|]. right. split; [done|].
        unfold stable, doomed. rewrite HSs. lia. }
      iFrame. by iIntros "!> !> _".
    - iFrame. by iIntros "!> !> %".
  Qed.

  Lemma locked_knows γ C S fp b v :
    protocol γ C S -∗ owns γ (stripe fp) (v, None) -∗ knows γ (Stable fp b v) -∗ ⌜0 < C fp b⌝.
  Proof.
    iIntros "Hst Ho #Hf". iDestruct (owns_state with "Hst Ho") as %HSs.
    iDestruct (state_knows with "Hst Hf") as %(v' & d & HSs' & Hpos).
    iPureIntro. rewrite HSs in HSs'. simplify_eq. unfold stable in Hpos. lia.
  Qed.

  Theorem relocate_spec γ t fp b inc :
    item_good (fp, b) → incoming_good inc b →
    {{{ is_filter γ t }}}
      relocate t #fp #b (incoming_val inc)
    {{{ (r : bool), RET #r; if r then incoming_token γ inc else True }}}.
  Proof.
    iIntros (Hx Hinc Φ) "#Hfilter HΦ".
    iPoseProof "Hfilter" as "(%bk & %vs & %ls & -> & Hinv & _)".
    pose proof Hx as [Hb Hfp]. unfold item_ok in Hb. simpl in Hb, Hfp.
    assert (fp ≠ 0%Z) as Hfp0 by (unfold fp_ok in Hfp; lia).
    wp_lam. wp_pures.
    wp_apply (alt_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (stripe_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (lock_spec with "Hfilter"); [apply stripe_lt|]. iIntros (v) "Ho". wp_pures.
    unfold word_of at 1. wp_pures.
    wp_apply (wp_load_word _ _ _ _
      (λ l, owns γ (stripe fp) (v, None) ∗ □ (⌜0 < cnt fp l⌝ → knows γ (Stable fp b v)))%I
      with "[Ho]"); [done|..].
    { iFrame "Hinv". iIntros (l C S Hat) "Hst". rewrite -(Hat fp Hfp0).
      by iApply (locked_learn with "Hst Ho"). }
    iIntros (l) "(%Hl & Ho & #Hf)". wp_pures.
    wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
    case_bool_decide as Hpos; wp_pures; last first.
    { wp_apply (unlock_spec with "[$Hfilter $Ho]"); [apply stripe_lt|]. iIntros "_".
      wp_pures. by iApply "HΦ". }
    wp_apply (copy_to_spec _ _ fp b with "Hfilter"); [done|by right|].
    iIntros ([|]) "Hi"; wp_pures; last first.
    { wp_apply (unlock_spec with "[$Hfilter $Ho]"); [apply stripe_lt|]. iIntros "_".
      wp_pures. by iApply "HΦ". }
    iDestruct "Hi" as (i) "Hi".
    iDestruct ("Hf" with "[//]") as "Hs".
    wp_apply (bump_spec with "[$Hfilter $Ho $Hi $Hs]"); [by left|].
    iIntros "Ho". wp_pures.
    wp_apply (clear_slot_spec _ _ _ b with "[$Hfilter $Ho]"); [done..|].
    iIntros "[Ho Hinc]". wp_pures.
    wp_apply (unlock_spec with "[$Hfilter $Ho]"); [apply stripe_lt|]. iIntros "_".
    wp_pures. by iApply "HΦ".
  Qed.

  (** ** Removals *)

  (** The token is consumed, and a copy is there: the removal does not fail. *)
  Theorem remove_spec γ t i x :
    {{{ is_filter γ t ∗ token γ i 1 x }}}
      remove t (item_val x)
    {{{ RET #true; True }}}.
  Proof.
    iIntros (Φ) "[#Hfilter [[%Hb %Hfp] Hx]] HΦ".
    iPoseProof "Hfilter" as "(%bk & %vs & %ls & -> & Hinv & _)".
    destruct x as [fp b]. unfold item_ok in Hb. unfold item_val. simpl in *.
    assert (fp ≠ 0%Z) as Hfp0 by (unfold fp_ok in Hfp; lia).
    wp_lam. wp_pures.
    wp_apply (alt_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (stripe_spec with "[//]"); [done..|]. iIntros "_". wp_pures.
    wp_apply (lock_spec with "Hfilter"); [apply stripe_lt|]. iIntros (v) "Ho". wp_pures.
    unfold word_of. wp_pures.
    wp_apply (wp_load_word _ _ _ _
      (λ l, owns γ (stripe fp) (v, None) ∗ holds γ i 1 (fp, b) ∗
        □ (⌜0 < cnt fp l⌝ → knows γ (Stable fp b v)) ∗
        ∃ b', ⌜home (fp, b) b'⌝ ∗ knows γ (Stable fp b' v) ∗ ⌜b' = b → 0 < cnt fp l⌝)%I
      with "[Ho Hx]"); [done|..].
    { iFrame "Hinv". iIntros (l C S Hat) "Hst".
      iDestruct (holds_stable with "Hst Hx") as %(b' & Hh & Hpos).
      iMod (locked_learn _ _ _ _ b with "Hst Ho") as "(Hst & Ho & #Hf)".
      iDestruct (owns_state with "Hst Ho") as %HSs.
      iMod (state_learn _ _ _ (Stable fp b' v) with "Hst") as "[$ #Hf']".
      { eexists _, _. split; [done|]. by right. }
      rewrite -(Hat fp Hfp0). iFrame "∗ #". iModIntro. iExists b'. iFrame "#".
      iPureIntro. split; [done|]. intros ->. unfold stable in Hpos. lia. }
    iIntros (l1) "(%Hl1 & Ho & Hx & #Hf1 & (%b' & %Hh & #Hf & %Hb1))". wp_pures.
    wp_apply (wp_load_word _ _ _ _
      (λ l, owns γ (stripe fp) (v, None) ∗
        □ (⌜0 < cnt fp l⌝ → knows γ (Stable fp (alt fp b) v)) ∗
        ⌜b' = alt fp b → 0 < cnt fp l⌝)%I
      with "[Ho]"); [by apply alt_lt|..].
    { iFrame "Hinv". iIntros (l C S Hat) "Hst".
      iDestruct (locked_knows with "Hst Ho Hf") as %Hpos.
      iMod (locked_learn _ _ _ _ (alt fp b) with "Hst Ho") as "($ & $ & #Hf2)".
      rewrite -(Hat fp Hfp0). iFrame "#". iPureIntro. by intros ->. }
    iIntros (l2) "(%Hl2 & Ho & #Hf2 & %Hb2)". wp_pures.
    assert (0 < cnt fp l1 ∨ 0 < cnt fp l2) as Hfound.
    { destruct Hh as [-> | ->]; auto. }
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ r, ⌜r = #true⌝ ∗ owns γ (stripe fp) (Datatypes.S v, None))%I
      with "[Ho Hx]"); last first.
    { iIntros (?) "[-> Ho]". wp_pures.
      wp_apply (unlock_spec with "[$Hfilter $Ho]"); [apply stripe_lt|]. iIntros "_".
      wp_pures. by iApply "HΦ". }
    wp_bind (if: _ then #true else _)%E.
    iApply (wp_wand _ _ _ (λ r, ⌜r = #true⌝)%I).
    { wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
      case_bool_decide as H1; wp_pures; [done|].
      wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
      iPureIntro. f_equal. rewrite bool_decide_eq_true_2; [done|]. tauto. }
    iIntros (? ->). wp_pures.
    wp_bind (if: _ then _ else _)%E.
    iApply (wp_wand _ _ _ (λ r, ∃ b2 l, ⌜r = (#b2, #(enc l))%V⌝ ∗ ⌜home (fp, b) b2⌝ ∗ ⌜word_ok l⌝ ∗
      ⌜0 < cnt fp l⌝ ∗ knows γ (Stable fp b2 v))%I).
    { wp_apply (has_spec with "[//]"); [done|]. iIntros "_".
      case_bool_decide as H1; wp_pures.
      - iExists b, l1. iModIntro. do 4 (iSplit; [iPureIntro; by first [done|left]|]). by iApply "Hf1".
      - iExists (alt fp b), l2. iModIntro.
        do 4 (iSplit; [iPureIntro; by first [done|right|tauto]|]). iApply "Hf2".
        iPureIntro. tauto. }
    iIntros (?) "(%b2 & %l & -> & %Hh2 & %Hl & %Hpos & #Hf3)". wp_pures.
    wp_apply (bump_spec with "[$Hfilter $Ho $Hx $Hf3]"); [done|].
    iIntros "Ho". wp_pures.
    wp_apply (clear_slot_spec _ _ _ _ _ _ None with "[$Hfilter $Ho]"); [done| |done..|].
    { by eapply (home_lt (fp, b)). }
    iIntros "[Ho _]". wp_pures. by iFrame.
  Qed.

  (** ** Construction *)

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

  Lemma big_sepL_seq_replicate {A} (Φ : nat → A → iProp Σ) (a : A) n :
    ([∗ list] i ↦ x ∈ replicate n a, Φ i x) ⊢ [∗ list] i ∈ seq 0 n, Φ i a.
  Proof.
    assert (∀ k, ([∗ list] i ↦ x ∈ replicate n a, Φ (k + i) x) ⊢ [∗ list] i ∈ seq k n, Φ i a) as H.
    { induction n as [|n IH]; intros k; simpl; [done|].
      rewrite Nat.add_0_r. iIntros "[$ H]". iApply (IH (Datatypes.S k)).
      iApply (big_sepL_mono with "H"). iIntros (i ? _) "H". by rewrite Nat.add_succ_r. }
    apply (H 0).
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

  Theorem new_table_spec :
    0 < buckets →
    {{{ True }}} new_table #buckets #stripes {{{ γ t, RET t; is_filter γ t }}}.
  Proof.
    iIntros (Hb Φ) "_ HΦ". pose proof (stripe_lt 0) as Hs.
    wp_lam. wp_pures.
    wp_apply wp_allocN; [lia|done|]. iIntros (bk) "[Hbk _]". wp_pures.
    wp_apply wp_allocN; [lia|done|]. iIntros (vs) "[Hvs _]". wp_pures.
    wp_apply wp_allocN; [lia|done|]. iIntros (ls) "[Hls _]". wp_pures.
    rewrite !Nat2Z.id.
    set (T := map_seq (M:=gmap nat (list Z)) 0 (replicate buckets empty_word)).
    set (S := map_seq (M:=gmap nat stripe_state) 0 (replicate stripes (0, None))).
    assert (∀ s st, S !! s = Some st → st = (0, None)) as HS1.
    { intros s st. unfold S. rewrite lookup_map_seq_0. by intros [-> _]%lookup_replicate. }
    iMod (state_alloc (copies T) S) as (γ) "[Hst Hos]".
    { intros s Hs'. unfold S. rewrite lookup_map_seq_0. exists (0, None).
      by apply lookup_replicate. }
    { by intros s st ->%HS1. }
    iMod (inv_alloc N _ (table_inv γ bk vs) with "[Hbk Hvs Hst]") as "#Hinv".
    { iNext. iExists T, S. iFrame "Hst". iSplit; [|iSplit; [|iSplitL "Hbk"]].
      - iPureIntro. intros b Hb'. unfold T. rewrite lookup_map_seq_0. exists empty_word.
        by apply lookup_replicate.
      - iPureIntro. intros b l. unfold T. rewrite lookup_map_seq_0.
        intros [-> _]%lookup_replicate. apply empty_word_ok.
      - unfold T. iApply (big_sepM_map_seq (λ b l, (bk +ₗ b) ↦ #(enc l))%I).
        unfold array. rewrite -(fmap_replicate (λ l, #(enc l)) _ empty_word).
        by rewrite big_sepL_fmap.
      - unfold S. rewrite big_sepM_fmap.
        iApply (big_sepM_map_seq (λ s st, (vs +ₗ s) ↦ #(st.1 : nat))%I).
        unfold array. rewrite -(fmap_replicate (λ st : stripe_state, #(st.1 : nat)) _ (0, None)).
        by rewrite big_sepL_fmap. }
    iAssert (|={⊤}=> [∗ list] s ∈ seq 0 stripes, inv Nlock (lock_inv γ ls s))%I
      with "[Hls Hos]" as ">#Hlocks".
    { iApply big_sepL_fupd.
      iAssert ([∗ list] s ∈ seq 0 stripes, owns γ s (0, None))%I with "[Hos]" as "Hos".
      { by iApply (big_sepM_seq_replicate (λ s st, owns γ s st)). }
      iAssert ([∗ list] s ∈ seq 0 stripes, (ls +ₗ (s : nat)) ↦ #false)%I with "[Hls]" as "Hls".
      { by iApply (big_sepL_seq_replicate (λ s r, (ls +ₗ s) ↦ r)%I #false with "Hls"). }
      iDestruct (big_sepL_sep_2 with "Hls Hos") as "H".
      iApply (big_sepL_mono with "H"). iIntros (k s _) "[Hl Ho]".
      iApply inv_alloc. iNext. iExists false. iFrame. by iExists 0. }
    iApply ("HΦ" $! γ). iExists bk, vs, ls. by iFrame "#".
  Qed.
End proofs.

#[global] Typeclasses Opaque token.
