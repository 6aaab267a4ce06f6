package extern

import (
	"context"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// handshake is how varqd and a forecaster know that they are meant for each
// other. The version grows when forecasterpb changes so that an old program would
// misunderstand. The cookie is no secret: it keeps people from starting a
// forecaster by hand and wondering.
var handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "VARQ_FORECASTER",
	MagicCookieValue: "varq.forecaster.v1",
}

// service is the name of the one thing that a forecaster offers.
const service = "forecaster"

// wire makes go-plugin's two ends of a connection from gRPC's.
type wire struct {
	plugin.NetRPCUnsupportedPlugin
	server forecasterpb.ForecasterServer // nil on varqd's end
}

// GRPCServer implements plugin.GRPCPlugin.
func (w *wire) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	forecasterpb.RegisterForecasterServer(s, w.server)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin.
func (*wire) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return forecasterpb.NewForecasterClient(c), nil
}
