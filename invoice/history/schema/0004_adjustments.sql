-- Invoices hold lines that are neither use nor a reduction of it: adjustments
-- that people wrote, and what is added to a bill. additions_minor is what such
-- lines sum to, and list_minor, which with reductions_minor makes the total,
-- holds it too; the text beside it and the views have the list price alone.
-- Invoices without such lines leave the new columns NULL, as all before them
-- do, so that the digests of those stay.
ALTER TABLE invoices ADD COLUMN additions_minor INTEGER;
ALTER TABLE invoices ADD COLUMN additions TEXT;
ALTER TABLE invoice_lines ADD COLUMN reference TEXT; -- of an adjustment: what names it
ALTER TABLE invoice_lines ADD COLUMN author TEXT;    -- of an adjustment: who decided on it

DROP VIEW v_invoices;
CREATE VIEW v_invoices AS
SELECT number, kind, refers_to, reason, series, fiscal_year, serial, period, revision, issued_at,
       group_id, group_name, pi, department, class, fund, currency,
       list_minor - coalesce(additions_minor, 0) AS list_minor, list, reductions_minor, reductions, total_minor, total,
       jobs, digest, run, entry, coalesce(additions_minor, 0) AS additions_minor, coalesce(additions, '0') AS additions
  FROM invoices ORDER BY fiscal_year, series, serial;

DROP VIEW v_invoice_lines;
CREATE VIEW v_invoice_lines AS
SELECT i.number, i.period, i.group_id, i.group_name, i.currency, l.item AS position, l.kind, l.cluster, l.meter, l.unit,
       l.price_label, l.description, l.quantity, l.quantity_exact, l.price, l.exact, l.amount_minor, l.amount,
       l.jobs, l.code, l.reason, l.reduces, l.card, l.card_digest, l.version, l.reference, l.author
  FROM invoice_lines l JOIN invoices i ON i.entry = l.entry ORDER BY i.fiscal_year, i.series, i.serial, l.item;

DROP VIEW v_group_totals;
CREATE VIEW v_group_totals AS
WITH sums AS (
  SELECT period, group_id, max(group_name) AS group_name, max(department) AS department, max(fund) AS fund,
         currency, currency_digits AS digits, count(*) AS documents,
         sum(list_minor - coalesce(additions_minor, 0)) AS list_minor, sum(reductions_minor) AS reductions_minor, sum(total_minor) AS total_minor,
         sum(coalesce(additions_minor, 0)) AS additions_minor
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
              iif(digits = 0, '', printf('.%0*d', digits, abs(total_minor) % (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END)))) AS total,
       additions_minor,
       printf('%s%d%s', iif(additions_minor < 0, '-', ''), abs(additions_minor) / (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END),
              iif(digits = 0, '', printf('.%0*d', digits, abs(additions_minor) % (CASE digits WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 ELSE 10000 END)))) AS additions
  FROM sums ORDER BY period, group_id, currency;
