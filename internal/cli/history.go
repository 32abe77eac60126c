package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"promoter/internal/verb"

	"promoter/internal/promotion"

	"github.com/spf13/cobra"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/server"
)

// historyFlags say which part of the history is shown, and who is asked.
type historyFlags struct {
	targetFlags
	running runningFlags
	past    server.HistoryQuery
	since   string
	direct  bool
	color   string
}

func newHistory(system System) *cobra.Command {
	var flags historyFlags
	command := &cobra.Command{
		Use:     "history",
		Short:   wordHistoryShort,
		Long:    wordHistoryLong,
		Example: wordHistoryExample,
		Args:    noArguments,
		RunE:    func(command *cobra.Command, _ []string) error { return runHistory(command, &flags, system) },
	}
	flags.add(command)
	flags.running.addURL(command)
	set := command.Flags()
	set.StringVar(&flags.past.Environment, "env", "", flagHistoryEnv)
	set.StringVar(&flags.past.Application, "app", "", flagHistoryApp)
	set.StringVar(&flags.past.Component, "component", "", flagHistoryComponent)
	set.StringVar(&flags.since, "since", "", flagSince)
	set.IntVar(&flags.past.Limit, "limit", 100, flagLimit)
	set.StringVar(&flags.past.After, "after", "", flagAfter)
	set.BoolVar(&flags.direct, "direct", false, flagDirect)
	set.StringVar(&flags.color, "color", "auto", flagColor)
	return command
}

func runHistory(command *cobra.Command, flags *historyFlags, system System) error {
	if err := flags.check(); err != nil {
		return err
	}
	paint, err := newPainter(flags.color, system)
	if err != nil {
		return err
	}
	recalled, err := flags.read(command, system)
	if err != nil {
		return err
	}
	history := recalled.History
	if err := printAs(system.Out, flags.output, history, func() string { return historyText(history, paint) }); err != nil {
		return fmt.Errorf("print the history: %w", err)
	}
	if len(history.Events) == 0 && flags.output == "text" {
		say(system.Err, wordHistoryNone)
	}
	if history.Next != "" {
		say(system.Err, wordHistoryMore, history.Next)
	}
	if len(recalled.Failures) > 0 {
		sayFailures(system.Err, recalled.Failures)
		return exit(exitFailed)
	}
	return nil
}

func (f *historyFlags) check() error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	if f.past.Limit < 1 || f.past.Limit > server.MaxEvents {
		return fault.New(fault.Invalid, "--limit %d: write 1 to %d", f.past.Limit, server.MaxEvents)
	}
	var err error
	if f.since != "" {
		f.past.Since, err = server.Since(f.since, time.Now())
	}
	return err
}

// read asks the service, or reads the repositories where there is none to ask.
func (f *historyFlags) read(command *cobra.Command, system System) (app.GitHistory, error) {
	options := connect.Options{Config: f.config, Env: system.Env, Now: time.Now}
	if f.direct || !connect.HasFile(options) {
		return f.recall(command, system)
	}
	if len(f.repositories) > 1 {
		return app.GitHistory{}, fault.New(fault.Invalid, "the service is asked about one repository, or about all: write --repo once, or --direct")
	}
	f.past.Repository = strings.Join(f.repositories, "")
	f.running.config = f.config
	running, err := f.running.open(system)
	if err != nil {
		return app.GitHistory{}, err
	}
	history, err := running.History(command.Context(), f.past)
	return app.GitHistory{History: history}, err
}

// sinceByDefault is how far back repositories are read where nobody says: what has to
// be fetched grows with it.
const sinceByDefault = 30 * 24 * time.Hour

func (f *historyFlags) recall(command *cobra.Command, system System) (app.GitHistory, error) {
	if f.past.After != "" || f.running.url != "" || f.running.ca != "" {
		return app.GitHistory{}, fault.New(fault.Invalid, "--after, --url and --ca go with a service; the repositories themselves are read here")
	}
	if f.past.Since.IsZero() {
		f.past.Since = time.Now().Add(-sinceByDefault)
	}
	opened, err := f.open(system)
	if err != nil {
		return app.GitHistory{}, err
	}
	progress := newProgress(system)
	defer progress.clear()
	return app.HistoryFromGit(command.Context(), opened, f.past, f.options(system, progress))
}

// historyText is one line for each event, the newest first, in columns, and one below
// for its reason. Times are UTC.
func historyText(history server.History, paint painter) string {
	rows := make([][]string, 0, len(history.Events))
	widths := make([]int, 5)
	for _, e := range history.Events {
		row := []string{e.At.UTC().Format("2006-01-02 15:04:05Z"), visible(e.Repository), visible(eventPlace(e)), e.Action, visible(whatOf(e))}
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	for i, row := range rows {
		for column, cell := range row[:4] {
			pad := strings.Repeat(" ", widths[column]-len([]rune(cell)))
			if column == 3 {
				cell = paint.paint(actColor(cell), cell)
			}
			b.WriteString(cell + pad + "  ")
		}
		b.WriteString(row[4] + "\n")
		if reason := history.Events[i].Reason; reason != nil && reason.Message != "" {
			b.WriteString("  " + visible(reason.Message) + "\n")
		}
	}
	return b.String()
}

func eventPlace(e server.Event) string {
	return decidedPlace(promotion.Target{Environment: e.Environment, Application: e.Application})
}

// whatOf says versions, where they are, and who.
func whatOf(e server.Event) string {
	var parts []string
	for _, version := range e.Versions {
		label := version.Tag
		if label == "" {
			label = promotion.ShortDigest(version.Digest)
		}
		parts = append(parts, strings.TrimSpace(version.Component+" "+label))
	}
	text := strings.Join(parts, ", ")
	if e.PullRequest != nil {
		text += " #" + strconv.Itoa(e.PullRequest.Number)
	}
	if e.Commit != "" {
		text += " " + e.Commit[:min(len(e.Commit), 12)]
	}
	if e.By != "" {
		text += " by " + e.By
	}
	return strings.TrimSpace(text)
}

func actColor(act string) string {
	switch verb.Verb(act) {
	case "pushed", "merged", "landed":
		return colorGreen
	case verb.Reject, verb.Rollback, "closed":
		return colorRed
	case verb.Hold, verb.Freeze:
		return colorYellow
	}
	return ""
}
