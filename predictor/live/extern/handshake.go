package extern

import (
	"context"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
)

// handshake is how varqd and a forecaster recognise each other. The version grows when
// forecasterpb changes in a way that an old program would misunderstand. The cookie is no
// secret: without it, a forecaster that was started by hand ends with an explanation.
var handshake = plugin.HandshakeConfig{
	ProtocolVersion:  1,
	MagicCookieKey:   "VARQ_FORECASTER",
	MagicCookieValue: "varq.forecaster.v1",
}

// service is the name of the only plugin that a forecaster offers.
const service = "forecaster"

// wire is the plugin.GRPCPlugin of a forecaster, for both ends of the connection.
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
