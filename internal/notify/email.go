package notify

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net"
	"strconv"
	"time"

	mail "github.com/wneessen/go-mail"

	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// EmailOptions are a mail server with the addresses of messages.
type EmailOptions struct {
	// Dial opens connections.
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Server   string // HOST:PORT
	Username string // empty: no login
	Password secret.String
	From     string
	To       []string
	TLS      EmailTLS
	Roots    *x509.CertPool // nil: the system's
	Now      func() time.Time
}

// EmailTLS is how the connection is encrypted.
type EmailTLS int

// The values of EmailTLS.
const (
	STARTTLS    EmailTLS = iota // required
	ImplicitTLS                 // from the first byte
	PlainText
)

// email sends to mailboxes. The messages about a promotion are one thread.
type email struct{ options EmailOptions }

// NewEmail returns the sender of messages to mailboxes.
func NewEmail(o EmailOptions) Sender { return email{o} }

// Mode implements Sender.
func (email) Mode() Mode { return Announced }

// emailTimeout limits the connection and each command.
const emailTimeout = 30 * time.Second

func (e email) client() (*mail.Client, error) {
	o := e.options
	host, portText, err := net.SplitHostPort(o.Server)
	if err != nil {
		return nil, fault.New(fault.Invalid, "email: the server is not HOST:PORT")
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, fault.New(fault.Invalid, "email: the port of the server is not a number")
	}
	options := []mail.Option{
		mail.WithPort(port), mail.WithTimeout(emailTimeout), mail.WithHELO("promoter"), mail.WithTLSPolicy(mail.TLSMandatory),
		mail.WithTLSConfig(o.tls(host)), mail.WithoutNoop(), mail.WithDialContextFunc(o.dial(host)),
	}
	if o.TLS != STARTTLS {
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if o.Username != "" { // only over TLS
		options = append(options, mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin),
			mail.WithUsername(o.Username), mail.WithPassword(o.Password.Reveal()))
	}
	client, err := mail.NewClient(host, options...)
	return client, e.failed(fault.Invalid, err)
}

// tls returns the configuration of TLS for a server.
func (o EmailOptions) tls(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: o.Roots, MinVersion: tls.VersionTLS12}
}

// dial returns what opens a connection, encrypted if it is from the first byte: the library does
// not encrypt connections of another dialer.
func (o EmailOptions) dial(host string) mail.DialContextFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := o.Dial(ctx, network, address)
		if err != nil || o.TLS != ImplicitTLS {
			return conn, err
		}
		encrypted := tls.Client(conn, o.tls(host))
		if err := encrypted.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return encrypted, nil
	}
}

// Send implements Sender.
func (e email) Send(ctx context.Context, m Message, _ Receipt) (Receipt, error) {
	client, err := e.client()
	if err != nil {
		return Receipt{}, err
	}
	message := mail.NewMsg()
	if err := message.From(e.options.From); err != nil {
		return Receipt{}, e.failed(fault.Invalid, err)
	}
	if err := message.To(e.options.To...); err != nil {
		return Receipt{}, e.failed(fault.Invalid, err)
	}
	message.Subject(headlineOf(m).String())
	message.SetDateWithValue(e.options.Now())
	message.SetMessageIDWithValue(messageID(m.Last().ID))
	thread := "<" + messageID(m.ID) + ">" // of no message: mail programs group what refers to it
	message.SetGenHeader(mail.HeaderInReplyTo, thread)
	message.SetGenHeader(mail.HeaderReferences, thread)
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(mail.TypeTextPlain, plain(m, true))
	return Receipt{}, e.failed(fault.Temporary, client.DialAndSendWithContext(ctx, message))
}

// messageID makes an ID of an e-mail from another ID.
func messageID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16]) + "@promoter.invalid"
}

// Check implements Sender: it logs in.
func (e email) Check(ctx context.Context) (string, error) {
	client, err := e.client()
	if err != nil {
		return "", err
	}
	if err := client.DialWithContext(ctx); err != nil {
		return "", e.failed(fault.Temporary, err)
	}
	_ = client.Close()
	return "the mail server accepts the login", nil
}

// failed returns an error that does not show the password.
func (e email) failed(kind fault.Kind, err error) error {
	if err == nil {
		return nil
	}
	if known := fault.KindOf(err); known != fault.Internal {
		kind = known
	}
	return fault.New(kind, "email: %s", outbound.Scrub(secret.Erase(err.Error(), e.options.Password.Reveal())))
}
