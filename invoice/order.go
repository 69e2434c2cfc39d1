package invoice

// Step is one step on the way from charges to a total.
type Step struct {
	Name  string
	Built bool // whether this program performs it; the others are no-ops so far
}

// Order gives the steps from charges to a total in the order in which they
// are applied. Each sees what the steps before it left.
func Order() []Step {
	return []Step{
		{"list charges", true},
		{"waivers and refunds", true},
		{"class discount and subsidies", true},
		{"allowances", true},
		{"caps", true},
		{"prepaid balance", true},
		{"manual adjustments", true},
		{"prior-period items", true},
		{"overhead", true},
		{"tax", true},
		{"rounding", true},
		{"total", true},
		{"split over funds", true}, // of all of the total, overhead and tax with what they are added to
	}
}
