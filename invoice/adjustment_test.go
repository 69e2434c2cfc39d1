package invoice

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

const goodAdjustments = "\ufeffid,period,date,group,description,amount,quantity,unit,price,code,reason,author,repeat,until,reverses,,\r\n" +
	"c1,2026-03,,chem,\"Consulting, GROMACS\",450.00,,,,,order 7,jd,,,,,\r\n" +
	",,2026-03-31,chem,Licences,,3.5,seat,0.333,licence,contract 12,jd,,,,,\r\n" +
	",2026-03,,chem,Refund,-12.5,,,,,late node,ab,,,,,\r\n" +
	"\r\n" +
	"rack,2026-01,,bio,Co-location,80,,,,,contract 9,jd,quarterly,2026-10,,,\r\n" +
	",2026-05,,bio,,,,,,,billed twice,jd,,,rack@2026-04,,\r\n"

func readAll(t testing.TB, text string) []Adjustment {
	t.Helper()
	all, err := ReadAdjustments("adjustments.csv", []byte(text), usd)
	require.NoError(t, err)
	return all
}

func TestReadAdjustments(t *testing.T) {
	all := readAll(t, goodAdjustments)
	require.Len(t, all, 5)
	f := func(i int, id, group, period, quantity, unit, price, code string, line int) {
		t.Helper()
		a := all[i]
		require.Equal(t, []any{group, period, quantity, unit, price, code, line},
			[]any{a.Group, a.Period, a.Quantity.String(), a.Unit, a.Price.String(), a.Code, a.Line})
		if id != "" {
			require.Equal(t, id, a.ID)
		} else {
			require.Regexp(t, "^adj-[0-9a-f]{12}$", a.ID)
		}
	}
	f(0, "c1", "chem", "2026-03", "1", "", "450", CodeCharge, 2)
	f(1, "", "chem", "2026-03", "3.5", "seat", "0.333", "licence", 3)
	f(2, "", "chem", "2026-03", "-1", "", "12.5", CodeCredit, 4)
	f(3, "rack", "bio", "2026-01", "1", "", "80", CodeCharge, 6)
	f(4, "", "bio", "2026-05", "-1", "", "80", CodeReversal, 7)
	require.Equal(t, "Consulting, GROMACS", all[0].Description)
	require.Equal(t, "Co-location", all[4].Description)
	require.Equal(t, "rack@2026-04", all[4].Reverses)

	// What a row says gives it its ID, wherever its columns stand.
	again := readAll(t, "author;reason;description;amount;group;period\nab;late node;Refund;-12.5;chem;2026-03\n")
	require.Equal(t, all[2].ID, again[0].ID)
}

func TestAdjustmentIn(t *testing.T) {
	f := func(a Adjustment, months ...string) {
		t.Helper()
		var in []string
		for _, m := range []string{"2025-12", "2026-01", "2026-02", "2026-03", "2026-04", "2026-07", "2026-10", "2027-01"} {
			if a.In(m) {
				in = append(in, m)
			}
		}
		require.Equal(t, months, in)
	}
	f(Adjustment{Period: "2026-01"}, "2026-01")
	f(Adjustment{Period: "2026-02", EveryMonths: 1}, "2026-02", "2026-03", "2026-04", "2026-07", "2026-10", "2027-01")
	f(Adjustment{Period: "2026-01", EveryMonths: 3, Until: "2026-10"}, "2026-01", "2026-04", "2026-07")
	f(Adjustment{Period: "2025-12", EveryMonths: 12}, "2025-12")
	f(Adjustment{Period: "2026-01", EveryMonths: 12}, "2026-01", "2027-01")
}

func TestAdjustmentFaults(t *testing.T) {
	const head = "id,period,date,group,description,amount,quantity,unit,price,code,reason,author,repeat,until,reverses\n"
	f := func(text string, faults ...string) {
		t.Helper()
		_, err := ReadAdjustments("a.csv", []byte(text), usd)
		var got rates.Faults
		require.ErrorAs(t, err, &got)
		var lines []string
		for _, fault := range got {
			lines = append(lines, fault.Error())
		}
		require.Equal(t, faults, lines)
	}
	f("", "a.csv: is empty")
	f("\n\n", "a.csv: is empty")
	f("period,group,description,amount,reason\n", "a.csv:1: author: the column is missing")
	f("period,group,description,amount,reason,auhtor,period\n", `a.csv:1: auhtor: unknown column`, "a.csv:1: period: the column occurs twice",
		"a.csv:1: author: the column is missing")
	f(head+",,,,,,,,,,,,,,\n,,,,,5,,,,,,,,,\n", "a.csv:3: period: is empty", "a.csv:3: group: is empty", "a.csv:3: description: is empty",
		"a.csv:3: reason: is empty", "a.csv:3: author: is empty")
	row := func(cells string) string { return head + cells + "\n" }
	f(row(",2026-13,,g,d,1,,,,,r,a,,,"), `a.csv:2: period: "2026-13" is not a month such as 2026-03`)
	f(row(",,2026-02-30,g,d,1,,,,,r,a,,,"), `a.csv:2: date: "2026-02-30" is not a date such as 2026-03-31`)
	f(row(",2026-03,2026-03-01,g,d,1,,,,,r,a,,,"), "a.csv:2: date: there is a period already")
	f(row(`,2026-03,,g,d,"1,200.00",,,,,r,a,,,`), `a.csv:2: amount: not a decimal number: "1,200.00"`)
	f(row(",2026-03,,g,d,1.005,,,,,r,a,,,"), "a.csv:2: amount: 1.005 has more digits than USD")
	f(row(",2026-03,,g,d,0,,,,,r,a,,,"), "a.csv:2: amount: comes to nothing")
	f(row(",2026-03,,g,d,,2,h,,,r,a,,,"), "a.csv:2: amount: is empty")
	f(row(",2026-03,,g,d,5,2,h,,,r,a,,,"), "a.csv:2: amount: there is a quantity, a unit or a price too")
	f(row(",2026-03,,g,d,,2,h,-1,,r,a,,,"), "a.csv:2: price: -1 is negative")
	f(row(",2026-03,,g,d,5,,,,a b,r,a,,,"), `a.csv:2: code: "a b" is no code`)
	f(row(",2026-03,,g,d,5,,,,,r,a,weekly,,"), `a.csv:2: repeat: "weekly" is not monthly, quarterly or yearly`)
	f(row(",2026-03,,g,d,5,,,,,r,a,,2026-05,"), "a.csv:2: until: is for what repeats")
	f(row(",2026-03,,g,d,5,,,,,r,a,monthly,2026-03,"), "a.csv:2: until: 2026-03 is not after 2026-03")
	f(row(",2026-03,,g,d,5,,,,,r,a,,,,more"), `a.csv:2:28: there is a cell beyond the last column: "more"`)
	f(row(",2026-03,,g,\"d\ne\",5,,,,,r,a,,,"), `a.csv:2: "d\ne" has a line break or a control character`)
	f(row(",2026-03,,g,d\xff,5,,,,,r,a,,,"), "a.csv:2: is not UTF-8")
	f(row(",2026-03,,g,\"d,5,,,,,r,a,,,"), `a.csv:2: extraneous or missing " in quoted-field`)
	f(row("x@y,2026-03,,g,d,5,,,,,r,a,,,"), `a.csv:2: id: "x@y" cannot be an id`)
	f(row("x,2026-03,,g,d,5,,,,,r,a,,,\nx,2026-03,,g,e,5,,,,,r,a,,,"), `a.csv:3: id: "x" is the id of line 2 already`)
	f(row(",2026-03,,g,d,5,,,,,r,a,,,\n,2026-03,,g,d,5,,,,,r,a,,,"), "a.csv:3: id: says the same as line 2")

	const rack, once = "rack,2026-01,,g,d,5,,,,,r,a,monthly,2026-04,\n", "one,2026-02,,g,d,5,,,,,r,a,,,\n"
	f(head+once+",2026-03,,g,,,,,,,r,a,,,two\n", `a.csv:3: reverses: there is no row with the id "two"`)
	f(head+once+",2026-01,,g,,,,,,,r,a,,,one\n", "a.csv:3: period: one is billed in 2026-02, after the reversal")
	f(head+once+",2026-03,,h,,,,,,,r,a,,,one\n", "a.csv:3: group: one is of group g")
	f(head+once+",2026-03,,g,,-4,,,,,r,a,,,one\n", "a.csv:3: amount: -4 is not the opposite of one, 5")
	f(head+once+",2026-03,,g,,-5,,,,,r,a,,,one\n,2026-04,,g,,,,,,,r,a,,,one@2026-02\n", "a.csv:4: reverses: one is reversed on line 3 already")
	f(head+once+"two,2026-03,,g,,-5,,,,,r,a,,,one\n,2026-04,,g,,5,,,,,r,a,,,two\n", "a.csv:4: reverses: two is a reversal itself")
	f(head+once+",2026-03,,g,,,,,,,r,a,monthly,,one\n", "a.csv:3: repeat: a reversal is billed once")
	f(head+rack+",2026-03,,g,,,,,,,r,a,,,rack\n", "a.csv:3: reverses: rack is billed more than once")
	f(head+rack+",2026-05,,g,,,,,,,r,a,,,rack@2026-04\n", "a.csv:3: reverses: rack is not billed in 2026-04")
}

func TestAdjustmentsAreLinesOfTheirOwn(t *testing.T) {
	roster := chemistry()
	roster.Groups = append(roster.Groups, &rates.Group{ID: "bio", Name: "Biology"})
	c := newComposer(t, roster)
	require.NoError(t, c.AddJob(new(billed(t, 10, "1", "5"))))
	all := readAll(t, goodAdjustments)
	require.NoError(t, c.Adjust(all))
	invoices, summary := compose(t, c)
	require.Equal(t, []string{"bio"}, summary.NothingDue, "quarterly from January: not in March")
	inv := &invoices[0]
	require.Equal(t, []string{
		"usage 1 job on h2p: 1 SU at 5 USD per SU | 5.00",
		"manual Consulting, GROMACS | 450.00",
		"manual Licences | 1.17", // 3.5 × 0.333 = 1.1655
		"manual Refund | -12.50",
	}, texts(*inv))
	require.Equal(t, []money.Amount{500, 0, 43867, 44367}, []money.Amount{inv.List, inv.Reductions, inv.Manual, inv.Total})
	require.Equal(t, money.Amount(43867), summary.Manual)
	require.Equal(t, "c1", inv.Lines[1].Reference)
	require.Equal(t, "jd", inv.Lines[1].Author)
	require.Equal(t, "order 7", inv.Lines[1].Reason)
	require.Empty(t, MissedAdjustments(all, "2026-03", invoices))
	require.Len(t, MissedAdjustments(all, "2026-03", nil), 3)
	missed := MissedAdjustments(all, "2026-04", nil)
	require.Len(t, missed, 1)
	require.Equal(t, "rack", missed[0].ID)
}

// A group that nobody computed for gets an invoice for an adjustment alone,
// and a credit may exceed what was used.
// A reversal takes back what was billed to the minor unit, however it is
// rounded: -3 × 42.073 = -126.219 is -126.22 by floor, and 126.219 would be 126.21.
func TestReversalsTakeBackWhatWasBilled(t *testing.T) {
	f := func(quantity string, mode money.Mode, amount, back string) {
		t.Helper()
		var total money.Amount
		rows := readAll(t, "id,period,group,description,amount,quantity,unit,price,reason,author,reverses\n"+
			"r,2026-02,chem,Rack,,"+quantity+",rack,42.073,contract,jd,\n,2026-03,chem,,,,,,mistake,jd,r\n")
		for _, month := range []string{"2026-02", "2026-03"} {
			p, err := rates.ParsePeriod(month, march(t).Start.Location())
			require.NoError(t, err)
			c, err := NewComposer(p, Settings{Currency: usd, Rounding: mode}, chemistry())
			require.NoError(t, err)
			require.NoError(t, c.Adjust(rows))
			invoices, _ := compose(t, c)
			require.NoError(t, invoices[0].Check())
			total += invoices[0].Total
			require.Equal(t, amount, usd.Plain(invoices[0].Total))
			amount = back
		}
		require.Zero(t, total)
	}
	f("-3", money.Floor, "-126.22", "126.22")
	f("3", money.Ceil, "126.22", "-126.22")
	f("3", money.Floor, "126.21", "-126.21")
	f("-3", money.HalfUp, "-126.22", "126.22")
	f("3", money.Down, "126.21", "-126.21")
}

func TestAdjustmentsAlone(t *testing.T) {
	c := newComposer(t, splitOf(t, "  - {fund: a, amount: 10}\n  - {fund: b, percent: 200/3}\n  - {fund: d, remainder: true}\n"))
	require.NoError(t, c.Adjust(readAll(t, "period,group,description,amount,reason,author\n2026-03,chem,Credit,-1.00,r,a\n")))
	require.NoError(t, c.AddJob(new(held(t, rating.Held, rating.NoRule, "x", 1))))
	invoices, _ := compose(t, c)
	inv := &invoices[0]
	require.Equal(t, []string{"manual Credit | -1.00"}, texts(*inv))
	require.Equal(t, money.Amount(-100), inv.Total)
	require.Equal(t, []string{"a 0.00 of -1.00", "b -0.67 of -1.00", "d -0.33 of -1.00"}, paid(inv))
}

func TestAdjustmentsAreOfTheRecord(t *testing.T) {
	inv := printed(t)
	inv.Lines = append(inv.Lines, Line{
		Position: 3, Kind: Manual, Description: "Refund", Quantity: exact(t, "-1"), Price: exact(t, "0.25"), Exact: exact(t, "-0.25"), Amount: -25,
		Code: CodeCredit, Reason: "late node", Reference: "adj-1", Author: "jd",
	})
	inv.Manual, inv.Total = -25, -20
	require.NoError(t, inv.Check())
	text := string(inv.Canonical())
	require.Contains(t, text, "line.version=0:\nline.reference=5:adj-1\nline.author=2:jd\nlist=2:53\n")
	require.Contains(t, text, "total=3:-20\nmanual=3:-25\nbalances=1:1\n")
	body, err := json.Marshal(inv)
	require.NoError(t, err)
	var back Invoice
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, text, string(back.Canonical()))

	f := func(part string, spoil func(*Invoice)) {
		t.Helper()
		other := back
		other.Lines = append([]Line{}, back.Lines...)
		spoil(&other)
		require.ErrorContains(t, other.Check(), part)
	}
	f("sum to -25, 0, 0 and 0, the invoice says -24, 0, 0 and 0", func(inv *Invoice) { inv.Manual = -24 })
	f("line 3 is -2 × 0.25, not -0.25", func(inv *Invoice) { inv.Lines[2].Quantity = exact(t, "-2") })
	f("line 3 is -0.25 but prints -26", func(inv *Invoice) { inv.Lines[2].Amount, inv.Manual, inv.Total = -26, -26, -21 })

	other := back
	other.Lines = append([]Line{}, back.Lines...)
	other.Lines[2].Description = "Refund of March"
	require.Len(t, Compare([]Invoice{back}, []Invoice{other}), 1)
}

func FuzzReadAdjustments(f *testing.F) {
	f.Add([]byte(goodAdjustments))
	f.Add([]byte(strings.ReplaceAll(goodAdjustments, ",", ";")))
	f.Add([]byte("period,group,description,amount,reason,author,reverses\n2026-03,g,,,r,a,adj-000000000000\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ReadAdjustments("a.csv", text, usd)
		if err != nil {
			var faults rates.Faults
			require.ErrorAs(t, err, &faults)
			return
		}
		ids := map[string]bool{}
		for _, a := range all {
			require.False(t, ids[a.ID])
			ids[a.ID] = true
			require.True(t, a.In(a.Period))
			require.NotZero(t, a.Exact().Sign())
			require.NotEmpty(t, a.Reason)
			require.NotEmpty(t, a.Author)
		}
	})
}
