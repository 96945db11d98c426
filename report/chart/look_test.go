package chart

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestLook writes the samples to the folder that PERFPLAN_CHART_LOOK names.
func TestLook(t *testing.T) {
	dir := os.Getenv("PERFPLAN_CHART_LOOK")
	if dir == "" {
		t.Skip("PERFPLAN_CHART_LOOK is not set")
	}
	for name, c := range samples() {
		var b bytes.Buffer
		if err := WritePNG(&b, c); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, name+".png"), b.Bytes(), 0o644)
		b.Reset()
		if err := WriteSVG(&b, c, Options{ID: name}); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, name+".svg"), b.Bytes(), 0o644)
		b.Reset()
		WriteSVG(&b, c, Options{ID: name, Compact: true})
		os.WriteFile(filepath.Join(dir, name+"-compact.svg"), b.Bytes(), 0o644)
	}
}
