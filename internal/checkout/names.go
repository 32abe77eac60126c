package checkout

import (
	"context"
	"maps"
	"slices"
)

// Names returns the names of the environments in the config file of a folder, parents
// first, and of the applications whose files are in the folder, sorted. Applications of
// environments on other branches are not found.
func Names(ctx context.Context, dir string) (environments, applications []string, err error) {
	loaded, err := load(dir)
	if err != nil {
		return nil, nil, err
	}
	found := map[string]bool{}
	for file, err := range folderFiles(ctx, dir) {
		if err != nil {
			return nil, nil, err
		}
		for i := range loaded.Environments {
			e := &loaded.Environments[i]
			if application, ok := e.Match(file.Path); ok && e.Branch == "" {
				found[application] = true
			}
		}
	}
	return loaded.Order(), slices.Sorted(maps.Keys(found)), nil
}
