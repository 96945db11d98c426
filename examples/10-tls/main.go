// Command vault serves one answer over TLS, to those who have the token.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8443", "address to serve on")
	cert := flag.String("cert", "", "file of the certificate")
	key := flag.String("key", "", "file of its key")
	flag.Parse()
	token, err := os.ReadFile("token.txt")
	if err != nil {
		log.Fatal(err)
	}
	want := "Bearer " + strings.TrimSpace(string(token))
	http.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("GET /secret", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"answer": 42}`)
	})
	log.Fatal(http.ListenAndServeTLS(*listen, *cert, *key, nil))
}
