/** Encodes traces as the body of an OTLP/HTTP request, in JSON. */
import { type AttributeValue, nanosText, type OtlpAttribute, otlpAttribute, untypedAttribute } from '../lib/otlp-json.ts'
import { ATTRIBUTES, type AttributeName, RESOURCE, SCHEMA_URL } from './attribute-names.ts'
import type { Span } from './trace-spans.ts'

export interface ResourceFacts {
  readonly serviceName: string
  readonly serviceVersion: string
  /** Other attributes, by their full names. */
  readonly others: Readonly<Record<string, string>>
}

const SCOPE_NAME = 'patchbay'

const KINDS = { internal: 1, server: 2, client: 3 } as const

/** OTLP's code for a failure; a span without an error has no status. */
const STATUS_ERROR = 2

/** Encodes one trace as an element of `resourceSpans`. `more`: attributes that a certain receiver wants on each span. */
export const encodeTrace = (
  spans: readonly Span[],
  resource: ResourceFacts,
  more: (span: Span) => Readonly<Record<string, string>>,
): string =>
  JSON.stringify({
    resource: { attributes: resourceAttributes(resource) },
    scopeSpans: [
      {
        scope: { name: SCOPE_NAME, version: resource.serviceVersion },
        spans: spans.map((span) => encodeSpan(span, more(span))),
        schemaUrl: SCHEMA_URL,
      },
    ],
  })

/** `traces`: results of `encodeTrace`. */
export const tracesBody = (traces: readonly string[]): string => `{"resourceSpans":[${traces.join(',')}]}`

export const resourceAttributes = ({ serviceName, serviceVersion, others }: ResourceFacts): readonly OtlpAttribute[] => [
  untypedAttribute(RESOURCE.serviceName, serviceName),
  untypedAttribute(RESOURCE.serviceVersion, serviceVersion),
  ...Object.entries(others)
    .filter(([name]) => name !== RESOURCE.serviceName && name !== RESOURCE.serviceVersion)
    .map(([name, value]) => untypedAttribute(name, value)),
]

const encodeSpan = (span: Span, more: Readonly<Record<string, string>>) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: nanosText(span.startedMs),
  endTimeUnixNano: nanosText(Math.max(span.startedMs, span.endedMs)),
  attributes: [
    ...attributesOf(span),
    ...Object.entries(span.metadata).map(([key, value]) => untypedAttribute(`trace.metadata.${key}`, value)),
    ...Object.entries(more).map(([key, value]) => untypedAttribute(key, value)),
  ],
  ...(span.error === null
    ? {}
    : { status: { code: STATUS_ERROR, ...(span.error.message === null ? {} : { message: span.error.message }) } }),
})

const attributesOf = ({ attributes }: Span): readonly OtlpAttribute[] =>
  (Object.entries(attributes) as [AttributeName, AttributeValue | null | undefined][]).flatMap(([name, value]) => {
    if (value === null || value === undefined) return []
    const [key, type] = ATTRIBUTES[name]
    return [otlpAttribute(key, value, type)]
  })
