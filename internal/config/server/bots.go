package serverconfig

import (
	"promoter/internal/config/field"
	"promoter/internal/identity"
	"promoter/internal/strictyaml"
)

// loadBots returns the accounts that are bots, and the bots that act for users.
func loadBots(in *input) (bots, trusted []string) {
	check := func(list strictyaml.List, key string) {
		in.report.ErrorIf(list.IsEmpty(), list.Position, "name at least one, or remove "+key, "%s is empty", key)
		field.CheckAccounts(in.report, list, key)
	}
	check(in.raw.Bots, "bots")
	check(in.raw.TrustedBots, "trustedBots")
	for _, name := range in.raw.TrustedBots.Items {
		for _, bot := range in.raw.Bots.Items {
			both := name.Valid() && bot.Valid() && identity.SameLogin(name.Value, bot.Value)
			in.report.ErrorIf(both, name.Position, "remove it from one of them", "%q is in bots and in trustedBots", name.Value)
		}
	}
	return in.raw.Bots.Strings(), in.raw.TrustedBots.Strings()
}
