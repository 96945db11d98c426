// Command shop is a small shop with accounts: who logs in gets a session, whose token every change has to carry.
package main

import (
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync"
	"time"
)

// A session is what the shop knows of a user who is logged in.
type session struct {
	user, token string
	items       int
}

type shop struct {
	mu       sync.Mutex
	sessions map[string]*session // by cookie
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to serve on")
	flag.Parse()
	s := &shop{sessions: map[string]*session{}}
	http.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("POST /login", s.login)
	http.HandleFunc("GET /home", s.home)
	http.HandleFunc("POST /basket", s.add)
	http.HandleFunc("POST /orders", s.order)
	log.Fatal(http.ListenAndServe(*listen, nil))
}

// login knows all users whose password is their name, and sends them home.
func (s *shop) login(w http.ResponseWriter, r *http.Request) {
	user := r.FormValue("user")
	if user == "" || r.FormValue("password") != user {
		http.Error(w, "wrong user or password", http.StatusForbidden)
		return
	}
	time.Sleep(2 * time.Millisecond) // what a password costs
	id := rand.Text()
	s.mu.Lock()
	s.sessions[id] = &session{user: user, token: rand.Text()}
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{Name: "session", Value: id, Path: "/", HttpOnly: true})
	http.Redirect(w, r, "/home", http.StatusSeeOther)
}

// of is the session of a request; nil and an answer if there is none.
func (s *shop) of(w http.ResponseWriter, r *http.Request) *session {
	c, err := r.Cookie("session")
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if found := s.sessions[c.Value]; found != nil {
			return found
		}
	}
	http.Error(w, "log in first", http.StatusUnauthorized)
	return nil
}

func (s *shop) home(w http.ResponseWriter, r *http.Request) {
	if in := s.of(w, r); in != nil {
		fmt.Fprintf(w, `<form action=/basket><input name="token" value="%s"></form><p>Hello %s!</p>`, in.token, in.user)
	}
}

// changes checks that a change comes from the shop's own page.
func (s *shop) changes(w http.ResponseWriter, r *http.Request) *session {
	in := s.of(w, r)
	if in != nil && r.Header.Get("X-Token") != in.token {
		http.Error(w, "wrong token", http.StatusForbidden)
		return nil
	}
	return in
}

func (s *shop) add(w http.ResponseWriter, r *http.Request) {
	if in := s.changes(w, r); in != nil {
		s.mu.Lock()
		in.items++
		n := in.items
		s.mu.Unlock()
		answer(w, http.StatusOK, map[string]any{"basket": map[string]any{"id": "b-" + in.user, "items": n}})
	}
}

func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	in := s.changes(w, r)
	switch {
	case in == nil:
	case r.FormValue("basket") != "b-"+in.user || in.items == 0:
		http.Error(w, "no such basket", http.StatusNotFound)
	default:
		time.Sleep(5 * time.Millisecond) // what a payment costs
		answer(w, http.StatusCreated, map[string]any{"order": "o-" + in.user, "items": in.items})
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
