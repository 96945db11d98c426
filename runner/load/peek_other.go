//go:build !unix

package load

import "syscall"

const canPeek = false

func peek(syscall.RawConn) socketState { return socketQuiet }
