package report

import (
	"time"

	"github.com/penstock-go/penstock/graph/report/internal/words"
)

// How figures and texts are written is package words; these are its names in this one.

const (
	none  = words.None
	width = words.Width
)

type grid = words.Grid

func ratio(a, b float64) *float64                     { return words.Ratio(a, b) }
func digits(x float64, n int) string                  { return words.Digits(x, n) }
func count(n int64) string                            { return words.Count(n) }
func short(n int64) string                            { return words.Short(n) }
func plural(n int64, one string) string               { return words.Plural(n, one) }
func duration(d time.Duration) string                 { return words.Duration(d) }
func seconds(x float64) string                        { return words.Seconds(x) }
func rate(x float64) string                           { return words.Rate(x) }
func percent(x float64) string                        { return words.Percent(x) }
func size(n int64) string                             { return words.Size(n) }
func escape(s string) string                          { return words.Escape(s) }
func plain(s string) string                           { return words.Plain(s) }
func clip(s string, n int) string                     { return words.Clip(s, n) }
func wrap(text, first, rest string, width int) string { return words.Wrap(text, first, rest, width) }
