package plans

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
)

// A Secret is a text that no output may show.
type Secret struct {
	Name  string
	Value string
}

// minSecret is the fewest characters of a secret. A shorter text stands in other words by chance, where it would be taken
// out, too.
const minSecret = 8

// Secrets are those of a plan.
type Secrets []Secret

// A disguise is a form in which a secret may stand in a text, and what takes its place.
type disguise struct{ form, mark string }

// disguises are the secrets as they are and as they are written in JSON, HTML, URLs and Base64, the longest first.
func (s Secrets) disguises() []disguise {
	var all []disguise
	for _, secret := range s {
		mark := "[secret " + secret.Name + "]"
		quoted, _ := json.Marshal(secret.Value) // a string always encodes
		forms := []string{secret.Value, jsonString(secret.Value), string(quoted), html.EscapeString(secret.Value), url.QueryEscape(secret.Value),
			url.PathEscape(secret.Value), encodeValue(secret.Value)}
		for i, f := range forms {
			forms[i] = strings.Trim(f, `"`)
		}
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// Three offsets in what is encoded, without the characters at the ends that depend on what stands beside.
			for skip := range min(3, len(secret.Value)-5) {
				whole := secret.Value[skip:]
				forms = append(forms, enc.EncodeToString([]byte(whole[:len(whole)/3*3])))
			}
		}
		slices.Sort(forms)
		for _, f := range slices.Compact(forms) {
			if len(f) >= minSecret || f == secret.Value {
				all = append(all, disguise{f, mark})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b disguise) int { return cmp.Compare(len(b.form), len(a.form)) })
	return all
}

// Redact takes the secrets out of a text; in the place of each is its name.
func (s Secrets) Redact(text string) string { return s.Redactor()(text) }

// Redactor is Redact for many texts.
func (s Secrets) Redactor() func(string) string {
	forms := s.disguises()
	return func(text string) string {
		if !slices.ContainsFunc(forms, func(d disguise) bool { return strings.Contains(text, d.form) }) {
			return text
		}
		var b bytes.Buffer
		w := redacting{to: &b, forms: forms}
		io.WriteString(&w, text) // a buffer takes all
		w.Close()
		return b.String()
	}
}

// Writer returns a writer that takes the secrets out of what it passes on to w, also where one comes in pieces. It holds back
// no more than what may be the beginning of one; Close passes that on, and leaves w open. It is not safe for concurrent use.
func (s Secrets) Writer(w io.Writer) io.WriteCloser {
	return &redacting{to: w, forms: s.disguises()}
}

type redacting struct {
	to    io.Writer
	forms []disguise
	held  []byte
}

// Write never reports fewer bytes than it got, unless to fails.
func (r *redacting) Write(p []byte) (int, error) {
	r.held = append(r.held, p...)
	if err := r.pass(false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on what is held back.
func (r *redacting) Close() error { return r.pass(true) }

func (r *redacting) pass(all bool) error {
	var out []byte
	text := r.held
	for len(text) > 0 {
		at, found := r.next(text)
		if at < 0 {
			break
		}
		out = append(append(out, text[:at]...), found.mark...)
		text = text[at+len(found.form):]
	}
	keep := 0
	if !all {
		keep = r.begins(text)
	}
	out = append(out, text[:len(text)-keep]...)
	r.held = append(r.held[:0], text[len(text)-keep:]...)
	if len(out) == 0 {
		return nil
	}
	_, err := r.to.Write(out)
	return err
}

// next finds the first secret in a text, of several at one place the longest.
func (r *redacting) next(text []byte) (at int, found disguise) {
	at = -1
	for _, f := range r.forms {
		if i := bytes.Index(text, []byte(f.form)); i >= 0 && (at < 0 || i < at) {
			at, found = i, f
		}
	}
	return at, found
}

// begins is the length of the longest end of a text that a secret may begin with.
func (r *redacting) begins(text []byte) int {
	longest := 0
	for _, f := range r.forms {
		for n := min(len(f.form)-1, len(text)); n > longest; n-- {
			if bytes.HasPrefix([]byte(f.form), text[len(text)-n:]) {
				longest = n
				break
			}
		}
	}
	return longest
}

// readSecrets reads secrets, which come from the environment or a file: one that stands in a plan is none.
func (l *loader) readSecrets(it *item) {
	for _, e := range it.children() {
		l.secrets[e.name] = nil
		from := slices.ContainsFunc(e.text, func(p piece) bool { return p.env != "" })
		switch {
		case !from:
			l.fault(e.fault("secret that stands in the plan", "", "${env.NAME} or ${file.PATH}", "keep it outside of the repository"))
		case len(e.value()) < minSecret:
			l.fault(e.fault("secret is too short to be kept out of the outputs", "fewer than 8 characters", "8 or more", ""))
		default:
			l.secrets[e.name] = []piece{{text: e.value(), env: "${secret." + e.name + "}"}}
			l.hidden = append(l.hidden, Secret{e.name, e.value()})
		}
	}
}
