import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { CreateEndpointRequestSchema } from '../../gen/spandrel/v1/endpoints_pb.js';
import {
  CreateApiKeyRequestSchema,
  KeyType,
  Role,
  RotateApiKeyRequestSchema,
  ScopeType,
} from '../../gen/spandrel/v1/keys_pb.js';
import { CreateTeamRequestSchema } from '../../gen/spandrel/v1/organization_pb.js';
import { implyKind } from '../../src/rpc/endpoints/endpoint-request.ts';
import { canonicalRequest } from '../../src/rpc/idempotency.ts';
import { decodeMessage } from '../../src/transport/rest/decode.ts';

function overRpc<D extends DescMessage>(desc: D, request: MessageInitShape<D>): string {
  return Buffer.from(canonicalRequest(desc, create(desc, request))).toString('hex');
}

function overRest(desc: DescMessage, body: object, parameters: { [name: string]: string } = {}): string {
  const parts = { parameters, query: new URLSearchParams(), nullIsAbsent: false, nullUnsets: true };
  const { message, problems } = decodeMessage(desc, { ...parts, body: body as never });
  expect(problems).toEqual([]);
  return Buffer.from(canonicalRequest(desc, message)).toString('hex');
}

describe('the same request has the same form', () => {
  it('over REST and over RPC', () => {
    const body = {
      name: 'ci',
      description: 'for builds',
      keyType: 'service',
      bindings: [{ role: 'MEMBER', scopeType: 'PROJECT', scopeId: 'project_1' }],
      expiresAt: '2030-01-01T00:00:00Z',
    };
    const request = {
      keyType: KeyType.SERVICE,
      name: 'ci',
      description: 'for builds',
      bindings: [{ role: Role.MEMBER, scopeType: ScopeType.PROJECT, scopeId: 'project_1' }],
      expiry: { at: { seconds: 1_893_456_000n } },
    };
    expect(overRpc(CreateApiKeyRequestSchema, request)).toBe(overRest(CreateApiKeyRequestSchema, body));
  });

  it('with members in any order, and undeclared members', () => {
    const one = overRest(CreateApiKeyRequestSchema, { name: 'a', description: 'b' });
    expect(overRest(CreateApiKeyRequestSchema, { description: 'b', undeclared: 1, name: 'a' })).toBe(one);
  });

  it('with the id in the path or in the message', () => {
    const rest = overRest(RotateApiKeyRequestSchema, { overlapSeconds: JSON.rawJSON('60') }, { id: 'key1' });
    expect(overRpc(RotateApiKeyRequestSchema, { id: 'key1', overlapSeconds: 60 })).toBe(rest);
  });

  it('with fields of a later contract', () => {
    const plain = create(CreateTeamRequestSchema, { name: 'a' });
    const later = create(CreateTeamRequestSchema, { name: 'a' });
    later.$unknown = [{ no: 99, wireType: 2, data: toBinary(CreateTeamRequestSchema, plain) }];
    const form = (message: typeof plain) => Buffer.from(canonicalRequest(CreateTeamRequestSchema, message)).toString();
    expect(form(later)).toBe(form(plain));
  });
});

describe('a new endpoint has the same form over REST and over RPC', () => {
  const PAIR = { access_key_id: 'i', secret_access_key: 's' };
  const pair = { accessKeyId: 'i', secretAccessKey: 's' };

  it.each<readonly [string, object, MessageInitShape<typeof CreateEndpointRequestSchema>]>([
    ['of a url', { url: 'https://a' }, { destination: { case: 'url', value: 'https://a' } }],
    ...(
      [
        [{ role_arn: 'r' }, { case: 'assumeRole', value: { roleArn: 'r' } }],
        [
          { role_arn: 'r', ...PAIR },
          { case: 'assumeRole', value: { roleArn: 'r', base: pair } },
        ],
        [PAIR, { case: 'accessKeys', value: pair }],
      ] as const
    ).map(
      ([sqs, credentials]) =>
        [
          `of a queue with ${Object.keys(sqs)}`,
          { destination_kind: 'sqs', sqs: { queue_url: 'https://q', ...sqs } },
          { destination: { case: 'sqs', value: { queueUrl: 'https://q', credentials } } },
        ] as const,
    ),
  ])('%s', (_, body, request) => {
    const message = create(CreateEndpointRequestSchema, request);
    implyKind(message);
    expect(overRpc(CreateEndpointRequestSchema, message)).toBe(overRest(CreateEndpointRequestSchema, body));
  });
});

describe('another request has another form', () => {
  it('where a field is sent and where it is not', () => {
    const forms = [
      overRest(CreateApiKeyRequestSchema, { name: 'a' }),
      overRest(CreateApiKeyRequestSchema, { name: 'a', projectIds: [] }),
      overRest(CreateApiKeyRequestSchema, { name: 'a', expiresAt: null }),
      overRest(CreateApiKeyRequestSchema, { name: 'a', description: '' }),
      overRest(CreateApiKeyRequestSchema, { name: 'a', keyType: 'personal' }),
      overRpc(RotateApiKeyRequestSchema, { id: 'key1' }),
      overRpc(RotateApiKeyRequestSchema, { id: 'key1', overlapSeconds: 0 }),
    ];
    expect(new Set(forms).size).toBe(forms.length);
  });

  it('where values differ', () => {
    const forms = [
      overRest(RotateApiKeyRequestSchema, {}, { id: 'key1' }),
      overRest(RotateApiKeyRequestSchema, {}, { id: 'key2' }),
      overRest(CreateApiKeyRequestSchema, { permissions: ['a', 'b'] }),
      overRest(CreateApiKeyRequestSchema, { permissions: ['b', 'a'] }),
      overRest(CreateApiKeyRequestSchema, { permissions: ['ab'] }),
    ];
    expect(new Set(forms).size).toBe(forms.length);
  });
});
