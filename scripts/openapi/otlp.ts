/** The routes of OTLP. OpenTelemetry's protos have neither paths nor policies, and its JSON is not that of this server. */

import { STATUS_CODES } from 'node:http';
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { LogsService } from '../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { MetricsService } from '../../gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js';
import { TraceService } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { Fault } from '../../src/domain/fault.ts';
import { OTLP_POLICY, otlpPathsOf } from '../../src/rpc/traces/otlp.ts';
import { grpcCode } from '../../src/transport/status.ts';
import { refusalsOf } from '../contract/refusals.ts';
import { ERROR_SCHEMAS, headersOf, securityOf } from './refusals.ts';
import { orNull, type Schema } from './schemas.ts';

export const OTLP_TAG = {
  name: 'OpenTelemetry',
  description: 'What OpenTelemetry exporters send, in protobuf or JSON; answers have the encoding of their requests.',
};

const SIGNALS = [
  {
    signal: 'traces',
    desc: TraceService.method.export,
    summary: 'Export spans, which become traces',
    answer: answerWith('rejectedSpans', 'Absent where all spans were stored as they are.'),
  },
  {
    signal: 'logs',
    desc: LogsService.method.export,
    summary: 'Export log records, which become calls or parts of spans; others are counted and dropped',
    answer: answerWith('rejectedLogRecords', 'Absent where all records were read or dropped as they are.'),
  },
  {
    signal: 'metrics',
    desc: MetricsService.method.export,
    summary: 'Export metrics, which are counted and dropped',
    answer: { type: 'object', maxProperties: 0 },
  },
] as const;

function answerWith(count: string, description: string): Schema {
  return {
    type: 'object',
    properties: {
      partialSuccess: {
        type: 'object',
        description,
        properties: {
          [count]: { type: 'integer', format: 'int64', minimum: 0 },
          errorMessage: { type: 'string', description: 'What was refused or left out, and why.' },
        },
        required: [count, 'errorMessage'],
      },
    },
  };
}

export function writeOtlpPaths(parameters: readonly Schema[]): Record<string, Schema> {
  const refusals = [...REFUSALS.keys()].map((status) => [
    status,
    { $ref: `#/components/responses/${refusalName(status)}` },
  ]);
  const paths = SIGNALS.flatMap(({ signal, desc, summary, answer }) =>
    otlpPathsOf(signal).map((path, index) => {
      const operation = {
        operationId: `export${desc.parent.name.replace('Service', '')}${index === 0 ? '' : index + 1}`,
        tags: [OTLP_TAG.name],
        summary,
        description: `\`${desc.parent.typeName}.${desc.name}\`; credential of a project, \`${OTLP_POLICY.permission}\`. The path may end with a slash.`,
        security: securityOf({ rules: OTLP_POLICY }),
        parameters,
        requestBody: { required: true, content: inEitherEncoding({ $ref: referenceTo(desc.input) }) },
        responses: {
          200: { description: 'What was taken.', content: inEitherEncoding(answer) },
          ...Object.fromEntries(refusals),
        },
      };
      return [path, { post: operation }];
    }),
  );
  return Object.fromEntries(paths);
}

const REFUSALS = refusalsOf({
  rules: OTLP_POLICY,
  sent: { param: [], query: [], json: [] },
  takesBody: true,
  errors: '',
});

/** The answers to refused requests, by name. */
export function otlpResponses(): Record<string, Schema> {
  const responses = [...REFUSALS].map(([status, { codes }]) => {
    const numbers = new Set(codes.map((code) => grpcCode(new Fault(code, ''))));
    const code = { properties: { code: { enum: [...numbers].toSorted((one, other) => one - other) } } };
    const response = {
      description: `${STATUS_CODES[status]}: ${codes.map((each) => `\`${each}\``).join(', ')}.`,
      ...headersOf(status),
      content: inEitherEncoding({ allOf: [{ $ref: '#/components/schemas/OtlpError' }, code] }),
    };
    return [refusalName(status), response];
  });
  return Object.fromEntries(responses);
}

function refusalName(status: number): string {
  return `Otlp${(STATUS_CODES[status] ?? '').replaceAll(' ', '')}`;
}

const { FlatError } = ERROR_SCHEMAS;

const OTLP_ERROR: Schema = {
  ...FlatError,
  description: 'What routes of OpenTelemetry refuse with; in protobuf, a google.rpc.Status.',
  properties: { ...FlatError.properties, code: { type: 'integer', description: 'The gRPC status.' } },
};

/** A message of OpenTelemetry is sent as JSON or as the bytes of protobuf. */
function inEitherEncoding(schema: Schema): Schema {
  return {
    'application/json': { schema },
    'application/x-protobuf': { schema: { type: 'string', contentMediaType: 'application/x-protobuf' } },
  };
}

/** The messages of requests and the error, by name. */
export function otlpSchemas(): Record<string, Schema> {
  const schemas = new Map<string, Schema>();
  const pending: DescMessage[] = SIGNALS.map(({ desc }) => desc.input);
  for (let desc = pending.pop(); desc; desc = pending.pop()) {
    if (schemas.has(nameOf(desc))) continue;
    const members = desc.fields.map((field) => [field.jsonName, orNull(schemaOf(field))]);
    schemas.set(nameOf(desc), {
      type: 'object',
      ...(members.length > 0 && { properties: Object.fromEntries(members) }),
    });
    pending.push(...desc.fields.flatMap(({ message }) => message ?? []));
  }
  const sorted = [...schemas].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { ...Object.fromEntries(sorted), OtlpError: OTLP_ERROR };
}

/** OpenTelemetry's and this server's messages may have the same names. */
function nameOf({ name }: DescMessage): string {
  return `Otlp${name}`;
}

function referenceTo(desc: DescMessage): string {
  return `#/components/schemas/${nameOf(desc)}`;
}

function schemaOf(field: DescField): Schema {
  if (field.fieldKind === 'list') return { type: 'array', items: itemSchema(field) };
  return itemSchema(field);
}

function itemSchema(field: DescField): Schema {
  if (field.message) return { $ref: referenceTo(field.message) };
  if (field.enum) {
    const names = field.enum.values.map(({ name, number }) => `${number} ${name}`).join(', ');
    return { anyOf: [{ type: 'integer' }, { type: 'string' }], description: `By number or name: ${names}.` };
  }
  switch (field.scalar) {
    case ScalarType.BYTES:
      return { type: 'string', description: field.name.endsWith('_id') ? 'Hexadecimal.' : 'Base64.' };
    case ScalarType.INT64:
    case ScalarType.FIXED64:
      return INTEGER;
    case ScalarType.DOUBLE:
      return { anyOf: [{ type: 'number' }, { type: 'string', description: 'NaN, Infinity, -Infinity, or a number.' }] };
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.STRING:
      return { type: 'string' };
    default:
      return { description: 'Not read.' };
  }
}

const WORD: Schema = { type: 'integer' };

const INTEGER: Schema = {
  anyOf: [
    { type: 'string', pattern: '^-?[0-9]+$' },
    { type: 'number' },
    {
      type: 'object',
      description: 'Two words of 32 bits.',
      properties: { low: WORD, high: WORD },
      required: ['low', 'high'],
    },
  ],
};
