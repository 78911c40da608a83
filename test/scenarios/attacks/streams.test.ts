/** Streams that need no credential: reflection and watches of health. */

import { create, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../gen/grpc/health/v1/health_pb.js';
import { ServerReflectionRequestSchema } from '../../../gen/grpc/reflection/v1/reflection_pb.js';
import { grpcFrame, openStreams } from '../../support/attack-clients.ts';
import { startTarget, type Target } from '../../support/attack-target.ts';

const GRPC = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
const REFLECTION = { ...GRPC, ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' };
const WATCH = { ...GRPC, ':path': '/grpc.health.v1.Health/Watch' };
const QUESTIONS = 20_000;
const STREAMS = 1_000;
const WATCHES = 1_000;
const SERVED_MEANWHILE = 1_000;
/** So large that only the reader's own speed delays an answer. */
const READING_WINDOW_BYTES = 16 * 1024 * 1024;

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
beforeEach(() => target.revive());
afterAll(() => target.close());

function questions(count: number): Buffer {
  const messageRequest = { case: 'fileByFilename' as const, value: 'spandrel/v1/traces.proto' };
  const one = grpcFrame(
    toBinary(ServerReflectionRequestSchema, create(ServerReflectionRequestSchema, { messageRequest })),
  );
  return Buffer.concat(Array.from({ length: count }, () => one));
}

it('E1: thousands of questions about files on one stream without reading the answers', () =>
  target.attack({ id: 'E1', n: QUESTIONS }, async (attack) => {
    const body = questions(QUESTIONS);
    openStreams(target, attack, { sessions: 1, streams: 1, headers: REFLECTION, body, ends: false });
    await attack.serves(SERVED_MEANWHILE);
  }));

it('E2: thousands of questions about files on one stream with reading the answers', () =>
  target.attack({ id: 'E2', n: QUESTIONS }, async (attack) => {
    const streams = openStreams(target, attack, {
      sessions: 1,
      streams: 1,
      headers: REFLECTION,
      body: questions(QUESTIONS),
      windowBytes: READING_WINDOW_BYTES,
    });
    for (const stream of streams.streams) stream.resume();
    await attack.serves(SERVED_MEANWHILE);
  }));

it('E3: many streams of questions without reading the answers', () =>
  target.attack({ id: 'E3', n: STREAMS }, async (attack) => {
    const body = questions(100);
    openStreams(target, attack, { sessions: STREAMS / 50, streams: 50, headers: REFLECTION, body, ends: false });
    await attack.serves(SERVED_MEANWHILE);
  }));

it('E4: a thousand watches of health from one address leave some for others', () =>
  target.attack({ id: 'E4', n: WATCHES }, async (attack) => {
    const body = grpcFrame(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service: '' })));
    const wish = { sessions: WATCHES / 100, streams: 100, headers: WATCH, windowBytes: 65_535 };
    const streams = openStreams(target, attack, { ...wish, body });
    for (const stream of streams.streams) stream.resume();
    await attack.serves(SERVED_MEANWHILE);
    const health = createClient(Health, createGrpcTransport({ baseUrl: target.address }));
    for await (const { status } of health.watch({ service: '' }, { timeoutMs: 10_000 })) {
      expect(status).toBe(Status.SERVING);
      break;
    }
  }));
