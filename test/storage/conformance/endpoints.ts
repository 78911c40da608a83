import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Endpoint, EndpointRecord } from '../../../src/domain/endpoints/endpoint.ts';
import type { ManagementChange } from '../../../src/domain/management/management.ts';
import type { Management } from '../../../src/domain/management/management-port.ts';
import { found, foundAnother, sampleAudit } from './management-samples.ts';
import { type OpenManagement, withStore } from './subject.ts';
import { NOW_MS, recordOf, sampleEndpoint } from './webhook-harness.ts';

const STREAKLESS = { failingSinceMs: null, lastSuccessAtMs: null, lastFailureAtMs: null, consecutiveFailures: 0 };
const ALL = { after: null, limit: null };

/** The rules of the records of endpoints; those of what they get are of the log. */
export function endpointConformance(open: OpenManagement): void {
  describe('records of endpoints', () => {
    it(
      'are stored as decided, bytes included, and read back whole',
      withStore(open, async (store) => {
        const { id: organizationId } = (await found(store)).organization;
        const http = sampleEndpoint({
          organizationId,
          previousSecret: randomBytes(78),
          previousSecretUntilMs: NOW_MS + 5,
        });
        const sqs = sampleEndpoint({
          organizationId,
          destinationKind: 'sqs',
          url: null,
          sqs: {
            queueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/queue',
            roleArn: 'arn:aws:iam::123456789012:role/sender',
            externalId: null,
            accessKeyId: 'AKIA1',
            secretAccessKey: randomBytes(60),
          },
          description: null,
          createdAtMs: NOW_MS + 1,
        });
        for (const record of [http, sqs]) {
          expect(await commit(store, organizationId, { endpoints: [isNew(record)] })).toBe('stored');
          const endpoint = await read(store, record);
          expect(recordOf(endpoint)).toEqual(record);
          expect(endpoint).toMatchObject({ version: 1, ...STREAKLESS });
        }
        const [first, second] = [await read(store, http), await read(store, sqs)];
        expect(Buffer.isBuffer(second.sqs?.secretAccessKey)).toBe(true);
        expect(second.number).toBeGreaterThan(first.number);
        expect(await store.webhooks.countEndpoints(organizationId)).toBe(2);
      }),
    );

    it(
      'are listed by (created, id), a page at a time or all, and found in their own organization only',
      withStore(open, async (store, subject) => {
        const { id: organizationId } = (await found(store)).organization;
        const records = Array.from({ length: 7 }, (_, index) =>
          sampleEndpoint({ organizationId, createdAtMs: NOW_MS - (index % 3) }),
        );
        expect(await commit(store, organizationId, { endpoints: records.map(isNew) })).toBe('stored');
        const expected = records
          .toSorted((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1))
          .map(({ id }) => id);
        const all = await store.webhooks.endpoints(organizationId, ALL);
        expect(all.map(({ id }) => id)).toEqual(expected);
        const walked: string[] = [];
        for (let after: { createdAtMs: number; id: string } | null = null; ; ) {
          const page: readonly EndpointRecord[] = await store.webhooks.endpoints(organizationId, { after, limit: 2 });
          walked.push(...page.map(({ id }) => id));
          const last = page.at(-1);
          if (last === undefined) break;
          after = last;
        }
        expect(walked).toEqual(expected);
        const others = await foundAnother(subject);
        expect(await store.webhooks.endpoint(others, expected[0] ?? '')).toBeNull();
        expect(await store.webhooks.endpoint(organizationId, 'x\u0000')).toBeNull();
        expect(await store.webhooks.endpoints(others, ALL)).toEqual([]);
        expect(await store.webhooks.countEndpoints(others)).toBe(0);
      }),
    );

    it(
      'MUST be stale, and nothing is stored, when an endpoint is of another version than it was read with',
      withStore(open, async (store) => {
        const { id: organizationId } = (await found(store)).organization;
        const first = sampleEndpoint({ organizationId });
        await commit(store, organizationId, { endpoints: [isNew(first)] });
        const endpoint = await read(store, first);
        const version = await store.management.version(organizationId);
        const record = { ...first, description: 'another' };
        const audit = [sampleAudit(organizationId)];
        for (const expectedVersion of [endpoint.version - 1, endpoint.version + 1]) {
          const endpoints = [{ record, expectedVersion, clearsStreak: true }];
          expect(await commit(store, organizationId, { endpoints, audit })).toBe('stale');
        }
        const unknown = { ...isNew(sampleEndpoint({ organizationId })), expectedVersion: 1 };
        expect(await commit(store, organizationId, { endpoints: [unknown], audit })).toBe('stale');
        expect(await store.management.version(organizationId)).toBe(version);
        expect(await read(store, first)).toEqual(endpoint);
        expect(await store.webhooks.countEndpoints(organizationId)).toBe(1);
      }),
    );
  });
}

function isNew(record: EndpointRecord) {
  return { record, expectedVersion: 0, clearsStreak: false };
}

async function commit({ management }: Management, organizationId: string, parts: Partial<ManagementChange>) {
  const expectedVersion = await management.version(organizationId);
  return await management.commit({ organizationId, expectedVersion, audit: [], ...parts });
}

async function read({ webhooks }: Management, { organizationId, id }: EndpointRecord): Promise<Endpoint> {
  const endpoint = await webhooks.endpoint(organizationId, id);
  if (endpoint === null) throw new Error(`there is no endpoint ${id}`);
  return endpoint;
}
