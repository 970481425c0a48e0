(** The table: its programs, its invariant, and single accesses to it. *)
From guira Require Export words protocol.
From iris.program_logic Require Export weakestpre.
From iris.heap_lang Require Export lang.
From iris.bi.lib Require Import fractional.
From iris.base_logic.lib Require Export invariants.
From iris.heap_lang Require Import proofmode notation.
From iris.heap_lang.lib Require Import assert.
From iris.prelude Require Import options.

(** * Programs *)

(** Programs that compute the alternate bucket and the stripe. *)
Class hashes := Hashes { alt_code : val; stripe_code : val }.

Section programs.
  Context `{!hashes}.

  (** A table consists of an array of words, one of versions, and one of locks. *)
  Definition word_of : val := λ: "t" "b", Fst (Fst "t") +ₗ "b".
  Definition version_of : val := λ: "t" "s", Snd (Fst "t") +ₗ "s".
  Definition lock_of : val := λ: "t" "s", Snd "t" +ₗ "s".

  Definition new_table : val := λ: "buckets" "stripes",
    let: "words" := AllocN "buckets" #0 in
    let: "versions" := AllocN "stripes" #0 in
    let: "locks" := AllocN "stripes" #false in
    ("words", "versions", "locks").

  Definition lock : val := rec: "lock" "t" "s" :=
    if: CAS (lock_of "t" "s") #false #true then #() else "lock" "t" "s".
  Definition unlock : val := λ: "t" "s", lock_of "t" "s" <- #false.

  (** Under the lock. *)
  Definition bump : val := λ: "t" "s",
    let: "version" := version_of "t" "s" in "version" <- !"version" + #1.

  Definition contains : val := rec: "contains" "t" "x" :=
    let: "fp" := Fst "x" in
    let: "b1" := Snd "x" in
    let: "b2" := alt_code "fp" "b1" in
    let: "version" := version_of "t" (stripe_code "fp") in
    let: "v" := !"version" in
    let: "w1" := !(word_of "t" "b1") in
    let: "w2" := !(word_of "t" "b2") in
    let: "unchanged" := !"version" = "v" in
    if: has "fp" "w1" || has "fp" "w2" then #true else
    if: "unchanged" then #false else "contains" "t" "x".

  (** Adds to the bucket with more empty slots. Returns false if both were full. *)
  Definition insert : val := rec: "insert" "t" "x" :=
    let: "fp" := Fst "x" in
    let: "b1" := Snd "x" in
    let: "b2" := alt_code "fp" "b1" in
    let: "w1" := !(word_of "t" "b1") in
    let: "w2" := !(word_of "t" "b2") in
    let: "choice" := if: free "w1" < free "w2" then ("b2", "w2") else ("b1", "w1") in
    match: put "fp" (Snd "choice") with
      NONE => #false
    | SOME "new" =>
        if: CAS (word_of "t" (Fst "choice")) (Snd "choice") "new"
        then #true else "insert" "t" "x"
    end.

  (** Copies a fingerprint to its alternate bucket. Returns false if that is full. *)
  Definition copy_to : val := rec: "copy" "t" "b" "fp" :=
    let: "w" := !(word_of "t" "b") in
    match: put "fp" "w" with
      NONE => #false
    | SOME "new" =>
        if: CAS (word_of "t" "b") "w" "new" then #true else "copy" "t" "b" "fp"
    end.

  (** Clears a slot that is known to hold the fingerprint, or stores the incoming one in it (0 if
      there is none). *)
  Definition clear_slot : val := rec: "clear" "t" "b" "fp" "incoming" "w" :=
    match: replace "fp" "incoming" "w" with
      NONE => assert: #false
    | SOME "new" =>
        let: "r" := CmpXchg (word_of "t" "b") "w" "new" in
        if: Snd "r" then #() else "clear" "t" "b" "fp" "incoming" (Fst "r")
    end.

  (** Moves a fingerprint to its alternate bucket. Returns false if it is not there, or if there
      is no room. *)
  Definition relocate : val := λ: "t" "fp" "from" "incoming",
    let: "to" := alt_code "fp" "from" in
    let: "s" := stripe_code "fp" in
    lock "t" "s";;
    let: "seen" := !(word_of "t" "from") in
    let: "moved" :=
      if: has "fp" "seen" then
        if: copy_to "t" "to" "fp" then
          bump "t" "s";;
          clear_slot "t" "from" "fp" "incoming" "seen";;
          #true
        else #false
      else #false in
    unlock "t" "s";;
    "moved".

  Definition remove : val := λ: "t" "x",
    let: "fp" := Fst "x" in
    let: "b1" := Snd "x" in
    let: "b2" := alt_code "fp" "b1" in
    let: "s" := stripe_code "fp" in
    lock "t" "s";;
    let: "w1" := !(word_of "t" "b1") in
    let: "w2" := !(word_of "t" "b2") in
    let: "removed" :=
      if: has "fp" "w1" || has "fp" "w2" then
        let: "place" := if: has "fp" "w1" then ("b1", "w1") else ("b2", "w2") in
        bump "t" "s";;
        clear_slot "t" (Fst "place") "fp" #0 (Snd "place");;
        #true
      else #false in
    unlock "t" "s";;
    "removed".
End programs.

(** * Proofs *)

Definition fp_ok (fp : Z) : Prop := (0 < fp < 2 ^ 16)%Z.

(** The programs compute what they shall. *)
Class hash_specs Σ `{!heapGS Σ, !pairs, !hashes} := HashSpecs {
  alt_spec (fp : Z) (b : nat) : fp_ok fp → b < buckets →
    {{{ True }}} alt_code #fp #b {{{ RET #(alt fp b); True }}};
  stripe_spec (fp : Z) : fp_ok fp →
    {{{ True }}} stripe_code #fp {{{ RET #(stripe fp); True }}};
}.

Section proofs.
  Context `{HG : !heapGS Σ, PR : !pairs, PG : !protocolG Σ, HH : !hashes, HS : !hash_specs Σ}.
  Implicit Types (fp : Z) (b s v i : nat) (γ : names) (l : list Z) (bk vs ls : loc).
  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (T : gmap nat (list Z)).

  Definition N := nroot .@ "filter".
  Definition Nlock := nroot .@ "lock".

  (** 0 is no fingerprint. *)
  Definition copies T fp b : nat :=
    if decide (fp = 0%Z) then 0 else cnt fp (default [] (T !! b)).

  Definition table_inv γ bk vs : iProp Σ :=
    ∃ T S,
      ⌜∀ b, b < buckets → is_Some (T !! b)⌝ ∗ ⌜map_Forall (λ _, word_ok) T⌝ ∗
      ([∗ map] b ↦ l ∈ T, (bk +ₗ (b : nat)) ↦ #(enc l)) ∗
      ([∗ map] s ↦ v ∈ fst <$> S, (vs +ₗ (s : nat)) ↦ #(v : nat)) ∗
      protocol γ (copies T) S.

  Definition lock_inv γ ls s : iProp Σ :=
    ∃ locked : bool, (ls +ₗ s) ↦ #locked ∗ if locked then True else ∃ v, owns γ s (v, None).

  Definition is_filter γ (t : val) : iProp Σ :=
    ∃ bk vs ls, ⌜t = (#bk, #vs, #ls)%V⌝ ∗ inv N (table_inv γ bk vs) ∗
      [∗ list] s ∈ seq 0 stripes, inv Nlock (lock_inv γ ls s).

  Global Instance is_filter_persistent γ t : Persistent (is_filter γ t).
  Proof. apply _. Qed.

  (** ** Single accesses *)

  Definition word_at C b l : Prop := ∀ fp, fp ≠ 0%Z → C fp b = cnt fp l.

  Lemma wp_load_word γ bk vs b (Q : list Z → iProp Σ) :
    b < buckets →
    {{{ inv N (table_inv γ bk vs) ∗
        (∀ l C S, ⌜word_at C b l⌝ -∗ protocol γ C S ==∗ protocol γ C S ∗ Q l) }}}
      ! #(bk +ₗ b)
    {{{ l, RET #(enc l); ⌜word_ok l⌝ ∗ Q l }}}.
  Proof.
    iIntros (Hb Φ) "[#Hinv Hook] HΦ".
    iInv "Hinv" as (T S) "(>%HT & >%Hok & >HT & >HS & >Hst)".
    destruct (HT b Hb) as [l Hl].
    iDestruct (big_sepM_lookup_acc with "HT") as "[Hb HT]"; [done|].
    wp_load. iDestruct ("HT" with "Hb") as "HT".
    iMod ("Hook" $! l with "[] Hst") as "[Hst HQ]".
    { iPureIntro. intros fp ?. unfold copies. by rewrite decide_False // Hl. }
    iModIntro. iSplitR "HΦ HQ"; [iNext; iExists T, S; by iFrame|].
    iApply "HΦ". iFrame. iPureIntro. by apply (Hok b).
  Qed.

  (** [C'] has one word replaced. *)
  Definition word_set C C' b l : Prop :=
    word_at C' b l ∧ (∀ fp b', b' ≠ b ∨ fp = 0%Z → C' fp b' = C fp b').

  Lemma wp_cas_word γ bk vs b l l' (Q : iProp Σ) (Qf : list Z → iProp Σ) :
    b < buckets → word_ok l → word_ok l' →
    {{{ inv N (table_inv γ bk vs) ∗
        ((∀ C C' S, ⌜word_at C b l⌝ -∗ ⌜word_set C C' b l'⌝ -∗ protocol γ C S ==∗
            ∃ S', ⌜fst <$> S' = fst <$> S⌝ ∗ protocol γ C' S' ∗ Q) ∧
         (∀ l1 C S, ⌜word_at C b l1⌝ -∗ protocol γ C S ==∗ protocol γ C S ∗ Qf l1)) }}}
      CmpXchg #(bk +ₗ b) #(enc l) #(enc l')
    {{{ l1 (done : bool), RET (#(enc l1), #done);
        ⌜word_ok l1⌝ ∗ if done then Q else Qf l1 }}}.
  Proof.
    iIntros (Hb Hl Hl' Φ) "[#Hinv Hook] HΦ".
    iInv "Hinv" as (T S) "(>%HT & >%Hok & >HT & >HS & >Hst)".
    destruct (HT b Hb) as [l1 Hl1].
    pose proof (Hok b l1 Hl1) as Hok1. simpl in Hok1.
    assert (word_at (copies T) b l1) as Hat.
    { intros fp ?. unfold copies. by rewrite decide_False // Hl1. }
    destruct (decide (enc l1 = enc l)) as [Heq|Hne].
    - apply word_inj in Heq as ->; [|done..].
      iDestruct (big_sepM_insert_acc with "HT") as "[Hb HT]"; [done|].
      wp_cmpxchg_suc. iDestruct ("HT" with "Hb") as "HT".
      iDestruct "Hook" as "[Hook _]".
      iMod ("Hook" $! _ (copies (<[b:=l']> T)) with "[] [] Hst") as (S' HSS) "[Hst HQ]".
      { done. }
      { iPureIntro. split.
        - intros fp ?. unfold copies. by rewrite decide_False // lookup_insert.
        - intros fp b' [?| ->]; unfold copies; [by rewrite lookup_insert_ne|done]. }
      rewrite -HSS.
      iModIntro. iSplitR "HΦ HQ".
      + iNext. iExists _, S'. iFrame. iPureIntro. split.
        * intros b' Hb'. destruct (decide (b' = b)) as [->|].
          -- rewrite lookup_insert. by eexists.
          -- rewrite lookup_insert_ne; [|done]. by apply HT.
        * by apply map_Forall_insert_2.
      + iApply "HΦ". by iFrame.
    - iDestruct (big_sepM_lookup_acc with "HT") as "[Hb HT]"; [done|].
      wp_cmpxchg_fail. iDestruct ("HT" with "Hb") as "HT".
      iDestruct "Hook" as "[_ Hook]".
      iMod ("Hook" $! l1 with "[//] Hst") as "[Hst HQ]".
      iModIntro. iSplitR "HΦ HQ"; [iNext; iExists T, S; by iFrame|].
      iApply "HΦ". by iFrame.
  Qed.

  Lemma wp_load_version γ bk vs s (Q : nat → iProp Σ) :
    s < stripes →
    {{{ inv N (table_inv γ bk vs) ∗
        (∀ v d C S, ⌜S !! s = Some (v, d)⌝ -∗ protocol γ C S ==∗ protocol γ C S ∗ Q v) }}}
      ! #(vs +ₗ s)
    {{{ v, RET #v; Q v }}}.
  Proof.
    iIntros (Hs Φ) "[#Hinv Hook] HΦ".
    iInv "Hinv" as (T S) "(>%HT & >%Hok & >HT & >HS & >Hst)".
    iDestruct (state_stripe with "Hst") as %[[v d] Hv]; [done|].
    iDestruct (big_sepM_lookup_acc _ _ s v with "HS") as "[Hs HS]".
    { by rewrite lookup_fmap Hv. }
    wp_load. iDestruct ("HS" with "Hs") as "HS".
    iMod ("Hook" with "[//] Hst") as "[Hst HQ]".
    iModIntro. iSplitR "HΦ HQ"; [iNext; iExists T, S; by iFrame|].
    by iApply "HΦ".
  Qed.

  Lemma lock_spec γ t s :
    s < stripes →
    {{{ is_filter γ t }}} lock t #s {{{ v, RET #(); owns γ s (v, None) }}}.
  Proof.
    iIntros (Hs Φ) "(%bk & %vs & %ls & -> & _ & Hls) HΦ".
    iDestruct (big_sepL_lookup _ _ s s with "Hls") as "#Hl"; [by apply lookup_seq|].
    iClear "Hls". iLöb as "IH". wp_rec. wp_pures. unfold lock_of. wp_pures.
    wp_bind (CmpXchg _ _ _). iInv "Hl" as ([]) "[>Hls Ho]".
    - wp_cmpxchg_fail. iModIntro. iSplitR "HΦ"; [iNext; iExists true; by iFrame|].
      wp_pures. by iApply "IH".
    - wp_cmpxchg_suc. iModIntro. iSplitL "Hls"; [iNext; iExists true; by iFrame|].
      iDestruct "Ho" as (v) "Ho". wp_pures. by iApply "HΦ".
  Qed.

  Lemma unlock_spec γ t s v :
    s < stripes →
    {{{ is_filter γ t ∗ owns γ s (v, None) }}} unlock t #s {{{ RET #(); True }}}.
  Proof.
    iIntros (Hs Φ) "[(%bk & %vs & %ls & -> & _ & Hls) Ho] HΦ".
    iDestruct (big_sepL_lookup _ _ s s with "Hls") as "#Hl"; [by apply lookup_seq|].
    wp_lam. wp_pures. unfold lock_of. wp_pures.
    iInv "Hl" as (locked) "[>Hls' _]". wp_store. iModIntro.
    iSplitR "HΦ"; [iNext; iExists false; iFrame; by iExists v|]. by iApply "HΦ".
  Qed.

  Lemma bump_spec γ t fp b0 b v i :
    home (fp, b0) b →
    {{{ is_filter γ t ∗ owns γ (stripe fp) (v, None) ∗ holds γ i 1 (fp, b0) ∗
        knows γ (Stable fp b v) }}}
      bump t #(stripe fp)
    {{{ RET #(); owns γ (stripe fp) (Datatypes.S v, Some (fp, b)) }}}.
  Proof.
    iIntros (Hh Φ) "((%bk & %vs & %ls & -> & #Hinv & _) & Ho & Hx & #Hf) HΦ".
    wp_lam. wp_pures. unfold version_of. wp_pures.
    wp_apply (wp_load_version _ _ _ _ (λ v', ⌜v' = v⌝ ∗ owns γ (stripe fp) (v, None))%I
      with "[Ho]").
    { apply stripe_lt. }
    { iFrame "Hinv". iIntros (v' d C S HSs) "Hst".
      iDestruct (owns_state with "Hst Ho") as %HSs'. simplify_eq. by iFrame. }
    iIntros (?) "[-> Ho]". wp_pures.
    iInv "Hinv" as (T S) "(>%HT & >%Hok & >HT & >HS & >Hst)".
    iDestruct (owns_state with "Hst Ho") as %HSs.
    iDestruct (big_sepM_insert_acc _ _ (stripe fp) v with "HS") as "[Hs HS]".
    { by rewrite lookup_fmap HSs. }
    wp_store.
    iMod (state_bump with "Hst Ho Hx Hf") as "[Hst Ho]"; [done|].
    iDestruct ("HS" $! (Datatypes.S v) with "[Hs]") as "HS".
    { by replace (v + 1)%Z with (Datatypes.S v : Z) by lia. }
    iModIntro. iSplitR "HΦ Ho".
    { iNext. iExists T, _. iFrame. rewrite fmap_insert. by iFrame. }
    by iApply "HΦ".
  Qed.

  (** ** Changes of a word *)

  Lemma one_more_put C C' b fp l l' :
    fp ≠ 0%Z → lreplace 0 fp l = Some l' → word_at C b l → word_set C C' b l' →
    one_more fp b C C'.
  Proof.
    intros Hfp Hl Hat [Hat' Hother] fp' b'.
    destruct (decide (fp' = 0%Z)) as [->|Hfp'].
    { rewrite Hother; [|by right]. rewrite decide_False; [lia|naive_solver]. }
    destruct (decide (b' = b)) as [->|Hb'].
    - rewrite Hat' // Hat //. pose proof (lreplace_Some _ _ _ _ Hl fp').
      repeat case_decide; naive_solver lia.
    - rewrite Hother; [|by left]. rewrite decide_False; [lia|naive_solver].
  Qed.

  Lemma one_more_clear C C' b fp l l' :
    fp ≠ 0%Z → lreplace fp 0 l = Some l' → word_at C b l → word_set C C' b l' →
    one_more fp b C' C.
  Proof.
    intros Hfp Hl Hat [Hat' Hother] fp' b'.
    destruct (decide (fp' = 0%Z)) as [->|Hfp'].
    { rewrite Hother; [|by right]. rewrite decide_False; [lia|naive_solver]. }
    destruct (decide (b' = b)) as [->|Hb'].
    - rewrite Hat' // Hat //. pose proof (lreplace_Some _ _ _ _ Hl fp').
      repeat case_decide; naive_solver lia.
    - rewrite Hother; [|by left]. rewrite decide_False; [lia|naive_solver].
  Qed.

  (** The counts between the two halves of a replacement. *)
  Definition one_less fp b C : Z → nat → nat :=
    λ fp' b', C fp' b' - (if decide (fp' = fp ∧ b' = b) then 1 else 0).

  Lemma one_more_less fp b C : 0 < C fp b → one_more fp b (one_less fp b C) C.
  Proof. intros ? fp' b'. unfold one_less. case_decide; naive_solver lia. Qed.

  Lemma one_more_replace C C' b fp fp1 l l' :
    fp ≠ 0%Z → fp1 ≠ 0%Z → lreplace fp fp1 l = Some l' → word_at C b l → word_set C C' b l' →
    0 < C fp b → one_more fp1 b (one_less fp b C) C'.
  Proof.
    intros Hfp Hfp1 Hl Hat [Hat' Hother] Hpos fp' b'. unfold one_less.
    destruct (decide (fp' = 0%Z)) as [->|Hfp'].
    { rewrite Hother; [|by right]. rewrite !decide_False; [lia|naive_solver..]. }
    destruct (decide (b' = b)) as [->|Hb'].
    - rewrite Hat' // Hat //. pose proof (lreplace_Some _ _ _ _ Hl fp').
      rewrite Hat in Hpos; [|done].
      repeat case_decide; naive_solver lia.
    - rewrite Hother; [|by left]. rewrite !decide_False; [lia|naive_solver..].
  Qed.
End proofs.
