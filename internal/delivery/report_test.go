package delivery_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/delivery"
	"promoter/internal/store"
)

const key = "github.com/7"

// at returns a time in November 2026: "02 09:00". The second is a Monday.
func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-11-"+text+":00"[:3*(2-strings.Count(text, ":"))])
	if err != nil {
		panic(err)
	}
	return t
}

// told writes a history, a line for each event of a target: TIME ACTION SNAPSHOT, and optionally
// #NUMBER, since=TIME, and rule=RULE.
func told(environment string, lines ...string) (all []store.Milestone) {
	for _, line := range lines {
		words := strings.Fields(line)
		m := store.Milestone{TargetKey: target(environment), At: at(words[0] + " " + words[1]), Action: words[2], Snapshot: words[3]}
		for _, word := range words[4:] {
			switch name, value, _ := strings.Cut(word, "="); name {
			case "rule":
				m.Rule = value
			case "since":
				m.Since = at(strings.Replace(value, "T", " ", 1))
			default:
				_ = json.Unmarshal([]byte(strings.TrimPrefix(word, "#")), &m.Number)
			}
		}
		all = append(all, m)
	}
	return all
}

func target(environment string) store.TargetKey {
	return store.TargetKey{Repository: key, Environment: environment, Application: "shop"}
}

// took writes times of promotions: SNAPSHOT KIND NAME TIME, and the end of a gate, where "-" is
// none.
func took(environment string, lines ...string) (all []store.PromotionTime) {
	for _, line := range lines {
		words := strings.Split(line, ", ")
		t := store.PromotionTime{TargetKey: target(environment), Snapshot: words[0], Kind: words[1], Name: words[2], Began: at(words[3])}
		if len(words) > 4 {
			t.Ended = at(words[4])
		}
		all = append(all, t)
	}
	return all
}

// history is two weeks of the application shop: dev is not monitored, prod is.
func history() store.Progress {
	p := store.Progress{
		Names: map[string]string{key: "github.com/acme/gitops"},
		Targets: map[store.TargetKey]store.TargetNow{
			target("dev"):  {Labels: map[string]string{"team": "a", "tier": "free"}},
			target("prod"): {Labels: map[string]string{"team": "a"}, Monitored: true, Number: 5},
		},
	}
	p.Milestones = append(told("dev",
		"02 08:00 pushed s1 since=02T07:59:30", // 30 s after the webhook; its image is of 01 12:00: 20 h
		"03 08:00 pushed s2",                   // by the poll; nothing is known about its image
		"08 23:30 pushed s3",                   // a Sunday in UTC, and a Monday in Berlin
	), told("prod",
		"02 09:00 opened s1 #1 since=02T08:59", // 1 min after the webhook
		"02 10:00 landed s1 #1",
		"02 10:30 healthy s1", // its oldest commit is of 01 10:00: 24 h 30 min
		"03 11:00 opened s2 #2",
		"03 12:00 landed s2 #2",
		"03 12:30 failed s2 since=03T12:10",
		"03 12:40 rollback -",
		"03 12:50 merged s1 rule=rollback",
		"03 13:00 healthy s1", // 50 min after s2 was unhealthy; s2 was never healthy
		"11 09:00 opened s3 #3 since=11T08:58",
		"11 10:00 landed s3 #3",
		"11 10:10 healthy s3", // nothing is known about its changes
		"11 14:30 opened s4 #4 since=11T14:29:50 rule=requested",
		"11 15:00 merged s4 #4 rule=requested",
		"11 15:30 healthy s4",  // a hotfix: its oldest commit is of 11 14:00: 1 h 30 min
		"12 09:00 reverted s4", // by a user
		"12 09:20 healthy s3",  // 18 h 20 min after s4 landed
		"15 10:00 opened s5 #5 since=15T09:59:59",
	)...)
	p.Times = append(took("dev", "s1, image, web, 01 12:00"), took("prod",
		"s1, commit, web, 01 10:00", "s1, image, web, 01 09:00", "s1, image, worker, 01 11:00",
		"s1, gate, staging soak, 02 08:00, 02 09:00", "s1, gate, approvals, 02 09:00", // merged after 1 h, without them
		"s3, gate, staging soak, 10 08:00, 11 09:00", // 25 h
		"s4, commit, web, 11 14:00",
		"s5, gate, approvals, 15 10:00", // it still waits
	)...)
	return p
}

func seconds(count, unknown int, median, p90, most float64) delivery.Times {
	d := func(seconds float64) delivery.Duration { return delivery.Duration(seconds * float64(time.Second)) }
	return delivery.Times{Count: count, Unknown: unknown, Median: d(median), P90: d(p90), Max: d(most)}
}

func same(count, unknown int, all float64) delivery.Times {
	return seconds(count, unknown, all, all, all)
}

func rate(r float64) *float64 { return &r }

func TestCompute(t *testing.T) {
	t.Parallel()
	report, err := delivery.Compute(history(), delivery.Query{Since: at("02 00:00"), Until: at("16 00:00")}, at("16 00:00"))
	if err != nil {
		t.Fatal(err)
	}
	dev := []delivery.Metrics{{
		Deployments: 3, DeploymentDays: 3, DeploymentsPerDay: 0.429, FailureRate: rate(0),
		LeadTime: same(1, 2, 20*3600), EventToPullRequest: same(1, 2, 30), Gates: []delivery.Gate{},
	}, {Gates: []delivery.Gate{}}}
	prod := []delivery.Metrics{{
		Deployments: 2, DeploymentDays: 2, DeploymentsPerDay: 0.286, Rollbacks: 1, Failed: 1, FailureRate: rate(0.5),
		LeadTime: same(1, 1, 24.5*3600), TimeToRestore: same(1, 0, 50*60), EventToPullRequest: same(1, 1, 60),
		Gates: []delivery.Gate{{Name: "approvals", Times: same(1, 0, 3600)}, {Name: "staging soak", Times: same(1, 0, 3600)}},
	}, {
		Deployments: 2, DeploymentDays: 1, DeploymentsPerDay: 0.286, Failed: 1, FailureRate: rate(0.5),
		LeadTime: same(1, 1, 1.5*3600), TimeToRestore: same(1, 0, 18*3600+20*60), EventToPullRequest: seconds(3, 0, 10, 120, 120),
		OpenPullRequests: same(1, 0, 14*3600),
		Gates:            []delivery.Gate{{Name: "approvals", Times: same(0, 1, 0)}, {Name: "staging soak", Times: same(1, 0, 25*3600)}},
	}}
	want := delivery.Report{
		Schema: 1, At: at("16 00:00"), Since: at("02 00:00"), Until: at("16 00:00"), By: delivery.Week, Group: "environment", TimeZone: "UTC",
		Total: delivery.Metrics{
			Deployments: 7, DeploymentDays: 4, DeploymentsPerDay: 0.5, Rollbacks: 1, Failed: 2, FailureRate: rate(0.286),
			LeadTime: seconds(3, 4, 20*3600, 24.5*3600, 24.5*3600), TimeToRestore: seconds(2, 0, 50*60, 18*3600+20*60, 18*3600+20*60),
			EventToPullRequest: seconds(5, 3, 30, 120, 120), OpenPullRequests: same(1, 0, 14*3600),
			Gates: []delivery.Gate{{Name: "approvals", Times: same(1, 1, 3600)}, {Name: "staging soak", Times: seconds(2, 0, 3600, 25*3600, 25*3600)}},
		},
		Groups: []delivery.Group{{Name: "dev", Total: delivery.Metrics{
			Deployments: 3, DeploymentDays: 3, DeploymentsPerDay: 0.214, FailureRate: rate(0),
			LeadTime: same(1, 2, 20*3600), EventToPullRequest: same(1, 2, 30), Gates: []delivery.Gate{},
		}, Series: series(dev)}, {Name: "prod", Total: delivery.Metrics{
			Deployments: 4, DeploymentDays: 3, DeploymentsPerDay: 0.286, Rollbacks: 1, Failed: 2, FailureRate: rate(0.5),
			LeadTime: seconds(2, 2, 1.5*3600, 24.5*3600, 24.5*3600), TimeToRestore: seconds(2, 0, 50*60, 18*3600+20*60, 18*3600+20*60),
			EventToPullRequest: seconds(4, 1, 10, 120, 120), OpenPullRequests: same(1, 0, 14*3600),
			Gates: []delivery.Gate{{Name: "approvals", Times: same(1, 1, 3600)}, {Name: "staging soak", Times: seconds(2, 0, 3600, 25*3600, 25*3600)}},
		}, Series: series(prod)}},
	}
	report.Series = nil
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// By month and label, the half of November is one point: prod has no tier, and dev is free.
func TestCompute_byMonthAndLabel(t *testing.T) {
	t.Parallel()
	report, err := delivery.Compute(history(), delivery.Query{By: delivery.Month, Group: "label:tier", Since: at("01 00:00"), Until: at("16 00:00")}, at("16 00:00"))
	if err != nil {
		t.Fatal(err)
	}
	prod := delivery.Metrics{
		Deployments: 4, DeploymentDays: 3, DeploymentsPerDay: 0.267, Rollbacks: 1, Failed: 2, FailureRate: rate(0.5),
		LeadTime: seconds(2, 2, 1.5*3600, 24.5*3600, 24.5*3600), TimeToRestore: seconds(2, 0, 50*60, 18*3600+20*60, 18*3600+20*60),
		EventToPullRequest: seconds(4, 1, 10, 120, 120), OpenPullRequests: same(1, 0, 14*3600),
		Gates: []delivery.Gate{{Name: "approvals", Times: same(1, 1, 3600)}, {Name: "staging soak", Times: seconds(2, 0, 3600, 25*3600, 25*3600)}},
	}
	dev := delivery.Metrics{
		Deployments: 3, DeploymentDays: 3, DeploymentsPerDay: 0.2, FailureRate: rate(0),
		LeadTime: same(1, 2, 20*3600), EventToPullRequest: same(1, 2, 30), Gates: []delivery.Gate{},
	}
	november := func(m delivery.Metrics) []delivery.Point {
		return []delivery.Point{{From: at("01 00:00"), To: at("16 00:00"), Metrics: m}}
	}
	want := []delivery.Group{{Name: "", Total: prod, Series: november(prod)}, {Name: "free", Total: dev, Series: november(dev)}}
	if diff := cmp.Diff(want, report.Groups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// series are the two weeks.
func series(weeks []delivery.Metrics) []delivery.Point {
	return []delivery.Point{{From: at("02 00:00"), To: at("09 00:00"), Metrics: weeks[0]}, {From: at("09 00:00"), To: at("16 00:00"), Metrics: weeks[1]}}
}

// deployments returns when the points with deployments begin, with an x for each.
func deployments(t *testing.T, q delivery.Query) string {
	t.Helper()
	report, err := delivery.Compute(history(), q, at("16 12:00"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, one := range report.Series {
		if one.Deployments > 0 {
			b.WriteString(one.From.Format("01-02T15:04 ") + strings.Repeat("x", one.Deployments) + " ")
		}
	}
	return strings.TrimSpace(b.String())
}

// Weeks begin on Monday and months on their first day, at midnight in the time zone.
func TestCompute_borders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		q    delivery.Query
		want string
	}{
		{delivery.Query{}, "11-02T00:00 xxxxx 11-09T00:00 xx"},
		{delivery.Query{TimeZone: "Europe/Berlin"}, "11-01T23:00 xxxx 11-08T23:00 xxx"},
		{delivery.Query{By: delivery.Month}, "11-01T00:00 xxxxxxx"},
		{delivery.Query{By: delivery.Month, TimeZone: "Europe/Berlin"}, "10-31T23:00 xxxxxxx"},
		{delivery.Query{Since: at("03 00:00"), Until: at("03 09:00")}, "11-03T00:00 x"},
		{delivery.Query{Since: at("03 08:00"), Until: at("03 12:00")}, "11-03T08:00 x"}, // the end is not included
	} {
		if got := deployments(t, test.q); got != test.want {
			t.Errorf("%+v: %s, want %s", test.q, got, test.want)
		}
	}
	report, err := delivery.Compute(history(), delivery.Query{TimeZone: "Europe/Berlin", Since: at("20 00:00").AddDate(0, -1, 0)}, at("16 12:00"))
	if err != nil || report.Series[1].From.Sub(report.Series[0].To) != 0 || report.Series[1].To.Sub(report.Series[1].From) != 7*24*time.Hour {
		t.Errorf("weeks over the end of summer time: %+v, %v", report.Series[:2], err)
	}
}

func TestCompute_selectsAndGroups(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		q    delivery.Query
		want string
	}{
		{delivery.Query{Group: "application"}, "shop 7"},
		{delivery.Query{Group: "repository"}, "github.com/acme/gitops 7"},
		{delivery.Query{Group: "label:tier"}, " 4, free 3"},
		{delivery.Query{Label: "tier"}, "dev 3"},
		{delivery.Query{Label: "team=a"}, "dev 3, prod 4"},
		{delivery.Query{Label: "team=b"}, ""},
	} {
		report, err := delivery.Compute(history(), test.q, at("16 12:00"))
		if err != nil {
			t.Fatal(err)
		}
		var groups []string
		sum := 0
		for _, one := range report.Groups {
			groups = append(groups, one.Name+" "+string(rune('0'+one.Total.Deployments)))
			sum += one.Total.Deployments
		}
		if got := strings.Join(groups, ", "); got != test.want || report.Total.Deployments != sum {
			t.Errorf("%+v: %q, want %q", test.q, got, test.want)
		}
	}
}

func TestCompute_refuses(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]delivery.Query{
		"by must be":      {By: "day"},
		"group must be":   {Group: "label:"},
		"time zone":       {TimeZone: "Mars/Olympus"},
		"since must be":   {Since: at("17 00:00")},
		"at most 530":     {Since: at("02 00:00").AddDate(-11, 0, 0)},
		"is not a time z": {TimeZone: "Local"},
	} {
		if _, err := delivery.Compute(history(), q, at("16 12:00")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// one returns the metrics of prod for a history of its own.
func one(t *testing.T, monitored bool, number int, lines ...string) delivery.Metrics {
	t.Helper()
	p := store.Progress{
		Milestones: told("prod", lines...), Targets: map[store.TargetKey]store.TargetNow{target("prod"): {Monitored: monitored, Number: number}},
	}
	report, err := delivery.Compute(p, delivery.Query{Since: at("01 00:00")}, at("30 00:00"))
	if err != nil {
		t.Fatal(err)
	}
	return report.Total
}

func TestCompute_edges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		monitored bool
		lines     []string
		want      [4]int // deployments, rollbacks, failed, restored
		restored  time.Duration
	}{
		"the same snapshot again":             {false, []string{"02 01:00 pushed a", "02 02:00 landed a"}, [4]int{1, 0, 0, 0}, 0},
		"the same versions in another form":   {false, []string{"02 01:00 pushed a", "02 02:00 pushed b rule=form", "02 03:00 pushed b"}, [4]int{1, 0, 0, 0}, 0},
		"back without a rule":                 {false, []string{"02 01:00 landed a", "02 02:00 landed b", "02 03:00 landed a"}, [4]int{2, 1, 1, 1}, time.Hour},
		"back, and forth again":               {false, []string{"02 01:00 landed a", "02 02:00 landed b", "02 03:00 landed a", "02 04:00 landed b"}, [4]int{2, 1, 1, 1}, time.Hour},
		"a rollback that a user merges":       {false, []string{"02 01:00 pushed b", "02 02:00 opened a #1 rule=rollback", "02 03:00 landed a #1"}, [4]int{1, 1, 1, 1}, 2 * time.Hour},
		"promoter itself goes back":           {true, []string{"02 01:00 pushed a", "02 02:00 pushed b", "02 03:00 failed b since=02T02:30", "02 03:00 rollback -", "02 03:10 pushed a rule=on-failure", "02 03:30 healthy a"}, [4]int{2, 1, 1, 1}, time.Hour},
		"a revert where nothing is monitored": {false, []string{"02 01:00 landed a", "02 02:00 reverted a"}, [4]int{1, 0, 1, 1}, time.Hour},
		"healthy again by itself":             {true, []string{"02 01:00 landed a", "02 02:00 failed a since=02T01:30", "02 03:00 healthy a"}, [4]int{1, 0, 1, 1}, 90 * time.Minute},
		"fixed forward":                       {true, []string{"02 01:00 landed a", "02 02:00 failed a since=02T01:30", "02 02:10 landed b", "02 02:30 healthy b"}, [4]int{2, 0, 1, 1}, time.Hour},
		"two failures of one snapshot":        {true, []string{"02 01:00 landed a", "02 02:00 failed a", "02 03:00 healthy a", "02 04:00 failed a", "02 05:00 healthy a"}, [4]int{1, 0, 1, 1}, time.Hour},
		"reverted, so not restored by itself": {true, []string{"02 01:00 landed a", "02 02:00 reverted a", "02 03:00 healthy a"}, [4]int{1, 0, 1, 0}, 0},
		"a failure of what is not known":      {true, []string{"02 02:00 failed x", "02 03:00 rollback -"}, [4]int{0, 0, 0, 0}, 0},
	} {
		m := one(t, test.monitored, 0, test.lines...)
		got := [4]int{m.Deployments, m.Rollbacks, m.Failed, m.TimeToRestore.Count}
		if got != test.want || time.Duration(m.TimeToRestore.Max) != test.restored || m.TimeToRestore.Count+m.TimeToRestore.Unknown != m.Failed {
			t.Errorf("%s: %v restored in %v, want %v in %v", name, got, time.Duration(m.TimeToRestore.Max), test.want, test.restored)
		}
	}
}

// A pull request is open until it lands, is closed, or another one is opened. If it is gone
// without a trace, when it was closed is not known.
func TestCompute_openPullRequests(t *testing.T) {
	t.Parallel()
	const day = 24 * 3600
	for name, test := range map[string]struct {
		number int
		lines  []string
		want   delivery.Times
	}{
		"open":            {1, []string{"20 00:00 opened a #1"}, same(1, 0, 10*day)},
		"landed":          {0, []string{"20 00:00 opened a #1", "21 00:00 landed a"}, same(0, 0, 0)},
		"rejected":        {0, []string{"20 00:00 opened a #1", "21 00:00 reject - #1"}, same(0, 0, 0)},
		"closed":          {0, []string{"20 00:00 opened a #1", "21 00:00 closed - #1"}, same(0, 0, 0)},
		"another decides": {1, []string{"20 00:00 opened a #1", "21 00:00 reject - #7"}, same(1, 0, 10*day)},
		"another one":     {2, []string{"20 00:00 opened a #1", "29 00:00 opened b #2"}, same(1, 0, day)},
		"gone":            {0, []string{"20 00:00 opened a #1"}, same(0, 1, 0)},
	} {
		if got := one(t, false, test.number, test.lines...).OpenPullRequests; got != test.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A pull request for several applications is one.
func TestCompute_sharedPullRequest(t *testing.T) {
	t.Parallel()
	p := store.Progress{Targets: map[store.TargetKey]store.TargetNow{}}
	for _, application := range []string{"shop", "blog"} {
		for _, m := range told("prod", "20 00:00 opened a #1 since=19T23:59") {
			m.Application = application
			p.Milestones, p.Targets[m.TargetKey] = append(p.Milestones, m), store.TargetNow{Number: 1}
		}
	}
	report, err := delivery.Compute(p, delivery.Query{Group: "application"}, at("30 00:00"))
	if err != nil || report.Total.OpenPullRequests.Count != 1 || report.Total.EventToPullRequest.Count != 1 || len(report.Groups) != 2 ||
		report.Groups[0].Total.OpenPullRequests.Count != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestReport_asCSV(t *testing.T) {
	t.Parallel()
	p := history()
	p.Targets[target("prod")] = store.TargetNow{Labels: map[string]string{"team": "=cmd|' /C calc'!A0"}, Monitored: true, Number: 5}
	report, err := delivery.Compute(p, delivery.Query{Since: at("09 00:00"), Until: at("16 00:00"), Group: "label:team"}, at("16 00:00"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	const prefix = "'=cmd|' /C calc'!A0,2026-11-09T00:00:00Z,2026-11-16T00:00:00Z,"
	for _, line := range []string{
		"group,from,to,metric,value,count,unknown,median_seconds,p90_seconds,max_seconds",
		",2026-11-09T00:00:00Z,2026-11-16T00:00:00Z,deployments,2,,,,,",
		prefix + "failure_rate,0.5,,,,,",
		prefix + "lead_time,,1,1,5400,5400,5400",
		prefix + "event_to_pull_request,,3,0,10,120,120",
		prefix + "gate approvals,,0,1,,,",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, b.String())
		}
	}
}

// The client reads what the service writes.
func TestReport_asJSON(t *testing.T) {
	t.Parallel()
	report, err := delivery.Compute(history(), delivery.Query{}, at("16 12:00"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read delivery.Report
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, read); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if !strings.Contains(string(text), `"medianSeconds":88200`) {
		t.Errorf("%s", text)
	}
}
