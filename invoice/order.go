package invoice

// Order gives the steps from charges to a total in the order in which they
// are applied. Each sees what the steps before it left.
func Order() []string {
	return []string{
		"list charges",
		"waivers and refunds",
		"class discount and subsidies",
		"allowances",
		"caps",
		"prepaid balance",
		"manual adjustments",
		"prior-period items",
		"overhead",
		"tax",
		"rounding",
		"total",
		"split over funds", // of all of the total, overhead and tax with what they are added to
	}
}
