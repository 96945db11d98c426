package report

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is the one Chromium of a test process; TestMain ends it.
var browser struct {
	once sync.Once
	ctx  context.Context
	stop func()
	skip string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(code)
}

func findChromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			return path
		}
	}
	return ""
}

func startBrowser() {
	path := findChromium()
	if path == "" {
		browser.skip = "no Chromium found: install chromium, chromium-browser or google-chrome, or set CHROMIUM to its path"
		return
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(allocator)
	browser.ctx, browser.stop = ctx, func() { stop(); stopAllocator() }
	browser.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

// view of a page: how it is opened.
type look struct {
	width, height int64
	dark          bool
	noScript      bool
}

func (l look) String() string {
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	return fmt.Sprintf("%s-%d", scheme, l.width)
}

// A tab is an open page with what it complained about and asked for.
type tab struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string // errors of the console, exceptions, violations of the policy
	requests []string // other than of the page itself
}

// openTab opens the page at path. The test is skipped only when there is no Chromium.
func openTab(t *testing.T, path string, l look) *tab {
	t.Helper()
	browser.once.Do(startBrowser)
	if browser.skip != "" {
		t.Skip(browser.skip)
	}
	if browser.err != nil {
		t.Fatalf("cannot start Chromium: %v", browser.err)
	}
	ctx, stop := chromedp.NewContext(browser.ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil { // starts the tab, whose life the time limit must not end
		t.Fatal(err)
	}
	ctx, stopWaiting := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stopWaiting)
	tb := &tab{t: t, ctx: ctx}
	page := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	tb.listen(page)
	tb.show(l)
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: l.noScript}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatal(err)
	}
	return tb
}

// show sets the size of the page and the colour scheme that its reader prefers.
func (tb *tab) show(l look) {
	tb.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(tb.ctx, emulation.SetEmulatedMedia, media); err != nil {
		tb.t.Fatal(err)
	}
	if err := chromedp.Do(tb.ctx, chromedp.EmulateViewport(l.width, l.height)); err != nil {
		tb.t.Fatal(err)
	}
}

// listen notes what the page complains about and asks for until the tab is closed.
func (tb *tab) listen(page string) {
	gather(tb, runtime.ConsoleAPICalled, func(e runtime.EventConsoleAPICalled) {
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			tb.note(&tb.problems, "console."+string(e.Type))
		}
	})
	gather(tb, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) { tb.note(&tb.problems, "exception: "+e.ExceptionDetails.Text) })
	gather(tb, log.EntryAdded, func(e log.EventEntryAdded) { tb.note(&tb.problems, string(e.Entry.Level)+": "+e.Entry.Text) })
	gather(tb, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) {
		if e.Request.URL != page {
			tb.note(&tb.requests, e.Request.URL)
		}
	})
}

// gather hands every event to note until the tab is closed.
func gather[E any](tb *tab, event cdp.Event[E], note func(E)) {
	events := chromedp.Events(tb.ctx, event)
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			note(e)
		}
	}()
}

func (tb *tab) note(list *[]string, text string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	*list = append(*list, text)
}

// complaints returns what was noted until now.
func (tb *tab) complaints() (problems, requests []string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return slices.Clone(tb.problems), slices.Clone(tb.requests)
}

// eval runs an expression in the page, also where the page's own script is off.
func eval[T any](tb *tab, expression string) T {
	tb.t.Helper()
	v, err := chromedp.Run(tb.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (tb *tab) press(key string) {
	tb.t.Helper()
	if err := chromedp.Do(tb.ctx, chromedp.KeyEvent(key)); err != nil {
		tb.t.Fatal(err)
	}
}
