package predictor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		want request
	}{
		{`{"user_id":7,"candidate_count":1000,"limit":50}`, request{7, nil, 1000, 50}},
		{`{"user_id":7,"candidates":[1,2,3]}`, request{7, []int{1, 2, 3}, 0, DefaultLimit}},
		{"\r\n\t { \"limit\" : 1000 ,\n \"candidates\" : [ 9 , 0 , -4 ] , \"user_id\" : 1 } \n", request{1, []int{9, 0, -4}, 0, 1000}},
		{`{"user_\u0069d":7,"candidate_count":1}`, request{7, nil, 1, DefaultLimit}},
		{`{"user_id":999999999999999999,"candidate_count":10000}`, request{999999999999999999, nil, 10000, DefaultLimit}},
	}
	for _, tt := range tests {
		var got request
		if err := got.decode([]byte(tt.body)); err != nil {
			t.Errorf("decode(%q) = %v", tt.body, err)
			continue
		}
		if got.userID != tt.want.userID || !slices.Equal(got.candidates, tt.want.candidates) ||
			got.candidateCount != tt.want.candidateCount || got.limit != tt.want.limit {
			t.Errorf("decode(%q) = %+v, want %+v", tt.body, got, tt.want)
		}
	}
}

// badRequests are bodies that must be refused, with the field to blame and part
// of the message.
var badRequests = []struct{ body, field, message string }{
	{``, "body", "got the end of the body, want a JSON object"},
	{`[]`, "body", `got '[' at byte 1, want a JSON object`},
	{`null`, "body", "want a JSON object"},
	{`"user_id"`, "body", "want a JSON object"},
	{`{`, "body", "got the end of the body, want a field's name"},
	{`{}`, "user_id", "is missing"},
	{`{user_id:7}`, "body", "want a field's name in quotes"},
	{`{"user_id`, "body", "want the end of the field's name"},
	{`{"user_id\`, "body", "want the end of the field's name"},
	{"{\"user\n_id\":7}", "body", "cannot read the field's name"},
	{`{"user_id"}`, "body", "want a colon"},
	{`{"user_id":}`, "user_id", "want a whole number"},
	{`{"user_id":7`, "body", "got the end of the body, want a comma or the object's end"},
	{`{"user_id":7,}`, "body", "want a field's name"},
	{`{"user_id":7 "limit":5}`, "body", "want a comma"},
	{`{"user_id":7,"candidate_count":1}}`, "body", "got more after the end of the object at byte 34"},
	{`{"user_id":7,"candidate_count":1} x`, "body", "got more after the end"},
	{`{"user_id":7,"candidate_count":1}{}`, "body", "got more after the end"},
	{`{"candidate_count":10}`, "user_id", "is missing"},
	{`{"user_id":"7","candidate_count":10}`, "user_id", "got a string at byte 12, want a whole number"},
	{`{"user_id":7.5,"candidate_count":10}`, "user_id", "fraction"},
	{`{"user_id":7e0,"candidate_count":10}`, "user_id", "exponent"},
	{`{"user_id":07,"candidate_count":10}`, "user_id", "leading zero"},
	{`{"user_id":+7,"candidate_count":10}`, "user_id", `got '+'`},
	{`{"user_id":-,"candidate_count":10}`, "user_id", "want a whole number"},
	{`{"user_id":0,"candidate_count":10}`, "user_id", "got 0, want 1 or more"},
	{`{"user_id":-7,"candidate_count":10}`, "user_id", "got -7, want 1 or more"},
	{`{"user_id":9999999999999999999,"candidate_count":10}`, "user_id", "out of range"},
	{`{"user_id":null,"candidate_count":10}`, "user_id", "got null"},
	{`{"user_id":true,"candidate_count":10}`, "user_id", "got a boolean"},
	{`{"user_id":{},"candidate_count":10}`, "user_id", "got an object"},
	{`{"user_id":[7],"candidate_count":10}`, "user_id", "got a list"},
	{`{"user_id":7,"user_id":8,"candidate_count":10}`, "user_id", "appears twice"},
	{`{"user_id":7,"userid":8,"candidate_count":10}`, "userid", "unknown field"},
	{`{"USER_ID":7,"candidate_count":10}`, "USER_ID", "unknown field"},
	{`{"":7}`, "", "unknown field"},
	{`{"user_id":7}`, "candidates", "want candidates or candidate_count"},
	{`{"user_id":7,"candidates":[1],"candidate_count":10}`, "candidate_count", "got both"},
	{`{"user_id":7,"candidates":[]}`, "candidates", "got none"},
	{`{"user_id":7,"candidates":5}`, "candidates", "got a number at byte 27, want a list"},
	{`{"user_id":7,"candidates":"1,2"}`, "candidates", "got a string"},
	{`{"user_id":7,"candidates":[1,"2"]}`, "candidates", "got a string"},
	{`{"user_id":7,"candidates":[1,2.5]}`, "candidates", "fraction"},
	{`{"user_id":7,"candidates":[1,]}`, "candidates", `got ']'`},
	{`{"user_id":7,"candidates":[1 2]}`, "candidates", "want a comma or the list's end"},
	{`{"user_id":7,"candidates":[1,2`, "candidates", "got the end of the body"},
	{`{"user_id":7,"candidates":[[1]]}`, "candidates", "got a list"},
	{`{"user_id":7,"candidates":[1,2,1]}`, "candidates", "got movie 1 twice"},
	{`{"user_id":7,"candidates":[` + strings.Repeat("1,", MaxCandidates) + `1]}`, "candidates", "got more than 10000"},
	{`{"user_id":7,"candidate_count":0}`, "candidate_count", "got 0, want 1 to 10000"},
	{`{"user_id":7,"candidate_count":-1}`, "candidate_count", "got -1"},
	{`{"user_id":7,"candidate_count":10001}`, "candidate_count", "got 10001, want 1 to 10000"},
	{`{"user_id":7,"candidate_count":10,"limit":0}`, "limit", "got 0, want 1 to 1000"},
	{`{"user_id":7,"candidate_count":10,"limit":-5}`, "limit", "got -5"},
	{`{"user_id":7,"candidate_count":10,"limit":1001}`, "limit", "got 1001, want 1 to 1000"},
	{`{"user_id":7,"candidate_count":10,"limit":"all"}`, "limit", "got a string"},
	{"\x00", "body", `got '\x00'`},
}

// FuzzDecode compares with encoding/json: what is accepted must be JSON and mean
// the same; what is refused must be refused with a field and a message.
func FuzzDecode(f *testing.F) {
	for _, tt := range badRequests {
		if len(tt.body) < 1000 {
			f.Add([]byte(tt.body))
		}
	}
	f.Add([]byte(`{"user_id":7,"candidates":[1,2,3],"limit":50}`))
	f.Add([]byte(`{"user_id":7,"candidate_count":1000}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got request
		if err := got.decode(body); err != nil {
			var re *RequestError
			if !errors.As(err, &re) || re.Message == "" {
				t.Fatalf("decode(%q) = %#v, want a RequestError with a message", body, err)
			}
			return
		}
		var want struct {
			UserID         int   `json:"user_id"`
			Candidates     []int `json:"candidates"`
			CandidateCount int   `json:"candidate_count"`
			Limit          *int  `json:"limit"`
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("decode(%q) = %+v, but encoding/json says %v", body, got, err)
		}
		if want.Limit == nil {
			limit := DefaultLimit
			want.Limit = &limit
		}
		if got.userID != want.UserID || !slices.Equal(got.candidates, want.Candidates) ||
			got.candidateCount != want.CandidateCount || got.limit != *want.Limit {
			t.Fatalf("decode(%q) = %+v, encoding/json %+v", body, got, want)
		}
	})
}

func thousand(t testing.TB) []byte {
	m, _ := load(t)
	var b bytes.Buffer
	b.WriteString(`{"user_id":7,"candidates":[`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, m.MovieID(int32(i*9)))
	}
	b.WriteString(`],"limit":50}`)
	return b.Bytes()
}
