import { describe, expect, it } from 'vitest';
import type { EventRange, StoredEvent } from '../../../src/domain/events/event.ts';
import type { EventStore } from '../../../src/domain/events/log-port.ts';
import { allRequestKeys, gatewayRequestId, requestKeys } from '../../../src/domain/events/request-event.ts';
import { ORGANIZATION, PROJECT, RECEIVED_AT_MS, sampleAppend, sampleRequest, sampleSpan } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

const FOR_EVER: Omit<EventRange, 'limit'> = {
  organization: ORGANIZATION,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  type: null,
  after: null,
};
const OTHER_PROJECT = { projectId: 'project_2', projectNumber: 2 } as const;
const OTHER_ORGANIZATION = { id: 'organization_2', number: 2 } as const;

export function requestEventConformance(open: OpenSubject): void {
  describe('request events', () => {
    it(
      'MUST append exactly one completed event per request id however often it is sent',
      withStore(open, async ({ traces, events }) => {
        const append = sampleAppend();
        await Promise.all(Array.from({ length: 30 }, () => traces.append(append)));
        // A changed repetition or another span does not change the first outcome.
        await traces.append({ ...append, spans: [sampleSpan({ errorJson: '{"has_error":true}' })] });
        await traces.append({ ...append, traceId: 'another trace' });
        const log = await events.list({ ...FOR_EVER, limit: 100 });
        expect(log.map((event) => event.id)).toEqual([`${append.requests[0]?.gatewayRequestId}:completed`]);
      }),
    );

    it(
      'appends the whole event, with the merged metadata of the trace',
      withStore(open, async ({ traces, events }) => {
        const append = sampleAppend({ spans: [], requests: [], metadataJson: '{"user_id":"user-42","tier":"gold"}' });
        await traces.append(append);
        const span = sampleSpan({ costNanoUsd: 3_808_000 });
        const request = sampleRequest({ gatewayRequestId: 'gw-1' });
        await traces.append({ ...append, metadataJson: '{"labels":["a"]}', spans: [span], requests: [request] });
        const [event] = await events.list({ ...FOR_EVER, limit: 10 });
        expect(JSON.parse(event?.envelope ?? '')).toMatchObject({
          id: 'gw-1:completed',
          type: 'gateway.request.completed',
          created: new Date(event?.createdAtMs ?? 0).toISOString(),
          data: {
            event_id: 'gw-1:completed',
            gateway_request_id: 'gw-1',
            organization_id: ORGANIZATION.id,
            project_id: PROJECT.id,
            trace_id: append.traceId,
            end_user_id: 'user-42',
            labels: ['a'],
            metadata: { tier: 'gold' },
            cost: { total_usd: '0.003808', nano_usd: 3_808_000, rate_version: request.rateVersion },
          },
        });
      }),
    );

    it(
      'gives two projects with the same request id two events with different ids, both readable',
      withStore(open, async ({ traces, events }) => {
        const id = 'gw-shared';
        const [, second, third] = requestKeys(id, OTHER_PROJECT.projectId);
        // The first project also reports the other one's second key.
        const requests = [id, second].map((gatewayRequestId, spanIndex) =>
          sampleRequest({ gatewayRequestId, spanIndex }),
        );
        await traces.append(sampleAppend({ spans: [sampleSpan(), sampleSpan()], requests }));
        const other = sampleAppend({ ...OTHER_PROJECT, requests: [sampleRequest({ gatewayRequestId: id })] });
        for (let round = 0; round < 3; round += 1) await traces.append(other);
        const log = await events.list({ ...FOR_EVER, limit: 10 });
        const expected = [`${id}:completed`, `${second}:completed`, `${third}:completed`].toSorted();
        expect(log.map((event) => event.id).toSorted()).toEqual(expected);
        for (const event of log) expect(await events.find(ORGANIZATION, event.id, 0)).toEqual(event);
        const own = log.find((event) => event.id.startsWith(third));
        expect(JSON.parse(own?.envelope ?? '').data).toMatchObject({ gateway_request_id: id, project_id: 'project_2' });
      }),
    );

    it(
      'distinguishes requests of a project with similar ids',
      withStore(open, async ({ traces, events }) => {
        const [first, second, third] = requestKeys('gw-shared', OTHER_PROJECT.projectId);
        const report = (gatewayRequestId: string, changes = {}) =>
          traces.append(sampleAppend({ ...changes, requests: [sampleRequest({ gatewayRequestId })] }));
        await report(first);
        await report(second, OTHER_PROJECT);
        await report(first, OTHER_PROJECT);
        const log = await events.list({ ...FOR_EVER, limit: 10 });
        expect(log.map((event) => event.id).toSorted()).toEqual(
          [first, second, third].map((key) => `${key}:completed`).toSorted(),
        );
      }),
    );

    it(
      'distinguishes a request from those of another project, however many of its ids that one has reported',
      withStore(open, async ({ traces, events }) => {
        const keys = [...allRequestKeys('gw-shared', OTHER_PROJECT.projectId)];
        const other = sampleAppend({ ...OTHER_PROJECT, requests: [sampleRequest({ gatewayRequestId: 'gw-shared' })] });
        // All keys that a span can report; it cannot report the last one.
        const reportable = keys.filter((id) => gatewayRequestId('t', 's', { gateway_request_id: id }) === id);
        expect(reportable).toEqual(keys.slice(0, -1));
        for (const id of reportable) await traces.append(appendOf([id]));
        for (let round = 0; round < 3; round += 1) await traces.append({ ...other, traceId: `trace ${round}` });
        // The project can still report a new id.
        await traces.append({ ...other, requests: [sampleRequest({ gatewayRequestId: 'gw-new' })] });
        const log = await events.list({ ...FOR_EVER, limit: 100 });
        expect(log.map((event) => event.id).toSorted()).toEqual(
          [...keys, 'gw-new'].map((key) => `${key}:completed`).toSorted(),
        );
        for (const event of log) expect(await events.find(ORGANIZATION, event.id, 0)).toEqual(event);
      }),
    );

    it(
      'finds the request it has under another id even when the first choice has become free',
      withStore(open, async ({ traces, events }, { execute }) => {
        const requests = [sampleRequest({ gatewayRequestId: 'gw-shared' })];
        await traces.append(sampleAppend({ requests }));
        const other = sampleAppend({ ...OTHER_PROJECT, requests });
        await traces.append(other);
        await execute("DELETE FROM requests WHERE request_key = 'gw-shared'");
        await traces.append(other);
        expect(await events.list({ ...FOR_EVER, limit: 10 })).toHaveLength(2);
      }),
    );

    it(
      'keeps the logs of organizations separate',
      withStore(open, async ({ traces, events }) => {
        const append = sampleAppend();
        const elsewhere = { organizationId: OTHER_ORGANIZATION.id, organizationNumber: OTHER_ORGANIZATION.number };
        await Promise.all([traces.append(append), traces.append({ ...append, ...OTHER_PROJECT, ...elsewhere })]);
        for (const organization of [ORGANIZATION, OTHER_ORGANIZATION]) {
          const log = await events.list({ ...FOR_EVER, organization, limit: 10 });
          expect(log).toHaveLength(1);
          expect(JSON.parse(log[0]?.envelope ?? '').data.organization_id).toBe(organization.id);
        }
      }),
    );
  });
}

export function eventStoreConformance(open: OpenSubject): void {
  describe('the log', () => {
    it(
      'returns newest first by (created, id), both ends of the range counted',
      withStore(open, async ({ traces, events }) => {
        // Events of one append share an instant: the bytes of ids decide.
        const ids = ['b', 'a', 'B', 'a!', 'a:', 'aa', '~', '0'];
        await traces.append(appendOf(ids));
        await traces.append(appendOf(['later']));
        const log = await events.list({ ...FOR_EVER, limit: 100 });
        expect(log.toSorted(newestFirst)).toEqual(log);
        expect(log).toHaveLength(ids.length + 1);
        const [first] = log;
        const last = log.at(-1);
        if (first === undefined || last === undefined) throw new Error('the log is empty');
        const within = (fromMs: number, toMs: number) => events.list({ ...FOR_EVER, fromMs, toMs, limit: 100 });
        expect(await within(last.createdAtMs, first.createdAtMs)).toEqual(log);
        expect(await within(first.createdAtMs + 1, Number.MAX_SAFE_INTEGER)).toEqual([]);
        expect(await within(0, last.createdAtMs - 1)).toEqual([]);
        expect(await within(8_640_000_000_000_001, 9_007_199_254_740_991)).toEqual([]);
        const type = 'gateway.request.completed';
        expect(await events.list({ ...FOR_EVER, type, limit: 2 })).toEqual(log.slice(0, 2));
        expect(await events.list({ ...FOR_EVER, type: 'gateway.request.settled', limit: 100 })).toEqual([]);
      }),
    );

    it(
      'MUST return each event that existed when a walk began exactly once, whatever is appended meanwhile',
      withStore(open, async ({ traces, events }) => {
        for (const limit of [1, 7, 50]) {
          await Promise.all(
            Array.from({ length: 10 }, (_, part) => traces.append(appendOf(idsOf(`${limit}-${part}`, 12)))),
          );
          const before = await events.list({ ...FOR_EVER, limit: 100_000 });
          let walking = true;
          const appending = (async () => {
            while (walking) await traces.append(sampleAppend());
          })();
          const walked = await walk(events, limit);
          walking = false;
          await appending;
          expect(new Set(walked.map((event) => event.id)).size).toBe(walked.length);
          const seen = new Set(walked.map((event) => event.id));
          expect(before.filter((event) => !seen.has(event.id))).toEqual([]);
          expect(walked.toSorted(newestFirst)).toEqual(walked);
        }
      }),
    );

    it(
      'MUST return the bytes that were appended',
      withStore(open, async ({ traces, events }) => {
        await traces.append(appendOf(['gw-"\\\'1', ...idsOf('x', 20), `req_${'0'.repeat(30)}`]));
        const log = await events.list({ ...FOR_EVER, limit: 100 });
        expect(log).toHaveLength(22);
        for (const event of log) expect(await events.find(ORGANIZATION, event.id, event.createdAtMs)).toEqual(event);
      }),
    );

    it(
      'returns null when the organization has no such event created at or after the instant',
      withStore(open, async ({ traces, events }) => {
        await traces.append(appendOf(['gw-1']));
        const [event] = await events.list({ ...FOR_EVER, limit: 1 });
        const createdAtMs = event?.createdAtMs ?? 0;
        expect(await events.find(ORGANIZATION, 'gw-1:completed', createdAtMs + 1)).toBeNull();
        expect(await events.find(OTHER_ORGANIZATION, 'gw-1:completed', 0)).toBeNull();
        for (const id of [
          '',
          'gw-1',
          'GW-1:completed',
          'gw-1:settled',
          'gw-1:completed:2',
          'gw-1:admitted',
          ':completed',
        ]) {
          expect(await events.find(ORGANIZATION, id, 0)).toBeNull();
        }
      }),
    );
  });
}

function appendOf(requestIds: readonly string[]) {
  return sampleAppend({
    receivedAtMs: RECEIVED_AT_MS,
    spans: requestIds.map(() => sampleSpan()),
    requests: requestIds.map((gatewayRequestId, spanIndex) => sampleRequest({ gatewayRequestId, spanIndex })),
  });
}

function idsOf(mark: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${mark}-${index}`);
}

async function walk(events: EventStore, limit: number): Promise<StoredEvent[]> {
  const walked: StoredEvent[] = [];
  let after: EventRange['after'] = null;
  for (;;) {
    const page: readonly StoredEvent[] = await events.list({ ...FOR_EVER, after, limit });
    walked.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return walked;
    after = { createdAtMs: last.createdAtMs, id: last.id };
  }
}

function newestFirst(a: StoredEvent, b: StoredEvent): number {
  return b.createdAtMs - a.createdAtMs || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id));
}
