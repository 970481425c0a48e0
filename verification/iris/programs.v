(** The programs of the table. *)
From guira Require Export word_programs pairs.

(** Programs that compute the other location of an item, its stripe, and the stripe that is locked
    for the split of a bucket. *)
Class hashes := Hashes { alt_code : val; stripe_code : val; group_code : val }.

Section programs.
  Context `{LA : !layout, HH : !hashes}.

  (** A table consists of an array of words, one of versions, one of locks, and the size and the
      hint. *)
  Definition word_of : val := λ: "t" "b", Fst (Fst (Fst "t")) +ₗ "b".
  Definition version_of : val := λ: "t" "s", Snd (Fst (Fst "t")) +ₗ "s".
  Definition lock_of : val := λ: "t" "s", Snd (Fst "t") +ₗ "s".
  Definition size_of : val := λ: "t", Snd "t" +ₗ #0.
  Definition hint_of : val := λ: "t", Snd "t" +ₗ #1.

  Definition new_table : val := λ: "stripes",
    let: "words" := AllocN #all_buckets #0 in
    let: "versions" := AllocN "stripes" #0 in
    let: "locks" := AllocN "stripes" #false in
    ("words", "versions", "locks", AllocN #2 #0).

  Definition lock : val := rec: "lock" "t" "s" :=
    if: CAS (lock_of "t" "s") #false #true then #() else "lock" "t" "s".
  Definition unlock : val := λ: "t" "s", lock_of "t" "s" <- #false.

  (** Under the lock. *)
  Definition bump : val := λ: "t" "s",
    let: "version" := version_of "t" "s" in "version" <- !"version" + #1.

  (** The level at which a location is looked for first, in a table of this size. *)
  Definition level_in : val := λ: "x" "size",
    let: "level" := "size" `quot` #all_buckets in
    if: place_of "x" "level" < "size" `rem` #all_buckets then "level" + #1 else "level".

  (** The first child on the way to a location, or the bucket itself at this level. *)
  Definition descend : val := rec: "descend" "x" "b" "at" "level" :=
    if: "at" = "level" then "at" else
    let: "next" := "at" + #1 in
    if: place_of "x" "next" = "b" then "descend" "x" "b" "next" "level" else "next".

  (** Loads a location: returns its bucket and the word. *)
  Definition follow : val := rec: "follow" "t" "x" "at" :=
    let: "b" := place_of "x" "at" in
    let: "w" := !(word_of "t" "b") in
    let: "next" := descend "x" "b" "at" (level "w") in
    if: place_of "x" "next" = "b" then ("b", "w") else "follow" "t" "x" "next".

  (** Loads the locations of an item. *)
  Definition load_both : val := λ: "t" "x1" "x2",
    let: "hint" := !(hint_of "t") in
    let: "first" := follow "t" "x1" (level_in "x1" "hint") in
    let: "second" := follow "t" "x2" (level_in "x2" "hint") in
    ("first", "second").

  Definition is_in : val := λ: "fp" "x" "seen",
    matches (encode_slot "fp" "x" (level (Snd "seen"))) (Snd "seen").

  Definition contains : val := rec: "contains" "t" "item" :=
    let: "fp" := Fst "item" in
    let: "x1" := Snd "item" in
    let: "x2" := alt_code "fp" "x1" in
    let: "version" := version_of "t" (stripe_code "fp" "x1") in
    let: "v" := !"version" in
    let: "seen" := load_both "t" "x1" "x2" in
    if: is_in "fp" "x1" (Fst "seen") || is_in "fp" "x2" (Snd "seen") then #true else
    if: !"version" = "v" then #false else "contains" "t" "item".

  (** Adds a slot to the emptier one of two words. Returns false if it has changed since, and NONE
      if both are full. *)
  Definition try_add : val := λ: "t" "fp" "x1" "x2" "seen",
    let: "choice" :=
      if: slots (Snd (Snd "seen")) < slots (Snd (Fst "seen")) then ("x2", Snd "seen")
      else ("x1", Fst "seen") in
    let: "w" := Snd (Snd "choice") in
    match: with_slot (encode_slot "fp" (Fst "choice") (level "w")) "w" with
      NONE => NONE
    | SOME "new" => SOME (CAS (word_of "t" (Fst (Snd "choice"))) "w" "new")
    end.

  (** Returns false if both locations are full. *)
  Definition insert : val := rec: "insert" "t" "item" :=
    let: "fp" := Fst "item" in
    let: "x1" := Snd "item" in
    let: "x2" := alt_code "fp" "x1" in
    let: "seen" := load_both "t" "x1" "x2" in
    match: try_add "t" "fp" "x1" "x2" "seen" with
      NONE => #false
    | SOME "added" => if: "added" then #true else "insert" "t" "item"
    end.

  (** Under the lock: SOME true if the item was added, SOME false if it was there, NONE if it is
      absent and both locations are full. *)
  Definition add_if_absent : val := rec: "add" "t" "fp" "x1" "x2" :=
    let: "seen" := load_both "t" "x1" "x2" in
    if: is_in "fp" "x1" (Fst "seen") || is_in "fp" "x2" (Snd "seen") then SOME #false else
    match: try_add "t" "fp" "x1" "x2" "seen" with
      NONE => NONE
    | SOME "added" => if: "added" then SOME #true else "add" "t" "fp" "x1" "x2"
    end.

  Definition insert_unique : val := λ: "t" "item",
    let: "fp" := Fst "item" in
    let: "x1" := Snd "item" in
    let: "s" := stripe_code "fp" "x1" in
    lock "t" "s";;
    let: "r" := add_if_absent "t" "fp" "x1" (alt_code "fp" "x1") in
    unlock "t" "s";;
    "r".

  (** The first half of a move. Returns false if there is no room, or if the location is in the
      same bucket. *)
  Definition copy : val := rec: "copy" "t" "fp" "x" "from" :=
    let: "seen" := follow "t" "x" (level_in "x" !(hint_of "t")) in
    let: "w" := Snd "seen" in
    if: Fst "seen" = "from" then #false else
    match: with_slot (encode_slot "fp" "x" (level "w")) "w" with
      NONE => #false
    | SOME "new" =>
        if: CAS (word_of "t" (Fst "seen")) "w" "new" then #true else "copy" "t" "fp" "x" "from"
    end.

  (** Clears a slot that was seen in this word, or stores the incoming one in it (0 if there is
      none). Returns false if the bucket has been split since. *)
  Definition change_slot : val := rec: "change" "t" "b" "at" "slot" "incoming" "w" :=
    if: level "w" = "at" then
      match: changed "slot" "incoming" "w" with
        NONE => assert: #false
      | SOME "new" =>
          let: "r" := CmpXchg (word_of "t" "b") "w" "new" in
          if: Snd "r" then #true else "change" "t" "b" "at" "slot" "incoming" (Fst "r")
      end
    else #false.

  (** Clears the slot where it is now. *)
  Definition clear_moved : val := rec: "clear" "t" "fp" "x" "at" :=
    let: "seen" := follow "t" "x" "at" in
    let: "w" := Snd "seen" in
    match: changed (encode_slot "fp" "x" (level "w")) #0 "w" with
      NONE => assert: #false
    | SOME "new" =>
        if: CAS (word_of "t" (Fst "seen")) "w" "new" then #() else "clear" "t" "fp" "x" "at"
    end.

  (** Moves a slot that was seen at this level. Returns false if the plan is stale, or if there is
      no room; or if the bucket was split meanwhile and what comes in is not stored. *)
  Definition relocate : val := λ: "t" "fp" "x" "at" "incoming",
    let: "x2" := alt_code "fp" "x" in
    let: "s" := stripe_code "fp" "x" in
    lock "t" "s";;
    let: "b" := place_of "x" "at" in
    let: "w" := !(word_of "t" "b") in
    let: "slot" := encode_slot "fp" "x" "at" in
    let: "moved" :=
      if: level "w" = "at" then
        if: matches "slot" "w" then
          if: copy "t" "fp" "x2" "b" then
            bump "t" "s";;
            if: change_slot "t" "b" "at" "slot" "incoming" "w" then #true
            else clear_moved "t" "fp" "x" "at";; "incoming" = #0
          else #false
        else #false
      else #false in
    unlock "t" "s";;
    "moved".

  (** The slot of an item in two words, and the word without it: NONE, or SOME of the bucket, the
      word, and the new word. *)
  Definition find : val := λ: "fp" "x1" "x2" "seen",
    let: "in" := λ: "x" "one",
      match: changed (encode_slot "fp" "x" (level (Snd "one"))) #0 (Snd "one") with
        NONE => NONE
      | SOME "new" => SOME (Fst "one", Snd "one", "new")
      end in
    match: "in" "x1" (Fst "seen") with
      NONE => "in" "x2" (Snd "seen")
    | SOME "found" => SOME "found"
    end.

  Definition try_change : val := λ: "t" "found",
    CAS (word_of "t" (Fst (Fst "found"))) (Snd (Fst "found")) (Snd "found").

  Definition clear_again : val := rec: "clear" "t" "fp" "x1" "x2" :=
    match: find "fp" "x1" "x2" (load_both "t" "x1" "x2") with
      NONE => assert: #false
    | SOME "found" => if: try_change "t" "found" then #() else "clear" "t" "fp" "x1" "x2"
    end.

  Definition remove : val := λ: "t" "item",
    let: "fp" := Fst "item" in
    let: "x1" := Snd "item" in
    let: "x2" := alt_code "fp" "x1" in
    let: "s" := stripe_code "fp" "x1" in
    lock "t" "s";;
    let: "removed" :=
      match: find "fp" "x1" "x2" (load_both "t" "x1" "x2") with
        NONE => #false
      | SOME "found" =>
          bump "t" "s";;
          (if: try_change "t" "found" then #() else clear_again "t" "fp" "x1" "x2");;
          #true
      end in
    unlock "t" "s";;
    "removed".

  (** Splits a bucket of this level, unless it has been split. *)
  Definition split_word : val := rec: "split" "t" "b" "at" "w" :=
    if: level "w" = "at" then
      let: "halves" := halves "w" in
      word_of "t" ("b" + (#first ≪ "at")) <- Snd "halves";;
      let: "r" := CmpXchg (word_of "t" "b") "w" (Fst "halves") in
      if: Snd "r" then #true else "split" "t" "b" "at" (Fst "r")
    else #false.

  Definition split : val := λ: "t" "b" "at",
    let: "s" := group_code "b" in
    lock "t" "s";;
    let: "r" := split_word "t" "b" "at" !(word_of "t" "b") in
    unlock "t" "s";;
    "r".
End programs.

(** The programs compute what they shall. *)
Class hash_specs Σ `{!heapGS Σ, !layout, !pairs, !hashes} := HashSpecs {
  all_locations : locations = all_buckets;
  group : nat → nat;
  group_lt b : group b < stripes;
  alt_spec (fp : Z) (x : nat) : fp_ok fp → x < locations →
    {{{ True }}} alt_code #fp #x {{{ RET #(alt fp x); True }}};
  stripe_spec (fp : Z) (x : nat) : fp_ok fp → x < locations →
    {{{ True }}} stripe_code #fp #x {{{ RET #(stripe fp x); True }}};
  group_spec (b : nat) : {{{ True }}} group_code #b {{{ RET #(group b); True }}};
}.
