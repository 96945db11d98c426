package bench

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// The test binary is also the subject, in one of several modes, so that all of the tests talk to real processes.
func TestMain(m *testing.M) {
	if mode := os.Getenv("BENCH_TEST_MODE"); mode != "" {
		if len(os.Args) > 1 && os.Args[1] == "whole" {
			whole(mode, os.Args[2:])
		}
		subject(mode)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// cost is the time of one iteration by mode. The subject sleeps at least that long and reports exactly that, so that
// the figures are the same on any machine.
func cost(mode string, size int, iteration int64) time.Duration {
	n := time.Duration(size)
	switch mode {
	case "linear":
		return 20*time.Microsecond + n*time.Microsecond
	case "quadratic":
		return n * n * time.Microsecond
	case "plateau": // 40 iterations at three times the cost
		if iteration < 40 {
			return 3 * time.Millisecond
		}
	case "drift": // without end
		return 100*time.Microsecond + time.Duration(iteration)*20*time.Microsecond
	}
	return time.Millisecond
}

// whole is a command that is timed whole.
func whole(mode string, args []string) {
	switch mode {
	case "sleep":
		d, _ := time.ParseDuration(args[0])
		fmt.Println(strings.Repeat("output ", 100_000)) // more than a pipe holds
		time.Sleep(d)
	case "fails":
		fmt.Fprintln(os.Stderr, "cannot open the data")
		os.Exit(7)
	case "hangs":
		fmt.Fprintln(os.Stderr, "waiting for the data")
		time.Sleep(time.Hour)
	case "forks":
		child := exec.Command("sleep", "600")
		child.Start()
		os.WriteFile(args[0], fmt.Append(nil, child.Process.Pid), 0o600)
	case "first": // the first runs are slower, as with a cold cache
		n, _ := os.ReadFile(args[0])
		os.WriteFile(args[0], append(n, 'x'), 0o600)
		if len(n) < 3 {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
	}
	os.Exit(0)
}

// spin uses the processor until so much time is over, as well as a clock tells.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// steps is work of so many equal steps, and its result.
func steps(n int) (x uint32) {
	for i := range n {
		x = x*1664525 + 1013904223 + uint32(i)
	}
	return x
}

func subject(mode string) {
	switch mode {
	case "silent":
		time.Sleep(time.Hour)
	case "gone":
		return
	case "stranger":
		fmt.Println("Hello, world")
	case "future":
		fmt.Println("perfplan-subject 2")
	default:
		fmt.Println("perfplan-subject 1")
	}
	fmt.Fprintln(os.Stderr, "log of mode", mode)
	size, count := 0, int64(0)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch word, rest, _ := strings.Cut(in.Text(), " "); word {
		case "setup":
			fmt.Sscanf(rest, "size=%d", &size)
			_, told, _ = strings.Cut(rest, " ")
			told = strings.ReplaceAll(told, " ", ",")
			if mode == "refuse" {
				fmt.Println("error no data for this size")
				continue
			}
			fmt.Println("ready")
		case "run":
			var n int64
			fmt.Sscanf(rest, "iterations=%d", &n)
			work(mode, size, n, count)
			count += n
		case "exit":
			leave(mode)
			return
		}
	}
}

// told is what the setup said besides the size.
var told string

// real tells whether a mode does work and times it.
func real(mode string) bool { return strings.HasPrefix(mode, "busy ") }

// busy does one iteration.
func busy(mode string, size int, iteration int64) uint32 {
	n := float64(size)
	switch mode {
	case "busy linear":
		spin(time.Duration(5000*n + 20_000))
	case "busy n log n":
		spin(time.Duration(700 * n * math.Log(n)))
	case "busy quadratic":
		spin(time.Duration(100 * n * n))
	case "busy plateau":
		if iteration < 40 {
			spin(300 * time.Microsecond)
		} else {
			spin(100 * time.Microsecond)
		}
	case "busy drift":
		spin(50*time.Microsecond + time.Duration(iteration)*time.Microsecond/2)
	case "busy steps":
		return steps(100 * size)
	case "busy more steps":
		return steps(110 * size)
	case "busy nothing":
		return 1
	}
	return uint32(size)
}

func leave(mode string) {
	switch mode {
	case "badexit":
		os.Exit(5)
	case "stays":
		time.Sleep(time.Hour)
	}
}

func work(mode string, size int, n, count int64) {
	if mode == "nothing" {
		fmt.Printf("done iterations=%d ns=0\n", n)
		return
	}
	var d time.Duration
	if real(mode) {
		begin, sum := time.Now(), uint32(0)
		for range n {
			sum = busy(mode, size, count)
			count++
		}
		fmt.Printf("done iterations=%d ns=%d checksum=%x\n", n, time.Since(begin), sum)
		return
	}
	for i := range n {
		d += cost(mode, size, count+i)
	}
	time.Sleep(d)
	ns, extra := int64(d), ""
	switch mode {
	case "hang":
		if size == 2 {
			time.Sleep(time.Hour)
		}
	case "crash":
		if size == 2 {
			fmt.Fprintln(os.Stderr, "panic: index out of range")
			os.Exit(3)
		}
	case "children":
		exec.Command("sleep", "600").Start()
		if size == 2 {
			fmt.Fprintln(os.Stderr, "pid", os.Getpid())
			os.Exit(4)
		}
	case "garbage":
		fmt.Println("iteration 1 done\x07")
		return
	case "endless": // a line that never ends
		for range 1 << 10 {
			fmt.Print(strings.Repeat("x", 1<<10))
		}
		return
	case "fewer":
		n--
	case "fast":
		ns *= 1000
	case "slow":
		ns /= 100
	case "third":
		ns /= 3
	case "huge":
		extra = fmt.Sprintf(" bytes=%d", n<<51)
	case "many":
		extra = fmt.Sprintf(" bytes=1 allocs=%d", n<<51)
	case "zero":
		ns = 0
	case "sums":
		extra = " checksum=" + fmt.Sprint(os.Getpid())
	case "constant sum":
		extra = " checksum=1"
	case "collects": // every seventh sample, for five times as long as the others
		extra = " gc=0 gc_ns=0"
		if count > 30 && count%7 == 0 {
			ns *= 6
			time.Sleep(5 * d)
			extra = fmt.Sprintf(" gc=2 gc_ns=%d", 5*d)
		}
	case "settings":
		extra = " checksum=" + told
	case "memory":
		extra = fmt.Sprintf(" bytes=%d allocs=%d checksum=c%d new=1", 48*n, 2*n, size)
	}
	fmt.Printf("done iterations=%d ns=%d%s\n", n, ns, extra)
}

// plan is a microbenchmark of this test binary in a mode, quick unless it is changed.
func plan(mode string, sizes ...int) Config {
	return Config{
		Microbenchmark: &plans.Microbenchmark{
			Subject: plans.Subject{Kind: plans.SubjectProtocol, Command: plans.Command{Text: "subject " + mode, Args: []string{os.Args[0]}}},
			Sizes:   sizes, Forks: 2, Samples: 4, MinTime: 2 * time.Millisecond, Timeout: 20 * time.Second, Seed: 1,
		},
		// the race detector would wait for a second at each exit
		Env: append(os.Environ(), "BENCH_TEST_MODE="+mode, "GORACE=atexit_sleep_ms=0"),
	}
}
