/** Calls the services of model providers and virtual keys over REST and gRPC. */

import { getOption } from '@bufbuild/protobuf';
import { expect } from 'vitest';
import { ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import { VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import type { TestApp } from '../../support/app.ts';
import type { Body } from '../../support/surfaces.ts';
import { ask, type Question, type Surface } from '../access/question.ts';

export { SURFACES, type Surface } from '../access/question.ts';

const methods = { ...ModelProviderService.method, ...VirtualKeyService.method };
export type Operation = keyof typeof methods;

export type GatewayRequest = Omit<Question, 'method' | 'body'> & {
  readonly body?: object;
  /** The path parameter `id`. */
  readonly id?: string;
  readonly token?: string | null;
};

export const PROVIDERS = '/api/gateway/v1/model-providers';
export const VIRTUAL_KEYS = '/api/gateway/v1/virtual-keys';
export const API_KEY = 'sk-proj-0123456789abcdefWXYZ';
export const OPENAI = { name: 'OpenAI', kind: 'openai', api_key: API_KEY };

/** Returns the body of a success, or its error; fails on any other answer. `wanted`: for example "404 not_found". */
export async function invoke(
  app: TestApp,
  [surface, operation]: readonly [Surface, Operation],
  request: GatewayRequest = {},
  wanted: string | null = null,
): Promise<Body> {
  const { id, token = app.adminKey, body, ...question } = request;
  const method = methods[operation];
  const [status = getOption(method, policy).successStatus, code = null] = wanted?.split(' ') ?? [];
  const { body: answer, ...answered } = await ask(
    surface,
    {
      ...question,
      method,
      parameters: { ...(id === undefined ? {} : { id }), ...request.parameters },
      ...(body === undefined ? {} : { body: JSON.parse(JSON.stringify(body)) }),
    },
    { address: app.address, token, wanted: { status: Number(status), code } },
  );
  expect({ operation, surface, ...answered }, JSON.stringify(answer)).toEqual({
    operation,
    surface,
    status: Number(status),
    code,
  });
  return code === null ? answer : (answer.error ?? answer);
}

let named = 0;

/** A name that no other record has. */
export function freshName(prefix: string): string {
  named += 1;
  return `${prefix} ${named}`;
}

export async function addProvider(app: TestApp, body: object = {}): Promise<Body> {
  const sent = { ...OPENAI, name: freshName('provider'), ...body };
  return (await invoke(app, ['REST', 'createModelProvider'], { body: sent })).model_provider;
}

/** The answer with the secret. */
export async function addVirtualKey(app: TestApp, body: object = {}): Promise<Body> {
  const sent = { name: 'key', trace_project_id: app.projectId, ...body };
  return await invoke(app, ['REST', 'createVirtualKey'], { body: sent });
}
