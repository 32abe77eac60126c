package app

import (
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/registry"
	"promoter/internal/registry/auth"
	"promoter/internal/registry/auth/aws"
	"promoter/internal/registry/auth/azure"
	"promoter/internal/registry/auth/google"
)

// source wires the provider of an entry.
func (w *work) source(entry config.Registry) (registry.Source, error) {
	machine := w.machine()
	switch login := entry.Login; login.Provider {
	case config.ProviderAWS:
		return aws.New(machine, entry.Host, login.Role)
	case config.ProviderGoogle:
		key, err := w.secret(login.Key)
		if err != nil {
			return nil, err
		}
		return google.New(machine, entry.Host, key)
	case config.ProviderAzure:
		value, err := w.secret(login.Secret)
		if err != nil {
			return nil, err
		}
		return azure.New(machine, entry.Host, azure.Settings{Tenant: login.Tenant, Client: login.Client, Secret: value})
	default:
		return nil, fault.New(fault.Invalid, "there is no provider %s", login.Provider)
	}
}

// machine is what the providers know of where promoter runs. They ask the vendors
// by the way of the registries.
func (w *work) machine() auth.Machine {
	return auth.Machine{
		Vendor: w.ways.registries, Metadata: w.ways.machine,
		Env: w.server.env, Open: w.server.sources().Open, Now: w.server.now,
	}
}

// loginIdentity says whom a provider logs in. What was learnt is kept under it, so
// it must not change with a login, and must change with the identity.
func loginIdentity(login config.Login) string {
	return strings.Join([]string{string(login.Provider), login.Role, login.Key.String(), login.Tenant, login.Client}, " ")
}
