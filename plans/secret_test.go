package plans

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	secrets := Secrets{{"token", `tök"en<&>+/ 12`}, {"key", "abcdefgh"}}
	quoted, err := json.Marshal(secrets[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{secrets[0].Value, string(quoted), url.QueryEscape(secrets[0].Value), url.PathEscape(secrets[0].Value),
		"Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+secrets[0].Value)), "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+secrets[0].Value)),
		base64.StdEncoding.EncodeToString([]byte(secrets[0].Value + "x")), base64.URLEncoding.EncodeToString([]byte("ab" + secrets[0].Value))} {
		got := secrets.Redact("before " + text + " after")
		if !strings.Contains(got, "[secret token]") || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
	for _, text := range []string{"", "abcdefg", "plain text", "token"} {
		if got := secrets.Redact(text); got != text {
			t.Errorf("Redact(%q) = %q, want it as it is", text, got)
		}
	}
	if got := secrets.Redact("abcdefgabcdefgh|abcdefghabcdefgh"); got != "abcdefg[secret key]|[secret key][secret key]" {
		t.Errorf("Redact = %q", got)
	}
}

// A secret that comes in pieces is taken out at every cut, and nothing is lost or held back for longer than need be.
func TestRedactingWriter(t *testing.T) {
	secrets := Secrets{{"key", "abcdefgh"}}
	const text, want = "x abcdefgh y\nabcdabcdefgh\nabcd\n", "x [secret key] y\nabcd[secret key]\nabcd\n"
	for i := range len(text) {
		for j := i; j < len(text); j++ {
			var b bytes.Buffer
			w := secrets.Writer(&b)
			for _, part := range []string{text[:i], text[i:j], text[j:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if b.String() != want { // it ends in a line break, which no secret begins with
				t.Fatalf("cut at %d and %d: %q, want %q", i, j, b.String(), want)
			}
			if err := w.Close(); err != nil || b.String() != want {
				t.Fatalf("closed: %q, %v", b.String(), err)
			}
		}
	}
	var b bytes.Buffer
	w := secrets.Writer(&b)
	w.Write([]byte("end abc"))
	w.Close()
	if b.String() != "end abc" {
		t.Errorf("closed: %q", b.String())
	}
}
