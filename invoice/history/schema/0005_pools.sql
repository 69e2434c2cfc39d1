-- The ledger keeps what rules of reductions took or charged of their limits:
-- kind is then that of their lines (discount, cap), allocation the name of the
-- rule, and pool who has the limit together. Other entries leave the column
-- NULL, as all entries before do, so that the digests of those stay.
ALTER TABLE ledger ADD COLUMN pool TEXT; -- "group chem", "pi Ada Lovelace", "all"
