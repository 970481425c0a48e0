(** Items, the two locations of each, and the state of the protocol: numbers of copies, versions and
    phases of stripes, and facts.

    Nothing here depends on how copies are stored. [copies fp b] is the number of copies of the
    fingerprint [fp] in the location [b]. *)
From guira Require Export prelude.

(** * Pairs *)

(** An item is a fingerprint with one of its two locations. The fingerprint leads from one location
    to the other. Items with the same pair of locations are aliases. *)
Notation item := (Z * nat)%type.

(** What the lock holder of a stripe is about: nothing; it has copied a slot and not yet bumped the
    version; it has seen that an item is absent; it has bumped the version, and will clear one copy
    of the item, in either location. *)
Inductive phase := Idle | Copied (x : item) | Checked (x : item) | Doomed (x : item).

(** Each stripe has a version and a phase. *)
Notation stripe_state := (nat * phase)%type.

(** Facts never become false. Each is about a version of a stripe, and holds if the version has
    passed that number. While it has not:
    - [Stable fp b v]: there is a copy in this location that will stay.
    - [InPair fp b v]: there is one in one of the two locations.
    - [Seen fp b v]: until the lock holder has cleared what it doomed, there is a copy in this
      location. *)
Notation fact := (((nat * nat) + (Z * nat * nat)) + ((Z * nat * nat) + (Z * nat * nat)))%type.
Notation Passed s v := (inl (inl (s, v)) : fact).
Notation Stable fp b v := (inl (inr (fp, b, v)) : fact).
Notation InPair fp b v := (inr (inl (fp, b, v)) : fact).
Notation Seen fp b v := (inr (inr (fp, b, v)) : fact).

(** The two locations of an item lead to the same stripe. *)
Class pairs := Pairs {
  locations : nat;
  stripes : nat;
  alt : Z → nat → nat;
  stripe : Z → nat → nat;
  alt_lt fp b : b < locations → alt fp b < locations;
  alt_alt fp b : b < locations → alt fp (alt fp b) = b;
  stripe_lt fp b : stripe fp b < stripes;
  stripe_alt fp b : b < locations → stripe fp (alt fp b) = stripe fp b;
}.

Section pure.
  Context `{PR : !pairs}.
  Implicit Types (fp : Z) (b s v i : nat) (x : item) (d : phase).

  Definition item_ok x : Prop := x.2 < locations.

  (** [b'] is one of the two locations of the item. *)
  Definition home x b : Prop := b = x.2 ∨ b = alt x.1 x.2.
  Global Instance home_dec x b : Decision (home x b).
  Proof. apply _. Defined.

  Lemma home_lt x b : item_ok x → home x b → b < locations.
  Proof. destruct x as [fp b0]. intros ? [-> | ->]; [done|]. by apply alt_lt. Qed.

  Lemma home_sym fp b b' : b < locations → home (fp, b) b' → home (fp, b') b.
  Proof. intros ? [-> | ->]; [by left|]. right. simpl. by rewrite alt_alt. Qed.

  Lemma home_trans fp b b' b'' :
    b < locations → home (fp, b) b' → home (fp, b') b'' → home (fp, b) b''.
  Proof.
    unfold home. simpl. intros ? [-> | ->]; [done|]. intros [-> | ->]; [by right|].
    left. by rewrite alt_alt.
  Qed.

  Lemma same_pair fp b0 b1 b :
    b0 < locations → b < locations → home (fp, b0) b1 → home (fp, b) b0 ↔ home (fp, b) b1.
  Proof.
    intros Hb0 Hb Hh. assert (b1 < locations) by by eapply (home_lt (fp, b0)). split; intros.
    - by eapply home_trans.
    - eapply home_trans; [done..|]. by apply home_sym.
  Qed.

  Lemma stripe_home fp b b' : b < locations → home (fp, b) b' → stripe fp b' = stripe fp b.
  Proof. intros ? [-> | ->]; [done|]. by apply stripe_alt. Qed.

  (** The item has this fingerprint and these locations. *)
  Definition same x fp b : Prop := x.1 = fp ∧ home (fp, b) x.2.
  Global Instance same_dec x fp b : Decision (same x fp b).
  Proof. apply _. Defined.

  Lemma same_refl fp b : same (fp, b) fp b.
  Proof. split; [done|by left]. Qed.

  Lemma same_stripe x fp b : b < locations → same x fp b → stripe x.1 x.2 = stripe fp b.
  Proof. destruct x. intros ? [<- ?]. by apply stripe_home. Qed.

  Lemma same_home fp b0 b1 fp' b' :
    b0 < locations → b' < locations → home (fp, b0) b1 →
    same (fp, b0) fp' b' ↔ same (fp, b1) fp' b'.
  Proof.
    intros ?? Hh. unfold same. simpl. split; intros [-> ?]; (split; [done|]);
      by apply (same_pair fp' b0 b1).
  Qed.

  (** * State *)

  Implicit Types (C : Z → nat → nat) (S : gmap nat stripe_state) (M : gmap nat (item * bool)).

  Definition pair_copies C fp b : nat :=
    C fp b + (if decide (alt fp b = b) then 0 else C fp (alt fp b)).

  (** Copies beyond those of the tokens, and copies that will be cleared at this version. *)
  Definition spare d : option item :=
    match d with Copied x | Doomed x => Some x | _ => None end.
  Definition doomed d : option item := match d with Doomed x => Some x | _ => None end.

  Definition one_if (o : option item) fp b : nat :=
    match o with Some x => if decide (same x fp b) then 1 else 0 | None => 0 end.
  Definition spares S fp b : nat :=
    match S !! stripe fp b with Some (_, d) => one_if (spare d) fp b | None => 0 end.
  Definition dooms S fp b : nat :=
    match S !! stripe fp b with Some (_, d) => one_if (doomed d) fp b | None => 0 end.

  Lemma dooms_spares S fp b : dooms S fp b ≤ spares S fp b.
  Proof.
    unfold dooms, spares. destruct (S !! stripe fp b) as [[v [|x|x|x]]|]; simpl; lia.
  Qed.

  (** The tokens of a pair. Each says whether it comes from [insert_unique]. *)
  Definition of_pair fp b (p : nat * (item * bool)) : Prop := same p.2.1 fp b.
  Global Instance of_pair_dec fp b p : Decision (of_pair fp b p).
  Proof. apply _. Defined.
  Definition pair_tokens M fp b : nat := size (filter (of_pair fp b) M).

  Definition no_unique M x : Prop := ∀ i y, M !! i = Some (y, true) → ¬ same y x.1 x.2.

  Definition valid C S (f : fact) : Prop :=
    match f with
    | inl (inl (s, v)) => ∃ v' d, S !! s = Some (v', d) ∧ v < v'
    | inl (inr (fp, b, v)) => b < locations ∧
        ∃ v' d, S !! stripe fp b = Some (v', d) ∧ (v < v' ∨ v = v' ∧ dooms S fp b < C fp b)
    | inr (inl (fp, b, v)) => b < locations ∧
        ∃ v' d, S !! stripe fp b = Some (v', d) ∧
          (v < v' ∨ v = v' ∧ dooms S fp b < pair_copies C fp b)
    | inr (inr (fp, b, v)) => b < locations ∧
        ∃ v' d, S !! stripe fp b = Some (v', d) ∧
          (v < v' ∨ v = v' ∧ (is_Some (doomed d) → 0 < C fp b))
    end.

  Record good C S M : Prop := {
    good_stripes s : s < stripes → is_Some (S !! s);
    good_exact fp b : b < locations → pair_copies C fp b = pair_tokens M fp b + spares S fp b;
    good_items i x u : M !! i = Some (x, u) → item_ok x;
    good_checked s v x :
      S !! s = Some (v, Checked x) → stripe x.1 x.2 = s ∧ item_ok x ∧ no_unique M x;
  }.

  (** [C'] has one more copy than [C]. *)
  Definition one_more fp b C C' : Prop :=
    ∀ fp' b', C' fp' b' = C fp' b' + (if decide (fp' = fp ∧ b' = b) then 1 else 0).

  (** * Lemmas about tokens *)

  Lemma pair_tokens_insert M i x u fp b :
    M !! i = None →
    pair_tokens (<[i:=(x, u)]> M) fp b = pair_tokens M fp b + one_if (Some x) fp b.
  Proof.
    intros Hi. unfold pair_tokens, one_if. destruct (decide (same x fp b)).
    - rewrite map_filter_insert_True; [|done].
      rewrite map_size_insert_None; [lia|]. apply map_filter_lookup_None. by left.
    - rewrite map_filter_insert_False; [|done]. rewrite delete_notin; [lia|done].
  Qed.

  Lemma pair_tokens_delete M i x u fp b :
    M !! i = Some (x, u) →
    pair_tokens M fp b = pair_tokens (delete i M) fp b + one_if (Some x) fp b.
  Proof.
    intros Hi. rewrite -(pair_tokens_insert _ i x u); [|apply lookup_delete].
    by rewrite insert_delete.
  Qed.

  Lemma pair_tokens_pos M i fp b u : M !! i = Some ((fp, b), u) → 0 < pair_tokens M fp b.
  Proof.
    intros Hi. rewrite (pair_tokens_delete _ _ _ _ _ _ Hi). simpl.
    rewrite decide_True; [lia|apply same_refl].
  Qed.

  Lemma no_tokens_no_unique M fp b : pair_tokens M fp b = 0 → no_unique M (fp, b).
  Proof.
    intros H0 i y Hi Hsame. unfold pair_tokens in H0. apply map_size_empty_inv in H0.
    assert (filter (of_pair fp b) M !! i = Some (y, true)) as Hf.
    { by apply map_filter_lookup_Some. }
    by rewrite H0 lookup_empty in Hf.
  Qed.

  (** * Lemmas about copies *)

  Lemma pair_copies_more C C' fp0 b1 fp b :
    b < locations → one_more fp0 b1 C C' →
    pair_copies C' fp b = pair_copies C fp b + one_if (Some (fp0, b1)) fp b.
  Proof.
    intros Hb Hm. unfold pair_copies, one_if, same, home. rewrite !Hm. simpl.
    repeat case_decide; naive_solver lia.
  Qed.

  Lemma one_if_home fp0 b0 b1 fp b :
    b0 < locations → b < locations → home (fp0, b0) b1 →
    one_if (Some (fp0, b1)) fp b = one_if (Some (fp0, b0)) fp b.
  Proof.
    intros ?? Hh. unfold one_if. destruct (same_home fp0 b0 b1 fp b) as [??]; [done..|].
    repeat case_decide; tauto.
  Qed.

  Lemma one_if_alt o fp b : b < locations → one_if o fp (alt fp b) ≤ one_if o fp b.
  Proof.
    intros Hb. destruct o as [x|]; simpl; [|done].
    destruct (decide (same x fp (alt fp b))) as [[<- Hh]|]; [|lia].
    rewrite decide_True; [done|]. split; [done|]. eapply home_trans; [done| |done]. by right.
  Qed.

  (** * Lemmas about stripes *)

  Section update.
    Context (S : gmap nat stripe_state) (x : item) (v v' : nat) (d d' : phase).
    Context (Hx : item_ok x) (HS : S !! stripe x.1 x.2 = Some (v, d)).
    Local Set Default Proof Using "All".
    Let S' := <[stripe x.1 x.2 := (v', d')]> S.

    Definition about d : Prop :=
      match d with Idle => True | Copied y | Checked y | Doomed y => y = x end.
    Context (Hd : about d) (Hd' : about d').

    Lemma one_if_about (pick : phase → option item) fp b :
      (∀ d, pick d = None ∨ pick d = spare d) → b < locations →
      stripe fp b ≠ stripe x.1 x.2 → one_if (pick d) fp b = 0 ∧ one_if (pick d') fp b = 0.
    Proof.
      intros Hpick Hb Hne.
      assert (¬ same x fp b) by (intros Hs; apply Hne; symmetry; by apply same_stripe).
      split; [destruct (Hpick d) as [-> | ->]; [done|]; destruct d
             |destruct (Hpick d') as [-> | ->]; [done|]; destruct d']; simpl in *; subst;
        try done; by rewrite decide_False.
    Qed.

    Lemma spares_update fp b :
      b < locations →
      spares S' fp b + one_if (spare d) fp b = spares S fp b + one_if (spare d') fp b.
    Proof.
      intros Hb. unfold spares, S'. destruct (decide (stripe fp b = stripe x.1 x.2)) as [Heq|Hne].
      - rewrite Heq lookup_insert HS. lia.
      - rewrite lookup_insert_ne; [|done].
        destruct (one_if_about spare fp b) as [-> ->]; [by right|done..].
    Qed.

    Lemma dooms_update fp b :
      b < locations →
      dooms S' fp b + one_if (doomed d) fp b = dooms S fp b + one_if (doomed d') fp b.
    Proof.
      intros Hb. unfold dooms, S'. destruct (decide (stripe fp b = stripe x.1 x.2)) as [Heq|Hne].
      - rewrite Heq lookup_insert HS. lia.
      - rewrite lookup_insert_ne; [|done].
        destruct (one_if_about doomed fp b) as [-> ->]; [|done..].
        intros [| | |]; auto.
    Qed.

    (** When facts survive a change. *)
    Lemma valid_update C C' f :
      v ≤ v' →
      (v = v' → ∀ fp b, b < locations → stripe fp b = stripe x.1 x.2 →
        (dooms S fp b < C fp b → dooms S' fp b < C' fp b) ∧
        (dooms S fp b < pair_copies C fp b → dooms S' fp b < pair_copies C' fp b) ∧
        (is_Some (doomed d') → is_Some (doomed d) ∧ (0 < C fp b → 0 < C' fp b))) →
      (∀ fp b, b < locations → stripe fp b ≠ stripe x.1 x.2 → C' fp b = C fp b) →
      valid C S f → valid C' S' f.
    Proof.
      intros Hv Hsame Hother.
      assert (∀ fp b, b < locations → stripe fp b ≠ stripe x.1 x.2 →
        dooms S' fp b = dooms S fp b ∧ pair_copies C' fp b = pair_copies C fp b) as Hother'.
      { intros fp b Hb Hne. split.
        - unfold dooms, S'. by rewrite lookup_insert_ne.
        - unfold pair_copies. rewrite !Hother; auto using alt_lt. by rewrite stripe_alt. }
      assert (∀ fp b v1 d1, S !! stripe fp b = Some (v1, d1) →
        stripe fp b = stripe x.1 x.2 → v1 = v ∧ d1 = d ∧ S' !! stripe fp b = Some (v', d')) as Hat.
      { intros fp b v1 d1 H1 Heq. unfold S'. rewrite Heq lookup_insert. rewrite Heq HS in H1.
        naive_solver. }
      assert (∀ s v1 d1, S !! s = Some (v1, d1) → s ≠ stripe x.1 x.2 →
        S' !! s = Some (v1, d1)) as Hne.
      { intros s v1 d1 H1 ?. unfold S'. by rewrite lookup_insert_ne. }
      destruct f as [[[s v1]|[[fp b] v1]]|[[[fp b] v1]|[[fp b] v1]]]; simpl.
      - intros (v2 & d2 & H2 & Hlt). destruct (decide (s = stripe x.1 x.2)) as [->|].
        + exists v', d'. unfold S'. rewrite lookup_insert. rewrite HS in H2. simplify_eq.
          split; [done|lia].
        + exists v2, d2. auto.
      - intros (Hb & v2 & d2 & H2 & Hlt). split; [done|].
        destruct (decide (stripe fp b = stripe x.1 x.2)) as [Heq|].
        + destruct (Hat _ _ _ _ H2 Heq) as (-> & -> & ->). exists v', d'. split; [done|].
          destruct (decide (v = v')) as [Hvv|]; [|left; lia].
          destruct (Hsame Hvv fp b Hb Heq) as (? & ? & ?). subst v'. naive_solver.
        + exists v2, d2. split; [auto|]. destruct (Hother' fp b) as [-> _]; [done..|].
          by rewrite Hother.
      - intros (Hb & v2 & d2 & H2 & Hlt). split; [done|].
        destruct (decide (stripe fp b = stripe x.1 x.2)) as [Heq|].
        + destruct (Hat _ _ _ _ H2 Heq) as (-> & -> & ->). exists v', d'. split; [done|].
          destruct (decide (v = v')) as [Hvv|]; [|left; lia].
          destruct (Hsame Hvv fp b Hb Heq) as (? & ? & ?). subst v'. naive_solver.
        + exists v2, d2. split; [auto|]. by destruct (Hother' fp b) as [-> ->].
      - intros (Hb & v2 & d2 & H2 & Hlt). split; [done|].
        destruct (decide (stripe fp b = stripe x.1 x.2)) as [Heq|].
        + destruct (Hat _ _ _ _ H2 Heq) as (-> & -> & ->). exists v', d'. split; [done|].
          destruct (decide (v = v')) as [Hvv|]; [|left; lia].
          destruct (Hsame Hvv fp b Hb Heq) as (? & ? & ?). subst v'. naive_solver.
        + exists v2, d2. split; [auto|]. by rewrite Hother.
    Qed.

    Lemma stripes_update s : is_Some (S !! s) → is_Some (S' !! s).
    Proof.
      unfold S'. rewrite lookup_insert_is_Some. destruct (decide (stripe x.1 x.2 = s)); auto.
    Qed.
  End update.

  (** A copy that is added keeps all facts. *)
  Lemma valid_more C C' S fp b f : one_more fp b C C' → valid C S f → valid C' S f.
  Proof.
    intros Hm. assert (∀ fp b, C fp b ≤ C' fp b) as Hle by (intros fp' b'; rewrite Hm; lia).
    assert (∀ fp b, pair_copies C fp b ≤ pair_copies C' fp b) as Hlep.
    { intros fp' b'. unfold pair_copies. pose proof (Hle fp' b'). pose proof (Hle fp' (alt fp' b')).
      case_decide; lia. }
    destruct f as [[[s v1]|[[fp' b'] v1]]|[[[fp' b'] v1]|[[fp' b'] v1]]]; simpl; [done|..];
      intros (Hb & v2 & d2 & H2 & H); (split; [done|]); exists v2, d2; (split; [done|]);
      specialize (Hle fp' b'); specialize (Hlep fp' b').
    - destruct H; [by left|right]. split; [tauto|lia].
    - destruct H; [by left|right]. split; [tauto|lia].
    - destruct H as [|[? H]]; [by left|right]. split; [done|]. intros Hd. specialize (H Hd). lia.
  Qed.

  (** * Steps *)

  (** A copy is added, with a token. *)
  Lemma good_add C C' S M i fp b0 b1 :
    b0 < locations → home (fp, b0) b1 → M !! i = None → one_more fp b1 C C' →
    good C S M → good C' S (<[i:=((fp, b0), false)]> M).
  Proof.
    intros Hb0 Hb1 Hi Hm [Hs He Hx Hc]. split.
    - done.
    - intros fp' b' Hb'. rewrite pair_tokens_insert; [|done].
      rewrite (pair_copies_more C C' fp b1); [|done..].
      rewrite (one_if_home fp b0 b1); [|done..]. rewrite He; [lia|done].
    - intros i' x u'. destruct (decide (i' = i)) as [->|].
      + rewrite lookup_insert. by intros [= <- <-].
      + rewrite lookup_insert_ne; [|done]. apply Hx.
    - intros s v x HSs. destruct (Hc s v x HSs) as (Hst & Hok & Hno). split_and!; [done..|].
      intros i' y. destruct (decide (i' = i)) as [->|].
      + rewrite lookup_insert. by intros [= <-].
      + rewrite lookup_insert_ne; [|done]. by apply Hno.
  Qed.

  (** The lock holder of a stripe takes a step. *)
  Lemma good_update C C' S M M' x v v' d d' :
    item_ok x → S !! stripe x.1 x.2 = Some (v, d) → about x d → about x d' →
    (∀ fp b, b < locations →
      pair_copies C' fp b + pair_tokens M fp b + one_if (spare d) fp b =
      pair_copies C fp b + pair_tokens M' fp b + one_if (spare d') fp b) →
    (∀ i y u, M' !! i = Some (y, u) → M !! i = Some (y, u) ∨ y = x ∧ d' = Idle) →
    (d' = Checked x → no_unique M' x) →
    good C S M → good C' (<[stripe x.1 x.2 := (v', d')]> S) M'.
  Proof.
    intros Hx HS Hd Hd' Hcount HM Hnew [Hs He Hi Hc]. split.
    - intros s ?. apply (stripes_update S x v v' d d'); auto.
    - intros fp b Hb. specialize (Hcount fp b Hb). specialize (He fp b Hb).
      pose proof (spares_update S x v v' d d' Hx HS Hd Hd' fp b Hb). lia.
    - intros i y u Hy. destruct (HM i y u Hy) as [?|[-> _]]; [by eapply Hi|done].
    - intros s v1 y. destruct (decide (s = stripe x.1 x.2)) as [->|Hne].
      + rewrite lookup_insert. intros [= -> ->]. simpl in Hd'. subst y. auto.
      + rewrite lookup_insert_ne; [|done]. intros Hy.
        destruct (Hc s v1 y Hy) as (Hst & Hok & Hno). split_and!; [done..|].
        intros i z Hz. destruct (HM i z true Hz) as [?|[-> _]]; [by eapply Hno|].
        intros Hsame. apply Hne. rewrite -Hst. symmetry. by apply same_stripe.
  Qed.

  Lemma token_in_pair C S M i fp b u :
    good C S M → M !! i = Some ((fp, b), u) → b < locations ∧ dooms S fp b < pair_copies C fp b.
  Proof.
    intros [Hs He Hx Hc] Hi. assert (b < locations) as Hb by by apply (Hx i (fp, b) u).
    split; [done|]. rewrite He; [|done]. pose proof (pair_tokens_pos _ _ _ _ _ Hi).
    pose proof (dooms_spares S fp b). lia.
  Qed.

  Lemma good_empty C S :
    (∀ s, s < stripes → is_Some (S !! s)) → (∀ s st, S !! s = Some st → st.2 = Idle) →
    (∀ fp b, C fp b = 0) → good C S ∅.
  Proof.
    intros Hs Hn HC. split; [done|..].
    - intros fp b ?. unfold pair_tokens, pair_copies, spares.
      rewrite !HC map_filter_empty map_size_empty.
      destruct (S !! stripe fp b) as [[v d]|] eqn:HSs; [|by case_decide].
      apply Hn in HSs. simpl in HSs. subst d. by case_decide.
    - intros i x u. by rewrite lookup_empty.
    - intros s v x HSs. by apply Hn in HSs.
  Qed.
End pure.
