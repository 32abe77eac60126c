package rest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"net/http"

	"promoter/internal/fault"
	"promoter/internal/lru"
)

// maxKept is the maximum size of cached responses in bytes, compressed. A page of 100
// pull requests has 2 MB and compresses to a twentieth of that.
const maxKept = 16 << 20

// cache sends conditional requests with the ETag of the cached response. A "not
// modified" response is short, and GitHub does not count it against the rate limit.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
type cache struct {
	next http.RoundTripper
	kept *lru.Cache[question, *answer]
}

// question is a request and its credential: a response to one credential is never
// returned to another.
type question struct {
	credential  [sha256.Size]byte
	url, accept string
}

type answer struct {
	etag   string
	header http.Header
	packed []byte
}

func newCache(next http.RoundTripper) *cache {
	return &cache{next: next, kept: lru.New[question, *answer](maxKept)}
}

// RoundTrip sends a GET with the ETag of the cached response, and returns that
// response if the server reports no change. Other requests pass through.
func (c *cache) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return c.next.RoundTrip(req)
	}
	asked := question{
		credential: sha256.Sum256([]byte(req.Header.Get("Authorization"))),
		url:        req.URL.String(), accept: req.Header.Get("Accept"),
	}
	before, known := c.kept.Get(asked)
	if known {
		req.Header.Set("If-None-Match", before.etag)
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if known && resp.StatusCode == http.StatusNotModified {
		return resp, before.restore(resp)
	}
	return resp, c.keep(asked, resp)
}

// keep caches a complete response that has an ETag.
func (c *cache) keep(asked question, resp *http.Response) error {
	etag := resp.Header.Get("ETag")
	if resp.StatusCode != http.StatusOK || etag == "" {
		return nil
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fault.New(fault.Internal, "an answer in memory cannot be read: %w", err)
	}
	setBody(resp, data)
	packed, err := pack(data)
	if err != nil {
		return err
	}
	c.kept.Put(asked, &answer{etag: etag, header: resp.Header.Clone(), packed: packed}, int64(len(packed)))
	return nil
}

// restore replaces a "not modified" response with the cached one. New headers, such
// as the rate limits, are kept.
func (a *answer) restore(resp *http.Response) error {
	data, err := unpack(a.packed)
	if err != nil {
		return err
	}
	for name, values := range a.header {
		if _, ok := resp.Header[name]; !ok {
			resp.Header[name] = values
		}
	}
	resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	setBody(resp, data)
	return nil
}

func pack(data []byte) ([]byte, error) {
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, fault.New(fault.Internal, "pack an answer: %w", err)
	}
	if _, err := writer.Write(data); err != nil {
		return nil, fault.New(fault.Internal, "pack an answer: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fault.New(fault.Internal, "pack an answer: %w", err)
	}
	return out.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fault.New(fault.Internal, "unpack an answer: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(reader, MaxAnswer))
	if err != nil {
		return nil, fault.New(fault.Internal, "unpack an answer: %w", err)
	}
	return data, nil
}
