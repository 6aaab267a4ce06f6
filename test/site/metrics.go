package site

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/varq-project/varq/predictor/api"
)

// Metrics asks varqd for its metrics, by name.
func (s *Site) Metrics(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.Socket())
	}}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://varqd"+api.PathMetrics, nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("varqd's metrics: %w", err)
	}
	defer response.Body.Close()
	all := map[string]*dto.MetricFamily{}
	for d := expfmt.NewDecoder(response.Body, expfmt.ResponseFormat(response.Header)); ; {
		f := &dto.MetricFamily{}
		if err := d.Decode(f); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("varqd's metrics: %w", err)
		}
		all[f.GetName()] = f
	}
}
