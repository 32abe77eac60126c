package checkout

import (
	"context"
	"fmt"

	"promoter/internal/config"
	"promoter/internal/imports"
)

// Import returns a config that does what another tool was configured to do by files of a folder.
// schema is the address of the JSON Schema that it names, or empty.
func Import(ctx context.Context, dir, schema string, tool imports.Tool) (*imports.Imported, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	found, err := imports.Find(ctx, folderFiles(ctx, dir), 0)
	if err != nil {
		return nil, err
	}
	found.Schema = schema
	imported, err := imports.Config(tool, found)
	if err != nil {
		return nil, fmt.Errorf("import %s from %s: %w", tool, dir, err)
	}
	return imported, nil
}

// OtherWriters warns of other tools that update what the config of a folder follows.
func OtherWriters(ctx context.Context, dir string, loaded *config.Config) (config.Problems, error) {
	found, err := imports.Find(ctx, folderFiles(ctx, dir), 0)
	if err != nil {
		return nil, err
	}
	return imports.OtherWriters(loaded, found), nil
}
