package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/perfplan/perfplan/report/chart"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// WriteHTML writes the report as one HTML page that needs no network: styles, script and charts are inside, and its
// content security policy forbids everything else. All of it can be read without script.
func WriteHTML(w io.Writer, m *Model) error {
	t, err := template.New("page").Funcs(template.FuncMap{"svg": inlineSVG()}).Parse(pageHTML)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(pageJS))
	page := struct {
		*view
		CSP   string
		Style template.CSS
		JS    template.JS
	}{
		view: &m.view,
		CSP: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
			base64.StdEncoding.EncodeToString(hash[:]) + "'",
		Style: template.CSS(pageCSS + chart.CSS()), // our own text, nothing of the plan
		JS:    template.JS(pageJS),
	}
	var b bytes.Buffer
	if err := t.Execute(&b, page); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// inlineSVG returns the function that draws charts for one page, each with an id of its own. The chart package
// escapes what the plan put into a chart.
func inlineSVG() func(f figure, compact bool) (template.HTML, error) {
	n := 0
	return func(f figure, compact bool) (template.HTML, error) {
		n++
		var b strings.Builder
		if err := chart.WriteSVG(&b, f.Chart, chart.Options{ID: fmt.Sprintf("chart-%d", n), Inline: true, Compact: compact}); err != nil {
			return "", err
		}
		return template.HTML(b.String()), nil
	}
}
