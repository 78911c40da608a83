/** The settings that limit requests, the process and its stop. */

import { type ConfigReader, readInteger } from './reader.ts';

export type Limits = {
  readonly bodyMaxBytes: number;
  readonly spansPerRequestMax: number;
  readonly spansPerTraceMax: number;
  readonly evaluationsPerRequestMax: number;
  readonly stringMaxBytes: number;
  readonly jsonDepthMax: number;
  readonly futureMaxMs: number;
  readonly ingestQueueMaxBytes: number;
  readonly inFlightMax: number;
  readonly arrivingMax: number;
  readonly responsesMaxBytes: number;
  readonly connectionsMax: number;
  readonly tailsMax: number;
  readonly tailsPerProjectMax: number;
  readonly tailsPerCredentialMax: number;
  readonly reconnectPenaltyMs: number;
  readonly drainMs: number;
};

const PENALTY_MAX_MS = 60_000;

export function readLimits(reader: ConfigReader): Limits {
  const positive = (name: string) => readInteger(reader, name, { min: 1, max: Number.MAX_SAFE_INTEGER });
  return {
    bodyMaxBytes: positive('SPANDREL_MAX_BODY_BYTES'),
    spansPerRequestMax: positive('SPANDREL_MAX_SPANS_PER_REQUEST'),
    spansPerTraceMax: positive('SPANDREL_MAX_SPANS_PER_TRACE'),
    evaluationsPerRequestMax: positive('SPANDREL_MAX_EVALUATIONS_PER_REQUEST'),
    stringMaxBytes: positive('SPANDREL_MAX_STRING_BYTES'),
    jsonDepthMax: positive('SPANDREL_MAX_JSON_DEPTH'),
    futureMaxMs: positive('SPANDREL_MAX_FUTURE_MS'),
    ingestQueueMaxBytes: positive('SPANDREL_INGEST_QUEUE_BYTES'),
    inFlightMax: positive('SPANDREL_MAX_INFLIGHT'),
    arrivingMax: positive('SPANDREL_MAX_ARRIVING'),
    responsesMaxBytes: positive('SPANDREL_ANSWER_BYTES'),
    connectionsMax: positive('SPANDREL_MAX_CONNECTIONS'),
    tailsMax: positive('SPANDREL_MAX_TAILS'),
    tailsPerProjectMax: positive('SPANDREL_MAX_TAILS_PER_PROJECT'),
    tailsPerCredentialMax: positive('SPANDREL_MAX_TAILS_PER_CREDENTIAL'),
    reconnectPenaltyMs: readInteger(reader, 'SPANDREL_RECONNECT_PENALTY_MS', { min: 0, max: PENALTY_MAX_MS }),
    drainMs: positive('SPANDREL_DRAIN_MS'),
  };
}
