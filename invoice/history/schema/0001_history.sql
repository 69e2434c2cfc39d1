-- The history of one installation. It only grows: triggers refuse every
-- UPDATE and DELETE, and every INSERT that would replace a row, leave a gap or
-- break the chain.
--
-- An entry is one row of entries and the rows of the other tables that carry
-- its number. The rows come first and the row of entries closes them: it holds
-- the digest of what they say (content) and the hash of the entry before it
-- (previous), so nothing can be added to, taken from or changed in an entry
-- without the hashes from there on no longer fitting. How to compute them is
-- written in chain.go.
--
-- Money is INTEGER minor units beside decimal TEXT; quantities are decimal
-- TEXT beside exact TEXT (a decimal or a fraction); times are RFC 3339 UTC
-- TEXT; days and periods are 2026-03-31 and 2026-03.

CREATE TABLE entries (
  entry    INTEGER PRIMARY KEY,        -- from 1, without gaps
  kind     TEXT NOT NULL,              -- text, ingest, draft, run, invoice, issued, documents, …
  about    TEXT NOT NULL,              -- the period, number or digest that it concerns
  at       TEXT NOT NULL,
  actor    TEXT NOT NULL,
  program  TEXT NOT NULL,              -- version of hpcbill
  content  TEXT NOT NULL,              -- SHA-256 of the entry's rows
  previous TEXT NOT NULL,              -- hash of the entry before, "genesis" for the first
  hash     TEXT NOT NULL UNIQUE
) STRICT;

CREATE TRIGGER entries_insert BEFORE INSERT ON entries BEGIN
  SELECT RAISE(ABORT, 'entries: the entry exists')
   WHERE EXISTS (SELECT 1 FROM entries WHERE entry = NEW.entry OR hash = NEW.hash);
  SELECT RAISE(ABORT, 'entries: a gap in the numbers')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'entries: the chain is broken')
   WHERE NEW.previous IS NOT coalesce((SELECT hash FROM entries WHERE entry = NEW.entry - 1), 'genesis');
END;
CREATE TRIGGER entries_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries: the history cannot be changed'); END;
CREATE TRIGGER entries_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries: the history cannot be changed'); END;

-- The texts that billed: cards, roster, storage and site configuration, each
-- kept once.
CREATE TABLE texts (
  entry  INTEGER PRIMARY KEY REFERENCES entries (entry) DEFERRABLE INITIALLY DEFERRED,
  digest TEXT NOT NULL UNIQUE,         -- SHA-256 of body
  body   BLOB NOT NULL
) STRICT;

CREATE TRIGGER texts_insert BEFORE INSERT ON texts BEGIN
  SELECT RAISE(ABORT, 'texts: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'texts: the text exists')
   WHERE EXISTS (SELECT 1 FROM texts WHERE entry = NEW.entry OR digest = NEW.digest);
END;
CREATE TRIGGER texts_update BEFORE UPDATE ON texts BEGIN SELECT RAISE(ABORT, 'texts: the history cannot be changed'); END;
CREATE TRIGGER texts_delete BEFORE DELETE ON texts BEGIN SELECT RAISE(ABORT, 'texts: the history cannot be changed'); END;

-- What was ingested, copied from the job store's records.
CREATE TABLE ingests (
  entry       INTEGER PRIMARY KEY REFERENCES entries (entry) DEFERRABLE INITIALLY DEFERRED,
  id          TEXT NOT NULL UNIQUE,    -- the job store's
  cluster     TEXT NOT NULL,
  file        TEXT NOT NULL,
  digest      TEXT NOT NULL,           -- SHA-256 of the dump as read
  ingested_at TEXT NOT NULL,
  bytes       INTEGER NOT NULL,
  records     INTEGER NOT NULL,
  steps       INTEGER NOT NULL,
  new         INTEGER NOT NULL,
  revised     INTEGER NOT NULL,
  unchanged   INTEGER NOT NULL,
  quarantined INTEGER NOT NULL,
  first_end   TEXT,                    -- of the jobs that had ended
  last_end    TEXT
) STRICT;

CREATE TRIGGER ingests_insert BEFORE INSERT ON ingests BEGIN
  SELECT RAISE(ABORT, 'ingests: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'ingests: the ingest exists')
   WHERE EXISTS (SELECT 1 FROM ingests WHERE entry = NEW.entry OR id = NEW.id);
END;
CREATE TRIGGER ingests_update BEFORE UPDATE ON ingests BEGIN SELECT RAISE(ABORT, 'ingests: the history cannot be changed'); END;
CREATE TRIGGER ingests_delete BEFORE DELETE ON ingests BEGIN SELECT RAISE(ABORT, 'ingests: the history cannot be changed'); END;

-- One composing of a period, with the evidence of what it was made from.
CREATE TABLE runs (
  entry         INTEGER PRIMARY KEY REFERENCES entries (entry) DEFERRABLE INITIALLY DEFERRED,
  period        TEXT NOT NULL,
  kind          TEXT NOT NULL CHECK (kind IN ('draft', 'issue')),
  summary       TEXT NOT NULL,         -- JSON: both equations, causes, meters, totals
  held          INTEGER NOT NULL,      -- jobs and holdings
  accepted_held TEXT                   -- the reason for which they were left out
) STRICT;

CREATE TRIGGER runs_insert BEFORE INSERT ON runs BEGIN
  SELECT RAISE(ABORT, 'runs: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'runs: the run exists') WHERE EXISTS (SELECT 1 FROM runs WHERE entry = NEW.entry);
END;
CREATE TRIGGER runs_update BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'runs: the history cannot be changed'); END;
CREATE TRIGGER runs_delete BEFORE DELETE ON runs BEGIN SELECT RAISE(ABORT, 'runs: the history cannot be changed'); END;

CREATE TABLE run_texts (
  entry  INTEGER NOT NULL REFERENCES runs (entry) DEFERRABLE INITIALLY DEFERRED,
  item   INTEGER NOT NULL,
  kind   TEXT NOT NULL,                -- card, roster, storage, site …
  name   TEXT NOT NULL,                -- the file, as it was named
  digest TEXT NOT NULL REFERENCES texts (digest) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (entry, item)
) STRICT;

CREATE TRIGGER run_texts_insert BEFORE INSERT ON run_texts BEGIN
  SELECT RAISE(ABORT, 'run_texts: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'run_texts: the item exists')
   WHERE EXISTS (SELECT 1 FROM run_texts WHERE entry = NEW.entry AND item = NEW.item);
END;
CREATE TRIGGER run_texts_update BEFORE UPDATE ON run_texts BEGIN SELECT RAISE(ABORT, 'run_texts: the history cannot be changed'); END;
CREATE TRIGGER run_texts_delete BEFORE DELETE ON run_texts BEGIN SELECT RAISE(ABORT, 'run_texts: the history cannot be changed'); END;

CREATE TABLE run_ingests (
  entry  INTEGER NOT NULL REFERENCES runs (entry) DEFERRABLE INITIALLY DEFERRED,
  item   INTEGER NOT NULL,
  ingest TEXT NOT NULL REFERENCES ingests (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (entry, item)
) STRICT;

CREATE TRIGGER run_ingests_insert BEFORE INSERT ON run_ingests BEGIN
  SELECT RAISE(ABORT, 'run_ingests: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'run_ingests: the item exists')
   WHERE EXISTS (SELECT 1 FROM run_ingests WHERE entry = NEW.entry AND item = NEW.item);
END;
CREATE TRIGGER run_ingests_update BEFORE UPDATE ON run_ingests BEGIN SELECT RAISE(ABORT, 'run_ingests: the history cannot be changed'); END;
CREATE TRIGGER run_ingests_delete BEFORE DELETE ON run_ingests BEGIN SELECT RAISE(ABORT, 'run_ingests: the history cannot be changed'); END;

-- The invoices of a draft, in the entry of its run. The newest draft of a
-- period is the one that counts; older ones stay.
CREATE TABLE drafts (
  entry          INTEGER NOT NULL REFERENCES runs (entry) DEFERRABLE INITIALLY DEFERRED,
  item           INTEGER NOT NULL,
  group_id       TEXT NOT NULL,
  total_minor    INTEGER NOT NULL,
  content_digest TEXT NOT NULL,
  body           TEXT NOT NULL,        -- JSON, everything printed
  PRIMARY KEY (entry, item)
) STRICT;

CREATE TRIGGER drafts_insert BEFORE INSERT ON drafts BEGIN
  SELECT RAISE(ABORT, 'drafts: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'drafts: the item exists')
   WHERE EXISTS (SELECT 1 FROM drafts WHERE entry = NEW.entry AND item = NEW.item);
END;
CREATE TRIGGER drafts_update BEFORE UPDATE ON drafts BEGIN SELECT RAISE(ABORT, 'drafts: the history cannot be changed'); END;
CREATE TRIGGER drafts_delete BEFORE DELETE ON drafts BEGIN SELECT RAISE(ABORT, 'drafts: the history cannot be changed'); END;

-- Issued invoices, and what corrects them. revision counts the invoices of a
-- group for a period from 1; a credit note names the invoice that it takes
-- back in refers_to.
CREATE TABLE invoices (
  entry            INTEGER PRIMARY KEY REFERENCES entries (entry) DEFERRABLE INITIALLY DEFERRED,
  number           TEXT NOT NULL UNIQUE,
  kind             TEXT NOT NULL CHECK (kind IN ('invoice', 'credit')),
  refers_to        TEXT REFERENCES invoices (number),
  reason           TEXT,
  series           TEXT NOT NULL,
  fiscal_year      INTEGER NOT NULL,
  serial           INTEGER NOT NULL,
  period           TEXT NOT NULL,
  revision         INTEGER NOT NULL,
  run              INTEGER NOT NULL REFERENCES runs (entry),
  issued_at        TEXT NOT NULL,
  group_id         TEXT NOT NULL,
  group_name       TEXT NOT NULL,
  pi               TEXT NOT NULL,
  department       TEXT NOT NULL,
  class            TEXT NOT NULL,
  fund             TEXT NOT NULL,
  currency         TEXT NOT NULL,
  currency_digits  INTEGER NOT NULL,
  list_minor       INTEGER NOT NULL,
  list             TEXT NOT NULL,
  reductions_minor INTEGER NOT NULL,
  reductions       TEXT NOT NULL,
  total_minor      INTEGER NOT NULL,
  total            TEXT NOT NULL,
  jobs             INTEGER NOT NULL,
  content_digest   TEXT NOT NULL,      -- of the draft: the same for the same content
  digest           TEXT NOT NULL,      -- of the invoice as issued
  body             TEXT NOT NULL,      -- JSON, everything printed
  UNIQUE (series, fiscal_year, serial),
  UNIQUE (period, group_id, kind, revision),
  CHECK ((kind = 'credit') = (refers_to IS NOT NULL)),
  CHECK (list_minor + reductions_minor = total_minor)
) STRICT;

CREATE TRIGGER invoices_insert BEFORE INSERT ON invoices BEGIN
  SELECT RAISE(ABORT, 'invoices: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'invoices: the invoice exists')
   WHERE EXISTS (SELECT 1 FROM invoices WHERE entry = NEW.entry OR number = NEW.number
      OR (series = NEW.series AND fiscal_year = NEW.fiscal_year AND serial = NEW.serial)
      OR (period = NEW.period AND group_id = NEW.group_id AND kind = NEW.kind AND revision = NEW.revision));
  SELECT RAISE(ABORT, 'invoices: a gap in the numbers')
   WHERE NEW.serial IS NOT (SELECT coalesce(max(serial), 0) + 1 FROM invoices
                             WHERE series = NEW.series AND fiscal_year = NEW.fiscal_year);
  SELECT RAISE(ABORT, 'invoices: a gap in the revisions')
   WHERE NEW.revision IS NOT (SELECT coalesce(max(revision), 0) + 1 FROM invoices
                               WHERE period = NEW.period AND group_id = NEW.group_id AND kind = NEW.kind);
END;
CREATE TRIGGER invoices_update BEFORE UPDATE ON invoices BEGIN SELECT RAISE(ABORT, 'invoices: the history cannot be changed'); END;
CREATE TRIGGER invoices_delete BEFORE DELETE ON invoices BEGIN SELECT RAISE(ABORT, 'invoices: the history cannot be changed'); END;

CREATE TABLE invoice_lines (
  entry          INTEGER NOT NULL REFERENCES invoices (entry) DEFERRABLE INITIALLY DEFERRED,
  item           INTEGER NOT NULL,     -- the position, from 1
  kind           TEXT NOT NULL,
  cluster        TEXT NOT NULL,        -- or the file system
  meter          TEXT NOT NULL,
  unit           TEXT NOT NULL,
  price_label    TEXT NOT NULL,
  description    TEXT NOT NULL,
  quantity       TEXT NOT NULL,        -- to six places
  quantity_exact TEXT NOT NULL,
  price          TEXT NOT NULL,
  exact          TEXT NOT NULL,        -- the amount before rounding
  amount_minor   INTEGER NOT NULL,
  amount         TEXT NOT NULL,
  jobs           INTEGER NOT NULL,
  code           TEXT NOT NULL,
  reason         TEXT NOT NULL,
  reduces        INTEGER,              -- the position of the line that it reduces
  card           TEXT NOT NULL,
  card_digest    TEXT NOT NULL,
  version        TEXT NOT NULL,
  PRIMARY KEY (entry, item)
) STRICT;

CREATE TRIGGER invoice_lines_insert BEFORE INSERT ON invoice_lines BEGIN
  SELECT RAISE(ABORT, 'invoice_lines: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'invoice_lines: the line exists')
   WHERE EXISTS (SELECT 1 FROM invoice_lines WHERE entry = NEW.entry AND item = NEW.item);
END;
CREATE TRIGGER invoice_lines_update BEFORE UPDATE ON invoice_lines BEGIN SELECT RAISE(ABORT, 'invoice_lines: the history cannot be changed'); END;
CREATE TRIGGER invoice_lines_delete BEFORE DELETE ON invoice_lines BEGIN SELECT RAISE(ABORT, 'invoice_lines: the history cannot be changed'); END;

-- What invoices drew on prepaid allocations, in the entry of the invoice.
CREATE TABLE ledger (
  entry      INTEGER NOT NULL REFERENCES invoices (entry) DEFERRABLE INITIALLY DEFERRED,
  item       INTEGER NOT NULL,
  group_id   TEXT NOT NULL,
  allocation TEXT NOT NULL,
  period     TEXT NOT NULL,
  meter      TEXT NOT NULL,
  unit       TEXT NOT NULL,
  units      TEXT NOT NULL,            -- exact
  PRIMARY KEY (entry, item)
) STRICT;

CREATE TRIGGER ledger_insert BEFORE INSERT ON ledger BEGIN
  SELECT RAISE(ABORT, 'ledger: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'ledger: the item exists')
   WHERE EXISTS (SELECT 1 FROM ledger WHERE entry = NEW.entry AND item = NEW.item);
END;
CREATE TRIGGER ledger_update BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'ledger: the history cannot be changed'); END;
CREATE TRIGGER ledger_delete BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'ledger: the history cannot be changed'); END;

-- What happened to a period. A period without events is open.
CREATE TABLE events (
  entry  INTEGER PRIMARY KEY REFERENCES entries (entry) DEFERRABLE INITIALLY DEFERRED,
  period TEXT NOT NULL,
  kind   TEXT NOT NULL,                -- issued, …
  run    INTEGER REFERENCES runs (entry),
  detail TEXT NOT NULL
) STRICT;

CREATE TRIGGER events_insert BEFORE INSERT ON events BEGIN
  SELECT RAISE(ABORT, 'events: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'events: the event exists') WHERE EXISTS (SELECT 1 FROM events WHERE entry = NEW.entry);
  SELECT RAISE(ABORT, 'events: the period is issued already')
   WHERE NEW.kind = 'issued' AND EXISTS (SELECT 1 FROM events WHERE period = NEW.period AND kind = 'issued');
END;
CREATE TRIGGER events_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events: the history cannot be changed'); END;
CREATE TRIGGER events_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events: the history cannot be changed'); END;

-- The documents that were written for an issued period.
CREATE TABLE documents (
  entry  INTEGER NOT NULL REFERENCES entries (entry) DEFERRABLE INITIALLY DEFERRED,
  item   INTEGER NOT NULL,
  period TEXT NOT NULL,
  number TEXT REFERENCES invoices (number), -- NULL where the document is the period's
  name   TEXT NOT NULL,                -- path below the period's folder
  digest TEXT NOT NULL,                -- SHA-256 of the bytes
  bytes  INTEGER NOT NULL,
  PRIMARY KEY (entry, item)
) STRICT;

CREATE TRIGGER documents_insert BEFORE INSERT ON documents BEGIN
  SELECT RAISE(ABORT, 'documents: the entry is closed')
   WHERE NEW.entry IS NOT (SELECT coalesce(max(entry), 0) + 1 FROM entries);
  SELECT RAISE(ABORT, 'documents: the item exists')
   WHERE EXISTS (SELECT 1 FROM documents WHERE entry = NEW.entry AND item = NEW.item);
END;
CREATE TRIGGER documents_update BEFORE UPDATE ON documents BEGIN SELECT RAISE(ABORT, 'documents: the history cannot be changed'); END;
CREATE TRIGGER documents_delete BEFORE DELETE ON documents BEGIN SELECT RAISE(ABORT, 'documents: the history cannot be changed'); END;

CREATE INDEX invoices_period ON invoices (period);
CREATE INDEX runs_period ON runs (period);
CREATE INDEX ledger_group ON ledger (group_id, period);
CREATE INDEX documents_period ON documents (period);

-- The views that auditors query. Their columns stay; new ones are added at
-- the end.

CREATE VIEW v_invoices AS
SELECT number, kind, refers_to, reason, series, fiscal_year, serial, period, revision, issued_at,
       group_id, group_name, pi, department, class, fund, currency,
       list_minor, list, reductions_minor, reductions, total_minor, total, jobs, digest, run, entry
  FROM invoices ORDER BY fiscal_year, series, serial;

CREATE VIEW v_invoice_lines AS
SELECT i.number, i.period, i.group_id, i.group_name, i.currency, l.item AS position, l.kind, l.cluster, l.meter, l.unit,
       l.price_label, l.description, l.quantity, l.quantity_exact, l.price, l.exact, l.amount_minor, l.amount,
       l.jobs, l.code, l.reason, l.reduces, l.card, l.card_digest, l.version
  FROM invoice_lines l JOIN invoices i ON i.entry = l.entry ORDER BY i.fiscal_year, i.series, i.serial, l.item;

CREATE VIEW v_periods AS
WITH known AS (
  SELECT period, max(entry) FILTER (WHERE kind = 'draft') AS draft FROM runs GROUP BY period
), sums AS (
  SELECT period, max(currency) AS currency, max(currency_digits) AS digits, sum(total_minor) AS total_minor,
         count(*) FILTER (WHERE kind = 'invoice') AS invoices, count(*) FILTER (WHERE kind = 'credit') AS credits
    FROM invoices GROUP BY period
)
SELECT k.period, iif(e.entry IS NULL, 'drafted', 'issued') AS state,
       d.at AS drafted_at, x.at AS issued_at, x.actor AS issued_by, r.held, r.accepted_held,
       coalesce(s.invoices, 0) AS invoices, coalesce(s.credits, 0) AS credits, s.currency, s.total_minor,
       iif(s.total_minor IS NULL, NULL, printf('%s%d%s', iif(s.total_minor < 0, '-', ''), abs(s.total_minor) / (CASE s.digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END),
              iif(s.digits = 0, '', printf('.%0*d', s.digits, abs(s.total_minor) % (CASE s.digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END))))) AS total,
       x.hash
  FROM known k
  LEFT JOIN sums s ON s.period = k.period
  LEFT JOIN entries d ON d.entry = k.draft
  LEFT JOIN events e ON e.period = k.period AND e.kind = 'issued'
  LEFT JOIN entries x ON x.entry = e.entry
  LEFT JOIN runs r ON r.entry = coalesce(e.run, k.draft)
 ORDER BY k.period;

CREATE VIEW v_events AS
SELECT n.entry, n.at, n.kind, n.about, e.period, e.detail, n.actor, n.program, n.content, n.previous, n.hash
  FROM entries n LEFT JOIN events e ON e.entry = n.entry ORDER BY n.entry;

CREATE VIEW v_ingests AS
SELECT id, cluster, file, digest, ingested_at, bytes, records, steps, new, revised, unchanged, quarantined,
       first_end, last_end, entry
  FROM ingests ORDER BY entry;

CREATE VIEW v_group_totals AS
WITH sums AS (
  SELECT period, group_id, max(group_name) AS group_name, max(department) AS department, max(fund) AS fund,
         currency, currency_digits AS digits, count(*) AS documents,
         sum(list_minor) AS list_minor, sum(reductions_minor) AS reductions_minor, sum(total_minor) AS total_minor
    FROM invoices GROUP BY period, group_id, currency, currency_digits
)
SELECT period, group_id, group_name, department, fund, currency, documents,
       list_minor,
       printf('%s%d%s', iif(list_minor < 0, '-', ''), abs(list_minor) / (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END),
              iif(digits = 0, '', printf('.%0*d', digits, abs(list_minor) % (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END)))) AS list,
       reductions_minor,
       printf('%s%d%s', iif(reductions_minor < 0, '-', ''), abs(reductions_minor) / (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END),
              iif(digits = 0, '', printf('.%0*d', digits, abs(reductions_minor) % (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END)))) AS reductions,
       total_minor,
       printf('%s%d%s', iif(total_minor < 0, '-', ''), abs(total_minor) / (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END),
              iif(digits = 0, '', printf('.%0*d', digits, abs(total_minor) % (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END)))) AS total
  FROM sums ORDER BY period, group_id, currency;
