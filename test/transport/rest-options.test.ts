import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, createFileRegistry, type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checksOf } from '../../src/rpc/field-rules.ts';
import { fieldValue } from '../../src/rpc/field-values.ts';
import { decodeMessage } from '../../src/transport/rest/decode.ts';
import { compileEncoder } from '../../src/transport/rest/encode.ts';
import { temporaryFolder } from '../support/temp.ts';

/** Options that no single message of the contract covers. */
const PROTO = `syntax = "proto3";
package sample;
import "buf/validate/validate.proto";
import "google/api/field_behavior.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/timestamp.proto";
import "spandrel/v1/options.proto";
option (spandrel.v1.rest_case) = REST_CASE_CAMEL;

message Window {
  google.protobuf.Timestamp starts_at = 1 [
    (spandrel.v1.rest) = {name: "from" epoch_ms: true},
    (buf.validate.field).timestamp.gte = {seconds: 0}
  ];
  string page_token = 2 [(spandrel.v1.rest) = {name: "page" page_number: true}];
}
message Names { repeated string names = 1 [(spandrel.v1.rest) = {inline: true}]; }
message Expiry { optional google.protobuf.Timestamp at = 1 [(spandrel.v1.rest) = {inline: true}]; }
message Lists { Names names = 1; Expiry expires_at = 2; }
message Part {
  string id = 1 [(google.api.field_behavior) = OUTPUT_ONLY];
  string name = 2;
}
message Thing {
  option (spandrel.v1.rest_extra) = {name: "success" json: "true" before: "parts"};
  option (spandrel.v1.rest_extra) = {name: "allParts" copy_of: "parts"};
  option (spandrel.v1.rest_extra) = {name: "main" copy_of: "main_part.name"};
  string id = 1 [(google.api.field_behavior) = OUTPUT_ONLY];
  repeated Part parts = 2 [(spandrel.v1.rest) = {omit: "id"}];
  Part main_part = 3 [(spandrel.v1.rest) = {hidden: true}];
}
message UpdateThing {
  string id = 1;
  Thing thing = 2 [(spandrel.v1.rest) = {inline: true}];
  google.protobuf.FieldMask update_mask = 3;
}
message Keys { optional string id = 1; optional string secret = 2 [(google.api.field_behavior) = INPUT_ONLY]; }
message Role { optional string arn = 1; optional Keys base = 2 [(spandrel.v1.rest) = {inline: true}]; }
message Nothing {}
message Queue {
  option (spandrel.v1.rest_extra) = {name: "mode" case_of: "credentials" before: "role"};
  string name = 1;
  oneof credentials {
    option (spandrel.v1.rest_merged) = true;
    Role role = 2 [(spandrel.v1.rest) = {inline: true}];
    Keys keys = 3 [(spandrel.v1.rest) = {name: "pair" inline: true}];
    Nothing nothing = 4 [(spandrel.v1.rest) = {inline: true}];
  }
  string last = 5;
}
message Place { oneof place { string url = 1 [(buf.validate.field).string.min_len = 2]; Queue queue = 2; } }
message UpdatePlace {
  Place place = 1 [(spandrel.v1.rest) = {inline: true}];
  google.protobuf.FieldMask update_mask = 2;
}
message Bounds {
  int32 above = 1 [(buf.validate.field).int32.gt = 1];
  int32 below = 2 [(buf.validate.field).int32.lt = 9];
}
message OtherType { string text = 1 [(buf.validate.field).int32.gte = 1]; }
message Unread { string text = 1 [(buf.validate.field).string.email = true]; }
message Untellable { string text = 1 [(buf.validate.field).required = true]; }
`;

const folder = temporaryFolder();
let messages: ReadonlyMap<string, DescMessage>;
beforeAll(() => {
  mkdirSync(join(folder.path, 'own'));
  writeFileSync(join(folder.path, 'own/sample.proto'), PROTO);
  for (const root of ['proto', 'third_party']) cpSync(root, join(folder.path, root), { recursive: true });
  // Adds a public rule that the trimmed copy lacks.
  const rules = join(folder.path, 'third_party/buf/validate/validate.proto');
  const widened = readFileSync(rules, 'utf8').replace('message StringRules {', '$&\n  optional bool email = 12;');
  writeFileSync(rules, widened);
  writeFileSync(
    join(folder.path, 'buf.yaml'),
    'version: v2\nmodules: [{path: own}, {path: proto}, {path: third_party}]\n',
  );
  const { stdout, stderr } = spawnSync('buf', ['build', '-o', '-#format=binpb'], { cwd: folder.path });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, stdout));
  const file = registry.getFile('sample.proto');
  if (!file) throw new Error(String(stderr));
  messages = new Map(file.messages.map((desc) => [desc.name, desc]));
});
afterAll(() => folder.remove());

function named(name: string): DescMessage {
  const desc = messages.get(name);
  if (!desc) throw new Error(`no message ${name}`);
  return desc;
}

type Sent = { readonly body?: object; readonly query?: string };

function decode(name: string, { body, query = '' }: Sent) {
  const sent = body === undefined ? null : (JSON.parse(JSON.stringify(body), toRaw) as never);
  const parts = { parameters: { id: 'x' }, query: new URLSearchParams(query), body: sent, nullIsAbsent: false };
  const { message, problems } = decodeMessage(named(name), { ...parts, nullUnsets: true });
  return { message: message as unknown as Record<string, unknown>, problems };
}

/** Numbers keep the caller's spelling. */
function toRaw(_: string, value: unknown): unknown {
  return typeof value === 'number' ? JSON.rawJSON(String(value)) : value;
}

const write = (name: string, init: Record<string, unknown>) => compileEncoder(named(name))(create(named(name), init));

describe('an instant in epoch milliseconds', () => {
  it.each([0, 1_500, 253_402_300_799_999, 253_402_300_800_000, Number.MAX_SAFE_INTEGER])(
    '%d is read and written as it is',
    (ms) => {
      const inQuery = decode('Window', { query: `from=${ms}` });
      const inBody = decode('Window', { body: { from: ms } });
      expect(inQuery.problems).toEqual([]);
      expect(inBody.message.startsAt).toEqual(inQuery.message.startsAt);
      expect(write('Window', inQuery.message)).toBe(`{"from":${ms},"page":""}`);
    },
  );

  it('is a whole number', () => {
    const types = ['soon', '2030-01-02', 1.5, 2 ** 53, true].map((from) => {
      const [problem] = decode('Window', { body: { from } }).problems;
      return problem && [problem.type, problem.field];
    });
    const wrong = ['invalid_type', 'from'];
    expect(types).toEqual([wrong, wrong, wrong, ['too_big', 'from'], wrong]);
    for (const text of ['-1', '1.0', '1e3', '', '2030-01-02']) {
      expect(decode('Window', { query: `from=${text}` }).problems[0]?.type).toBe('invalid_type');
    }
  });

  it('is refused with its unit', () => {
    const message = 'from must be an integer, the milliseconds since the epoch';
    const reason = { field: 'from', type: 'invalid_type', message, expected: 'integer' };
    const inQuery = decode('Window', { query: 'from=2030-01-02' }).problems;
    expect(inQuery).toEqual([{ ...reason, target: 'query', received: 'string' }]);
    const inBody = decode('Window', { body: { from: 1.5 } }).problems;
    expect(inBody).toEqual([{ ...reason, target: 'json', received: 'number' }]);
  });

  it('has bounds as a rule', () => {
    const [{ check } = fail()] = checksOf(named('Window'));
    const found: never[] = [];
    check(decode('Window', { body: { from: -1 } }).message.startsAt, 'from', found);
    check(decode('Window', { body: { from: 0 } }).message.startsAt, 'from', found);
    expect(found).toEqual([{ field: 'from', type: 'too_small', message: 'from must be at least 0', expected: 0 }]);
  });
});

it('a token that is the number of a page is a whole number over REST', () => {
  expect(decode('Window', { query: 'page=7' }).message.pageToken).toBe('7');
  expect(decode('Window', { query: 'page=x' }).problems[0]).toMatchObject({
    type: 'invalid_type',
    expected: 'integer',
  });
});

describe('a wrapper message', () => {
  it('is that value', () => {
    const { message } = decode('Lists', { body: { names: ['a'], expiresAt: '1970-01-01' } });
    expect(message).toMatchObject({ names: { names: ['a'] }, expiresAt: { at: { seconds: 0n } } });
    expect(write('Lists', message)).toBe('{"names":["a"],"expiresAt":"1970-01-01T00:00:00.000Z"}');
  });

  it('distinguishes empty from missing values', () => {
    const { message } = decode('Lists', { body: { names: [], expiresAt: null } });
    expect(message).toMatchObject({ names: { names: [] }, expiresAt: {} });
    const { names, expiresAt } = decode('Lists', { body: {} }).message;
    expect([names, expiresAt]).toEqual([undefined, undefined]);
  });

  it('is refused by the name of the member', () => {
    const { problems } = decode('Lists', { body: { names: 'a', expiresAt: {} } });
    expect(problems.map(({ message }) => message)).toEqual(['names must be an array', 'expiresAt must be a timestamp']);
  });
});

describe('a resource with a mask', () => {
  const body = { id: 5, parts: [{ id: 5, name: 'n' }], other: 1 };

  it('reads its members from the body, and ignores read-only ones', () => {
    const { message, problems } = decode('UpdateThing', { body });
    expect(problems).toEqual([]);
    expect(message).toMatchObject({ id: 'x', thing: { id: '', parts: [{ id: '', name: 'n' }] } });
    expect(message.updateMask).toMatchObject({ paths: ['parts'] });
  });
});

it('members that the message has not are written beside those it has', () => {
  const parts = [{ id: '1', name: 'n' }];
  expect(write('Thing', { id: 'i', parts, mainPart: { name: 'm' } })).toBe(
    '{"id":"i","success":true,"parts":[{"name":"n"}],"allParts":[{"id":"1","name":"n"}],"main":"m"}',
  );
  expect(write('Thing', {})).toBe('{"id":"","success":true,"parts":[],"allParts":[]}');
});

describe('messages of a oneof that share one place', () => {
  it.each<readonly [string, object, string]>([
    [
      'the one that is set',
      { case: 'role', value: { arn: 'a', base: { id: 'i' } } },
      '"mode":"role","arn":"a","id":"i"',
    ],
    ['null for what is unset in it', { case: 'role', value: { arn: 'a' } }, '"mode":"role","arn":"a","id":null'],
    ['null for what it lacks', { case: 'keys', value: { id: 'i', secret: 's' } }, '"mode":"pair","arn":null,"id":"i"'],
    ['null where it has nothing', { case: 'nothing', value: {} }, '"mode":"nothing","arn":null,"id":null'],
    ['null where none is set', { case: undefined }, '"mode":null,"arn":null,"id":null'],
  ])('are written as %s', (_, credentials, members) => {
    const queue = { case: 'queue', value: create(named('Queue'), { name: 'n', credentials }) };
    expect(write('Place', { place: queue })).toBe(`{"url":null,"queue":{"name":"n",${members},"last":""}}`);
  });

  it.each<readonly [object, object, readonly string[]]>([
    [{}, { case: undefined }, ['queue']],
    [{ arn: 'a' }, { case: 'role', value: { arn: 'a' } }, ['queue.role.arn']],
    [{ arn: null, name: 'n' }, { case: undefined }, ['queue.name', 'queue.role.arn']],
    [{ id: 'i' }, { case: 'keys', value: { id: 'i' } }, ['queue.role.base.id', 'queue.keys.id']],
    [
      { id: 'i', arn: 'a' },
      { case: 'role', value: { arn: 'a', base: { id: 'i' } } },
      ['queue.role.arn', 'queue.role.base.id', 'queue.keys.id'],
    ],
  ])('are read from %j', (queue, credentials, paths) => {
    const { message, problems } = decode('UpdatePlace', { body: { queue } });
    expect(problems).toEqual([]);
    expect(message).toMatchObject({
      place: { place: { case: 'queue', value: { credentials } } },
      updateMask: { paths },
    });
  });
});

it('all members of a oneof that a body sets are judged', () => {
  const { message } = decode('Place', { body: { url: 'u', queue: { name: 'n' } } });
  expect(message.place).toEqual({ case: 'url', value: 'u' });
  const { url, queue } = named('Place').field;
  if (!url || !queue) fail();
  expect(fieldValue(message as never, url)).toBe('u');
  expect(fieldValue(message as never, queue)).toMatchObject({ name: 'n' });
  const [{ check } = fail()] = checksOf(named('Place'));
  const found: { message: string }[] = [];
  check(fieldValue(message as never, url), 'url', found as never);
  expect(found.map((each) => each.message)).toEqual(['url must have at least 2 characters']);
});

describe('field rules', () => {
  it('distinguish "above" from "at least"', () => {
    const [above = fail(), below = fail()] = checksOf(named('Bounds'));
    const found: { message: string }[] = [];
    for (const value of [1, 2]) above.check(value, 'above', found as never);
    for (const value of [8, 9]) below.check(value, 'below', found as never);
    expect(found.map(({ message }) => message)).toEqual(['above must be at least 2', 'below must be at most 8']);
  });

  it.each(['OtherType', 'Untellable', 'Unread'])('that nothing checks refuse to start: %s', (name) => {
    expect(() => checksOf(named(name))).toThrow(/spandrel|sample/);
  });
});

function fail(): never {
  throw new Error('there is no check');
}
