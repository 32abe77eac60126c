package pipelines

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"promoter/internal/event"
	"promoter/internal/webhook/payload"
)

// tektonRuns is the data of an event.
type tektonRuns struct {
	TaskRun     *tektonRun `json:"taskRun"`
	PipelineRun *tektonRun `json:"pipelineRun"`
}

// tektonRun is a TaskRun or PipelineRun. Tekton sends both in version v1beta1, whose results
// have other names than those of v1.
type tektonRun struct {
	Status struct {
		Results         []tektonResult `json:"results"`
		TaskResults     []tektonResult `json:"taskResults"`
		PipelineResults []tektonResult `json:"pipelineResults"`
	} `json:"status"`
}

type tektonResult struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // a string, a list, or an object
}

func (t tektonResult) text() string {
	var text string
	if err := json.Unmarshal(t.Value, &text); err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// Tekton decodes a CloudEvent of Tekton Pipelines, whose attributes are headers, or fields
// next to `data` if a broker forwards it.
// https://tekton.dev/docs/pipelines/events/
func Tekton(r payload.Request) (payload.Delivery, error) {
	body, err := payload.Read[struct {
		tektonRuns
		ID   string      `json:"id"`
		Type string      `json:"type"`
		Data *tektonRuns `json:"data"`
	}](r)
	runs := body.tektonRuns
	if body.Data != nil {
		runs = *body.Data
	}
	name := cmp.Or(r.Header.Get("Ce-Type"), body.Type)
	run := runs.TaskRun
	if runs.PipelineRun != nil {
		run = runs.PipelineRun
	}
	switch {
	case name == "":
		return payload.Delivery{}, payload.Missing("header Ce-Type")
	case name != "dev.tekton.event.taskrun.successful.v1" && name != "dev.tekton.event.pipelinerun.successful.v1":
		return payload.Ignored(name, "only task runs and pipeline runs that succeeded matter")
	case err != nil:
		return payload.Delivery{}, err
	case run == nil:
		return payload.Delivery{}, payload.Missing("taskRun or pipelineRun")
	}
	events := run.built()
	if len(events) == 0 {
		return payload.Ignored(name, "it has no result that names an image: IMAGE_URL, IMAGES, ARTIFACT_URI, or ARTIFACT_OUTPUTS")
	}
	return payload.Delivery{ID: cmp.Or(r.Header.Get("Ce-Id"), body.ID), EventType: name, Events: events}, nil
}

// built returns the images that the results of a run name by the convention of Tekton Chains.
// https://tekton.dev/docs/chains/slsa-provenance/#output-artifacts
func (t tektonRun) built() []event.Event {
	results := slices.Concat(t.Status.Results, t.Status.TaskResults, t.Status.PipelineResults)
	texts := map[string]string{}
	for _, result := range results {
		texts[result.Name] = result.text()
	}
	var events []event.Event
	add := func(reference, digest string) {
		if e, ok := payload.ReferenceEvent(reference); ok {
			e.Image.Digest = cmp.Or(e.Image.Digest, digest)
			events = append(events, e)
		}
	}
	for _, result := range results {
		if prefix, found := strings.CutSuffix(result.Name, "IMAGE_URL"); found {
			add(result.text(), texts[prefix+"IMAGE_DIGEST"])
		}
		if prefix, found := strings.CutSuffix(result.Name, "ARTIFACT_URI"); found {
			add(result.text(), texts[prefix+"ARTIFACT_DIGEST"])
		}
		if result.Name == "IMAGES" {
			for _, reference := range strings.FieldsFunc(result.text(), func(c rune) bool { return c == ',' || unicode.IsSpace(c) }) {
				add(reference, "")
			}
		}
		if strings.HasSuffix(result.Name, "ARTIFACT_OUTPUTS") {
			var output struct{ URI, Digest string }
			if err := json.Unmarshal(result.Value, &output); err == nil {
				add(output.URI, output.Digest)
			}
		}
	}
	return events
}
