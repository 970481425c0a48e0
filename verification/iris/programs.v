(** The programs of the table. *)
From guira Require Export word_programs pairs.

(** Programs that compute the other location of an item, its stripe, and the stripe that is locked
    while a group of neighbouring buckets is split; the number of buckets of a group; and how often
    the hint is published in a round. *)
Class hashes := Hashes {
  alt_code : val; stripe_code : val; group_code : val; group_size : nat; hints_per_round : nat;
}.

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

  Definition try_lock : val := λ: "t" "s", CAS (lock_of "t" "s") #false #true.
  Definition lock : val := rec: "lock" "t" "s" :=
    if: try_lock "t" "s" then #() else "lock" "t" "s".
  Definition unlock : val := λ: "t" "s", lock_of "t" "s" <- #false.

  (** Under the lock. *)
  Definition bump : val := λ: "t" "s",
    let: "version" := version_of "t" "s" in "version" <- !"version" + #1.

  (** A size is a level and the number of buckets that have been split in its round, in one number.
      In Rust, each has 32 bits. *)
  Definition pack : val := λ: "level" "split", "level" * #all_buckets + "split".
  Definition level_of : val := λ: "size", "size" `quot` #all_buckets.
  Definition split_of : val := λ: "size", "size" `rem` #all_buckets.

  (** The level at which a location is looked for first, in a table of this size. *)
  Definition level_in : val := λ: "x" "size",
    let: "level" := level_of "size" in
    if: place_of "x" "level" < split_of "size" then "level" + #1 else "level".

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

  (** Loads the locations of an item, which were in buckets of these levels. Two words of one bucket
      have one level. *)
  Definition follow_both : val := rec: "follow" "t" "x1" "k1" "x2" "k2" :=
    let: "first" := follow "t" "x1" "k1" in
    let: "second" := follow "t" "x2" "k2" in
    if: (Fst "first" ≠ Fst "second") || (level (Snd "first") = level (Snd "second"))
    then ("first", "second") else "follow" "t" "x1" "k1" "x2" "k2".

  (** Loads the locations of an item. Both words are loaded before either is looked at. *)
  Definition load_both : val := λ: "t" "x1" "x2",
    let: "hint" := !(hint_of "t") in
    let: "k1" := level_in "x1" "hint" in
    let: "k2" := level_in "x2" "hint" in
    let: "b1" := place_of "x1" "k1" in
    let: "b2" := place_of "x2" "k2" in
    let: "w1" := !(word_of "t" "b1") in
    let: "w2" := !(word_of "t" "b2") in
    if: (level "w1" = "k1") && (level "w2" = "k2") then (("b1", "w1"), ("b2", "w2"))
    else follow_both "t" "x1" "k1" "x2" "k2".

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

  (** Splits a bucket of this level, unless it has been split. Under the lock of its group. *)
  Definition split_word : val := rec: "split" "t" "b" "at" "w" :=
    if: level "w" = "at" then
      let: "halves" := halves "w" in
      word_of "t" ("b" + (#first ≪ "at")) <- Snd "halves";;
      let: "r" := CmpXchg (word_of "t" "b") "w" (Fst "halves") in
      if: Snd "r" then #true else "split" "t" "b" "at" (Fst "r")
    else #false.
  Definition split_bucket : val := λ: "t" "b" "at", split_word "t" "b" "at" !(word_of "t" "b").

  Definition fetch_max : val := rec: "max" "to" "new" :=
    let: "old" := !"to" in
    if: "new" ≤ "old" then #() else
    if: CAS "to" "old" "new" then #() else "max" "to" "new".

  (** The buckets from this one on that have been split, without a gap. *)
  Definition pass : val := rec: "pass" "t" "level" "split" :=
    if: "split" = (#first ≪ "level") then "split" else
    if: "level" < level !(word_of "t" "split") then "pass" "t" "level" ("split" + #1)
    else "split".

  (** The hint of a table of this size. *)
  Definition hint_for : val := λ: "size",
    let: "step" := (#first ≪ level_of "size") `quot` #hints_per_round in
    let: "step" := if: "step" < #group_size then #group_size else "step" in
    pack (level_of "size") ((split_of "size" `quot` "step") * "step").

  (** Advances the size over all buckets that have been split. *)
  Definition advance_size : val := rec: "advance" "t" :=
    let: "seen" := !(size_of "t") in
    let: "level" := level_of "seen" in
    let: "split" := pass "t" "level" (split_of "seen") in
    if: "split" = split_of "seen" then #() else
    let: "size" :=
      if: "split" = (#first ≪ "level") then pack ("level" + #1) #0 else pack "level" "split" in
    fetch_max (size_of "t") "size";;
    let: "hint" := hint_for "size" in
    (if: hint_for "seen" < "hint" then fetch_max (hint_of "t") "hint" else #());;
    "advance" "t".

  Definition split_buckets : val := rec: "split" "t" "b" "last" "at" :=
    if: "b" < "last" then split_bucket "t" "b" "at";; "split" "t" ("b" + #1) "last" "at" else #().

  (** Splits the rest of the group at which the size stands. Returns false if another thread holds
      its lock. *)
  Definition split_group : val := λ: "t" "size",
    let: "round" := #first ≪ level_of "size" in
    let: "group" := split_of "size" `quot` #group_size in
    let: "last" := "group" * #group_size + #group_size in
    let: "last" := if: "last" < "round" then "last" else "round" in
    let: "s" := group_code "group" in
    if: try_lock "t" "s" then
      split_buckets "t" (split_of "size") "last" (level_of "size");;
      unlock "t" "s";;
      advance_size "t";;
      #true
    else #false.

  (** Splits the buckets whose turn it is. Returns false if they cannot be split. *)
  Definition split_next : val := λ: "t",
    let: "size" := !(size_of "t") in
    if: level_of "size" = #max_level then #false else split_group "t" "size".

  (** Splits a bucket of this level before its turn. Returns whether it did. *)
  Definition split_out_of_turn : val := λ: "t" "b" "at",
    let: "size" := !(size_of "t") in
    if: level_of "size" = #max_level then #false else
    if: "at" = level_of "size" then
      let: "s" := group_code ("b" `quot` #group_size) in
      lock "t" "s";;
      let: "split" := split_bucket "t" "b" "at" in
      unlock "t" "s";;
      advance_size "t";;
      "split"
    else #false.
End programs.

(** The programs compute what they shall. *)
Class hash_specs Σ `{!heapGS Σ, !layout, !pairs, !hashes} := HashSpecs {
  all_locations : locations = all_buckets;
  group : nat → nat;
  group_lt g : group g < stripes;
  group_size_pos : 0 < group_size;
  alt_spec (fp : Z) (x : nat) : fp_ok fp → x < locations →
    {{{ True }}} alt_code #fp #x {{{ RET #(alt fp x); True }}};
  stripe_spec (fp : Z) (x : nat) : fp_ok fp → x < locations →
    {{{ True }}} stripe_code #fp #x {{{ RET #(stripe fp x); True }}};
  group_spec (g : nat) : {{{ True }}} group_code #g {{{ RET #(group g); True }}};
}.
