/** The settings that limit requests, the process and its stop. Their defaults are in settings.ts. */

import { type ConfigReader, readInteger } from './reader.ts';

const PENALTY_MAX_MS = 60_000;
/** Node fires longer timers than 24 days at once. */
const DRAIN_MAX_MS = 3_600_000;

export function readLimits(reader: ConfigReader) {
  const positive = (name: string) => readInteger(reader, name, { min: 1, max: Number.MAX_SAFE_INTEGER });
  return {
    /** Of the body of one request to the collector. */
    ingestBytesMax: positive('SPANDREL_MAX_BODY_BYTES'),
    /** Of what the collector takes; see CollectorLimits. */
    traces: {
      spansMax: positive('SPANDREL_MAX_SPANS_PER_REQUEST'),
      spansPerTraceMax: positive('SPANDREL_MAX_SPANS_PER_TRACE'),
      evaluationsMax: positive('SPANDREL_MAX_EVALUATIONS_PER_REQUEST'),
      stringMaxBytes: positive('SPANDREL_MAX_STRING_BYTES'),
      freeJsonDepthMax: positive('SPANDREL_MAX_JSON_DEPTH'),
      futureMaxMs: positive('SPANDREL_MAX_FUTURE_MS'),
    },
    /** Of all requests of this process together. */
    requests: {
      bodyBytes: positive('SPANDREL_INGEST_QUEUE_BYTES'),
      inFlight: positive('SPANDREL_MAX_INFLIGHT'),
      arriving: positive('SPANDREL_MAX_ARRIVING'),
      responseBytes: positive('SPANDREL_ANSWER_BYTES'),
    },
    /** Of one organization. */
    organization: {
      team: positive('SPANDREL_MAX_TEAMS'),
      project: positive('SPANDREL_MAX_PROJECTS'),
      member: positive('SPANDREL_MAX_MEMBERS'),
      role_binding: positive('SPANDREL_MAX_ROLE_BINDINGS'),
    },
    connectionsMax: positive('SPANDREL_MAX_CONNECTIONS'),
    tailsMax: positive('SPANDREL_MAX_TAILS'),
    tailsPerProjectMax: positive('SPANDREL_MAX_TAILS_PER_PROJECT'),
    tailsPerCredentialMax: positive('SPANDREL_MAX_TAILS_PER_CREDENTIAL'),
    reconnectPenaltyMs: readInteger(reader, 'SPANDREL_RECONNECT_PENALTY_MS', { min: 0, max: PENALTY_MAX_MS }),
    drainMs: readInteger(reader, 'SPANDREL_DRAIN_MS', { min: 1, max: DRAIN_MAX_MS }),
  };
}
