package invoice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// describedPlaces is how many digits after the point a sentence shows of a
// quantity that has no short exact form.
const describedPlaces = 6

// words are the sentences of one language. A number in a sentence looks as it
// does beside it on the page: 1,234.50 in English, 1.234,50 in Spanish.
type words struct {
	jobs, oneJob       string // "%s jobs on %s"
	storage            string
	at, formula        string
	estimated          string // of days
	tiers              tierWords
	waived, waivedJobs string
	prepaid, overdraft string
	discount           string // "%s: %s %% off line %d"
	subsidy, capped    string
	freeUnits          string // "%s: %s of line %d, …"
	freeMoney          string
	per                [4]string // of limits: rates.Per
	sharedBy           [5]string // of limits: rates.Sharing
	percentage         string    // "%s %s %% of %s %s"
	late               priorWords
	plural             func(unit string) string
	number             func(plain string) string
	translate          map[string]string // of units
}

var english = words{
	jobs: "%s jobs on %s", oneJob: "%s job on %s", storage: "Storage on %s",
	at: "%s: %s at %s %s per %s", formula: "%s: %s, priced by the card's own formula",
	waivedJobs: "Waived (%s): %s of line %d, from %s", waived: "Waived (%s): %s of line %d",
	prepaid: "Drawn on allocation %s: %s of line %d", overdraft: "Beyond allocation %s, waived: %s of line %d",
	discount: "%s: %s %% off line %d", subsidy: "%s: %s %% off line %d, up to %s", capped: "%s: at most %s, from line %d",
	freeUnits: "%s: %s of line %d, free up to %s", freeMoney: "%s: credit on line %d, up to %s",
	per:        [4]string{"a month", "a quarter", "a fiscal year", "in all"},
	sharedBy:   [5]string{"", "for each PI", "for each department", "for each class", "for all together"},
	percentage: "%s %s %% of %s %s",
	late:       priorWords{late: "Correction of %s: records that came in after it was issued", carried: "Correction of %s: what months before it draw and count since it was issued", invoice: " (invoice %s)", jobs: ", %s jobs", job: ", %s job"},
	plural:     pluralEnglish, number: money.Group,
	estimated: "; %s days by an earlier measurement",
	tiers: tierWords{
		first: "first %s", next: "next %s", upTo: "up to %s", between: "%s to %s", above: "above %s",
		month: " of the month", year: " of the fiscal year",
	},
}

var spanish = words{
	jobs: "%s trabajos en %s", oneJob: "%s trabajo en %s", storage: "Almacenamiento en %s",
	at: "%s: %s a %s %s por %s", formula: "%s: %s, según la fórmula propia de la tarifa",
	waivedJobs: "Condonado (%s): %s de la línea %d, de %s", waived: "Condonado (%s): %s de la línea %d",
	prepaid:   "Con cargo a la asignación %s: %s de la línea %d",
	overdraft: "Fuera de la asignación %s, condonado: %s de la línea %d",
	discount:  "%s: %s %% menos de la línea %d", subsidy: "%s: %s %% menos de la línea %d, hasta %s", capped: "%s: como máximo %s, de la línea %d",
	freeUnits: "%s: %s de la línea %d, gratis hasta %s", freeMoney: "%s: crédito sobre la línea %d, hasta %s",
	per:        [4]string{"al mes", "por trimestre", "por año fiscal", "en total"},
	sharedBy:   [5]string{"", "por investigador principal", "por departamento", "por clase", "para todos"},
	percentage: "%s %s %% de %s %s",
	late:       priorWords{late: "Corrección de %s: registros que llegaron después de su emisión", carried: "Corrección de %s: lo que meses anteriores retiran y cuentan desde su emisión", invoice: " (factura %s)", jobs: ", %s trabajos", job: ", %s trabajo"},
	plural:     pluralSpanish,
	estimated:  "; %s días según una medición anterior",
	tiers: tierWords{
		first: "hasta %s", upTo: "hasta %s", between: "de %s a %s", above: "más de %s",
		month: " del mes", year: " del año fiscal",
	},
	number: func(plain string) string { return strings.NewReplacer(",", ".", ".", ",").Replace(money.Group(plain)) },
	translate: map[string]string{
		"core-hour": "hora-núcleo", "GPU-hour": "hora-GPU", "node-hour": "hora-nodo", "hour": "hora",
		"TB-month": "TB-mes", "TiB-month": "TiB-mes",
	},
}

// languageOf gives the sentences of a group's language, English where there
// are none of it.
func languageOf(language string) *words {
	if language == "es" {
		return &spanish
	}
	return &english
}

// listLine describes a usage or storage line with what the sums know of it.
func (w *words) listLine(l *Line, sums *listLine, c money.Currency) string {
	note := labelled(l.PriceLabel)
	if sums.step > 0 {
		note = labelled(w.tier(sums.tiers, sums.step-1, sums.counter))
	}
	if sums.estimatedDays > 0 {
		note += fmt.Sprintf(w.estimated, w.number(strconv.FormatInt(sums.estimatedDays, 10)))
	}
	return w.describe(l, c, note)
}

// list describes a usage or storage line.
func (w *words) list(l *Line, c money.Currency) string {
	return w.describe(l, c, labelled(l.PriceLabel))
}

func (w *words) describe(l *Line, c money.Currency, note string) string {
	subject := fmt.Sprintf(w.storage, l.Cluster)
	if l.Kind == Usage {
		subject = w.countJobs(l.Jobs, w.jobs, w.oneJob, l.Cluster)
	}
	quantity := w.quantity(l.Quantity, l.Unit)
	if !l.Quantity.Mul(l.Price).Equal(l.Exact) {
		return fmt.Sprintf(w.formula, subject, quantity) + note
	}
	return fmt.Sprintf(w.at, subject, quantity, w.inFull(l.Price), c.Code, w.unit(l.Unit)) + note
}

// tierWords are how a language speaks of tiers. Without next, what lies
// between two steps is said instead.
type tierWords struct{ first, next, upTo, between, above, month, year string }

// tier names a step: "next 9,000 SU of the fiscal year".
func (w *words) tier(t *rates.Tiers, step int, unit string) string {
	window := w.tiers.month
	if t.Window == rates.OfFiscalYear {
		window = w.tiers.year
	}
	from, say := t.Steps[step].Above, w.tiers
	if len(t.Steps) == 1 {
		return ""
	}
	if step+1 == len(t.Steps) {
		return fmt.Sprintf(say.above, w.quantity(from, unit)) + window
	}
	to := t.Steps[step+1].Above
	switch {
	case t.Mode == rates.Graduated && step == 0:
		return fmt.Sprintf(say.first, w.quantity(to, unit)) + window
	case t.Mode == rates.Graduated && say.next != "":
		return fmt.Sprintf(say.next, w.quantity(to.Sub(from), unit)) + window
	case step == 0:
		return fmt.Sprintf(say.upTo, w.quantity(to, unit)) + window
	}
	return fmt.Sprintf(say.between, w.grouped(from), w.quantity(to, unit)) + window
}

// reduction describes a line that takes money off another.
func (w *words) reduction(l *Line) string {
	quantity := w.quantity(l.Quantity.Neg(), l.Unit)
	switch l.Kind {
	case Prepaid:
		return fmt.Sprintf(w.prepaid, l.Reason, quantity, l.Of)
	case Overdraft:
		return fmt.Sprintf(w.overdraft, l.Reason, quantity, l.Of)
	}
	if l.Jobs == 0 {
		return fmt.Sprintf(w.waived, l.Reason, quantity, l.Of)
	}
	return fmt.Sprintf(w.waivedJobs, l.Reason, quantity, l.Of, w.countJobs(l.Jobs, w.jobs, w.oneJob, l.Cluster))
}

// priorWords are how a language speaks of corrections of issued months.
type priorWords struct{ late, carried, invoice, jobs, job string }

// prior describes a correction of an issued month.
func (w *words) prior(l *Line) string {
	text := w.late.late
	if l.Code == CodeCarriedOver {
		text = w.late.carried
	}
	text = fmt.Sprintf(text, l.Reference)
	if l.Reason != "" {
		text += fmt.Sprintf(w.late.invoice, l.Reason)
	}
	switch {
	case l.Jobs == 0:
		return text
	case l.Jobs == 1 || l.Jobs == -1:
		return text + fmt.Sprintf(w.late.job, signedCount(l.Jobs, w))
	}
	return text + fmt.Sprintf(w.late.jobs, signedCount(l.Jobs, w))
}

// signedCount prints a difference: "+3", "-1".
func signedCount(n int64, w *words) string {
	if n < 0 {
		return "-" + w.number(strconv.FormatInt(-n, 10))
	}
	return "+" + w.number(strconv.FormatInt(n, 10))
}

func (w *words) countJobs(n int64, many, one, cluster string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf(many, w.number(strconv.FormatInt(n, 10)), cluster)
}

func (w *words) quantity(x money.Exact, unit string) string {
	unit = w.unit(unit)
	if !x.Equal(money.Int(1)) {
		unit = w.plural(unit)
	}
	return w.grouped(x) + " " + unit
}

func (w *words) unit(unit string) string {
	if t := w.translate[unit]; t != "" {
		return t
	}
	return unit
}

func labelled(label string) string {
	if label == "" {
		return ""
	}
	return " (" + label + ")"
}

// grouped prints a quantity in full where that takes few digits, and
// otherwise to describedPlaces.
func (w *words) grouped(x money.Exact) string {
	text := x.String()
	_, fraction, _ := strings.Cut(text, ".")
	if strings.Contains(text, "/") || len(fraction) > 2*describedPlaces {
		text = x.Decimal(describedPlaces, money.HalfEven)
	}
	return w.number(text)
}

// inFull prints a price: never rounded, since that would be another price.
func (w *words) inFull(x money.Exact) string {
	if text := x.String(); !strings.Contains(text, "/") {
		return w.number(text)
	}
	return x.String()
}

// pluralEnglish knows the units that are words; symbols (SU, TB) stay.
func pluralEnglish(unit string) string {
	last := unit[strings.LastIndexAny(unit, "- ")+1:]
	if slices.Contains([]string{"hour", "minute", "second", "day", "week", "month", "year", "unit", "point", "credit", "token", "job"}, last) {
		return unit + "s"
	}
	return unit
}

// pluralSpanish puts the plural on the head word: horas-núcleo, TB-meses.
func pluralSpanish(unit string) string {
	if rest, ok := strings.CutPrefix(unit, "hora"); ok && (rest == "" || rest[0] == '-') {
		return "horas" + rest
	}
	if head, ok := strings.CutSuffix(unit, "-mes"); ok {
		return head + "-meses"
	}
	return unit
}
