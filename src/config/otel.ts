/** Where spans of the server itself go. The SDK of OpenTelemetry reads most of its variables; these decide what is loaded. */

import { type ConfigReader, readChoice } from './reader.ts';
import type { Environment } from './sources.ts';

const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
export type OtlpProtocol = (typeof PROTOCOLS)[number];

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** Null: nowhere, and nothing is loaded for it. */
export function readOtel(reader: ConfigReader, environment: Environment): { readonly protocol: OtlpProtocol } | null {
  if (readChoice(reader, 'SPANDREL_OTEL', ['on', 'off']) === 'off') return null;
  const text = (name: string) => environment[name]?.trim() || null;
  if (text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;
  const exporter = text('OTEL_TRACES_EXPORTER') ?? 'otlp';
  if (exporter === 'none') return null;
  if (exporter !== 'otlp') reader.refuse('OTEL_TRACES_EXPORTER must be otlp or none');
  if (reader.text('SPANDREL_TRACING') === 'off') {
    reader.refuse('SPANDREL_OTEL must not be on with SPANDREL_TRACING=off, which leaves requests without trace ids');
  }
  for (const name of ENDPOINTS) {
    const endpoint = text(name);
    if (endpoint !== null && !isHttpUrl(endpoint)) reader.refuse(`${name} must be an http or https URL`);
  }
  return { protocol: readProtocol(reader, text) };
}

function readProtocol(reader: ConfigReader, text: (name: string) => string | null): OtlpProtocol {
  const [fallback] = PROTOCOLS;
  const name = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'].find(
    (each) => text(each) !== null,
  );
  if (name === undefined) return fallback;
  const protocol = PROTOCOLS.find((each) => each === text(name));
  if (protocol === undefined) reader.refuse(`${name} must be one of ${PROTOCOLS.join(', ')}`);
  return protocol ?? fallback;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
