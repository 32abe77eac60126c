package render

import (
	"io"
	"sync"

	"promoter/internal/app"
	"promoter/internal/onboarding"
	"promoter/internal/reconcile/outcome"
)

// Run prints what a run does as it happens, and its results at the end. As text,
// both go to standard output, and the results do not repeat what was done. JSON is one
// object with everything, so that meanwhile the actions are messages.
type Run struct {
	out, err io.Writer
	output   string
	text     Report
	around   func(show func()) // clears and restores a line of progress
	mutex    sync.Mutex
	under    string // the repository whose name was printed last
	failed   error  // of standard output
}

// NewRun returns the printer of a run. The function around calls another one, while
// no line of progress is shown.
func NewRun(out, err io.Writer, output string, text Report, around func(show func())) *Run {
	text.acted = true
	return &Run{out: out, err: err, output: output, text: text, around: around}
}

// Acted prints what was done in a repository.
func (p *Run) Acted(repository string, effects []outcome.Effect) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.around(func() {
		if p.output == "text" {
			p.print(repository, p.text.actions(effects))
			return
		}
		for _, effect := range effects {
			for _, line := range (Report{}).actionLines(effect) {
				PrintMessage(p.err, "%s: %s", repository, line)
			}
		}
	})
}

// Offered prints that a config file was offered to a repository.
func (p *Run) Offered(repository string, result onboarding.Result) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.around(func() {
		if p.output == "text" {
			p.print(repository, "  "+Visible(onboardingText(result))+"\n")
			return
		}
		PrintMessage(p.err, "%s: %s", repository, onboardingText(result))
	})
}

// print prints text under the name of a repository.
func (p *Run) print(repository, text string) {
	if text != "" && p.under != repository {
		text, p.under = p.text.heading(repository)+text, repository
	}
	if p.failed == nil {
		p.failed = Write(p.out, text)
	}
}

// Results prints the results, and returns the first error of standard output.
func (p *Run) Results(results []app.Result) error {
	if p.output != "text" {
		return writeJSON(p.out, ReportJSON(results, nil))
	}
	for i := range results {
		p.print(results[i].Repository, p.text.result(&results[i]))
	}
	return p.failed
}
