package verdict

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// looked is a stage with looks whose SLOs came out as the letters say, a word a look: p, f, i.
func looked(words string) *result.Stage {
	st := &result.Stage{State: result.Complete}
	for _, w := range strings.Fields(words) {
		l := result.Stage{State: result.Complete}
		for i, c := range w {
			o := map[rune]result.Outcome{'p': result.Pass, 'f': result.Fail, 'i': result.Inconclusive}[c]
			l.SLO = append(l.SLO, result.SLO{Text: "slo " + string(rune('a'+i)), Outcome: o, State: string(o), Reason: "as measured"})
		}
		st.Looks = append(st.Looks, l)
	}
	st.SLO = append([]result.SLO{}, st.Looks[len(st.Looks)-1].SLO...)
	return st
}

func TestLooks(t *testing.T) {
	for _, tt := range []struct {
		looks  string
		agreed bool
		want   result.Outcome
		says   string
	}{
		{"f", false, result.Inconclusive, "1 looks do not agree"},
		{"f f", true, result.Fail, "confirmed 2 of 2"},
		{"f p", false, result.Inconclusive, "2 looks do not agree: it failed in 1, passed in 1"},
		{"f p p", true, result.Pass, "not reproduced: it failed in 1 of 3 looks"},
		{"f p f", true, result.Fail, "confirmed 2 of 3"},
		{"f i i", false, result.Inconclusive, "3 looks do not agree"},
		{"f i f", true, result.Fail, "confirmed 2 of 3"},
		{"fp fp", true, result.Fail, "confirmed 2 of 2"},
		{"fp pf", false, result.Inconclusive, "do not agree"},
		{"fp pf pp", true, result.Pass, "hold"},
	} {
		st := looked(tt.looks)
		ps := &plans.Stage{Looks: 3}
		if got := Agreed(ps, st.Looks); got != tt.agreed {
			t.Errorf("%s: agreed %v, want %v", tt.looks, got, tt.agreed)
		}
		Looks(ps, st)
		said := st.Reason
		if len(st.SLO) == 1 {
			said = st.SLO[0].Reason
		}
		if st.Outcome != tt.want || !strings.Contains(said, tt.says) {
			t.Errorf("%s: %s (%s), want %s, %s", tt.looks, st.Outcome, said, tt.want, tt.says)
		}
	}
	warns := looked("fp fp")
	for i := range warns.Looks {
		warns.Looks[i].SLO[1].Warn = true
		warns.Looks[i].SLO[1].Outcome = result.Inconclusive
	}
	if !Agreed(&plans.Stage{Looks: 3}, warns.Looks) {
		t.Error("an SLO that only warns keeps looks from agreeing")
	}
}
