package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/report/page"
)

// browserEnv asks for the tests that start a browser: .ci/long does.
const browserEnv = "PENSTOCK_BROWSER"

// browser is a headless one that reaches no network.
func browser(t *testing.T) string {
	if os.Getenv(browserEnv) == "" {
		t.Skip("starts a browser; set " + browserEnv + "=1")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("missing: chromium; the page was not looked at")
	return ""
}

// probe looks at the page as the browser has laid it out.
const probe = `<script>
addEventListener("load", function () {
  function rgb(s) { var m = s.match(/[\d.]+/g).map(Number); return m.length < 4 ? [m[0], m[1], m[2], 1] : m; }
  function light(c) {
    var v = c.slice(0, 3).map(function (x) { x /= 255; return x > .03928 ? Math.pow((x + .055) / 1.055, 2.4) : x / 12.92; });
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2];
  }
  function behind(e) {
    for (; e; e = e.parentElement) { var c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 1) { return c; } }
    return matchMedia("(prefers-color-scheme:dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
  }
  var out = {inner: innerWidth, scroll: document.documentElement.scrollWidth, dark: matchMedia("(prefers-color-scheme:dark)").matches,
    contrast: 99, size: 99, figures: {}, lost: [], unnamed: 0, texts: {}};
  document.querySelectorAll("details").forEach(function (d) { d.open = true; });
  document.querySelectorAll("body *").forEach(function (e) {
    var own = Array.prototype.some.call(e.childNodes, function (n) { return n.nodeType === 3 && n.data.trim(); });
    var box = e.getBoundingClientRect(), css = getComputedStyle(e);
    if (!own || box.width < 2 || /^(SCRIPT|STYLE)$/.test(e.tagName) || css.visibility === "hidden") { return; }
    var svg = e.namespaceURI.indexOf("svg") > 0;
    var a = light(rgb(svg ? css.fill : css.color)), b = light(behind(svg ? e.closest("section") : e));
    var c = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (c < out.contrast) { out.contrast = c; out.worst = e.textContent.slice(0, 40); }
    out.size = Math.min(out.size, parseFloat(css.fontSize));
    if (box.right > innerWidth + 1 && !e.closest(".scroll")) { out.lost.push(e.textContent.slice(0, 40)); }
  });
  document.querySelectorAll("data[data-path]").forEach(function (e) { out.figures[e.dataset.path] = e.getAttribute("value"); });
  ["verdict", "stage", "gain", "next"].forEach(function (id) { out.texts[id] = document.getElementById(id).textContent; });
  document.querySelectorAll("svg[role=img]").forEach(function (e) { if (!e.getAttribute("aria-label")) { out.unnamed++; } });
  out.scroll = Math.max(out.scroll, document.documentElement.scrollWidth);
  parent.postMessage(JSON.stringify(out), "*");
});
</script>`

// frame holds the page at a width: a browser's own window cannot be as narrow as a phone.
const frame = `<!DOCTYPE html><html><body><pre id="probe"></pre><script>
addEventListener("message", function (m) { document.getElementById("probe").textContent = m.data; });
</script><iframe src="page.html" style="border:0" width="%d" height="3000"></iframe></body></html>`

type seen struct {
	Inner, Scroll  int
	Dark           bool
	Contrast, Size float64
	Worst          string
	Figures, Texts map[string]string
	Lost           []string
	Unnamed        int
}

// look opens a page in a window of a width and gives what the probe saw. The page itself runs no script: it is let in.
func look(t *testing.T, chrome string, html []byte, width int, dark bool) (s seen) {
	t.Helper()
	text := strings.Replace(string(html), "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'", 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "frame.html")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "page.html"), []byte(strings.Replace(text, "</head>", probe+"</head>", 1)), 0o644))
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, frame, width), 0o644))
	scheme := 1
	if dark {
		scheme = 0
	}
	out := dump(t, chrome, "file://"+file, scheme)
	_, rest, found := strings.Cut(out, `<pre id="probe">`)
	require.True(t, found, "%s", out)
	got, _, _ := strings.Cut(rest, "</pre>")
	got = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(got)
	require.NoError(t, json.Unmarshal([]byte(got), &s))
	return s
}

// dump is what has become of a page after ten seconds of its own time.
func dump(t *testing.T, chrome, url string, scheme int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, chrome, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), "--window-size=1400,2000",
		"--virtual-time-budget=10000", "--dump-dom", url).Output()
	require.NoError(t, err)
	return string(out)
}

func TestBrowserKeepsALivePageUpToDateUntilTheRunIsOver(t *testing.T) {
	chrome := browser(t)
	var asked atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		n := asked.Add(1)
		html, err := page.Live(graph.Snapshot{Pipeline: "p", Running: n < 3, Totals: graph.Totals{Samples: 1000 + n, Elapsed: time.Second, Balanced: true}})
		if err == nil {
			_, err = w.Write(html)
		}
		assert.NoError(t, err)
	}))
	defer site.Close()
	out := dump(t, chrome, site.URL+"/", 1)
	assert.Contains(t, out, "1,003 samples", "it asked two times more")
	assert.NotContains(t, out, `class="state running"`)
	assert.EqualValues(t, 3, asked.Load(), "and then no more")
	assert.Equal(t, "1003", read(t, []byte(strings.Split(strings.SplitN(out, `id="report">`, 2)[1], "</script>")[0])).raw("totals.samples"))
}

func TestBrowserShowsThePageOnPhonesAndScreensInBothSchemes(t *testing.T) {
	chrome := browser(t)
	for _, name := range []string{"decode", "skips", "epochs"} {
		text := reports(t)[name]
		html, err := page.FromJSON(text)
		require.NoError(t, err)
		doc := read(t, text)
		for _, width := range []int{390, 1280} {
			for _, dark := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/width=%d,dark=%v", name, width, dark), func(t *testing.T) {
					s := look(t, chrome, html, width, dark)
					require.Equal(t, width, s.Inner)
					assert.Equal(t, dark, s.Dark)
					assert.LessOrEqual(t, s.Scroll, width, "the page as a whole does not scroll sideways")
					assert.Empty(t, s.Lost, "nothing is cut off but inside what scrolls by itself")
					assert.GreaterOrEqual(t, s.Contrast, 4.5, "text and ground: %q", s.Worst)
					assert.GreaterOrEqual(t, s.Size, 10.0, "pixels of the smallest text")
					assert.Zero(t, s.Unnamed, "pictures without words")
					assert.Equal(t, doc.raw("verdict.sentence"), s.Texts["verdict"])
					require.Greater(t, len(s.Figures), 60)
					for path, value := range s.Figures {
						if path != "verdict.next" {
							require.Equal(t, strings.TrimSpace(doc.raw(path)), strings.TrimSpace(value), path)
						}
					}
				})
			}
		}
	}
}
