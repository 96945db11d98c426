// Package report prints a stored run for people and for other programs: one offline HTML page, PNG and SVG charts,
// JUnit XML, Markdown, CSV, histogram logs and a summary for a terminal.
//
// New does all arithmetic and formatting; the writers only print what it made. The same record gives the same bytes.
// A number that was not measured is shown as "n/a", never as 0.
package report
