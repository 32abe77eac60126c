package config_test

import (
	"os"
	"testing"

	"promoter/internal/config"
)

func TestSmoke(t *testing.T) {
	data, err := os.ReadFile("../../config/examples/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load("full.yaml", data)
	t.Log(problems)
	if c == nil {
		t.Fatal("no config")
	}
	t.Logf("%+v", c.Environments)
	t.Logf("%+v", c.Settings("prod-eu", "payments"))
}
