import { describe, expect, it } from 'vitest';
import { finish, NO_LOG_CUTS, NONE, repeating } from './retention-walk.ts';
import { ORGANIZATION, sampleAppend, sampleRequest } from './samples.ts';
import { type OpenSubject, withStore } from './subject.ts';

export function logRetentionConformance(open: OpenSubject): void {
  describe('retention of events', () => {
    it(
      'MUST remove nothing that is within its term',
      withStore(open, async ({ traces, events, logRetention }) => {
        const received = { receivedAtMs: Date.now() };
        await Promise.all(Array.from({ length: 30 }, () => traces.append(sampleAppend(received))));
        const before = await events.list({ ...EVERYTHING, limit: 100 });
        const oldestAtMs = before.at(-1)?.createdAtMs ?? 0;
        const cuts = { ...NO_LOG_CUTS, eventsBeforeMs: monthStartMs(oldestAtMs) };
        // Empty earlier months may be removed.
        expect(await finish(logRetention.begin(cuts))).toEqual({ ...NONE, months: expect.any(Number) });
        expect(await finish(logRetention.begin(cuts))).toEqual(NONE);
        expect(await events.list({ ...EVERYTHING, limit: 100 })).toEqual(before);
        for (const { id, envelope } of before) {
          expect(await events.find(ORGANIZATION, id, 0)).toMatchObject({ envelope });
        }
      }),
    );

    it(
      'removes the events before the cut with their requests, in every organization, and ids are free again',
      withStore(open, async ({ traces, events, logRetention }) => {
        const organizations = [1, 2, 5].map((organizationNumber) => ({
          organizationNumber,
          organizationId: `organization_${organizationNumber}`,
        }));
        const appends = organizations.flatMap((organization) =>
          Array.from({ length: 40 }, (_, index) =>
            sampleAppend({ ...organization, requests: [sampleRequest({ gatewayRequestId: `gw-${index}` })] }),
          ),
        );
        await Promise.all(appends.map((append) => traces.append(append)));
        // PostgreSQL may remove an event a month before its request.
        const cutMs = monthStartMs(Date.now(), 3);
        await finish(logRetention.begin({ ...NO_LOG_CUTS, eventsBeforeMs: cutMs }));
        for (const { organizationNumber: number, organizationId: id } of organizations) {
          expect(await events.list({ ...EVERYTHING, organization: { id, number }, limit: 100 })).toEqual([]);
          expect(await events.find({ id, number }, 'gw-7:completed', 0)).toBeNull();
        }
        for (const append of appends) await traces.append({ ...append, traceId: `${append.traceId}-2` });
        for (const { organizationNumber: number, organizationId: id } of organizations) {
          expect(await events.list({ ...EVERYTHING, organization: { id, number }, limit: 100 })).toHaveLength(40);
          expect(await events.find({ id, number }, 'gw-7:completed', 0)).not.toBeNull();
        }
      }),
    );
  });

  describe('the time of retention', () => {
    it(
      'MUST be the one that events get',
      withStore(open, async ({ traces, events, clock }) => {
        await traces.append(sampleAppend({ receivedAtMs: Date.now() }));
        const [event] = await events.list({ ...EVERYTHING, limit: 1 });
        const nowMs = (await clock.nowMs()) ?? Date.now();
        expect(nowMs).toBeGreaterThanOrEqual(event?.createdAtMs ?? Number.POSITIVE_INFINITY);
        expect(nowMs - (event?.createdAtMs ?? 0)).toBeLessThan(60_000);
      }),
    );
  });

  describe('a task of retention that is run again', () => {
    it(
      'MUST be safe: it removes the events before the cut',
      withStore(open, async ({ traces, events, logRetention }) => {
        await Promise.all(Array.from({ length: 120 }, () => traces.append(sampleAppend())));
        const cuts = { ...NO_LOG_CUTS, eventsBeforeMs: monthStartMs(Date.now(), 3) };
        await finish(repeating(logRetention.begin(cuts)));
        expect(await events.list({ ...EVERYTHING, limit: 100 })).toEqual([]);
        await traces.append(sampleAppend());
        expect(await events.list({ ...EVERYTHING, limit: 100 })).toHaveLength(1);
      }),
    );
  });
}

const EVERYTHING = {
  organization: ORGANIZATION,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  type: null,
  after: null,
} as const;

/** The start of the month `monthsLater` later. */
function monthStartMs(instantMs: number, monthsLater = 0): number {
  const instant = new Date(instantMs);
  return Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + monthsLater);
}
