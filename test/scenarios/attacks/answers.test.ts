/** Many large answers that clients never receive, over every protocol. */

import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { GetTraceRequestSchema } from '../../../gen/spandrel/v1/traces_pb.js';
import { grpcFrame, openHostile, openStreams, requestHead } from '../../support/attack-clients.ts';
import { type Attack, heldFigures, startTarget, type Target } from '../../support/attack-target.ts';
import { storeHeavyTrace } from '../../support/attack-traces.ts';
import { until } from '../../support/temp.ts';

const ANSWERS = 110;
const ANSWERS_SERVED_MEANWHILE = 1_000;
const RPC = '/spandrel.v1.TraceService/GetTrace';
const ANSWERED_OR_REFUSED = [200, 503];

let target: Target;
let path: string;
let message: Uint8Array;
beforeAll(async () => {
  target = await startTarget();
  const traceId = await storeHeavyTrace(target);
  path = `/api/traces/${traceId}`;
  message = toBinary(GetTraceRequestSchema, create(GetTraceRequestSchema, { traceId }));
});
beforeEach(() => target.revive());
afterAll(() => target.close());

it('110 answers on one connection that reads none do not accumulate', () =>
  target.attack({ id: 'A1', n: ANSWERS }, async (attack) => {
    const head = requestHead(target, `GET ${path}`);
    openHostile(target, attack, head.repeat(ANSWERS), { reads: false });
    await attack.serves(ANSWERS_SERVED_MEANWHILE);
  }));

it('110 answers on sixty connections that read none do not accumulate', () =>
  target.attack({ id: 'A2', n: ANSWERS }, async (attack) => {
    const head = requestHead(target, `GET ${path}`);
    for (let index = 0; index < 60; index += 1) {
      openHostile(target, attack, head.repeat(index % 60 < ANSWERS - 60 ? 2 : 1), { reads: false });
    }
    await attack.serves(ANSWERS_SERVED_MEANWHILE);
  }));

/** Ten streams in each of eleven sessions, so that the limit of one session does not apply. */
async function askByStreams(attack: Attack, headers: { readonly [name: string]: string }, body?: Buffer) {
  const streams = openStreams(target, attack, {
    sessions: 11,
    streams: ANSWERS / 11,
    headers: { ':path': path, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  await attack.serves(ANSWERS_SERVED_MEANWHILE);
  expect(streams.statuses.filter((status) => !ANSWERED_OR_REFUSED.includes(status))).toEqual([]);
}

it('110 answers on HTTP/2 streams without a window do not accumulate', () =>
  target.attack({ id: 'A3', n: ANSWERS }, (attack) => askByStreams(attack, { ':method': 'GET' })));

it('110 answers over gRPC without a window do not accumulate', () =>
  target.attack({ id: 'A4', n: ANSWERS }, (attack) =>
    askByStreams(
      attack,
      { ':method': 'POST', ':path': RPC, 'content-type': 'application/grpc', te: 'trailers' },
      grpcFrame(message),
    ),
  ));

it('110 answers over Connect without a window do not accumulate', () =>
  target.attack({ id: 'A5', n: ANSWERS }, (attack) =>
    askByStreams(
      attack,
      { ':method': 'POST', ':path': RPC, 'content-type': 'application/proto' },
      Buffer.from(message),
    ),
  ));

it('I1: 300 clients that read a byte a second of five MiB delay no other client', () =>
  target.attack({ id: 'I1', n: 300 }, async (attack) => {
    // A page of this trace with ten spans is just under five MiB of text.
    const head = requestHead(target, `GET ${path}?spansLimit=10`);
    const slow = Array.from({ length: 300 }, () => openHostile(target, attack, head, { reads: false }));
    const sip = setInterval(() => {
      for (const { socket } of slow) socket.read(1);
    }, 1_000);
    attack.closeLater(() => clearInterval(sip));
    await attack.serves(ANSWERS_SERVED_MEANWHILE);
    // Kernels report such slow progress in large steps, so it looks like none. A client that has not read earlier bytes
    // does not see that it was cut.
    const holdsAnswers = async () => (await heldFigures(target.address)).some((held) => held.includes('answer_bytes'));
    await until(async () => !(await holdsAnswers()), 240_000);
  }));
