import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

const ON = { SPANDREL_OTEL: 'on' };

function problemsOf(environment: { readonly [name: string]: string }): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

it.each([
  ['by default, whatever the variables of OpenTelemetry say', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }],
  ['by the setting', { SPANDREL_OTEL: 'off' }],
  ['where the SDK is disabled', { ...ON, OTEL_SDK_DISABLED: 'true' }],
  ['where no exporter is wanted', { ...ON, OTEL_TRACES_EXPORTER: 'none' }],
])('spans of the server are off %s', (_, environment) => {
  expect(readConfig(environment).otel).toBeNull();
});

it.each([
  [{}, 'http/protobuf'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'grpc'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }, 'http/json'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp', OTEL_TRACES_EXPORTER: 'otlp' }, 'http/protobuf'],
])('%j sends them over %s', (environment, protocol) => {
  expect(readConfig({ ...ON, ...environment }).otel).toEqual({ protocol });
});

it.each([
  [{ OTEL_TRACES_EXPORTER: 'console' }, /^OTEL_TRACES_EXPORTER must be otlp or none$/],
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'http' },
    /^OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/protobuf, http\/json, grpc$/,
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL$/],
  [{ SPANDREL_TRACING: 'off' }, /^SPANDREL_OTEL must not be on with SPANDREL_TRACING=off/],
])('%j is refused', (environment, problem) => {
  expect(problemsOf({ ...ON, ...environment })).toEqual([expect.stringMatching(problem)]);
});
