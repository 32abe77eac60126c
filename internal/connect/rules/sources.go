package rules

import (
	"fmt"
	"strings"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/outbound"
)

// UnseenSources warns of sources and releases of a config that no entry of sources names:
// they are read without a credential. Which repository the config is of is not known.
func UnseenSources(file *serverconfig.Config, c *config.Config) []config.Problem {
	var problems []config.Problem
	for _, component := range c.Components {
		named := []string{component.Source}
		if policy := c.Policy(component.Name); policy != nil {
			if source, released := policy.Release(); released {
				named = append(named, source)
			}
		}
		for _, source := range named {
			host, name, _ := strings.Cut(source, "/")
			for _, f := range file.Forges {
				if f.Name == host || f.IsOn(host) {
					if host = strings.ToLower(outbound.Host(f.URL)); !namesSource(file, host+"/"+name) {
						problems = append(problems, config.Problem{
							Severity: config.SeverityWarning, Position: component.Position,
							Message: fmt.Sprintf("%s/%s is read without a credential, so it must be public: no entry of "+
								"sources in the server file names it",
								host, name),
							Hint: "add it there if it is private",
						})
					}
					break
				}
			}
		}
	}
	return problems
}

func namesSource(file *serverconfig.Config, name string) bool {
	for _, entry := range file.Sources {
		if (Name{Text: name, Fold: true}).MatchesAny(entry.Repositories) {
			return true
		}
	}
	return false
}
