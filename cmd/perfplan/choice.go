package main

import (
	"fmt"
	"slices"
	"strings"
)

// A choice is a flag whose value is one of a few words.
type choice struct {
	word string
	of   []string
}

// String, Set and Type make a choice a flag value.
func (c *choice) String() string { return c.word }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("want %s", c.words())
	}
	c.word = s
	return nil
}

func (c *choice) Type() string { return "word" }

// words lists the words: "auto, always or never".
func (c *choice) words() string {
	last := len(c.of) - 1
	return strings.Join(c.of[:last], ", ") + " or " + c.of[last]
}
