// The receiver of the OpenTelemetry collector: it prints each request that it accepts as a line of JSON.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func main() {
	ctx := context.Background()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	must(confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": os.Args[1]}},
	}).Unmarshal(config))
	settings := receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	traces := value(consumer.NewTraces(func(_ context.Context, batch ptrace.Traces) error {
		return printLine(value((&ptrace.JSONMarshaler{}).MarshalTraces(batch)))
	}))
	metrics := value(consumer.NewMetrics(func(_ context.Context, batch pmetric.Metrics) error {
		return printLine(value((&pmetric.JSONMarshaler{}).MarshalMetrics(batch)))
	}))
	// Both are one server, which begins with what it has been given by then.
	tracesReceiver := value(factory.CreateTraces(ctx, settings, config, traces))
	metricsReceiver := value(factory.CreateMetrics(ctx, settings, config, metrics))
	must(tracesReceiver.Start(ctx, componenttest.NewNopHost()))
	must(metricsReceiver.Start(ctx, componenttest.NewNopHost()))
	fmt.Println("ready")
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}

func printLine(line []byte) error {
	_, err := fmt.Println(string(line))
	return err
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func value[Value any](value Value, err error) Value {
	must(err)
	return value
}
