package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// writePage writes the page of a sample into a folder with a blank in its name (C-29).
func writePage(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my reports")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "report.html")
	if err := os.WriteFile(path, []byte(printSample(t, name).html), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// overflows lists elements that reach beyond the right edge of the page and are not inside something that scrolls.
const overflows = `(() => {
	const out = [];
	if (document.documentElement.scrollWidth > innerWidth) out.push('page ' + document.documentElement.scrollWidth + ' > ' + innerWidth);
	for (const e of document.querySelectorAll('main *, header *')) {
		if (e.closest('.scroll, pre, svg, .visually-hidden')) continue;
		const r = e.getBoundingClientRect();
		if (r.width > 0 && r.right > innerWidth + 1) out.push(e.tagName + '.' + e.className + ' ' + Math.round(r.right));
	}
	return out.slice(0, 5).join('; ');
})()`

// brokenNumbers lists numeric cells of tables with a number that goes over more than one line.
const brokenNumbers = `(() => {
	const out = [];
	for (const d of document.querySelectorAll('details')) d.open = true;
	for (const e of document.querySelectorAll('th.num[scope=row], td.num')) {
		const words = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
		while (words.nextNode()) {
			for (const m of words.currentNode.data.matchAll(/\S+/g)) {
				const r = document.createRange();
				r.setStart(words.currentNode, m.index);
				r.setEnd(words.currentNode, m.index + m[0].length);
				if (r.getClientRects().length > 1) out.push(m[0]);
			}
		}
	}
	return out.slice(0, 5).join('; ');
})()`

func TestNumbersAreNotBroken(t *testing.T) {
	tb := openTab(t, writePage(t, "pass"), look{width: 400, height: 740})
	for _, width := range []int64{360, 400, 500} {
		tb.show(look{width: width, height: 740})
		if got := eval[string](tb, brokenNumbers); got != "" {
			t.Errorf("at %d px these are broken: %s", width, got)
		}
	}
	eval[bool](tb, `(() => { const e = document.querySelector('.slos td.num'); e.style.cssText = 'display:block;width:1ch;overflow-wrap:anywhere;white-space:normal'; return true })()`)
	if eval[string](tb, brokenNumbers) == "" {
		t.Error("a broken number is not noticed")
	}
}

// Every sample opens in light and dark, on a phone and a desk, without complaint, request or overflow, and its texts
// stand out (C-27, C-29).
func TestPageOpensEverywhere(t *testing.T) {
	for name, make := range sampleRuns {
		r := make()
		tb := openTab(t, writePage(t, name), look{width: 1280, height: 800})
		for _, l := range []look{{width: 1280, height: 800}, {width: 1280, height: 800, dark: true}, {width: 360, height: 740, dark: true}, {width: 360, height: 740}} {
			tb.show(l)
			if got := eval[string](tb, overflows); got != "" {
				t.Errorf("%s, %v: overflow: %s", name, l, got)
			}
			if got, want := eval[string](tb, `document.querySelector('h1').innerText`), New(r).Verdict.Word; !strings.HasPrefix(got, want) {
				t.Errorf("%s, %v: h1 = %q, want it to begin with %q", name, l, got, want)
			}
			if !eval[bool](tb, `(() => { const r = document.querySelector('h1').getBoundingClientRect(); return r.top >= 0 && r.bottom < innerHeight })()`) {
				t.Errorf("%s, %v: the verdict is not on the first screen", name, l)
			}
			dark := eval[bool](tb, `(() => { const c = getComputedStyle(document.body).backgroundColor.match(/\d+/g); return c[0] < 128 })()`)
			if dark != l.dark {
				t.Errorf("%s, %v: dark = %v", name, l, dark)
			}
			if got := eval[string](tb, contrast); got != "" {
				t.Errorf("%s, %v: too little contrast: %s", name, l, got)
			}
		}
		if problems, requests := tb.complaints(); len(problems) > 0 || len(requests) > 0 {
			t.Errorf("%s: the page complains %q and asks for %q", name, problems, requests)
		}
	}
}

// C-27: what names hold is text, in the title too, and has made no element and run nothing.
func TestPageShowsHostileNamesLiterally(t *testing.T) {
	tb := openTab(t, writePage(t, "hostile"), look{width: 1280, height: 800})
	text := eval[string](tb, `document.body.textContent`)
	for _, name := range hostileNames() {
		if !strings.Contains(text, name) {
			t.Errorf("the page does not show %q", name)
		}
	}
	if got, want := eval[string](tb, `document.title`), "Fail: </script><script>alert(1)</script>, perfplan report"; got != want {
		t.Errorf("title = %q, want %q", got, want)
	}
	if got := eval[string](tb, `[...document.querySelectorAll('img, iframe, object, embed, form, uuid, image, foreignObject')].map(e => e.outerHTML).join()`); got != "" {
		t.Errorf("elements from data: %s", got)
	}
	if got := eval[int](tb, `document.scripts.length`); got != 1 {
		t.Errorf("%d scripts, want the page's one", got)
	}
	if got := eval[string](tb, `[...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).map(e => e.outerHTML).join()`); got != "" {
		t.Errorf("handlers from data: %s", got)
	}
	if got := eval[string](tb, `(() => { const seen = new Set(), twice = []; for (const e of document.querySelectorAll('[id]')) { if (seen.has(e.id)) twice.push(e.id); seen.add(e.id) } return twice.join() })()`); got != "" {
		t.Errorf("ids used twice: %s", got)
	}
}

// All of it can be read without script.
func TestPageWithoutScript(t *testing.T) {
	tb := openTab(t, writePage(t, "errors"), look{width: 1280, height: 800, noScript: true})
	if got := eval[int](tb, `document.querySelectorAll('.copy').length`); got != 0 {
		t.Fatalf("%d elements made by script: it is not off", got)
	}
	text := eval[string](tb, `document.body.innerText`)
	for _, want := range []string{"2 of 5 SLOs failed.", "error_rate < 0.1%", "14.53%", "cpu saturated in stage ladder", "2 slower, 2 no change, 6 unclear.", "got status 503, want 200", "perfplan run plans/predictor.yaml"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if got := eval[int](tb, `[...document.querySelectorAll('svg.chart')].filter(e => e.getBoundingClientRect().height > 100).length`); got != len(New(errorful()).figures()) {
		t.Errorf("%d charts are seen, want %d", got, len(New(errorful()).figures()))
	}
}

// With the keyboard one comes to the report, along charts and into tables; focus can be seen.
func TestPageKeyboard(t *testing.T) {
	tb := openTab(t, writePage(t, "errors"), look{width: 1280, height: 800})
	focused := `document.activeElement.className || document.activeElement.textContent`
	tb.press(kb.Tab)
	if got := eval[string](tb, focused); got != "skip" {
		t.Fatalf("first stop = %q, want the skip link", got)
	}
	if !eval[bool](tb, `document.activeElement.getBoundingClientRect().top >= 0`) {
		t.Error("the skip link is not seen when it has the focus")
	}
	tb.press(kb.Enter)
	if got := eval[string](tb, `document.activeElement.id`); got != "main" {
		t.Errorf("after the skip link the focus is on %q, want main", got)
	}
	seen := map[string]bool{}
	for range 90 {
		tb.press(kb.Tab)
		kind := eval[string](tb, `document.activeElement.closest('.drawing, .scroll') === document.activeElement ? document.activeElement.className : document.activeElement.tagName`)
		if kind == "BODY" {
			break // past the last stop
		}
		seen[kind] = true
		if eval[string](tb, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Errorf("the focus on %s cannot be seen", kind)
		}
	}
	for _, kind := range []string{"drawing", "scroll", "A", "SUMMARY"} {
		if !seen[kind] {
			t.Errorf("no stop at %s on the way: %v", kind, seen)
		}
	}
	eval[bool](tb, `(() => { document.querySelector('.drawing').focus(); return true })()`)
	tb.press(kb.ArrowRight)
	if got := eval[string](tb, `document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent`); !strings.Contains(got, "median") {
		t.Errorf("after an arrow key the tip says %q, want the first values", got)
	}
	tb.press(kb.Escape)
	if !eval[bool](tb, `document.getElementById('tip').hidden`) {
		t.Error("Escape does not close the tip")
	}
}

// Headings go down one level at a time, tables have heads with a scope, charts have a text alternative.
func TestPageStructure(t *testing.T) {
	tb := openTab(t, writePage(t, "errors"), look{width: 1280, height: 800})
	checks := map[string]string{
		"headings": `(() => { let last = 0, bad = ''; for (const h of document.querySelectorAll('h1,h2,h3,h4,h5,h6')) { const n = +h.tagName[1]; if (n > last + 1) bad += h.textContent; last = n } return bad })()`,
		"scopes":   `[...document.querySelectorAll('th')].filter(e => !e.scope).map(e => e.textContent).join()`,
		"charts":   `[...document.querySelectorAll('svg.chart')].filter(e => e.getAttribute('role') !== 'img' || !document.getElementById(e.getAttribute('aria-labelledby').split(' ')[0])).map(e => e.id).join()`,
		"captions": `[...document.querySelectorAll('figure')].filter(e => !e.querySelector('figcaption').textContent).map(e => e.outerHTML).join()`,
		"regions":  `[...document.querySelectorAll('.scroll')].filter(e => !e.getAttribute('aria-label')).length || ''`,
		"marks":    `['header','nav','main','footer'].filter(n => document.querySelectorAll(n).length !== 1).join()`,
		"anchors":  `[...document.querySelectorAll('a')].filter(e => !document.querySelector(e.getAttribute('href'))).map(e => e.href).join()`,
		"words":    `[...document.querySelectorAll('.badge')].filter(e => !e.textContent.trim()).length || ''`,
	}
	for name, check := range checks {
		if got := eval[string](tb, "String("+check+")"); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// contrast lists texts with less than 4.5 to 1 against what is behind them.
const contrast = `(() => {
	const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
	const lum = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); return .2126 * r + .7152 * g + .0722 * b };
	const back = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length && (c.length < 4 || c[3] > 0)) return c.slice(0, 3) } return [255, 255, 255] };
	const bad = new Set();
	for (const e of document.querySelectorAll('body *')) {
		if (e.closest('svg, script, style, [hidden]') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
		const a = lum(parse(getComputedStyle(e).color).slice(0, 3)), b = lum(back(e));
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) bad.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
	}
	return [...bad].slice(0, 8).join('; ');
})()`

// The checks above would notice: a page that breaks every rule is found out.
func TestPageChecksNotice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.html")
	bad := `<!doctype html><main style="width:3000px">wide</main><p style="color:#ccc">pale</p><img src="absent.png"><script>console.error("x"); throw new Error("y")</script>`
	if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	tb := openTab(t, path, look{width: 360, height: 740})
	if eval[string](tb, overflows) == "" || eval[string](tb, contrast) == "" {
		t.Error("overflow or contrast is not noticed")
	}
	problems, requests := tb.complaints()
	if len(problems) < 2 || len(requests) != 1 {
		t.Errorf("problems %q and requests %q, want the console error, the exception and the image", problems, requests)
	}
}
