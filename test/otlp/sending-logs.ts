/** Sends exports of log records over every transport. */

import { create, fromBinary, type MessageInitShape, toBinary, toJson } from '@bufbuild/protobuf';
import {
  ExportLogsServiceRequestSchema,
  ExportLogsServiceResponseSchema,
} from '../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import type { LogRecordSchema } from '../../gen/opentelemetry/proto/logs/v1/logs_pb.js';
import type { TestApp } from '../support/app.ts';
import { attributes, callGrpc, JSON_TYPE, PROTOBUF, post, type Surface, type Value } from './sending.ts';

export type LogsInit = MessageInitShape<typeof ExportLogsServiceRequestSchema>;
export type RecordInit = MessageInitShape<typeof LogRecordSchema>;
export type LogsReport = { readonly rejectedLogRecords: number; readonly errorMessage: string };

export function logsOf(records: readonly RecordInit[], resource: { readonly [key: string]: Value } = {}): LogsInit {
  const scope = { name: 'tests', version: '1.0.0' };
  const scopeLogs = [{ scope, logRecords: [...records] }];
  return { resourceLogs: [{ resource: { attributes: attributes(resource) }, scopeLogs }] };
}

export function logsToProtobuf(init: LogsInit): Buffer {
  return Buffer.from(toBinary(ExportLogsServiceRequestSchema, create(ExportLogsServiceRequestSchema, init)));
}

/** OTLP JSON: the JSON of protobuf with ids in hex. */
export function logsToJson(init: LogsInit): string {
  const json = toJson(ExportLogsServiceRequestSchema, create(ExportLogsServiceRequestSchema, init));
  return JSON.stringify(json, (key, value) =>
    /^(trace|span)Id$/.test(key) ? Buffer.from(value, 'base64').toString('hex') : value,
  );
}

/** Fails unless the server answers 200, or OK. */
export async function sendLogs(app: TestApp, surface: Surface, init: LogsInit): Promise<LogsReport> {
  if (surface === 'JSON') {
    const { status, body } = await post(app, '/api/otel/v1/logs', logsToJson(init), JSON_TYPE);
    if (status !== 200) throw new Error(`${status}: ${body}`);
    return JSON.parse(body.toString()).partialSuccess ?? { rejectedLogRecords: 0, errorMessage: '' };
  }
  if (surface === 'protobuf') {
    const { status, body } = await post(app, '/v1/logs', logsToProtobuf(init), PROTOBUF);
    if (status !== 200) throw new Error(`${status}: ${body}`);
    return reportIn(body);
  }
  const call = { service: 'logs.v1.LogsService', body: logsToProtobuf(init), key: app.projectKey };
  return reportIn(await callGrpc(app, { ...call, gzip: surface !== 'gRPC' }));
}

function reportIn(bytes: Uint8Array): LogsReport {
  const { partialSuccess } = fromBinary(ExportLogsServiceResponseSchema, bytes);
  const { rejectedLogRecords = 0n, errorMessage = '' } = partialSuccess ?? {};
  return { rejectedLogRecords: Number(rejectedLogRecords), errorMessage };
}
