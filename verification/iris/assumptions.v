From guira Require Import filter client.
Print Assumptions client_adequate.
Print Assumptions contains_spec.
Print Assumptions contains_any_spec.
Print Assumptions insert_spec.
Print Assumptions relocate_spec.
Print Assumptions remove_spec.
Print Assumptions new_table_spec.
