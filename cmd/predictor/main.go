// Command predictor ranks movies over HTTP, and trains, evaluates and measures
// the model that does it.
//
//	predictor [serve] [flags]   answer requests
//	predictor train [flags]     train the model again
//	predictor evaluate [flags]  measure the model on held-out ratings
//	predictor bench [flags]     be the subject of a microbenchmark
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const usage = `usage: predictor [serve] [flags]   answer requests (predictor serve --help)
       predictor train [flags]     train the model again
       predictor evaluate [flags]  measure the model on held-out ratings
       predictor bench [flags]     be the subject of a microbenchmark
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run returns the exit code: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	var err error
	switch name {
	case "serve":
		// The other commands end at once on a signal; a second one ends this, too.
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		err = serve(ctx, args, stdout, stderr)
	case "train":
		err = train(args, stdout, stderr)
	case "evaluate":
		err = evaluate(args, stdout, stderr)
	case "bench":
		err = bench(args, stdin, stdout, stderr)
	case "help":
		fmt.Fprint(stdout, usage)
		return 0
	default:
		fmt.Fprintf(stderr, "predictor: unknown command %q\n%s", name, usage)
		return 2
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(stderr, "predictor %s: %v\n", name, err)
	if _, wrong := errors.AsType[usageError](err); wrong {
		return 2
	}
	return 1
}

// usageError is a wrong command line.
type usageError struct{ error }

// parse reads the flags of one command; help goes to stdout, since it was asked
// for.
func parse(f *flag.FlagSet, args []string, stdout io.Writer) error {
	f.SetOutput(io.Discard)
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		if f.Name() == "serve" { // which is also what predictor --help asks for
			fmt.Fprint(stdout, usage)
		}
		fmt.Fprintf(stdout, "\nflags of predictor %s:\n", f.Name())
		f.SetOutput(stdout)
		f.PrintDefaults()
		return err
	}
	if err != nil {
		return usageError{err}
	}
	if f.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", f.Arg(0))}
	}
	return nil
}
