-- The ledger keeps what invoices count towards tiers too: units of a meter of
-- a card, or the money that they cost, over a fiscal year. Draws on prepaid
-- allocations leave both columns NULL, as all entries before them do, so that
-- the digests of those stay.
ALTER TABLE ledger ADD COLUMN kind TEXT; -- units or money; NULL is a draw
ALTER TABLE ledger ADD COLUMN card TEXT; -- of what is counted
