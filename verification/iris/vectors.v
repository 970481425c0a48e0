(** What the functions on words compute for some words: the Rust functions must compute the same. *)
From guira Require Import words.
From stdpp Require Import pretty strings.

(** * Layouts *)

(** A layout with these numbers: slots, bits of a slot, bits of a core, 1 if slots have a marker,
    buckets at level 0, and levels. *)
Definition made (c w core m f top : nat)
    (H : Is_true (bool_decide (0 < w ∧ 0 < f ∧ m ≤ 1 ∧ core + top + m ≤ w))) : layout.
Proof.
  apply bool_decide_unpack in H.
  refine {| width := w; capacity := c; core_bits := core; marker := m; first := f;
            max_level := top |}; lia.
Defined.

(** Those of the library. In those that grow, slots know their items up to the last level here. *)
Definition large : list (string * layout) := [
  ("Plain8x8", made 8 8 8 0 1 0 I);
  ("Plain6x10", made 6 10 10 0 1 0 I);
  ("Plain5x12", made 5 12 12 0 1 0 I);
  ("Plain4x16", made 4 16 16 0 1 0 I);
  ("Growing5x12", made 5 12 6 1 7 5 I);
  ("Growing4x15", made 4 15 7 1 3 7 I);
  ("Growing3x20", made 3 20 8 1 2 11 I);
  ("Growing2x30", made 2 30 8 1 1 15 I)
].

(** Small ones, for which all words are compared. *)
Definition small : list (string * layout) := [
  ("Plain3x2", made 3 2 2 0 1 0 I);
  ("Plain2x3", made 2 3 3 0 1 0 I);
  ("Small2x30", made 2 30 1 1 3 2 I)
].

(** * Results *)

Section results.
  Context {LA : layout}.

  (** Numbers, or [-1] for none. *)
  Definition or_none (r : option Z) : Z := default (-1)%Z r.
  Definition of_bool (r : bool) : Z := if r then 1%Z else 0%Z.

  (** What the programs compute by their specifications, from a word [encode_word k l] and the item
      with the fingerprint [fp] in the location [x]: its bucket, its slot, whether the word has it,
      the word with it, the word without it, the word with [new] in its place, and both halves. *)
  Definition results k l fp x new : list Z :=
    let s := slot_at fp x k in
    let half l := if decide (k < max_level) then encode_word (S k) l else (-1)%Z in
    [Z.of_nat (place x k); s; of_bool (has_slot s l); or_none (encode_word k <$> lwith s l);
     or_none (encode_word k <$> lchanged s 0 l); or_none (encode_word k <$> lchanged s new l);
     half (lhalves l).1; half (lhalves l).2].

  (** * All words of small layouts *)

  Definition all_fps : list Z := filter fp_ok (Z.of_nat <$> seq 0 (2 ^ core_bits)).
  Definition all_items : list (Z * nat) :=
    fp ← all_fps; (λ x, (fp, x)) <$> seq 0 all_buckets.
  Definition all_slots k : list Z :=
    fp ← all_fps; (λ q, slot_at fp (q * (first * 2 ^ k)) k) <$> seq 0 (2 ^ (max_level - k)).
  Fixpoint all_lists (ss : list Z) (n : nat) : list (list Z) :=
    match n with
    | 0 => [[]]
    | S n => [] :: (s ← ss; (s ::.) <$> all_lists ss n)
    end.

  (** One number for many: it changes if one of them does. *)
  Definition digest (rs : list Z) : Z :=
    foldl (λ d r, Z.land (d * 1000003 + r + 1) (Z.ones 64)) 0%Z rs.
  Definition all_results k l : list Z :=
    i ← all_items; new ← all_slots k; results k l i.1 i.2 new.
  Definition all_words : list (nat * list Z) :=
    k ← seq 0 (S max_level); (λ l, (k, l)) <$> all_lists (all_slots k) capacity.

  (** * Words at random *)

  (** A generator: a number below [n], and the next state. *)
  Definition gen A := Z → A * Z.
  Local Instance gen_ret : MRet gen := λ A a s, (a, s).
  Local Instance gen_bind : MBind gen := λ A B f m s, let r := m s in f r.1 r.2.
  Definition draw (n : Z) : gen Z := λ s,
    let s := ((s * 6364136223846793005 + 1442695040888963407) `mod` 2 ^ 64)%Z in
    ((s / 2 ^ 33) `mod` n, s)%Z.
  Definition draw_nat (n : nat) : gen nat := i ← draw n; mret (Z.to_nat i).
  Fixpoint many {A} (m : gen A) (n : nat) : gen (list A) :=
    match n with 0 => mret [] | S n => a ← m; r ← many m n; mret (a :: r) end.

  Definition draw_fp : gen Z :=
    let least := (1 - marker)%Z in i ← draw (2 ^ core_bits - least); mret (least + i)%Z.
  Definition draw_item : gen (Z * nat) := fp ← draw_fp; x ← draw_nat all_buckets; mret (fp, x).
  (** One of some items, or one that differs from it in its location, or any. *)
  Definition draw_like (items : list (Z * nat)) : gen (Z * nat) :=
    any ← draw_item; i ← draw_nat (length items `max` 1); how ← draw 4;
    mret match items !! i with
      | None => any
      | Some i => if decide (how = 0%Z) then any else
          if decide (how = 1%Z) then (i.1, any.2) else i
      end.

  (** A level, slots, an item, another slot, and the results. *)
  Definition draw_case : gen (nat * list Z * Z * nat * Z) :=
    k ← draw_nat (S max_level); n ← draw_nat (S capacity); items ← many draw_item n;
    i ← draw_like items; j ← draw_like items;
    mret (k, (λ i, slot_at i.1 i.2 k) <$> items, i.1, i.2, slot_at j.1 j.2 k).

  (** * Lines *)

  Definition numbers (name : string) (zs : list Z) : string :=
    String.concat " " (name :: (pretty <$> zs)).
  Definition layout_line (name : string) : string :=
    numbers ("layout " +:+ name) (Z.of_nat <$> [capacity; width; core_bits; first; max_level]).
  Definition case_line (name : string) c : string :=
    let '(k, l, fp, x, new) := c in
    numbers name ([encode_word k l; fp; Z.of_nat x; new] ++ results k l fp x new).
  Definition word_line (name : string) (w : nat * list Z) : string :=
    numbers name [encode_word w.1 w.2; digest (all_results w.1 w.2)].
End results.

Definition cases (LA : layout) := (many draw_case 20 1).1.

Definition lines : list string :=
  ('(name, LA) ← large; @layout_line LA name :: (@case_line LA name <$> cases LA)) ++
  ('(name, LA) ← small; @layout_line LA name :: (@word_line LA name <$> @all_words LA)).

(** The words are among those of which the specifications speak. *)
Lemma cases_ok :
  Forall (λ p, Forall (λ c, @word_ok p.2 c.1.1.1.2) (cases p.2)) large ∧
  Forall (λ p, Forall (λ w, @word_ok p.2 w.2) (@all_words p.2)) small.
Proof. apply (bool_decide_unpack _). vm_compute. exact I. Qed.

Eval vm_compute in String.concat "
" lines.
