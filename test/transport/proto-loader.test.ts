/** The contract as a client reads it with another encoder: protobufjs, which loads the protos when it starts. */

import { credentials, Metadata, makeClientConstructor, type ServiceError } from '@grpc/grpc-js';
import { loadSync, type MessageTypeDefinition, type PackageDefinition } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HTTP, NOBODY_URL, QUEUE_URL, ROLE, startSending } from '../api/endpoints/endpoints-client.ts';
import type { TestApp } from '../support/app.ts';
import type { Body } from '../support/surfaces.ts';

const ROOTS = ['proto', 'third_party'].map((root) => new URL(`../../${root}`, import.meta.url).pathname);
const FILES = ['endpoints', 'traces', 'keys'].map((stem) => `spandrel/v1/${stem}.proto`);

let app: TestApp;
let contract: PackageDefinition;
beforeAll(async () => {
  contract = loadSync([...FILES, 'google/rpc/status.proto', 'google/rpc/error_details.proto'], {
    includeDirs: ROOTS,
    keepCase: true,
    enums: String,
    longs: String,
    oneofs: true,
  });
  app = await startSending();
});
afterAll(async () => {
  await app.close();
});

type Caller = (request: object, token?: string) => Promise<Body>;

/** Calls an rpc, and returns its answer; rejects with the error of @grpc/grpc-js. */
function caller(service: string, rpc: string): Caller {
  return async (request, token = app.adminKey) => {
    const Service = makeClientConstructor(contract[`spandrel.v1.${service}`] as never, service);
    const client = new Service(new URL(app.address).host, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('x-auth-token', token);
    try {
      return await new Promise((resolve, reject) => {
        const call = client[rpc] as (...parts: unknown[]) => void;
        call.call(client, request, metadata, (error: ServiceError | null, answer: Body) =>
          error === null ? resolve(answer) : reject(error),
        );
      });
    } finally {
      client.close();
    }
  };
}

const inEndpoints = (rpc: string) => caller('EndpointService', rpc);

function decoded(type: string, bytes: Uint8Array): Body {
  return (contract[type] as MessageTypeDefinition<object, object>).deserialize(Buffer.from(bytes));
}

/** The details of an error, by the names of their types. */
function detailsOf({ metadata }: ServiceError): { readonly [type: string]: Body } {
  const [bytes] = metadata.get('grpc-status-details-bin');
  if (!(bytes instanceof Buffer)) throw new Error('the error has no details');
  const { details } = decoded('google.rpc.Status', bytes) as { details: { type_url: string; value: Uint8Array }[] };
  return Object.fromEntries(
    details.map(({ type_url, value }) => {
      const type = type_url.replace('type.googleapis.com/', '');
      return [type, decoded(type, value)];
    }),
  );
}

async function refusal(answering: Promise<Body>): Promise<ServiceError> {
  return answering.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: ServiceError) => error,
  );
}

describe('an endpoint', () => {
  it('is made with a url, and read', async () => {
    const made = await inEndpoints('CreateEndpoint')(HTTP);
    expect(made.data).toMatchObject({
      destination: 'url',
      url: NOBODY_URL,
      destination_kind: 'DESTINATION_KIND_HTTP',
      status: 'ENDPOINT_STATUS_ACTIVE',
      secret: expect.stringMatching(/^whsec_/),
    });
    const { data } = await inEndpoints('GetEndpoint')({ id: made.data.id });
    expect(data).toMatchObject({ destination: 'url', url: NOBODY_URL, created_at: made.data.created_at });
    expect(data).not.toHaveProperty('secret');
  });

  it.each<readonly [string, object]>([
    ['assume_role', { role_arn: ROLE, external_id: 'ours' }],
    ['access_keys', { access_key_id: 'AKIA' }],
  ])('is made with a queue and %s', async (variant, expected) => {
    const secret = variant === 'access_keys' ? { secret_access_key: 'open sesame' } : {};
    const sqs = { queue_url: QUEUE_URL, [variant]: { ...expected, ...secret } };
    const { data } = await inEndpoints('CreateEndpoint')({ sqs, enabled_events: ['*'] });
    expect(data).toMatchObject({
      destination: 'sqs',
      destination_kind: 'DESTINATION_KIND_SQS',
      sqs: { queue_url: QUEUE_URL, region: 'eu-west-1', credentials: variant, [variant]: expected },
    });
    expect(data.sqs[variant]).not.toHaveProperty('secret_access_key');
    const { data: all } = await inEndpoints('ListEndpoints')({});
    expect(all).toContainEqual(expect.objectContaining({ id: data.id, sqs: data.sqs }));
  });

  it('is listed in pages', async () => {
    for (let made = 0; made < 3; made += 1) await inEndpoints('CreateEndpoint')(HTTP);
    const { data: all } = await inEndpoints('ListEndpoints')({});
    const seen: string[] = [];
    let token = '';
    do {
      const page = await inEndpoints('ListEndpoints')({ page_size: 2, page_token: token });
      seen.push(...page.data.map(({ id }: Body) => id));
      token = page.next_page_token;
    } while (token !== '');
    expect(seen).toEqual(all.map(({ id }: Body) => id));
  });

  it('is changed in what a mask names', async () => {
    const request = { sqs: { queue_url: QUEUE_URL, assume_role: { role_arn: ROLE } }, enabled_events: ['*'] };
    const { data: made } = await inEndpoints('CreateEndpoint')(request);
    const { data } = await inEndpoints('UpdateEndpoint')({
      id: made.id,
      endpoint: { max_in_flight: 2, sqs: { assume_role: { external_id: 'theirs' } } },
      update_mask: { paths: ['max_in_flight', 'sqs.assume_role.external_id'] },
    });
    expect(data).toMatchObject({
      max_in_flight: 2,
      max_batch_size: made.max_batch_size,
      sqs: { queue_url: QUEUE_URL, assume_role: { role_arn: ROLE, external_id: 'theirs' } },
    });
  });

  it('that is wrong is refused with typed details', async () => {
    const error = await refusal(inEndpoints('CreateEndpoint')({ url: NOBODY_URL }));
    expect(error.code).toBe(3);
    expect(detailsOf(error)).toMatchObject({
      'google.rpc.ErrorInfo': {
        reason: 'VALIDATION_ERROR',
        domain: 'spandrel',
        metadata: { type: 'bad_request', fields: '["enabled_events"]' },
      },
      'google.rpc.BadRequest': { field_violations: [{ field: 'enabled_events' }] },
    });
  });
});

describe('a trace', () => {
  const inTraces = (rpc: string): Caller => {
    const call = caller('TraceService', rpc);
    return (request) => call(request, app.projectKey);
  };

  it('is collected and read', async () => {
    const at = (seconds: number) => ({ seconds: String(Math.floor(Date.now() / 1_000) + seconds), nanos: 500_000_000 });
    const span = {
      span_id: 's1',
      type: 'SPAN_TYPE_LLM',
      model: 'gpt-5',
      input: { type: 'text', value_json: '"hello"' },
      metrics: { prompt_tokens: 100, completion_tokens: 150 },
      timestamps: { started_at: at(-2), finished_at: at(-1) },
    };
    const collected = await inTraces('CollectTrace')({
      trace_id: 'foreign',
      spans: [span],
      metadata_json: '{"a":1.0}',
    });
    expect(collected.partial_success).not.toHaveProperty('rejected_spans');
    const answer = await inTraces('GetTrace')({ trace_id: 'foreign' });
    expect(answer).toMatchObject({
      view: 'trace',
      trace: {
        trace_id: 'foreign',
        span_count: '1',
        spans: [{ span_id: 's1', type: 'SPAN_TYPE_LLM', model: 'gpt-5' }],
      },
    });
  });

  it('that is not there is a typed error', async () => {
    const error = await refusal(inTraces('GetTrace')({ trace_id: 'nobody' }));
    expect(error.code).toBe(5);
    expect(detailsOf(error)).toMatchObject({
      'google.rpc.ErrorInfo': { reason: 'TRACE_NOT_FOUND', domain: 'spandrel', metadata: { type: 'not_found' } },
    });
  });
});
