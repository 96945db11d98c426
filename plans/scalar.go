package plans

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-playground/validator/v10"
)

// readScalar looks up the variables of a scalar and reads its value.
func (l *loader) readScalar(it *item) *item {
	k := it.shape.scalar
	if k == commandScalar || k == startScalar || k == gridCommand {
		return l.readCommand(it)
	}
	ps, ok := l.expand(it.node.Value, 0, it.node, it.path, k)
	if !ok {
		return nil
	}
	it.text = ps
	if it.shape.open && slices.ContainsFunc(ps, func(p piece) bool { return strings.HasPrefix(p.env, "${secret.") }) {
		l.fault(it.fault("secret in a text that is shown", it.quoted(), it.shape.want(), "addresses, names and assertions are part of every report"))
		return nil
	}
	if !l.readValue(it) {
		return nil
	}
	return it
}

// readValue reads the value that the text of a scalar stands for.
func (l *loader) readValue(it *item) bool {
	text := it.value()
	fault := func(what, hint string) bool {
		l.fault(it.fault(what, it.quoted(), it.shape.want(), hint))
		return false
	}
	switch it.shape.scalar {
	case integerScalar:
		n, err := strconv.ParseInt(text, 10, 64)
		if !wholeNumber.MatchString(text) || err != nil {
			return fault("not a whole number", numberHint(text))
		}
		it.number = n
		return l.inRange(it, n)
	case booleanScalar:
		if text != "true" && text != "false" {
			return fault("not true or false", booleanHint(text))
		}
		it.yes = text == "true"
		return true
	case durationScalar:
		d, what, hint := readDuration(text)
		if what != "" && text == "0" && strings.HasPrefix(it.shape.rule, "gt=") {
			hint = "" // 0s would be refused, too
		}
		if what != "" {
			return fault(what, hint)
		}
		it.time = d
		return l.inRange(it, d)
	case rateScalar:
		r, what, hint := readRate(text)
		if what != "" {
			return fault(what, hint)
		}
		it.rate = r
		return l.inRange(it, r)
	}
	return l.inRange(it, text)
}

// inRange checks a value against the validator tag of its shape.
func (l *loader) inRange(it *item, value any) bool {
	if it.shape.rule == "" {
		return true
	}
	err := l.validate.Var(value, it.shape.rule)
	fields, ok := errors.AsType[validator.ValidationErrors](err)
	if !ok || len(fields) == 0 {
		return true
	}
	got, what, want, hint := it.quoted(), "out of range", it.shape.wantRange(), ""
	switch fields[0].Tag() {
	case "oneof":
		what, want, hint = "unknown value", it.shape.want(), didYouMean(it.value(), it.shape.choices())
	case "min":
		what, got = "empty text", ""
	case "max":
		what, want = "text is too long", "at most "+fields[0].Param()
		got = fmt.Sprintf("%d characters", len([]rune(it.value())))
	}
	l.fault(it.fault(what, got, want, hint))
	return false
}

var (
	wholeNumber  = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	durationText = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+$`)
	numberText   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	rateText     = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)/([smh])$`)
)

func numberHint(text string) string {
	if n, err := strconv.ParseInt(strings.TrimLeft(text, "0"), 10, 64); err == nil && strings.HasPrefix(text, "0") {
		return fmt.Sprintf("write %d", n)
	}
	if n, err := strconv.ParseInt(strings.NewReplacer("_", "", ",", "", " ", "").Replace(text), 10, 64); err == nil {
		return fmt.Sprintf("write %d", n)
	}
	return ""
}

func booleanHint(text string) string {
	switch strings.ToLower(text) {
	case "yes", "on", "y", "1", "true":
		return "write true"
	case "no", "off", "n", "0", "false":
		return "write false"
	}
	return ""
}

// readDuration reads a duration in Go's units. what is "" when the text is one; else it and hint say why not.
func readDuration(text string) (d time.Duration, what, hint string) {
	if durationText.MatchString(text) {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, "duration is too long", ""
		}
		return d, "", ""
	}
	joined := strings.Join(strings.Fields(text), "")
	switch {
	case numberText.MatchString(text):
		return 0, "duration without a unit", "write " + text + "s"
	case strings.HasPrefix(text, "-") && durationText.MatchString(text[1:]):
		return 0, "negative duration", ""
	case durationText.MatchString(joined):
		return 0, "not a duration", "write " + joined
	case strings.HasSuffix(text, "d") && numberText.MatchString(strings.TrimSuffix(text, "d")):
		if days, err := strconv.ParseFloat(strings.TrimSuffix(text, "d"), 64); err == nil && days < 30 {
			return 0, "not a duration", fmt.Sprintf("write %gh", days*24)
		}
	}
	return 0, "not a duration", ""
}

// perUnit is how many seconds a rate's unit has.
var perUnit = map[string]float64{"s": 1, "m": 60, "h": 3600}

// readRate reads a rate, in arrivals per second. what is "" when the text is one; else it and hint say why not.
func readRate(text string) (rate float64, what, hint string) {
	if m := rateText.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || math.IsInf(n, 0) {
			return 0, "rate is too high", ""
		}
		return n / perUnit[m[2]], "", ""
	}
	joined := strings.Join(strings.Fields(text), "")
	low := strings.ToLower(joined)
	number := strings.TrimRight(low, "abcdefghijklmnopqrstuvwxyz/")
	switch unit := low[len(number):]; {
	case numberText.MatchString(text):
		return 0, "rate without a unit", "write " + text + "/s"
	case strings.HasPrefix(joined, "-"):
		return 0, "negative rate", ""
	case rateText.MatchString(joined):
		return 0, "not a rate", "write " + joined
	case numberText.MatchString(number):
		for _, u := range []struct{ word, short string }{{"rps", "s"}, {"/sec", "s"}, {"/second", "s"}, {"req/s", "s"}, {"hz", "s"}, {"/min", "m"}, {"/minute", "m"}, {"rpm", "m"}, {"/hour", "h"}} {
			if unit == u.word {
				return 0, "not a rate", "write " + number + "/" + u.short
			}
		}
	}
	return 0, "not a rate", ""
}
