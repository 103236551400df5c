// Package words is how reports write figures, tables and texts: three digits and one unit, thousands apart, lines of
// at most a hundred columns. All functions are pure and safe for concurrent use. A [Grid] belongs to one goroutine.
//
//	words.Seconds(0.0571)      // 57.1 ms
//	words.Percent(0.999)       // >99 %: it says 100 only where that is exact
//	words.Size(64 << 20)       // 64 MiB
//	words.Plain("a\x1b[31m")   // a\x1b[31m, safe to print
//	g := words.Grid{Left: []bool{true}}
//	g.Add("stage", "busy")
//	g.Add("decode", "42 %")
//	fmt.Print(g.Render("  "))  // the first column to the left, the second to the right
package words
