package rates

import (
	"embed"
	"path"
	"strings"
)

// The cards that come with the program, as starting points.
//
//go:embed *.yaml
var shipped embed.FS

// Shipped gives the YAML of the card that comes with the program under a name
// such as "pitt-crc".
func Shipped(name string) (text []byte, ok bool) {
	text, err := shipped.ReadFile(name + ".yaml")
	return text, err == nil
}

// ShippedNames lists the cards that come with the program, sorted.
func ShippedNames() []string {
	entries, err := shipped.ReadDir(".")
	if err != nil {
		panic("BUG: the embedded cards cannot be listed: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
	}
	return names
}
