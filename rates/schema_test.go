package rates_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"hpcbill/rates"
)

// schema checks values by the part of JSON Schema that Schema uses.
type schema struct{ definitions map[string]any }

func readSchema(t *testing.T) (schema, map[string]any) {
	t.Helper()
	var root map[string]any
	require.NoError(t, json.Unmarshal(rates.Schema(), &root))
	return schema{root["$defs"].(map[string]any)}, root
}

// check gives what is wrong with a value, "" for nothing.
func (s schema) check(rule map[string]any, value any, at string) string {
	if target, ok := rule["$ref"].(string); ok {
		rule = s.definitions[strings.TrimPrefix(target, "#/$defs/")].(map[string]any)
	}
	if options, ok := rule["anyOf"].([]any); ok {
		fits := func(o any) bool { return s.check(o.(map[string]any), value, at) == "" }
		if !slices.ContainsFunc(options, fits) {
			return at + " is none of the choices"
		}
	}
	if _, ok := rule["not"]; ok {
		return at + " is refused" // "not" of anything at all
	}
	if words, ok := rule["enum"].([]any); ok && !slices.Contains(words, value) {
		return fmt.Sprintf("%s is not one of %v", at, words)
	}
	if !hasType(rule["type"], value) {
		return fmt.Sprintf("%s is not a %v", at, rule["type"])
	}
	if tooSmall(rule, value) {
		return fmt.Sprintf("%s is below %v", at, rule["minimum"])
	}
	switch v := value.(type) {
	case string:
		if p, ok := rule["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			return fmt.Sprintf("%s: %q does not fit %s", at, v, p)
		}
	case []any:
		for i, item := range v {
			of, _ := rule["items"].(map[string]any)
			if wrong := s.check(of, item, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	case map[string]any:
		return s.checkObject(rule, v, at)
	}
	return ""
}

func (s schema) checkObject(rule, object map[string]any, at string) string {
	properties, _ := rule["properties"].(map[string]any)
	names, _ := rule["propertyNames"].(map[string]any)
	for name, value := range object {
		if p, ok := names["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(name) {
			return fmt.Sprintf("%s: %q does not fit %s", at, name, p)
		}
		of, known := properties[name].(map[string]any)
		if _, closed := rule["additionalProperties"]; !known && !closed {
			continue
		}
		if !known {
			other, open := rule["additionalProperties"].(map[string]any)
			if !open {
				return at + "." + name + " is not known"
			}
			of = other
		}
		if wrong := s.check(of, value, at+"."+name); wrong != "" {
			return wrong
		}
	}
	required, _ := rule["required"].([]any)
	for _, name := range required {
		if _, ok := object[name.(string)]; !ok {
			return fmt.Sprintf("%s has no %s", at, name)
		}
	}
	return ""
}

func hasType(types, value any) bool {
	name := "string"
	switch value.(type) {
	case map[string]any:
		name = "object"
	case []any:
		name = "array"
	case bool:
		name = "boolean"
	case int, float64:
		name = "number"
	}
	switch t := types.(type) {
	case string:
		_, whole := value.(int)
		return t == name || t == "integer" && whole
	case []any:
		return slices.ContainsFunc(t, func(one any) bool { return hasType(one, value) })
	}
	return true
}

// tooSmall reports a number below the least that a rule allows.
func tooSmall(rule map[string]any, value any) bool {
	least, ok := rule["minimum"].(float64)
	switch n := value.(type) {
	case int:
		return ok && n < int(least)
	case float64:
		return ok && n < least
	}
	return false
}

// asJSON reads YAML as an editor does: dates stay text.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &root))
	var keepDates func(n *yaml.Node)
	keepDates = func(n *yaml.Node) {
		if n.Tag == "!!timestamp" {
			n.Tag = "!!str"
		}
		for _, c := range n.Content {
			keepDates(c)
		}
	}
	keepDates(&root)
	var v any
	require.NoError(t, root.Decode(&v))
	return v
}

// Every card that the loader takes fits the schema.
func TestSchemaFitsGoodCards(t *testing.T) {
	s, root := readSchema(t)
	files, err := filepath.Glob(cardsDir + "/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, ".bad.yaml") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, s.check(root, asJSON(t, text), file))
	}
	for _, name := range rates.ShippedNames() {
		text, _ := rates.Shipped(name)
		require.Empty(t, s.check(root, asJSON(t, text), name))
	}
}

// What is wrong with names and shapes, the schema refuses too.
func TestSchemaRefusesBadCards(t *testing.T) {
	s, root := readSchema(t)
	f := func(name string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(cardsDir, name+".bad.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, s.check(root, asJSON(t, text), name), name)
	}
	f("unknown-key")
	f("unknown-key-rule")
	f("unknown-key-match")
	f("a-list")
	f("bad-currency")
	f("no-currency")
	f("no-from")
	f("no-price")
	f("no-unit")
	f("bill-by")
	f("price-comma")
	f("price-by-unknown")
	f("price-list-no-label")
	f("rule-no-name")
	f("charge-unknown-key")
	f("factor-unknown-field")
	f("match-storage-field")
	f("match-weekday")
	f("storage-prorate")
	f("storage-factor")
	f("let-name")
	f("meter-name")
	f("match-number")
	f("factor-negative")
}

// every-key.good.yaml is what its name says: it uses each key of the schema,
// so that a key which is added must be tried there.
func TestEveryKeyIsTried(t *testing.T) {
	s, _ := readSchema(t)
	text, err := os.ReadFile(filepath.Join(cardsDir, "every-key.good.yaml"))
	require.NoError(t, err)
	for name, d := range s.definitions {
		if name == "factor" || strings.HasSuffix(name, "match") {
			continue // fields, tried in match_test.go
		}
		for key := range d.(map[string]any)["properties"].(map[string]any) {
			if name == "storage_rule" && key == "factor" {
				continue // refused by the loader, with a hint
			}
			require.Contains(t, string(text), key+":", "%s.%s", name, key)
		}
	}
}
