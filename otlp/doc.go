// Package otlp receives spans of agents over OTLP, and forwards spans and verdicts. Start at
// [Store], which holds the spans of rows until they are decided, [Receiver], which fills it over
// HTTP, and [Exporter], which sends. [Results] encodes verdicts as events.
//
// Requests are decoded directly into proviso.Span, with the wire format of protowire: the generated
// types of OpenTelemetry, or those of the Collector, would add several hundred allocations to every
// start of the program.
package otlp
