/** Serves requests of this server itself, which have no connection: their answers are collected. */

import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { HoldMemory } from '../domain/gateway/dialects/held-bytes.ts';
import { type GatewayFault, gatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { ModelAnswer, ModelRequest } from '../domain/gateway/model-request.ts';
import { routeOf } from './data-routes.ts';
import type { Proxy as DataProxy } from './proxy.ts';

type OwnDeps = {
  readonly proxy: Pick<DataProxy, 'serveOwn'>;
  /** Counts a request. */
  readonly open: () => {
    /** Counts the request for its key. Returns why there is no room for it. */
    readonly identify: (keyId: string) => GatewayFault | null;
    readonly holdMemory: HoldMemory;
    readonly close: () => void;
  };
};

/** Whoever waits for an answer does not wait longer. */
const WHOLE_MAX_MS = 150_000;
const ANSWER_MAX_BYTES = 8 * 1024 * 1024;
const END_USER_HEADER = 'x-langwatch-end-user-id';
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
const TOO_LATE = gatewayFault(504, 'provider_timeout', `No provider answered within ${WHOLE_MAX_MS / 1_000} seconds.`);
const TOO_LARGE = gatewayFault(502, 'provider_error', `The answer has more than ${ANSWER_MAX_BYTES} bytes.`);

export function createOwnRequests({ proxy, open }: OwnDeps) {
  /** Never rejects. */
  return async ({ kind, body, presented, tried, endUserId }: ModelRequest): Promise<ModelAnswer> => {
    const route = routeOf('POST', PATHS[kind]);
    if (route === null || !('path' in route)) throw new Error(`the gateway has no route ${PATHS[kind]}`);
    const quota = open();
    const collected = collectAnswer();
    const { response } = collected;
    const call = {
      ...{ route, query: '', headers: {}, response },
      header: (name: string) => (name === END_USER_HEADER ? (endUserId ?? undefined) : undefined),
      ...{ identify: quota.identify, holdMemory: quota.holdMemory },
      readBody: async () => Buffer.from(body),
    };
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      response.destroy();
    }, WHOLE_MAX_MS).unref();
    try {
      const { fault, account = null } = await proxy.serveOwn(call, { route, presented, tried });
      const { status, bytes, isTooLarge } = collected.read();
      return { status, bytes, account, fault: isLate ? TOO_LATE : isTooLarge ? TOO_LARGE : fault };
    } finally {
      clearTimeout(timer);
      quota.close();
    }
  };
}

/** A response that keeps what is written, as far as the gateway uses one. */
function collectAnswer() {
  const parts: Buffer[] = [];
  let size = 0;
  let status = 0;
  const sink = new Writable({
    write(part: Buffer, _encoding, done) {
      size += part.length;
      if (size > ANSWER_MAX_BYTES) sink.destroy();
      else parts.push(part);
      done();
    },
  });
  const head = {
    headersSent: false,
    socket: {},
    req: { method: 'POST', complete: true, httpVersionMajor: 1 },
    writeHead(sent: number) {
      status = sent;
      Object.assign(sink, { headersSent: true });
      return sink;
    },
  };
  return {
    response: Object.assign(sink, head) as unknown as ServerResponse,
    read: () => ({ status, bytes: Buffer.concat(parts), isTooLarge: size > ANSWER_MAX_BYTES }),
  };
}
