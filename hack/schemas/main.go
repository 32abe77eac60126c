// Command schemas makes JSON Schemas of some kinds of Kubernetes from the description
// of its API, in the strict form that kubeconform takes: a field that Kubernetes does
// not know is an error.
//
//	schemas -in swagger.json -out FOLDER KIND...
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	in := flag.String("in", "", "the description, api/openapi-spec/swagger.json")
	out := flag.String("out", "", "the folder to write to, which is there")
	flag.Parse()
	if err := run(*in, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

func run(in, out string, kinds []string) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return fmt.Errorf("read the description: %w", err)
	}
	schemas, err := convert(text, kinds)
	if err != nil {
		return err
	}
	for name, schema := range schemas {
		text, err := json.Marshal(schema)
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	for _, kind := range kinds {
		if !slices.Contains(known(schemas), kind) {
			return fmt.Errorf("the description knows no kind %s", kind)
		}
	}
	return nil
}

// known lists the kinds that have a schema.
func known(schemas map[string]node) []string {
	var kinds []string
	for _, schema := range schemas {
		kinds = append(kinds, schema["title"].(string))
	}
	return kinds
}
