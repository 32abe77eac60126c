package signature

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// envelope is a signed statement.
// https://github.com/secure-systems-lab/dsse/blob/master/envelope.md
type envelope struct {
	PayloadType string `json:"payloadType"`
	Payload     []byte `json:"payload"`
	Signatures  []struct {
		Sig []byte `json:"sig"`
	} `json:"signatures"`
}

const (
	envelopeType = "application/vnd.in-toto+json"

	// maxSignatures is how many signatures of an envelope are verified.
	maxSignatures = 10
)

// envelope returns the envelope of a material, whose signature is not verified.
func (m Material) envelope() (envelope, error) {
	var e envelope
	var err error
	if m.Format == Bundle {
		var b struct {
			Envelope *envelope `json:"dsseEnvelope"`
		}
		if err = json.Unmarshal(m.Payload, &b); err == nil && b.Envelope != nil {
			e = *b.Envelope
		}
	} else {
		err = json.Unmarshal(m.Payload, &e)
	}
	if err != nil || e.PayloadType != envelopeType || len(e.Signatures) > maxSignatures {
		return envelope{}, errors.New("there is no signed statement")
	}
	return e, nil
}

// signed is what the signatures of the envelope are of.
// https://github.com/secure-systems-lab/dsse/blob/master/protocol.md
func (e envelope) signed() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
}

// statement is a claim about images.
// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
type statement struct {
	Type          string          `json:"_type"`
	Subject       []subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// subject is what a statement is about.
// https://github.com/in-toto/attestation/blob/main/spec/v1/resource_descriptor.md
type subject struct {
	Name        string            `json:"name"`
	Digest      map[string]string `json:"digest"`
	Annotations map[string]any    `json:"annotations"` // in a bundle those of cosign sign -a
}

// is reports whether a subject has a digest.
func (s subject) is(digest string) bool {
	algorithm, hash, _ := strings.Cut(digest, ":")
	return hash != "" && s.Digest[algorithm] == hash
}

// predicateSignature is the claim that an image is signed, in a bundle.
// https://github.com/sigstore/cosign/blob/main/specs/BUNDLE_SPEC.md
const predicateSignature = "https://sigstore.dev/cosign/sign/v1"

// statement returns what a material claims, which is not verified.
func (m Material) statement() (statement, bool) {
	e, err := m.envelope()
	if err != nil {
		return statement{}, false
	}
	s, err := parseStatement(e.Payload)
	return s, err == nil
}

func parseStatement(text []byte) (statement, error) {
	var s statement
	if err := json.Unmarshal(text, &s); err != nil || !strings.HasPrefix(s.Type, "https://in-toto.io/Statement/") {
		return statement{}, errors.New("what is signed is not a statement")
	}
	return s, nil
}

// about checks that the statement is about a digest.
func (s statement) about(digest string) error {
	if !slices.ContainsFunc(s.Subject, func(one subject) bool { return one.is(digest) }) {
		return errors.New("the statement is about another image")
	}
	return nil
}

// The types of SLSA provenances.
const (
	provenance02 = "https://slsa.dev/provenance/v0.2"
	provenance1  = "https://slsa.dev/provenance/v1"
)

func isProvenance(predicateType string) bool {
	return slices.Contains([]string{provenance02, provenance1}, predicateType)
}

// checkProvenance checks who built an image from which source. Empty: any.
func (s statement) checkProvenance(builder, source string) error {
	var by, from string
	var err error
	switch s.PredicateType {
	case provenance02:
		by, from, err = readProvenance02(s.Predicate)
	case provenance1:
		by, from, err = readProvenance1(s.Predicate)
	default:
		err = errors.New("the statement is no provenance")
	}
	switch {
	case err != nil:
		return err
	case builder != "" && by != builder:
		return fmt.Errorf("the builder is %s, not %s", quoted(by), builder)
	case source != "" && repositoryOf(from) != source:
		return fmt.Errorf("the source is %s, not %s", quoted(repositoryOf(from)), source)
	}
	return nil
}

func quoted(text string) string {
	if text == "" {
		return "not named"
	}
	return printable(text)
}

// readProvenance02 reads https://slsa.dev/spec/v0.2/provenance.
func readProvenance02(predicate []byte) (builder, source string, err error) {
	var p struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
		Invocation struct {
			ConfigSource struct {
				URI string `json:"uri"`
			} `json:"configSource"`
		} `json:"invocation"`
	}
	if err := json.Unmarshal(predicate, &p); err != nil {
		return "", "", errors.New("the provenance cannot be read")
	}
	return p.Builder.ID, p.Invocation.ConfigSource.URI, nil
}

// readProvenance1 reads https://slsa.dev/spec/v1.0/provenance. The source is that of the
// build, and no other dependency: in the workflow of GitHub's build type
// (https://actions.github.io/buildtypes/workflow/v1), in the source of
// slsa-github-generator, or else the only Git repository among the dependencies.
func readProvenance1(predicate []byte) (builder, source string, err error) {
	var p struct {
		BuildDefinition struct {
			ExternalParameters struct {
				Workflow struct {
					Repository string `json:"repository"`
				} `json:"workflow"`
				Source json.RawMessage `json:"source"`
			} `json:"externalParameters"`
			ResolvedDependencies []struct {
				URI string `json:"uri"`
			} `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		RunDetails struct {
			Builder struct {
				ID string `json:"id"`
			} `json:"builder"`
		} `json:"runDetails"`
	}
	if err := json.Unmarshal(predicate, &p); err != nil {
		return "", "", errors.New("the provenance cannot be read")
	}
	builder = p.RunDetails.Builder.ID
	parameters := p.BuildDefinition.ExternalParameters
	if parameters.Workflow.Repository != "" {
		return builder, parameters.Workflow.Repository, nil
	}
	if len(parameters.Source) > 0 {
		var named struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(parameters.Source, &source) != nil && json.Unmarshal(parameters.Source, &named) == nil {
			source = named.URI
		}
		return builder, source, nil
	}
	for _, dependency := range p.BuildDefinition.ResolvedDependencies {
		if !strings.HasPrefix(dependency.URI, "git+") {
			continue
		}
		if source != "" {
			return builder, "", nil // which of them was built is not known
		}
		source = dependency.URI
	}
	return builder, source, nil
}

// repositoryOf returns HOST/OWNER/NAME of the address of a source, such as
// git+https://github.com/acme/web@refs/heads/main.
func repositoryOf(uri string) string {
	uri = strings.TrimPrefix(uri, "git+")
	_, address, found := strings.Cut(uri, "://")
	if !found {
		return ""
	}
	address, _, _ = strings.Cut(address, "@")
	address, _, _ = strings.Cut(address, "#")
	return strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".git")
}
