From guira Require Import construction unique client.
Print Assumptions client_adequate.
Print Assumptions contains_spec.
Print Assumptions contains_any_spec.
Print Assumptions insert_spec.
Print Assumptions remove_spec.
Print Assumptions insert_unique_spec.
Print Assumptions relocate_spec.
Print Assumptions split_spec.
Print Assumptions new_table_spec.
Print Assumptions insert_open.
Print Assumptions remove_open.
