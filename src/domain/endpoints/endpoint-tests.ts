/** Tests an endpoint with one delivery of a made-up event, which leaves the endpoint's health as it is. */

import type { RandomBytes } from '../clock.ts';
import { type Verdict, verdictOf } from '../delivery/delivery.ts';
import { SCHEMA_VERSION } from '../events/event.ts';
import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import type { Target } from '../management/management-call.ts';
import { cutToCharacters } from '../text-limits.ts';
import { type AttemptResult, UNRESOLVED_ERROR } from './destination.ts';
import type { Endpoint } from './endpoint.ts';
import { type EndpointDeps, requireEndpoint } from './endpoint-deps.ts';

/** Undefined members are left out of the answer. */
export type TestOutcome = {
  readonly delivered: boolean;
  readonly responseStatus: number | null;
  readonly responseBody?: string;
  readonly error?: string;
};

const STARTS_MAX = 10;
const WINDOW_MS = 60_000;
const SHOWN_CHARACTERS_MAX = 500;
const NOT_COMPLETED = "The request could not be completed. See this endpoint's delivery log.";
const UNRESOLVED = `${NOT_COMPLETED} The host name does not resolve.`;
/** Errors of the queue service have names that begin with a capital; errors of the connection have none. */
const QUEUE_REFUSAL = /^[A-Z]/;

/** Throws rate_limited. A failure of the receiver is an outcome and not a fault. */
export async function testEndpoint(deps: EndpointDeps, { call, id }: Target): Promise<TestOutcome> {
  const { webhooks, webhookLog, random, clock, sendTest, onTestUnrecorded } = deps;
  const endpoint = await requireEndpoint(webhooks, call.caller.organization.id, id);
  const firedAtMs = clock();
  const test = {
    endpointNumber: endpoint.number,
    dispatchId: `test:${newUuid(random)}`,
    attemptId: newId('webhookattempt', random),
    eventId: `evt_test_${newUuid(random)}`,
    firedAtMs,
  };
  const waitMs = await webhookLog.beginTest(test, { startsMax: STARTS_MAX, windowMs: WINDOW_MS });
  if (waitMs !== null) throw tooManyTests(waitMs);
  const envelope = testEnvelope(test.eventId, firedAtMs);
  const result = await sendTest(endpoint, { dispatchId: test.dispatchId, envelope, nowMs: firedAtMs });
  // The caller gets the outcome even if it cannot be stored.
  await webhookLog.endTest(test, testVerdict(result), clock()).catch(onTestUnrecorded);
  return outcomeOf(endpoint, result);
}

function testEnvelope(id: string, nowMs: number): string {
  const data = { message: 'This is a test of your webhook endpoint. Nothing has happened.' };
  const created = new Date(nowMs).toISOString();
  return JSON.stringify({ id, type: 'test.ping', created, schema_version: SCHEMA_VERSION, data });
}

/** Answer 410 and sender faults count as plain failures: a test never disables an endpoint. */
function testVerdict(result: AttemptResult): Verdict {
  return { ...verdictOf(result), kind: result.kind === 'accepted' ? 'success' : 'failure', retryAfterMs: null };
}

function outcomeOf({ destinationKind }: Endpoint, result: AttemptResult): TestOutcome {
  const { responseStatus } = result;
  if (result.kind === 'accepted') {
    return {
      delivered: true,
      responseStatus,
      responseBody: cutToCharacters(result.responseText, SHOWN_CHARACTERS_MAX),
    };
  }
  if (responseStatus !== null) return { delivered: false, responseStatus, responseBody: `HTTP ${responseStatus}` };
  if (destinationKind === 'sqs' && QUEUE_REFUSAL.test(result.error)) {
    return { delivered: false, responseStatus, responseBody: cutToCharacters(result.error, SHOWN_CHARACTERS_MAX) };
  }
  return { delivered: false, responseStatus, error: result.error === UNRESOLVED_ERROR ? UNRESOLVED : NOT_COMPLETED };
}

function tooManyTests(waitMs: number): Fault {
  return new Fault('rate_limited', `An endpoint can be tested ${STARTS_MAX} times a minute; try again later.`, {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    meta: { limit: STARTS_MAX, windowSeconds: WINDOW_MS / 1000 },
  });
}

const UUID_BYTES = 16;

/** Version 4. */
function newUuid(random: RandomBytes): string {
  const bytes = Buffer.from(random(UUID_BYTES));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
