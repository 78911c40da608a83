import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  ReportedRequestSchema,
  ReportGovernanceEventsRequestSchema,
  ReportRequestsRequestSchema,
} from '../../gen/spandrel/v1/gateway_pb.js';
import { readGovernanceEvents, readRequests } from '../../src/rpc/gateway/report-request.ts';

it('records become drafts one by one, so that a list that is too long is refused before it is read', () => {
  // Reading a number that no double holds 20,001 times is refused.
  const record = create(ReportedRequestSchema, { metadataJson: `[${Array(101).fill('9007199254740993').join()}]` });
  const records = Array.from({ length: 200 }, () => record);
  const list = readRequests(create(ReportRequestsRequestSchema, { records }));
  expect(list.length).toBe(200);
  for (let index = 0; index < 198; index += 1) list.at(index);
  expect(() => list.at(198)).toThrow('20000');
  expect(list.at(200)).toBeUndefined();
});

it('metadata far larger than it may be is not parsed', () => {
  const read = (metadataJson: string) =>
    readRequests(create(ReportRequestsRequestSchema, { records: [{ metadataJson }] })).at(0);
  expect(read(`{"a":"${'x'.repeat(65_528)}"}`)).toMatchObject({ metadata: { a: expect.any(String) } });
  const long = `{"a":"${'x'.repeat(65_529)}"}`;
  expect(read(long)).toMatchObject({ metadata: { metadataJson: long } });
  // Space is not stored, so it is not a reason to refuse.
  expect(read(`{${' '.repeat(70_000)}"a": 1}`)).toMatchObject({ metadata: { a: 1 } });
});

it('so do governance events', () => {
  const list = readGovernanceEvents(create(ReportGovernanceEventsRequestSchema, { events: [{ type: 'a' }] }));
  expect([list.length, list.at(0), list.at(1)]).toMatchObject([1, { type: 'a' }, undefined]);
});
