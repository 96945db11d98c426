package report

import (
	"fmt"
	"strings"

	"github.com/perfplan/perfplan/runner/result"
)

// dnsLine says what looking names up again found.
func dnsLine(d *result.DNS) string {
	text := fmt.Sprintf("Names were looked up again every %s: %s", duration(float64(d.RefreshNS)), counted(d.Lookups, "lookup"))
	if d.Failed > 0 {
		text += fmt.Sprintf(", %s of them without an answer, which changed nothing", count(d.Failed))
	}
	if d.Changed == 0 {
		return text + "; the addresses stayed."
	}
	return text + fmt.Sprintf("; %s of address.", counted(d.Changed, "change"))
}

// changesTable tells which host went where, and when.
func changesTable(l *result.Load) []table {
	if len(l.DNS.Changes) == 0 {
		return nil
	}
	t := table{Caption: "Changes of address", Cols: []column{{"Host", false}, {"At", true}, {"From", false}, {"To", false}}}
	if more := l.DNS.Changed - int64(len(l.DNS.Changes)); more > 0 {
		t.Caption = fmt.Sprintf("Changes of address (%s more are not told)", count(more))
	}
	for _, c := range l.DNS.Changes {
		t.Rows = append(t.Rows, []cell{{Text: l.Hosts[c.Host].Address}, {Text: duration(float64(c.TNS))}, {Text: strings.Join(c.From, ", ")}, {Text: strings.Join(c.To, ", ")}})
	}
	return []table{t}
}
