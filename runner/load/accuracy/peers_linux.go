package main

import "io"

type peer struct{}

func findPeers(io.Writer) []peer { return nil }
