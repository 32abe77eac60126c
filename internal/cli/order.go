package cli

import (
	"fmt"
	"strings"

	"promoter/internal/decision"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"github.com/spf13/cobra"

	"promoter/internal/identity"
	"promoter/internal/state"
)

// orderSchema is the number of the JSON format of the verbs that decide.
const orderSchema = 1

type orderJSON struct {
	Schema     int               `json:"schema"`
	Repository string            `json:"repository"`
	Verb       verb.Verb         `json:"verb"`
	By         personJSON        `json:"by"`
	Subject    string            `json:"subject"`
	Targets    []orderPlaceJSON  `json:"targets"`
	Images     map[string]string `json:"images,omitempty"`
}

type personJSON struct {
	Host  string `json:"host,omitempty"`
	Login string `json:"login"`
}

type orderPlaceJSON struct {
	Environment string `json:"environment"`
	Application string `json:"application"`
}

// orderFlags are the flags of the verbs that decide.
type orderFlags struct {
	targetFlags
	decision decision.Decision
}

// newOrder makes the command of a verb with the flags that all of them share.
func newOrder(system System, verb verb.Verb, words orderWords) (*cobra.Command, *orderFlags) {
	flags := &orderFlags{decision: decision.Decision{Verb: verb}}
	command := &cobra.Command{
		Use:     string(verb),
		Short:   words.short,
		Long:    words.long,
		Example: words.example,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runOrder(command, flags, system)
		},
	}
	flags.add(command)
	set := command.Flags()
	set.StringVar(&flags.decision.Environment, "env", "", flagOrderEnv)
	set.StringVar(&flags.decision.Reason, "reason", "", flagReason)
	set.StringVar(&flags.decision.As, "as", "", flagAs)
	return command, flags
}

// addApplication adds the flag of the verbs that may be about one application.
func (f *orderFlags) addApplication(command *cobra.Command) {
	command.Flags().StringVar(&f.decision.Application, "app", "", flagApp)
}

func runOrder(command *cobra.Command, flags *orderFlags, system System) error {
	server, err := flags.open(system)
	if err != nil {
		return err
	}
	carried, err := decision.Record(command.Context(), server, flags.decision, flags.cache)
	if err != nil {
		return err
	}
	data := orderToJSON(flags.decision.Verb, carried)
	if err := printAs(system.Out, flags.output, data, func() string { return orderText(carried) }); err != nil {
		return fmt.Errorf("print what was decided: %w", err)
	}
	if carried.Unchanged {
		say(system.Err, wordStoodThere, state.Branch)
		return nil
	}
	say(system.Err, wordDecided, state.Branch, personName(carried.By))
	return nil
}

func orderToJSON(verb verb.Verb, carried decision.Result) orderJSON {
	out := orderJSON{
		Schema: orderSchema, Repository: carried.Repository, Verb: verb, Subject: carried.Subject,
		By: personJSON{carried.By.Host, carried.By.Login}, Targets: []orderPlaceJSON{}, Images: carried.Images,
	}
	for _, target := range carried.Targets {
		out.Targets = append(out.Targets, orderPlaceJSON(target))
	}
	return out
}

// orderText is one line for each place, and one for each image.
func orderText(carried decision.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", visible(carried.Repository), visible(carried.Subject))
	for _, target := range carried.Targets {
		fmt.Fprintf(&b, "  %s\n", visible(decidedPlace(target)))
	}
	for component, text := range sortedPairs(carried.Images) {
		if tagged, unknown := strings.CutSuffix(text, "@"); unknown {
			text = tagged + wordByName
		}
		fmt.Fprintf(&b, "    %s %s\n", visible(component), visible(text))
	}
	return b.String()
}

// decidedPlace names what a decision is about, which may be all.
func decidedPlace(target promotion.Target) string {
	switch {
	case target.Environment == state.All:
		return wordEverywhere
	case target.Application == state.All:
		return target.Environment
	default:
		return nameOf(target)
	}
}

func personName(person identity.User) string {
	if person.Host == "" {
		return person.Login
	}
	return person.Login + " (" + person.Host + ")"
}
