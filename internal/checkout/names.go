package checkout

import (
	"context"
	"maps"
	"slices"

	"promoter/internal/scan"
)

// Environments returns the names of the environments in the config file of a folder,
// parents first.
func Environments(dir string) ([]string, error) {
	loaded, err := load(dir)
	if err != nil {
		return nil, err
	}
	return loaded.Order(), nil
}

// Applications returns the names of the applications whose files are in a folder, sorted.
// Those of environments on other branches are not found.
func Applications(ctx context.Context, dir string) ([]string, error) {
	loaded, err := load(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	var byComponent []string
	for _, e := range loaded.Environments {
		if e.ByComponent && e.Branch == "" {
			byComponent = append(byComponent, e.Name)
		}
	}
	if len(byComponent) > 0 {
		tree, err := scan.Files(ctx, scan.Request{Config: loaded, Environments: byComponent}, folderFiles(ctx, dir))
		if err != nil {
			return nil, err
		}
		for target := range tree.Targets {
			found[target.Application] = true
		}
	}
	for file, err := range folderFiles(ctx, dir) {
		if err != nil {
			return nil, err
		}
		for i := range loaded.Environments {
			e := &loaded.Environments[i]
			if application, ok := e.Match(file.Path); ok && e.Branch == "" && !e.ByComponent {
				found[application] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}
