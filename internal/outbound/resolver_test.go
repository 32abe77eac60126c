package outbound

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// fakeResolver answers every question for an address over one packet-less pipe.
func fakeResolver(answer func(name string) []netip.Addr) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go serveDNS(theirs, answer)
		return ours, nil
	}}
}

// serveDNS speaks DNS over a stream (two bytes of length before a message),
// which is what net.Resolver does on a connection that is no packet connection.
func serveDNS(conn net.Conn, answer func(name string) []netip.Addr) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		var size [2]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return
		}
		packet := make([]byte, int(size[0])<<8|int(size[1]))
		if _, err := io.ReadFull(in, packet); err != nil {
			return
		}
		reply, err := answerDNS(packet, answer)
		if err != nil {
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(reply) >> 8), byte(len(reply))}, reply...)); err != nil {
			return
		}
	}
}

func answerDNS(packet []byte, answer func(name string) []netip.Addr) ([]byte, error) {
	var question dnsmessage.Message
	if err := question.Unpack(packet); err != nil {
		return nil, err
	}
	q := question.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: question.ID, Response: true, RecursionAvailable: true},
		Questions: question.Questions,
	}
	head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	for _, addr := range answer(strings.TrimSuffix(q.Name.String(), ".")) {
		switch {
		case q.Type == dnsmessage.TypeA && addr.Is4():
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}})
		case q.Type == dnsmessage.TypeAAAA && addr.Is6():
			reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	return reply.Pack()
}

func address(text string) func(string) []netip.Addr {
	return func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(text)} }
}
