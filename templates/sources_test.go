package templates_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sources gives the text of what may say words: the pages, and the packages
// that draw documents.
func sources(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, pattern := range []string{"*.tmpl", "*.go", "../invoice/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			texts = append(texts, string(text))
		}
	}
	require.NotEmpty(t, texts)
	return texts
}
