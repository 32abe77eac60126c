package telemetrytest

import (
	"encoding/hex"
	"fmt"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Span is one span, with its IDs in hexadecimal.
type Span struct {
	Trace, ID, Parent string
	Name              string
	Kind              string // as in OTLP, SPAN_KIND_CLIENT for instance
	Links             []Link
	Attributes        map[string]string // a list has commas
	Resource          map[string]string
	Failed            bool
	Message           string // why
	Began, Ended      time.Time
}

// Link is a related span.
type Link struct{ Trace, ID string }

func spansOf(data *tracepb.TracesData) (all []Span) {
	for _, of := range data.GetResourceSpans() {
		resource := textsOf(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				one := spanOf(span)
				one.Resource = resource
				all = append(all, one)
			}
		}
	}
	return all
}

func spanOf(span *tracepb.Span) Span {
	one := Span{
		Trace: hex.EncodeToString(span.GetTraceId()), ID: hex.EncodeToString(span.GetSpanId()),
		Parent: hex.EncodeToString(span.GetParentSpanId()),
		Name:   span.GetName(), Kind: span.GetKind().String(), Attributes: textsOf(span.GetAttributes()),
		Failed:  span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR,
		Message: span.GetStatus().GetMessage(),
		Began:   timeOf(span.GetStartTimeUnixNano()), Ended: timeOf(span.GetEndTimeUnixNano()),
	}
	for _, link := range span.GetLinks() {
		one.Links = append(one.Links, Link{hex.EncodeToString(link.GetTraceId()), hex.EncodeToString(link.GetSpanId())})
	}
	return one
}

func timeOf(nanos uint64) time.Time {
	return time.Unix(0, int64(nanos)).UTC() //nolint:gosec // of this century
}

func textsOf(all []*commonpb.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, one := range all {
		texts[one.GetKey()] = textOf(one.GetValue())
	}
	return texts
}

func textOf(value *commonpb.AnyValue) string {
	switch v := value.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_ArrayValue:
		text := ""
		for i, one := range v.ArrayValue.GetValues() {
			if i > 0 {
				text += ","
			}
			text += textOf(one)
		}
		return text
	case *commonpb.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *commonpb.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	default:
		return fmt.Sprint(value)
	}
}
