package bench

import (
	"bufio"
	"fmt"
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
	case "memory":
		extra = fmt.Sprintf(" bytes=%d allocs=%d checksum=c%d new=1", 48*n, 2*n, size)
	}
	fmt.Printf("done iterations=%d ns=%d%s\n", n, ns, extra)
}

// plan is a microbenchmark of this test binary in a mode, quick unless it is changed.
func plan(mode string, sizes ...int) Config {
	return Config{
		Microbenchmark: &plans.Microbenchmark{
			Subject: plans.Command{Text: "subject " + mode, Args: []string{os.Args[0]}},
			Sizes:   sizes, Forks: 2, Samples: 4, MinTime: 2 * time.Millisecond, Timeout: 20 * time.Second, Seed: 1,
		},
		// the race detector would wait for a second at each exit
		Env: append(os.Environ(), "BENCH_TEST_MODE="+mode, "GORACE=atexit_sleep_ms=0"),
	}
}
