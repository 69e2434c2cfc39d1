package rates

import (
	"hpcbill/rates/money"
	"hpcbill/rates/yamldoc"

	"go.yaml.in/yaml/v3"
)

// dateAt reads a day; none after a fault.
func dateAt(y *yamldoc.File, n *yaml.Node, path string) Date {
	text, ok := y.Text(n, path)
	if !ok {
		return Date{}
	}
	d, err := ParseDate(text)
	if err != nil {
		y.Fault(n, path, err.Error(), "write year-month-day, a day that exists")
	}
	return d
}

// decimalAt reads a plain decimal with its text; ok is false after a fault.
// such is what one looks like.
func decimalAt(y *yamldoc.File, n *yaml.Node, path, such string) (x money.Exact, text string, ok bool) {
	text, ok = y.Text(n, path)
	if !ok {
		return x, text, false
	}
	x, err := money.ParseDecimal(text)
	if err != nil {
		y.Fault(n, path, err.Error(), "write a plain decimal such as "+such)
	}
	return x, text, err == nil
}
