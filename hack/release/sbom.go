package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// These are the fields of SPDX 2.3 that describe a Go program.
// https://spdx.github.io/spdx-spec/v2.3/
type spdxDocument struct {
	Version       string             `json:"spdxVersion"`
	License       string             `json:"dataLicense"`
	ID            string             `json:"SPDXID"`
	Name          string             `json:"name"`
	Namespace     string             `json:"documentNamespace"`
	Creation      spdxCreation       `json:"creationInfo"`
	Packages      []spdxPackage      `json:"packages"`
	Relationships []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID         string         `json:"SPDXID"`
	Name       string         `json:"name"`
	Version    string         `json:"versionInfo"`
	File       string         `json:"packageFileName,omitempty"`
	Location   string         `json:"downloadLocation"`
	Analyzed   bool           `json:"filesAnalyzed"`
	License    string         `json:"licenseDeclared"`
	Checksums  []spdxChecksum `json:"checksums,omitempty"`
	References []spdxExternal `json:"externalRefs,omitempty"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxExternal struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// materials writes what a program is made from, as the program itself records it.
func (r release) materials(p platform) error {
	content, err := os.ReadFile(r.binary(p))
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(r.binary(p))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	text, err := json.MarshalIndent(r.spdx(p, info, hex.EncodeToString(sum[:])), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, r.name(p)+".spdx.json"), append(text, '\n'), 0o644) //nolint:gosec // releases are public
}

func (r release) spdx(p platform, info *buildinfo.BuildInfo, sum string) spdxDocument {
	const unknown = "NOASSERTION"
	name := r.name(p)
	document := spdxDocument{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: "https://spdx.org/spdxdocs/" + name + "-" + sum,
		Creation:  spdxCreation{Created: r.time.Format("2006-01-02T15:04:05Z"), Creators: []string{"Tool: promoter-release"}},
		Packages: []spdxPackage{{
			ID: "SPDXRef-promoter", Name: "promoter", Version: r.version, File: p.program(), Location: unknown,
			License: "Apache-2.0", Checksums: []spdxChecksum{{"SHA256", sum}},
		}},
		Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-promoter"}},
	}
	add := func(module, version string) {
		id := "SPDXRef-" + notInID.ReplaceAllString(module+"-"+version, "-")
		document.Packages = append(document.Packages, spdxPackage{
			ID: id, Name: module, Version: version, Location: unknown, License: unknown,
			References: []spdxExternal{{"PACKAGE-MANAGER", "purl", fmt.Sprintf("pkg:golang/%s@%s", strings.ToLower(module), version)}},
		})
		document.Relationships = append(document.Relationships, spdxRelationship{"SPDXRef-promoter", "DEPENDS_ON", id})
	}
	add("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		if strings.HasPrefix(module.Path, "./") { // it is a part of promoter
			continue
		}
		add(module.Path, module.Version)
	}
	return document
}

// notInID matches what is not allowed in the ID of an SPDX element.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)
