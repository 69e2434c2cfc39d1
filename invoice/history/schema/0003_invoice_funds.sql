-- Who pays an invoice: the shares that are printed on it, or, where it is not
-- split, its one fund. The amounts of an invoice's rows sum to its total.
CREATE VIEW v_invoice_funds AS
SELECT number, period, group_id, group_name, department, pi, currency, item, fund, of, of_amount, percent, fixed, amount
  FROM (
    SELECT i.number, i.period, i.group_id, i.group_name, i.department, i.pi, i.currency, i.fiscal_year, i.series, i.serial,
           f.key + 1 AS item, f.value ->> 'fund' AS fund, coalesce(f.value ->> 'of', '') AS of, f.value ->> 'base' AS of_amount,
           f.value ->> 'percent' AS percent, -- exact: a decimal or a fraction; NULL where the share is fixed
           f.value ->> 'fixed' AS fixed,     -- the most that the fund pays; NULL where the share is a percentage
           f.value ->> 'amount' AS amount
      FROM invoices i, json_each(i.body, '$.funds') f
    UNION ALL
    SELECT i.number, i.period, i.group_id, i.group_name, i.department, i.pi, i.currency, i.fiscal_year, i.series, i.serial,
           1, i.fund, '', i.total, '100', NULL, i.total
      FROM invoices i
     WHERE i.body ->> '$.funds' IS NULL
  )
 ORDER BY fiscal_year, series, serial, item;
