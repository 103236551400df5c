// Package page makes a report into one HTML file: the verdict first, then who worked when, what the sink waited for,
// the stages, and where it all ran. The file needs nothing else and asks nothing of a network.
//
// It is made of report.json and of nothing else. So each figure on the page is one of that file; an attribute data-path
// says which, and the file itself is inside the page, in the element with the id report. Names in it, which may be
// hostile, are escaped.
//
//	html, err := page.Of(run.Snapshot())
//	if err != nil {
//		return err
//	}
//	return os.WriteFile("report.html", html, 0o644)
//
// All functions are pure and safe for concurrent use; cost grows with the length of the report. The package stands apart
// from graph/report because of html/template: programs that print tables do not link it.
package page
